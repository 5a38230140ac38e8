//! `stepmark sync plan`, and the names of artifacts for people.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;

use super::{
    SyncContext, plan_file,
    report::{Groups, Told},
};
use crate::{
    exit::{Exit, Failure},
    output::{Output, on_one_line, spinner},
};
use stepmark_model::artifact::ProjectPath;
use stepmark_sync::{
    plan::{Action, Plan as Planned, Remark},
    ticket::{Marker, Snapshot, SnapshotEntry},
};

/// Show what would be done, without asking the tracker
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// Look through the tracker first: finds what people changed, duplicates, and tickets without a link
    #[arg(long)]
    survey: bool,
    /// Write the plan to a file, for `stepmark sync apply FILE`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Plan {
    pub(super) fn run(&self, context: &SyncContext<'_>, output: &Output) -> Result<Exit, Failure> {
        let plan = if self.survey {
            let (mut ledger, tracker) = (context.ledger()?, context.tracker(Some(output))?);
            let tickets = context.survey(&mut ledger, &*tracker)?;
            context.plan_with(&mut ledger, Some((&*tracker, &tickets)))?
        } else {
            context.plan(&mut *context.ledger_to_read()?)?
        };
        if let Some(file) = &self.out {
            plan_file::write(file, &plan)?;
        }
        if output.json {
            output.answer(|| &plan);
        } else {
            show(&plan, output);
        }
        Ok(Exit::Fine)
    }
}

pub(super) fn show(plan: &Planned, output: &Output) {
    let names = subjects(plan);
    for action in &plan.actions {
        output.line(format_args!("{:<15} {}", action.kind.name(), subject(action, &names)));
        for difference in &action.differences {
            let short = |value: &serde_json::Value| -> String {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let line = on_one_line(&text);
                if line.chars().count() > 60 { line.chars().take(59).chain(['…']).collect() } else { line }
            };
            let (before, after) = (short(&difference.before), short(&difference.after));
            output.remark(format_args!("    {}: {before} → {after}", difference.field));
        }
    }
    warn(&plan.remarks, output);
    if plan.needs_survey && !plan.actions.is_empty() {
        output.remark(
            "the tracker was not looked through yet: `apply` does that first, and links what it finds",
        );
    }
    let unchanged = spinner::count(plan.unchanged, "ticket");
    output.remark(format_args!(
        "{} to do, {unchanged} unchanged",
        spinner::count(plan.actions.len(), "action")
    ));
}

fn subject(action: &Action, names: &Subjects) -> String {
    let remote = action.remote.as_ref().map(|remote| format!(" {}", remote.key)).unwrap_or_default();
    format!("{}{remote}", names.name(&action.marker))
}

pub(super) fn warn<'r>(remarks: impl IntoIterator<Item = &'r Remark>, output: &Output) {
    let mut groups = Groups::default();
    for remark in remarks {
        let (name, told) = told(remark);
        groups.add(told, name, None);
    }
    groups.lines().for_each(|line| output.warning(line));
}

/// Shown by every command that shows tickets.
pub(super) fn told_everywhere(remarks: &[Remark]) -> Vec<Remark> {
    let is_told = |remark: &&Remark| {
        matches!(
            remark,
            Remark::LeftOut { .. }
                | Remark::ManyGone { .. }
                | Remark::Newer { .. }
                | Remark::Aside { .. }
                | Remark::OtherNamed { .. }
                | Remark::Copy { .. }
                | Remark::Withheld { .. }
                | Remark::Crowded { .. }
        )
    };
    remarks.iter().filter(is_told).cloned().collect()
}

pub(super) fn problems(remarks: &[Remark]) -> Vec<Remark> {
    remarks
        .iter()
        .filter(|remark| matches!(remark, Remark::LeftOut { is_problem: true, .. } | Remark::ManyGone { .. }))
        .cloned()
        .collect()
}

