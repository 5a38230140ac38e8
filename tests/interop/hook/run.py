#!/usr/bin/env python3
"""The hook in the programs that run hooks: pre-commit, prek and lefthook (PyPI), git alone, and the GitHub format.

Usage: run.py STEPMARK_BINARY. In a fresh clone of a project each of them must stop a commit that drops a completed step, name the
line, and let the fixed commit pass. pre-commit, prek and `pre-commit try-repo` build this checkout by its `.pre-commit-hooks.yaml`, with
the profile and the target folder of `cargo run`, so that they build little. The tools are installed where STEPMARK_TOOLS does not name a
folder that has them. Without network access for a tool the test fails.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import venv

STEPMARK = pathlib.Path(sys.argv[1]).resolve()
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = CHECKOUT / "tests/interop/hook/tools.txt"
CARGO_HOME = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
PRD = "docs/planning artifacts/prd é.md"
STEPS = ["step-01-init", "step-02-discovery", "step-03-success"]
PLACE = f"{PRD}:3:17"
LOCAL = """\
repos:
  - repo: local
    hooks:
      - id: stepmark
        name: stepmark
        entry: stepmark check --staged
        language: system
        pass_filenames: false
        always_run: true
"""
# Stands for cargo where a hook is installed. How fast that program is does not matter here, so it is built like all others, with the crates
# of others from the same folder and by the compiler that is found in PATH (prek names other ones); and files of a clone are as old as those of
# the checkout that have the same bytes: so cargo sees what it has built already.
CARGO = """\
#!{python}
import os, pathlib, sys
if "install" in sys.argv:
    sys.argv.insert(sys.argv.index("install") + 1, "--debug")
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if name != ".git"]
        for clone in (pathlib.Path(folder, name) for name in files):
            own = pathlib.Path({checkout!r}, clone)
            if own.is_file() and clone.is_file() and own.read_bytes() == clone.read_bytes():
                os.utime(clone, ns=(own.stat().st_atime_ns, own.stat().st_mtime_ns))
