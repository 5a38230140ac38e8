//! `stepmark tickets`, and tickets in `stepmark next`.

use clap::Args;
use stepmark_model::{
    bmad::tickets::{NextTickets, Ticket, TicketGroup, TicketStatus, TicketTree},
    spelling::argument,
};
use stepmark_store::bmad::tickets::Tickets as Found;

use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner, table},
    project::Project,
};

/// Show the tickets of BMAD 7: by epic, in build order, and what each waits for
///
/// `stepmark ticket start 1.2` takes one, `stepmark transition 1.2 built` moves it on: its plan is made with
/// its first status. The answer in JSON has the fields of BMAD's `tickets.py status`, and that of `stepmark
/// next` those of its `next`.
#[derive(Debug, Args)]
pub(crate) struct Tickets {
    /// The folder of an epic, an initiative or the backlog; without it the active initiative
    folder: Option<String>,
}

answers! { Answer
    /// `tickets`: the tickets of BMAD 7 in build order, as its `tickets.py status` has them
    "stepmark.tickets/1" Status (TicketStatus)
    /// `next` where tickets of BMAD 7 are: by what can happen to them, as its `tickets.py next` has them
    "stepmark.next-tickets/1" Next (NextTickets)
}

impl Tickets {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let found = project.workspace.tickets();
        let asked = self.folder.as_deref();
        let asked = asked.map(|folder| scope(&found, folder).ok_or_else(|| no_folder(folder))).transpose()?;
        let (tree, scope) = match asked.or_else(|| Some((found.active()?, None))) {
            Some(asked) => asked,
            None => return Err(no_initiative(&found)),
        };
        if output.json {
            output.answer(|| Answer::Status(tree.status(scope)));
            return Ok(Exit::Fine);
        }
        let trees =
            [Some((tree, scope)), found.backlog().filter(|_| asked.is_none()).map(|tree| (tree, None))];
        trees.into_iter().flatten().for_each(|(tree, scope)| print(tree, scope, output));
        warn(tree, output);
        Ok(Exit::Fine)
    }
}

/// With the index of the folder.
pub(super) fn scope<'f>(found: &'f Found, folder: &str) -> Option<(&'f TicketTree, Option<usize>)> {
    let name = folder.trim_end_matches('/').rsplit('/').next()?;
    let is_top = |tree: &&TicketTree| tree.top().file_name() == name;
    let top = found.trees().iter().find(is_top).map(|tree| (tree, None));
    let active = found.active().into_iter().chain(found.trees());
    top.or_else(|| active.filter_map(|tree| Some((tree, Some(tree.scope(name)?)))).next())
}

fn no_folder(folder: &str) -> Failure {
    let message = format!("`{folder}` is no folder of tickets");
    Failure::new(Exit::Usage, message).with_help("`stepmark tickets` shows those of the active initiative")
}

fn no_initiative(found: &Found) -> Failure {
    let names: Vec<&str> = found.trees().iter().map(|tree| tree.top().file_name()).collect();
    if names.is_empty() {
        return Failure::new(Exit::Findings, "the project has no tickets of BMAD 7")
            .with_help("`stepmark status` shows what it has");
    }
    Failure::new(Exit::Findings, format!("there are several initiatives: {}", names.join(", "))).with_help(
        format!(
            "name one: `stepmark tickets {}`, or set `active_initiative` in `_bmad/custom/config.user.toml`",
            names[0]
        ),
    )
}

fn print(tree: &TicketTree, scope: Option<usize>, output: &Output) {
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    for (place, name, status) in tree.folders() {
        let own: Vec<_> = tree.tickets().iter().filter(|own| own.folder == place).collect();
        if own.is_empty() || scope.is_some_and(|scope| scope != place) {
            continue;
        }
        let done = own.iter().filter(|own| tree.is_over(own)).count();
        let said = if status.is_empty() { String::new() } else { format!(", {status}") };
        output.line(format_args!("{name} ({done} of {} done{said})", own.len()));
        let row = |own: &&Ticket| {
            let hindrance = if tree.is_over(own) { String::new() } else { tree.hindrance(own) };
            vec![
                format!("  {}", tree.reference(own)),
                own.title.clone(),
                own.word().to_owned(),
                dash(own.assignee.clone()),
                dash(hindrance),
            ]
        };
        output.line(table(&["  TICKET", "TITLE", "STATUS", "WHO", "IN THE WAY"], own.iter().map(row)));
    }
}

fn warn(tree: &TicketTree, output: &Output) {
    let count = tree.faults().count();
    if count > 0 {
        let problems = spinner::count(count, "problem");
        output.warning(format_args!("{problems} in the tickets: `stepmark check` says what is wrong where"));
    }
}

/// `None` without tickets, or without an initiative in progress.
pub(super) fn next(found: &Found, folder: Option<&str>, output: &Output) -> Option<Result<Exit, Failure>> {
    let (tree, scope) = match folder {
        Some(folder) => scope(found, folder)?,
        None => (found.active().filter(|tree| !tree.tickets().is_empty())?, None),
    };
    let is_asked = |own: &&Ticket| scope.is_none_or(|scope| scope == own.folder);
    let open = tree.tickets().iter().filter(is_asked).filter_map(|own| Some((tree.group(own)?, own)));
    let open: Vec<(TicketGroup, &Ticket)> = open.collect();
    let exit = exit(&open);
    if output.json {
        output.answer(|| Answer::Next(tree.next(scope)));
        return Some(Ok(exit));
    }
    for (group, name) in [
        (TicketGroup::Refine, "ready to refine"),
        (TicketGroup::Start, "ready to start"),
        (TicketGroup::InProgress, "in progress"),
        (TicketGroup::Blocked, "blocked"),
    ] {
        let rows = open.iter().filter(|(own, _)| *own == group).map(|(_, own)| cells(tree, group, own));
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            output.line(name);
            output.line(table(&["  TICKET", "TITLE", "STATUS", "WHO", "NEXT"], rows));
        }
    }
    if exit == Exit::Nothing {
        output.remark("every ticket is done or dropped");
    }
    warn(tree, output);
    Some(Ok(exit))
}

fn cells(tree: &TicketTree, group: TicketGroup, own: &Ticket) -> Vec<String> {
    let reference = tree.reference(own);
    let next = match group {
        TicketGroup::Start => format!("stepmark ticket start {}", argument(&reference)),
        TicketGroup::Refine => "write its criteria, then `refined: true`".to_owned(),
        TicketGroup::Blocked => tree.hindrance(own),
        TicketGroup::InProgress if own.status == "built" => "a person decides".to_owned(),
        TicketGroup::InProgress => String::new(),
    };
    let texts =
        [format!("  {reference}"), own.title.clone(), own.word().to_owned(), own.assignee.clone(), next];
    texts.map(|text| if text.is_empty() { "-".to_owned() } else { text }).into()
}

/// Success if work is left for the caller; not if it waits for a person, or for other tickets.
fn exit(open: &[(TicketGroup, &Ticket)]) -> Exit {
    let waits_for_person = |own: &&(TicketGroup, &Ticket)| matches!(&*own.1.status, "built" | "blocked");
    let is_work =
        |(group, own): &(TicketGroup, &Ticket)| *group != TicketGroup::Blocked && own.status != "built";
    if open.iter().any(is_work) {
        return Exit::Fine;
    }
    Exit::idle(open.len(), open.iter().find(waits_for_person).is_some())
}
