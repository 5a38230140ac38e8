//! `kill -9` at random moments: the file is old or new, never torn, and the next run works.
#![cfg(unix)]

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::harness::{Sandbox, demo::PRD};

/// How often a run is killed, over all workers.
const KILLS: usize = 200;

/// How many projects are worked on at once.
const WORKERS: usize = 2;

/// Of how many bytes the body is: long enough for a kill to find the program writing.
const BODY: usize = 1024 * 1024;

/// What the kills of one worker met.
#[derive(Debug, Default)]
struct Tally {
    /// Runs that were ended by the kill.
    killed: usize,
    /// Kills after which a temporary file stood beside the artifact.
    with_leftover: usize,
    /// Killed runs whose change is in place all the same.
    new_in_place: usize,
}

/// A pseudo-random sequence (xorshift64*): the same delays, as parts of a run, at every run of the test.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to 1.
    fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

/// A project whose artifact goes back and forth between two states.
struct Seesaw {
    sandbox: Sandbox,
    /// The artifact without and with the step.
    states: [Vec<u8>; 2],
    /// How long a run takes at present; other tests share the machine.
    duration: Duration,
}

impl Seesaw {
    const COMMANDS: [[&str; 3]; 2] =
        [["complete", PRD, "step-04-journeys"], ["reopen", PRD, "step-04-journeys"]];

    fn new() -> Self {
        let sandbox = Sandbox::demo();
        let mut without = sandbox.read(PRD);
        let line = b"Every second household of the street has lent or borrowed a tool after three months.\n";
        without.extend(line.iter().copied().cycle().take(BODY));
        sandbox.write(PRD, &without);
        let mut seesaw = Self { sandbox, states: [without, Vec::new()], duration: Duration::ZERO };
        seesaw.move_undisturbed(0);
        seesaw.states[1] = seesaw.sandbox.read(PRD);
        assert!(seesaw.states[1].len() > seesaw.states[0].len());
        seesaw
    }

    /// In which of the two states the artifact is; anything else is torn.
    fn state(&self) -> usize {
        let bytes = self.sandbox.read(PRD);
        let [without, with] = &self.states;
        match () {
            () if bytes == *without => 0,
            () if bytes == *with => 1,
            () => {
                panic!("the artifact is torn: {} bytes of {} or {}", bytes.len(), without.len(), with.len())
            }
        }
    }

    fn command(&self, state: usize) -> Command {
        let mut command = self.sandbox.command(&Self::COMMANDS[state]);
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn move_undisturbed(&mut self, state: usize) {
        let started = Instant::now();
        let run = self.sandbox.stepmark(&Self::COMMANDS[state]);
        self.duration = started.elapsed();
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    }

    fn leftovers(&self) -> usize {
        self.sandbox.tree().files_named(".stepmark-").len()
    }

    /// Starts a run, kills it after `delay`, and looks at what it left.
    fn kill_after(&self, delay: Duration, tally: &mut Tally) {
        let before = self.state();
        let mut child = self.command(before).spawn().unwrap();
        thread::sleep(delay);
        // SIGKILL, to the one process that this test started; a run that has ended takes no harm.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let after = self.state();
        match output.status.code() {
            None => {
                tally.killed += 1;
                tally.with_leftover += usize::from(self.leftovers() > 0);
                tally.new_in_place += usize::from(after != before);
            }
            Some(0) => assert_ne!(after, before, "the change was acknowledged"),
            Some(code) => panic!("exit {code}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}

fn work(seed: u64) -> Tally {
    let mut random = Random(seed);
    let mut seesaw = Seesaw::new();
    let mut tally = Tally::default();
    for _kill in 0..KILLS / WORKERS {
        let delay = seesaw.duration.mul_f64(random.part() * 1.1);
        seesaw.kill_after(delay, &mut tally);
        // Often the next run is killed as well: what one leaves must not stop the one after the next either.
        if random.part() < 0.4 {
            seesaw.move_undisturbed(seesaw.state());
            seesaw.state();
        }
    }
    seesaw.move_undisturbed(seesaw.state());
    assert_eq!(seesaw.leftovers(), 0, "one more successful write removes everything");
    tally
}

#[test]
fn a_kill_leaves_the_old_or_the_new_file() {
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let workers: Vec<_> = [0x5eed_0001, 0x5eed_0002].map(|seed| scope.spawn(move || work(seed))).into();
        assert_eq!(workers.len(), WORKERS);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let (killed, leftover) = (sum(|tally| tally.killed), sum(|tally| tally.with_leftover));
    println!("{KILLS} kills: {tallies:?}");
    // The kills must have hit what they are meant for: a run, and in it the writing.
    assert!(killed > KILLS / 4 && leftover > 0, "{tallies:?}");
}