fn told(remark: &Remark) -> (String, Told) {
    let keys = |tickets: &[stepmark_sync::ticket::RemoteTicket]| {
        tickets.iter().map(|ticket| ticket.key.as_str()).collect::<Vec<_>>().join(", ")
    };
    let told = |noun, of_one: String, of_several: &str| Told {
        head: String::new(),
        noun,
        of_one,
        of_several: of_several.to_owned(),
    };
    let (name, told) = match remark {
        Remark::Drift { artifact, remote, differences, .. } => {
            let fields: Vec<&str> = differences.iter().map(|told| told.field.as_str()).collect();
            let changed = |verb| format!(" {verb} changed by hand: {}", fields.join(", "));
            (format!("{} of {artifact}", remote.key), told("ticket", changed("was"), &changed("were")))
        }
        Remark::Duplicates { artifact, kept, others, .. } => {
            let todo = "people wrote in them, or `duplicates: report` is configured: close what is not wanted";
            let of_one = format!(" have the marker of {artifact}, whose ticket is {}; {todo}", kept.key);
            (keys(others), told("artifact", of_one, &format!(" have several tickets; {todo}")))
        }
        Remark::Orphan { artifact, remote, .. } => (
            format!("{} of {artifact}", remote.key),
            told(
                "ticket",
                ": the artifact is gone; `prune: close` closes the ticket".to_owned(),
                ": the artifacts are gone; `prune: close` closes the tickets",
            ),
        ),
        Remark::Excluded { artifact, remote, .. } => (
            format!("{} of {artifact}", remote.key),
            told(
                "ticket",
                " stays as it is, since `artifacts` of the tracker leaves its artifact out".to_owned(),
                " stay as they are, since `artifacts` of the tracker leaves their artifacts out",
            ),
        ),
        Remark::ManyGone { gone, tickets } => (
            format!("the artifacts of {gone} of {tickets} tickets"),
            told(
                "tracker",
                " are gone, so none of these is closed: `stepmark sync apply --yes` closes them".to_owned(),
                "",
            ),
        ),
        Remark::Missing { artifact, remote, .. } => (
            format!("{} of {artifact}", remote.key),
            told(
                "ticket",
                " is not among the tickets of the tracker".to_owned(),
                " are not among those of the tracker",
            ),
        ),
        Remark::Moved { from } => (
            format!("its tickets are in {from}"),
            told(
                "tracker",
                ", and the configuration names another place: `apply` asks the tracker whether that is the same one under another name, and \
                 leaves the former tickets alone where it is not"
                    .to_owned(),
                ", and the configuration names another place",
            ),
        ),
        Remark::Newer { artifact, remote, reason, .. } => (
            format!("{} of {artifact}", remote.key),
            told("ticket", format!(" is left alone: {reason}"), &format!(" are left alone: {reason}")),
        ),
        Remark::OtherNamed { artifact, remote, named } => (
            format!("{} of {artifact}", remote.key),
            told(
                "ticket",
                format!(" stays its ticket, although its leaf file names {named}: name it there, and close the other"),
                " stay the tickets of their artifacts, although their leaf files name others",
            ),
        ),
        Remark::Copy { remote, .. } => (
            remote.key.clone(),
            told(
                "ticket",
                " is a copy of another ticket, or has the text of one in it, and is left alone".to_owned(),
                " are copies of other tickets, or have the text of one in them, and are left alone",
            ),
        ),
        Remark::Overwritten { artifact, remote, .. } => (
            format!("{} of {artifact}", remote.key),
            told(
                "ticket",
                " was changed by somebody while it was written; their text is in its history".to_owned(),
                " were changed by somebody while they were written; that text is in their history",
            ),
        ),
        Remark::Withheld { artifact, secrets, characters, .. } => {
            let of = |has: &str, its: &str| match secrets.is_empty() {
                false => format!(
                    " {has} a secret that {its} not show ({}): take it out of the file, and make it invalid",
                    secrets.join(", ")
                ),
                true => format!(
                    " {has} characters that nobody sees ({}), which {its} not show",
                    characters.join(", ")
                ),
            };
            (artifact.clone(), told("artifact", of("has", "its ticket does"), &of("have", "their tickets do")))
        }
        Remark::Crowded { artifact, tickets } => (
            artifact.clone(),
            told(
                "artifact",
                format!(
                    " has more below it than the tracker shows (100, in eight levels): the text of {} names it instead",
                    spinner::count(*tickets, "ticket")
                ),
                " have more below them than the tracker shows (100, in eight levels): the other tickets name them in their text",
            ),
        ),
        Remark::Aside { branch, follows } => (
            format!("`{branch}` is checked out"),
            told(
                "branch",
                format!(
                    ", and tickets follow `{follows}`, so nothing is done; `branches: ['{branch}']` of the tracker lets them follow it, too"
                ),
                "",
            ),
        ),
        Remark::LeftOut { path, reason, .. } => (
            path.clone(),
            told("artifact", format!(" gets no ticket: {reason}"), &format!(" get no ticket: {reason}")),
        ),
    };
    (name, told)
}

#[derive(Default)]
pub(super) struct Subjects {
    known: BTreeMap<Marker, (Option<ProjectPath>, Option<String>)>,
    /// As of the last plan.
    pub(super) remarks: Vec<Remark>,
}

impl Subjects {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let named =
            |(marker, entry): (&Marker, &SnapshotEntry)| (marker.clone(), (Some(entry.path.clone()), None));
        Self { known: snapshot.artifacts().map(named).collect(), remarks: Vec::new() }
    }

    pub(super) fn add(&mut self, plan: &Planned) {
        self.remarks = told_everywhere(&plan.remarks);
        for action in &plan.actions {
            let title = action.ticket.as_ref().map(|ticket| ticket.title.clone());
            let known = self.known.entry(action.marker.clone()).or_default();
            known.0 = known.0.take().or_else(|| action.path.clone());
            known.1 = known.1.take().or(title);
        }
    }

    pub(super) fn add_title(&mut self, marker: &Marker, title: String) {
        self.known.insert(marker.clone(), (None, Some(title)));
    }

    pub(super) fn knows(&self, marker: &Marker) -> bool {
        self.known.contains_key(marker)
    }

    pub(super) fn path(&self, marker: &Marker) -> Option<&ProjectPath> {
        self.known.get(marker)?.0.as_ref()
    }

    /// Its path, else its title, else its marker.
    pub(super) fn name(&self, marker: &Marker) -> String {
        match self.known.get(marker) {
            Some((Some(path), _)) => path.to_string(),
            Some((None, Some(title))) => format!("\"{title}\""),
            _ => format!("`{marker}`"),
        }
    }
}

pub(super) fn subjects(plan: &Planned) -> Subjects {
    let mut subjects = Subjects::default();
    subjects.add(plan);
    subjects
}
