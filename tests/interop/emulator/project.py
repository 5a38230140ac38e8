"""A project whose tickets are on the emulator."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from proxy import TOKEN

STEPMARK = pathlib.Path(sys.argv[1]).resolve()


def names(issue):
    return sorted(label["name"].split(":")[0] if label["name"].startswith("stepmark:") else label["name"] for label in issue["labels"])


class Project:
    """A copy of the BMAD project, with a tracker at `port` for `repository`."""

    def __init__(self, template, folder, port, repository):
        self.folder, self.repository = folder, repository
        shutil.copytree(template, folder)
        self.configure(port)
        # No user file, no credential of this machine.
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self.environment = {**keep, "HOME": str(folder), "GITHUB_TOKEN": TOKEN}

    def configure(self, port, extra=""):
        file = self.folder / ".stepmark/config.yaml"
        text = file.read_text().split("trackers:\n")[0]
        pace = "    pace: {credential: {write_interval_ms: 0, limits: []}}\n    look_up_wait_seconds: 1\n"
        # The host is not GitHub's own: only the user's configuration lets it have the credential.
        user = self.folder / ".config/stepmark/config.yaml"
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text(f"credentials: {{http://127.0.0.1:{port}: {{variable: GITHUB_TOKEN, targets: [{self.repository}]}}}}\n")
        file.write_text(f"{text}trackers:\n  github:\n    base_url: http://127.0.0.1:{port}\n    repository: {self.repository}\n{pace}{extra}")

    def run(self, *arguments, expect=0, **changes):
        words = [str(STEPMARK), *arguments]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, env={**self.environment, **changes})
        if expect is not None and done.returncode != expect:
            sys.exit(f"{' '.join(arguments)} ended with {done.returncode} instead of {expect}:\n{done.stdout}\n{done.stderr}")
        return done

    def sync(self, *arguments, **changes):
        return self.run("sync", *arguments, **changes)

    def json(self, *arguments, **changes):
        return json.loads(self.run(*arguments, "--json", **changes).stdout)

    def start(self, *arguments):
        """A process that may be killed."""
        return subprocess.Popen([str(STEPMARK), *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def replace(self, path, old, new):
        file = self.folder / path
        text = file.read_text()
        assert old in text, (path, old, text)
        file.write_text(text.replace(old, new, 1))

    def write(self, path, text):
        (self.folder / path).write_text(text)

    def lose_ledger(self):
        for file in (self.folder / ".stepmark/local").glob("sync.db*"):
            file.unlink()
