//! Projects of which some files are missing and the state file says something else, or nothing.

use super::{FILE, SOLVED, autodev, done, empty, text};

/// Numbers that look like chance and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A project: which files are there, and what is noted.
struct Project {
    files: Vec<&'static str>,
    /// The text of `_repo-config.yaml`.
    repo: Option<&'static str>,
    has_code: bool,
    noted: Noted,
}

enum Noted {
    Nothing,
    /// Text that says no position.
    Damaged(&'static str),
    At {
        flow: &'static str,
        step: usize,
        status: &'static str,
    },
}

const FLOWS: [(&str, usize); 3] = [("greenfield", 11), ("existing-code", 17), ("meta-repo", 6)];

impl Project {
    fn any(numbers: &mut Numbers) -> Self {
        let files = SOLVED.into_iter().filter(|_| numbers.below(4) > 0).collect();
        let repo =
            [None, None, Some(""), Some("confirmed_by_user: false\n"), Some("confirmed_by_user: true\n")];
        let repo = repo[numbers.below(5)];
        let has_code = numbers.below(2) == 0;
        let noted = match numbers.below(6) {
            0 => Noted::Nothing,
            1 => Noted::Damaged(
                [
                    "",
                    "# Autodev State\n",
                    "## Current Step\nflow: [\n",
                    "## Current Step\nflow: brownfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step: {phase: 1, name: a}\n",
                    "## Current Step\nflow: greenfield\nstep: three\nname: Plan\nstatus: in_progress\nsub_step: {phase: 1, name: a}\n",
                    "## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step: 4 - review\n",
                    "## Current Step\nstep: 3\n",
                ][numbers.below(7)],
            ),
            _ => {
                let (flow, count) = FLOWS[numbers.below(3)];
                let status = ["not_started", "in_progress", "completed", "skipped"][numbers.below(4)];
                // Mostly one of the first steps, of which files tell; at times one that there is not.
                let step = if numbers.below(2) == 0 { numbers.below(4) } else { numbers.below(count + 3) };
                Noted::At { flow, step, status }
            }
        };
        Self { files, repo, has_code, noted }
    }

    fn has(&self, count: usize) -> bool {
        SOLVED[..count].iter().all(|path| self.files.contains(path))
    }

    /// The rules in words: whether `step` of `flow` is still to be done; `None` where no file tells.
    fn is_due(&self, flow: &str, step: usize) -> Option<bool> {
        match (flow, step) {
            ("greenfield", 1) => Some(!self.has(4)),
            ("greenfield", 2) => Some(!self.files.contains(&SOLVED[4])),
            ("meta-repo", 1) => Some(self.repo.unwrap_or_default().is_empty()),
            ("meta-repo", 2) => Some(self.repo != Some("confirmed_by_user: true\n")),
            _ => None,
        }
    }

    /// The flow and step that the rules demand.
    fn demanded(&self) -> (&'static str, usize) {
        let (flow, noted) = match self.noted {
            Noted::At { flow, step, status } => (flow, Some((step, status))),
            _ if self.repo.is_some() => ("meta-repo", None),
            _ if self.has_code => ("existing-code", None),
            _ => ("greenfield", None),
        };
        let count = FLOWS.iter().find(|(name, _)| *name == flow).unwrap().1;
        let is_consistent = |(step, status): &(usize, &str)| {
            let own = self.is_due(flow, *step);
            let is_own_right = match *status {
                "completed" => own != Some(true),
                "skipped" => true,
                _ => own != Some(false),
            };
            (1..=count).contains(step)
                && (1..*step).all(|earlier| self.is_due(flow, earlier) != Some(true))
                && is_own_right
        };
        let first = || (1..=count).find(|step| self.is_due(flow, *step) != Some(false)).unwrap();
        (flow, noted.filter(is_consistent).map_or_else(first, |(step, _)| step))
    }
}

#[test]
fn a_damaged_project_gets_the_step_that_the_rules_demand() {
    let mut numbers = Numbers(4);
    let (mut corrected, mut kept) = (0, 0);
    for number in 0..120 {
        let project = Project::any(&mut numbers);
        let sandbox = empty();
        project.files.iter().for_each(|path| sandbox.write(path, "text\n"));
        if let Some(repo) = project.repo {
            sandbox.write("_docs/_repo-config.yaml", repo);
        }
        if project.has_code {
            sandbox.write("Cargo.toml", "[package]\n");
        }
        match &project.noted {
            Noted::Nothing => {}
            Noted::Damaged(block) => sandbox.write(FILE, block),
            Noted::At { flow, step, status } => sandbox.write(
                FILE,
                format!(
                    "## Current Step\nflow: {flow}\nstep: {step}\nname: Some name\nstatus: {status}\nsub_step:\n  phase: 3\n  \
                     name: some-phase\nretry_count: 0\ncycle: 1\n\n## Mine\n"
                ),
            ),
        }
        let (flow, step) = project.demanded();
        let told = autodev(&sandbox, &["detect", "--json"]).json("stepmark.autodev/1");
        assert_eq!(told["flow"], flow, "{number}");
        assert_eq!(told["step"], step, "{number}: {told}");
        // The name is not that of any step, and is corrected wherever the step is known.
        let but_name = |text: &str| text.replacen("name: Some name\n", "", 1);
        let before = std::fs::read_to_string(sandbox.place(FILE)).unwrap_or_default();
        done(&sandbox, &["detect", "--write"]);
        let now = text(&sandbox);
        assert!(now.contains(&format!("flow: {flow}\nstep: {step}\n")), "{number}: {now}");
        assert!(
            !matches!(project.noted, Noted::At { .. }) || now.ends_with("\n\n## Mine\n"),
            "{number}: {now}"
        );
        let told = done(&sandbox, &["status", "--json"]).json("stepmark.autodev/1");
        assert_eq!(
            (told["step"].as_u64(), told["consistent"].as_bool()),
            (Some(step as u64), Some(true)),
            "{number}"
        );
        let name = now.lines().find(|line| line.starts_with("name: ")).map(|line| format!("{line}\n"));
        let is_kept = now.replacen(&name.unwrap_or_default(), "", 1) == but_name(&before);
        *(if is_kept { &mut kept } else { &mut corrected }) += 1;
    }
    assert!(corrected > 50 && kept > 10, "{corrected} {kept}");
}
