//! Other files of BMAD. `bmad::tickets` finds the problems of the ticket rules.

use crate::artifact::{Field, ProjectPath};
use crate::bmad::tickets::{TicketFault, TicketProblem};
use crate::check::{Finding, Subject, rule::Decision};
use crate::lifecycle::Lifecycle;
use stepmark_frontmatter::{Span, Yaml};

rules! { Bmad;
    pub(crate) TICKET_UNUSABLE "SMB01" "ticket-unusable" Error Decision::OfLaterStage;
    pub(crate) TICKET_NAME_UNKNOWN "SMB02" "ticket-name-unknown" Error Decision::OfLaterStage;
    pub(crate) TICKET_ORDER "SMB03" "ticket-order" Warning Decision::OfLaterStage;
    pub(crate) TICKET_DRIFT "SMB04" "ticket-drift" Warning Decision::OfLaterStage;
    pub(crate) MEMLOG_CHANGED "SMB05" "memlog-entry-changed" Error Decision::OfLaterStage;
    pub(crate) STORIES_WRONG "SMB06" "stories-yaml-wrong" Error Decision::OfLaterStage;
    pub(crate) TICKET_ID_REUSED "SMB07" "ticket-id-reused" Error Decision::OfLaterStage;
    pub(crate) BASELINE_UNKNOWN "SMB08" "baseline-unknown" Warning Decision::OfArtifact(check_baseline_unknown);
    pub(crate) FOLDER_MOVED "SMB09" "folder-moved" Note Decision::OfLaterStage;
}

/// Keys of the commit before a spec, and the word of specs begun without git.
const BASELINES: [&str; 2] = ["baseline_revision", "baseline_commit"];
const NO_GIT: &str = "NO_VCS";

/// Skips finished specs: nothing compares them any more, and their commit may be squashed.
fn check_baseline_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    let state = subject.artifact.state().status.as_ref().and_then(Field::filled);
    let is_open = |table: &Lifecycle| state.is_some_and(|state| !table.is_terminal(state));
    if !subject.lifecycle().is_some_and(|table| table.name() == "bmad-spec" && is_open(table)) {
        return;
    }
    let yaml = subject.artifact.state_yaml();
    let root = yaml.as_ref().and_then(Yaml::root);
    for (key, node) in BASELINES.into_iter().filter_map(|key| Some((key, root?.get(key)?))) {
        let name = node.text().map(str::trim).filter(|name| !name.is_empty() && *name != NO_GIT);
        if let Some(name) = name.filter(|name| !environment.is_commit(name)) {
            let message = format!("`{key}` is `{name}`, which git does not know as a commit");
            let help = "a review compares the work with it: write the commit that the work began from";
            found.push(subject.finding(&BASELINE_UNKNOWN, node.span, message).with_help(help));
        }
    }
}

pub fn memlog_finding(path: &ProjectPath, entry: &str) -> Finding {
    let message = format!("the entry `{entry}` was changed, moved or taken away since HEAD");
    let help = "a memlog only grows: put it back, and say what is right now with `stepmark memlog append`";
    Finding::new(&MEMLOG_CHANGED, path, Span::at(0), message).with_help(help)
}

/// The finding that artifacts stand in both folders of `key`, which the layer at `path` moved.
pub fn folder_moved_finding(path: &ProjectPath, span: Span, key: &str, folders: [&str; 2]) -> Finding {
    let [before, now] = folders;
    let message = format!("`{key}` was moved from `{before}` to `{now}`, and files stand in both");
    let help = "stepmark looks in both, skills that read `_bmad/config.toml` alone in the first: \
                give that file the new path, and bring the files there";
    Finding::new(&FOLDER_MOVED, path, span, message).with_help(help)
}

pub fn stories_finding(path: &ProjectPath, (span, message): (Span, String)) -> Finding {
    let help = "builds stop at such a list, or take the wrong story; docs/bmad.md says what it may hold";
    Finding::new(&STORIES_WRONG, path, span, message).with_help(help)
}

pub fn ticket_finding(problem: TicketProblem) -> Finding {
    let (rule, help) = match problem.fault {
        TicketFault::Unusable | TicketFault::Unticketed => {
            (&TICKET_UNUSABLE, "mend it; until then the rest of the tree is used")
        }
        TicketFault::Reference => (
            &TICKET_NAME_UNKNOWN,
            "name a neighbour by its id, others by `\"EPIC.ID\"` or `\"epic-name\"`; until then the ticket waits",
        ),
        TicketFault::Order => (
            &TICKET_ORDER,
            "bring `tickets.toml` to what is meant; the order of its tables is the build order",
        ),
        TicketFault::Reused => {
            (&TICKET_ID_REUSED, "give the entry an id that none had: the next after the greatest ever used")
        }
        TicketFault::Drift => {
            (&TICKET_DRIFT, "the leaf file counts; bring the entry to it, or the other way round")
        }
    };
    Finding::new(rule, &problem.path, problem.span, problem.message).with_help(help)
}
