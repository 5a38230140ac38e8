//! Files of BMAD besides artifacts. `bmad::tickets` looks for what the rules of tickets are about.

use crate::artifact::ProjectPath;
use crate::bmad::tickets::{TicketFault, TicketProblem};
use crate::check::{Finding, rule::Decision};

use stepmark_frontmatter::Span;

rules! { Bmad;
    pub(crate) TICKET_UNUSABLE "SMB01" "ticket-unusable" Error Decision::OfLaterStage;
    pub(crate) TICKET_NAME_UNKNOWN "SMB02" "ticket-name-unknown" Error Decision::OfLaterStage;
    pub(crate) TICKET_ORDER "SMB03" "ticket-order" Warning Decision::OfLaterStage;
    pub(crate) TICKET_DRIFT "SMB04" "ticket-drift" Warning Decision::OfLaterStage;
    pub(crate) MEMLOG_CHANGED "SMB05" "memlog-entry-changed" Error Decision::OfLaterStage;
    pub(crate) STORIES_WRONG "SMB06" "stories-yaml-wrong" Error Decision::OfLaterStage;
    pub(crate) TICKET_ID_REUSED "SMB07" "ticket-id-reused" Error Decision::OfLaterStage;
}

/// The finding that the entry `entry` of a memlog is not what it was at HEAD.
pub fn memlog_finding(path: &ProjectPath, entry: &str) -> Finding {
    let message = format!("the entry `{entry}` was changed, moved or taken away since HEAD");
    let help = "a memlog only grows: put it back, and say what is right now with `stepmark memlog append`";
    Finding::new(&MEMLOG_CHANGED, path, Span::at(0), message).with_help(help)
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
