//! Frontmatters as they are found in the wild: kinds of artifacts, forms of lists, quotes, comments. All
//! of them can be read by every reader that is measured, so that the times compare the same work.

use std::fmt::Write as _;

use super::{
    random::Random,
    workflow::{ARCHITECTURE, BRIEF, PRD, QUICK_SPEC, Workflow},
};

/// The text that is written into one artifact.
pub(crate) struct Frontmatter {
    /// The file name without extension.
    pub(crate) stem: String,
    /// The lines between the fences.
    pub(crate) text: String,
}

const TOPICS: [&str; 8] =
    ["billing", "onboarding", "search", "reporting", "identity", "inventory", "messaging", "scheduling"];
const PEOPLE: [&str; 5] = ["Ada", "Björn", "Chen", "Dilnoza", "Ewa"];
/// The documents that artifacts take in besides the architecture of their topic.
const INPUTS: [&str; 5] = [
    "docs/planning/product-brief.md",
    "docs/research/market-research-2026-02-11.md",
    "docs/research/domain-notes.md",
    "docs/brainstorming/brainstorming-session-2026-01-30.md",
    "docs/project-context.md",
];

/// The paths of all documents that artifacts name.
pub(crate) fn documents() -> impl Iterator<Item = String> {
    let architectures = TOPICS.iter().map(|topic| format!("docs/{topic}/architecture.md"));
    INPUTS.iter().map(|path| (*path).to_owned()).chain(architectures)
}

/// The frontmatter of the artifact `number`.
pub(crate) fn frontmatter(number: usize) -> Frontmatter {
    let random = &mut Random::new(number as u64);
    let topic = random.pick(&TOPICS);
    let (kind, text) = match random.below(10) {
        0..=2 => ("prd", prd(random, topic)),
        3..=4 => ("architecture", architecture(random, topic)),
        5 => ("product-brief", brief(random, topic)),
        6 => ("test-design", test_design(random, topic)),
        7..=8 => ("tech-spec", quick_spec(random, topic)),
        _ => ("spec", spec(random, topic)),
    };
    Frontmatter { stem: format!("{kind}-{topic}-{number:06}"), text }
}

fn prd(random: &mut Random, topic: &str) -> String {
    let done = random.below(PRD.steps.len() + 1);
    let quote = random.pick(&["'", "'", "\"", ""]);
    let mut text = steps(random, &PRD, done, quote);
    text += &inputs(random, "inputDocuments");
    let _infallible = write!(
        text,
        "workflowType: 'prd'\nclassification:\n  domain: {topic}\n  projectType: web_app\n  complexity: medium\n\
         project_name: '{topic}'\nuser_name: {}\ndate: '{}'\n",
        random.pick(&PEOPLE),
        date(random)
    );
    text
}

fn architecture(random: &mut Random, topic: &str) -> String {
    let done = random.below(ARCHITECTURE.steps.len() + 1);
    let numbers: Vec<String> = (1..=done).map(|number| number.to_string()).collect();
    let mut text = format!("stepsCompleted: [{}]\n", numbers.join(", "));
    text += &inputs(random, "inputDocuments");
    let _infallible = write!(
        text,
        "workflowType: 'architecture'\nlastStep: {done}\nproject_name: '{topic}'\nuser_name: '{}'\ndate: '{}'\n\
         hasProjectContext: {}\n",
        random.pick(&PEOPLE),
        date(random),
        random.pick(&["true", "false"])
    );
    if done == ARCHITECTURE.steps.len() {
        let _infallible = write!(text, "status: 'complete'\ncompletedAt: '{}'\n", date(random));
    }
    text
}

fn brief(random: &mut Random, topic: &str) -> String {
    let done = random.below(BRIEF.steps.len() + 1);
    let mut text = steps(random, &BRIEF, done, "");
    text += &inputs(random, "inputDocuments");
    let _infallible = write!(
        text,
        "workflowType: product-brief\nproject_name: {topic}\nauthor: {}\ndate: '{}'\n# the words of the user are kept below\n",
        random.pick(&PEOPLE),
        date(random)
    );
    text
}

fn test_design(random: &mut Random, topic: &str) -> String {
    format!(
        "stepsCompleted:\n  - step-01-preflight-and-context\n  - step-02-identify-targets\n  - step-03-generate-tests\n\
         lastStep: 'step-03-generate-tests'\nlastSaved: '{}'\nworkflowType: testarch-automate\narea: {topic}\n\
         coverage: {{unit: 81, api: 64, e2e: 12}}\nrisks:\n  - {{id: R-{}, score: 6, owner: {}}}\n  - {{id: R-{}, score: 4}}\n",
        date(random),
        random.below(90),
        random.pick(&PEOPLE),
        random.below(90)
    )
}

fn quick_spec(random: &mut Random, topic: &str) -> String {
    let done = random.below(QUICK_SPEC.steps.len() + 1);
    let numbers: Vec<String> = (1..=done).map(|number| number.to_string()).collect();
    let status = random.pick(&["in-progress", "ready-for-dev", "review", "done"]);
    format!(
        "title: 'Make {topic} faster for large accounts'\nslug: '{topic}-large-accounts'\ncreated: '{}'\nstatus: '{status}'\n\
         stepsCompleted: [{}]\ntech_stack: ['rust', 'postgres 17', \"react\"]\nfiles_to_modify:\n  - src/{topic}/service.rs\n  \
         - src/{topic}/store.rs   # the query\n  - tests/{topic}.rs\ncode_patterns: ['repository per table']\ntest_patterns: []\n",
        date(random),
        numbers.join(", ")
    )
}

fn spec(random: &mut Random, topic: &str) -> String {
    let status = random.pick(&["draft", "ready-for-dev", "in-progress", "in-review", "done"]);
    format!(
        "title: '{topic}: retry what the provider refused'\ntype: 'bugfix' # feature | bugfix | refactor | chore\ncreated: '{}'\n\
         status: '{status}' # draft | ready-for-dev | in-progress | in-review | done\nbaseline_commit: '{:07x}'\n\
         review_loop_iteration: {}\ncontext:\n  - docs/project-context.md\n  - docs/{topic}/architecture.md\nnotes: >-\n  \
         The provider answers 503 for up to a minute after a deployment;\n  a retry within that time must not double the charge.\n",
        date(random),
        random.below(1 << 28),
        random.below(4)
    )
}

/// The first `done` steps, as a flow or a block list.
fn steps(random: &mut Random, workflow: &Workflow, done: usize, quote: &str) -> String {
    let steps = &workflow.steps[..done];
    if steps.is_empty() || random.below(2) == 0 {
        let items: Vec<String> = steps.iter().map(|step| format!("{quote}{step}{quote}")).collect();
        return format!("stepsCompleted: [{}]\n", items.join(", "));
    }
    let indent = random.pick(&["  ", "  ", "    ", ""]);
    steps
        .iter()
        .fold("stepsCompleted:\n".to_owned(), |text, step| text + indent + "- " + quote + step + quote + "\n")
}

fn inputs(random: &mut Random, key: &str) -> String {
    let count = random.below(6);
    if count == 0 {
        return format!("{key}: []\n");
    }
    (0..count).fold(format!("{key}:\n"), |text, _| text + "  - " + random.pick(&INPUTS) + "\n")
}

fn date(random: &mut Random) -> String {
    format!("2026-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28))
}
