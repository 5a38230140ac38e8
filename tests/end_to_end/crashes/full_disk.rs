//! A disk that is really full.
#![cfg(target_os = "linux")]

use std::process::Command;

use insta::assert_snapshot;

use crate::harness::{Run, Sandbox, skip, tool};

/// Runs in a mount name space of its own: nothing is mounted for anybody else, and it goes with the last
/// process.
const SCRIPT: &str = r#"
set -u
mkdir disk && mount -t tmpfs -o size=1m tmpfs disk && cd disk || exit 99
mkdir docs
{ printf -- '---\nstepsCompleted: [1]\nlastStep: 1\n---\n'; head -c 20000 /dev/zero | tr '\0' x; } > docs/prd.md
cp docs/prd.md ../old.md
"$STEPMARK" complete docs/prd.md 2 --root . && "$STEPMARK" reopen docs/prd.md 2 --root . || exit 98
cat /dev/zero > filler 2>/dev/null
echo "full: $(df --output=avail . | tail -1 | tr -d ' ') bytes left"
"$STEPMARK" complete docs/prd.md 2 --root .
echo "exit $?"
cmp docs/prd.md ../old.md && echo 'as it was'
ls -A docs
"$STEPMARK" status --root .
rm filler
"$STEPMARK" complete docs/prd.md 2 --root .
echo "exit $?"
sed -n 2,3p docs/prd.md
ls -A docs
"#;

#[test]
fn leaves_the_old_file_and_goes_on_when_there_is_room() {
    let test = "leaves_the_old_file_and_goes_on_when_there_is_room";
    let Some(unshare) = tool("unshare", test) else { return };
    let sandbox = Sandbox::empty();
    // As the superuser of this machine, or of a user name space of its own.
    let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
    let may_mount = |way: &&&[&str]| {
        let probe = "mkdir -p probe && mount -t tmpfs tmpfs probe";
        let mut command = Command::new(&unshare);
        command.args(**way).args(["sh", "-c", probe]).current_dir(sandbox.outside());
        Run::of(&mut command).code == 0
    };
    let Some(way) = ways.iter().find(may_mount) else {
        return skip(test, "this user may not mount a file system");
    };
    let path = std::env::var_os("PATH").unwrap();
    let mut command = Command::new(&unshare);
    command.args(*way).args(["sh", "-c", SCRIPT]);
    sandbox.isolate(&mut command);
    command.env("STEPMARK", env!("CARGO_BIN_EXE_stepmark")).env("PATH", path);
    assert_snapshot!(sandbox.run(&mut command), @r"
    exit 0
    ── stdout
    docs/prd.md: written
    docs/prd.md: written
    full: 0 bytes left
    exit 4
    as it was
    prd.md
    ARTIFACT  DONE
    prd       1/?
    docs/prd.md: written
    exit 0
    stepsCompleted: [1, 2]
    lastStep: 2
    prd.md
    ── stderr
    error: cannot write the new content of `docs/prd.md` to a temporary file beside it; that file is as it was
      cause: No space left on device (os error 28)
    ");
}
