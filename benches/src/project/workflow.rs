//! The workflows of the project that is measured: names and chains after docs/formats.md, "Step files".

use std::fmt::Write as _;

/// A workflow and its steps.
pub(crate) struct Workflow {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// The names of its steps, in order.
    pub(crate) steps: &'static [&'static str],
}

pub(crate) const PRD: Workflow = Workflow {
    name: "create-prd",
    steps: &[
        "step-01-init",
        "step-02-discovery",
        "step-02b-vision",
        "step-02c-executive-summary",
        "step-03-success",
        "step-04-journeys",
        "step-05-domain",
        "step-06-innovation",
        "step-07-project-type",
        "step-08-scoping",
        "step-09-functional",
        "step-10-nonfunctional",
        "step-11-polish",
        "step-12-complete",
    ],
};

pub(crate) const ARCHITECTURE: Workflow = Workflow {
    name: "create-architecture",
    steps: &[
        "step-01-init",
        "step-02-context",
        "step-03-starter",
        "step-04-decisions",
        "step-05-patterns",
        "step-06-structure",
        "step-07-validation",
        "step-08-complete",
    ],
};

pub(crate) const BRIEF: Workflow = Workflow {
    name: "create-product-brief",
    steps: &[
        "step-01-init",
        "step-02-vision",
        "step-03-users",
        "step-04-metrics",
        "step-05-scope",
        "step-06-complete",
    ],
};

pub(crate) const QUICK_SPEC: Workflow = Workflow {
    name: "quick-spec",
    steps: &["step-01-understand", "step-02-investigate", "step-03-generate", "step-04-review"],
};

pub(crate) const ALL: [Workflow; 4] = [PRD, ARCHITECTURE, BRIEF, QUICK_SPEC];

impl Workflow {
    /// Path and text of each of its files, below the folder of all workflows.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let entry = format!("---\nname: {0}\n---\n\n# {0}\n\nFollow the steps in order.\n", self.name);
        let mut files = vec![(format!("{}/workflow.md", self.name), entry)];
        for (at, step) in self.steps.iter().enumerate() {
            let mut text = format!("---\nname: '{step}'\n");
            if let Some(next) = self.steps.get(at + 1) {
                let _infallible = writeln!(text, "nextStepFile: './{next}.md'");
            }
            let _infallible = write!(text, "---\n\n# {step}\n\nDo what this step asks for, then go on.\n");
            files.push((format!("{}/steps/{step}.md", self.name), text));
        }
        files
    }
}