os.environ["CARGO_HOME"] = {home!r}
os.environ.pop("RUSTC", None)
os.execv({cargo!r}, ["cargo", *sys.argv[1:]])
"""
LEFTHOOK = "pre-commit:\n  jobs:\n    - run: stepmark check --staged\n"
HUSKY = "#!/usr/bin/env sh\nstepmark check --staged\n"
passed = failed = 0


def check(what, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok   {what}" if holds else f"FAIL {what}\n{detail}", flush=True)


def prd(steps):
    return f"---\nid: PRD-1\nstepsCompleted: [{', '.join(steps)}]\nstatus: draft\n---\n\n# PRD\n"


class Repository:
    def __init__(self, folder, tools, home):
        self.folder = folder
        self.environment = {
            "PATH": os.pathsep.join([str(STEPMARK.parent), str(home / "toolchain/bin"), str(tools), os.environ["PATH"]]),
            "HOME": str(home),
            "CARGO_HOME": CARGO_HOME,
            "RUSTUP_HOME": str(home / "rustup"),
            "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(CHECKOUT / "target")),
            "CARGO_INCREMENTAL": os.environ.get("CARGO_INCREMENTAL", "1"),
            "TMPDIR": str(home / "tmp"),
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1", "PRE_COMMIT_COLOR": "never", "LEFTHOOK_QUIET": "meta",
            "STEPMARK_ACTOR": "agent:tester",
        }

    def run(self, *command, expect=0):
        done = subprocess.run(
            [str(part) for part in command], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        if expect is not None and done.returncode != expect:
            sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}")
        return done

    def git(self, *arguments, expect=0):
        return self.run("git", *arguments, expect=expect)

    def write(self, path, text):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def commit(self, message="a commit"):
        return self.git("commit", "--message", message, expect=None)


def origin(folder, tools, home):
    """A project of BMAD: a PRD three steps far."""
    folder.mkdir()
    repository = Repository(folder, tools, home)
    repository.git("init", "--quiet", "--initial-branch", "main")
    repository.run(STEPMARK, "init", "--root", ".")
    for step in [*STEPS, "step-04-journeys"]:
        repository.write(f"_bmad/bmm/workflows/prd/steps/{step}.md", f"# {step}\n")
    repository.write(PRD, prd(STEPS))
    repository.write("README.md", "# A project\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "A project")
    return repository


def drops_a_step(repository, runner):
    """The scenario of every runner, after it was installed in `repository`."""
    repository.write(PRD, prd([STEPS[0], STEPS[2]]))
    repository.git("add", PRD)
    # The work tree is right again: only the index is wrong.
    repository.write(PRD, prd(STEPS))
    done = repository.commit()
    check(f"{runner}: a staged loss stops the commit", done.returncode == 1, done.stdout)
    check(f"{runner}: the rule, the step and the line are named",
          all(part in done.stdout for part in ["SM901", STEPS[1], PLACE]), done.stdout)
    check(f"{runner}: the work tree is as it was", (repository.folder / PRD).read_text() == prd(STEPS))
    repository.write(PRD, prd([*STEPS, "step-04-journeys"]))
    repository.git("add", PRD)
    repository.write(PRD, prd([]))
    done = repository.commit()
    check(f"{runner}: the fixed commit passes beside an unstaged loss", done.returncode == 0, done.stdout)
    check(f"{runner}: the unstaged change is still there", (repository.folder / PRD).read_text() == prd([]))
    repository.git("checkout", "--quiet", "--", PRD)
    repository.git("rm", "--quiet", PRD)
    done = repository.commit()
    check(f"{runner}: a deletion alone is seen", done.returncode == 1 and "SM907" in done.stdout, done.stdout)
    repository.git("reset", "--quiet", "--hard")
    repository.run(STEPMARK, "reopen", PRD, "step-04-journeys")
    if runner != "git alone":
        # Such hooks may not stage anything.
        done = repository.git("commit", "--all", "--message", "reopened", expect=None)
        check(f"{runner}: history that is not staged is seen", done.returncode == 1 and "SM908" in done.stdout, done.stdout)
        repository.git("add", "--update")
        repository.run(STEPMARK, "journal", "seal", "--stage")
    done = repository.git("commit", "--all", "--message", "reopened", expect=None)
    check(f"{runner}: what was reopened is accepted, by commit --all", done.returncode == 0, done.stdout)


def built_hook(repository, runner):
    """The hook of this checkout, as `.pre-commit-hooks.yaml` declares it."""
    commit = repository.run("git", "-C", CHECKOUT, "rev-parse", "HEAD").stdout.strip()
    repository.write(
        ".pre-commit-config.yaml",
        f"repos:\n  - repo: {CHECKOUT}\n    rev: {commit}\n    hooks: [{{id: stepmark}}]\n",
    )
    repository.git("add", ".pre-commit-config.yaml")
    # Only the hook's own environment holds the program.
    repository.environment["PATH"] = os.pathsep.join(repository.environment["PATH"].split(os.pathsep)[1:])
    repository.run(runner, "install", "--install-hooks")


def first_push(repository, runner):
    """The hook of pushes as `.pre-commit-hooks.yaml` has it: to an empty remote, of which runners name no commits, and after that."""
    hooks = (CHECKOUT / ".pre-commit-hooks.yaml").read_text().split("- id: ")
    entry = next(hook for hook in hooks if hook.startswith("stepmark-push")).split("  entry: ")[1].split("\n")[0]
    hook = {"id": "push", "name": "push", "entry": entry, "language": "system", "pass_filenames": False,
            "always_run": True, "stages": ["pre-push"]}
    repository.write(".pre-commit-config.yaml", json.dumps({"repos": [{"repo": "local", "hooks": [hook]}]}))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "hooks")
    repository.git("init", "--quiet", "--bare", f"../empty-{runner}.git")
    repository.git("remote", "add", "empty", f"../empty-{runner}.git")
    repository.run(runner, "install", "--hook-type", "pre-push")
    done = repository.git("push", "empty", "main", expect=None)
    check(f"{runner}: the first push to an empty remote passes", done.returncode == 0, done.stdout)
    repository.write(PRD, prd(STEPS[1:]))
    repository.git("commit", "--quiet", "--all", "--no-verify", "--message", "Drops a step")
    done = repository.git("push", "empty", "main", expect=None)
    told = done.stdout
    check(f"{runner}: a push that drops a step does not", done.returncode == 1 and "SM901" in told, told)


def link_toolchain(home):
    """A toolchain in `home` whose cargo is CARGO: the one in PATH, and for prek, which asks rustup, the only one there is."""
    of = pathlib.Path(subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip())
    folder = home / "toolchain"
    (folder / "bin").mkdir(parents=True)
    for program in (of / "bin").iterdir():
        (folder / "bin" / program.name).symlink_to(program)
    (folder / "bin/cargo").unlink()
    cargo = CARGO.format(python=sys.executable, checkout=str(CHECKOUT), home=CARGO_HOME, cargo=str(of / "bin/cargo"))
    (folder / "bin/cargo").write_text(cargo)
    (folder / "bin/cargo").chmod(0o755)
    (folder / "lib").symlink_to(of / "lib")
    environment = dict(os.environ, RUSTUP_HOME=str(home / "rustup"))
    for command in [["toolchain", "link", "checkout", str(folder)], ["default", "checkout"]] if shutil.which("rustup") else []:
        subprocess.run(["rustup", *command], env=environment, check=True, capture_output=True)


def installed(environment):
    """The folder of the tools."""
    if "STEPMARK_TOOLS" in os.environ:
        return pathlib.Path(os.environ["STEPMARK_TOOLS"]).resolve()
    venv.create(environment, with_pip=True)
    subprocess.run([environment / "bin/pip", "install", "--quiet", "--requirement", TOOLS], check=True)
    return environment / "bin"


def main(folder):
    tools = installed(folder / "tools")
    (folder / "tmp").mkdir()
    link_toolchain(folder)
    start = origin(folder / "origin", tools, folder)

    def clone(name):
        start.git("clone", "--quiet", ".", folder / name)
        return Repository(folder / name, tools, folder)

    repository = clone("plain")
    repository.run(STEPMARK, "hook", "install")
    drops_a_step(repository, "git alone")

    repository = clone("husky")
    repository.write(".husky/pre-commit", HUSKY)
    (repository.folder / ".husky/pre-commit").chmod(0o755)
    repository.git("config", "core.hooksPath", ".husky")
    drops_a_step(repository, "a husky line")

    repository = clone("lefthook")
    repository.write("lefthook.yml", LEFTHOOK)
    repository.run("lefthook", "install")
    drops_a_step(repository, "lefthook")

    repository = clone("local")
    repository.write(".pre-commit-config.yaml", LOCAL)
    repository.git("add", ".pre-commit-config.yaml")
    repository.run("prek", "install")
    drops_a_step(repository, "prek, installed program")

    for runner in ["pre-commit", "prek"]:
        first_push(clone(f"push-{runner}"), runner)

    repository = clone("pull-request")
    repository.git("switch", "--quiet", "--create", "feature")
    repository.write(PRD, prd(STEPS[:2]))
    repository.git("commit", "--quiet", "--all", "--message", "Drops a step")
    done = repository.run(STEPMARK, "check", "--from", "origin/main", "--format", "github", expect=1)
    check("GitHub: an annotation at the line", f"::error file={PRD},line=3" in done.stdout, done.stdout)

    for runner in ["pre-commit", "prek"]:
        if (CHECKOUT / ".git").exists():
            repository = clone(f"built-{runner}")
            built_hook(repository, runner)
            drops_a_step(repository, f"{runner}, built from this checkout")

    repository = clone("try-repo")
    repository.write(PRD, prd(STEPS[1:]))
    repository.git("add", "--all")
    done = repository.run("pre-commit", "try-repo", CHECKOUT, "stepmark", expect=None)
    check("pre-commit try-repo runs the hook", done.returncode == 1 and "SM901" in done.stdout, done.stdout)

    print(f"hook: {passed} passed, {failed} failed")
    return failed == 0


with tempfile.TemporaryDirectory() as temporary:
    sys.exit(0 if main(pathlib.Path(temporary).resolve()) else 1)
