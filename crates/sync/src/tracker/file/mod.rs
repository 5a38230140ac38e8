//! A tracker that is a file of JSON lines: for programs that read it, and for trying sync out.

mod log;
#[cfg(test)]
mod cases;

use std::collections::BTreeMap;

use stepmark_model::artifact::ProjectPath;
use stepmark_store::{disk::Root, workspace::Clock};

use self::log::Log;
use super::{
    Answer, Change, Creation, Cursor, Delivered, Listing, Outcome, Page, Reply, RequestKind, Tracker,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result, TrackerName,
    breaker::{Failure, Reason, Route},
    pace::Cost,
    ticket::{Differences, ManagedSection, Marker, Observed, RemoteTicket, Ticket},
};

pub use log::{Line, LineKind};

#[derive(Debug)]
pub struct FileTracker {
    name: TrackerName,
    log: Log,
    clock: Clock,
}

const BODY_LIMIT: usize = 65_536;

impl FileTracker {
    /// The file need not exist.
    pub const fn new(name: TrackerName, root: Root, path: ProjectPath, clock: Clock) -> Self {
        Self { name, log: Log::new(root, path), clock }
    }

    fn remote(&self, number: u64) -> RemoteTicket {
        RemoteTicket {
            id: number.to_string(),
            key: format!("#{number}"),
            url: String::new(),
            other_ids: BTreeMap::new(),
        }
    }

    fn tickets(&self) -> Result<BTreeMap<u64, Observed>> {
        let mut tickets: BTreeMap<u64, Observed> = BTreeMap::new();
        for line in self.log.lock()?.flushed()? {
            let created_at = tickets.get(&line.number).map_or(line.at, |ticket| ticket.created_at);
            let observed = Observed {
                remote: self.remote(line.number),
                marker: line.ticket.marker.clone(),
                created_at,
                title: line.ticket.title,
                body: line.body,
                labels: line.ticket.labels,
                state: line.ticket.state,
                status: None,
                parent_id: line.parent.map(|parent| parent.to_string()),
                fields: None,
                stamp: line.ticket.stamp,
                is_untouched: true,
            };
            tickets.insert(line.number, observed);
        }
        Ok(tickets)
    }

    fn append(&self, wanted: &[Wanted<'_>]) -> Result<Vec<Outcome<Delivered>>> {
        let log = self.log.lock()?;
        let mut last = log.lines.iter().map(|line| line.number).max().unwrap_or(0);
        let (mut lines, mut outcomes) = (Vec::new(), Vec::new());
        for Wanted { change, ticket, parent } in wanted {
            let number = match change {
                None => {
                    last += 1;
                    Some(last)
                }
                Some(change) => {
                    let number = change.remote.id.parse::<u64>().ok();
                    number.filter(|number| log.lines.iter().any(|line| line.number == *number))
                }
            };
            let body = ManagedSection::of(ticket).alone(BODY_LIMIT);
            let last_line = log.lines.iter().rfind(|line| Some(line.number) == number);
            let newer =
                last_line.zip(*change).and_then(|(line, change)| change.too_old_for(&line.ticket.stamp));
            let outcome = match (number, body) {
                _ if let Some(newer) = newer => Outcome::Failed(newer),
                (None, _) => Outcome::Failed(Failure::new(Reason::Gone, "the file has no such ticket")),
                (Some(number), _) if log.is_of_another(number, &ticket.marker) => {
                    let detail = format!("#{number} does not belong to `{}`", ticket.marker);
                    Outcome::Failed(Failure::new(Reason::Gone, &detail))
                }
                (_, Err(error)) => Outcome::Failed(Failure::new(Reason::Invalid, &error.to_string())),
                (Some(number), Ok(body)) => {
                    let kind = if change.is_none() { LineKind::Created } else { LineKind::Updated };
                    let parent = parent.and_then(|parent| parent.id.parse().ok());
                    let line = Line::new(number, self.clock.now(), kind, (*ticket, parent), body.body);
                    // The line in doubt may have been written already.
                    if last_line.is_none_or(|last| !last.says_the_same(&line)) {
                        lines.push(line);
                    }
                    Outcome::Done(Delivered {
                        remote: self.remote(number),
                        missing: Vec::new(),
                        is_overwritten: false,
                    })
                }
            };
            outcomes.push(outcome);
        }
        let Err(error) = log.append(&lines) else { return Ok(outcomes) };
        // Unknown: which lines are there, and which survive a power cut.
        let in_doubt = |outcome| match outcome {
            Outcome::Done(_) => Outcome::InDoubt(failure(&error)),
            other => other,
        };
        Ok(outcomes.into_iter().map(in_doubt).collect())
    }

    fn answer<T>(count: usize, outcomes: Result<Vec<Outcome<T>>>) -> Answer<T> {
        Answer::of(outcomes.unwrap_or_else(|error| {
            let failure = failure(&error);
            (0..count).map(|_| Outcome::Failed(failure.clone())).collect()
        }))
    }
}

struct Wanted<'a> {
    change: Option<&'a Change>,
    ticket: &'a Ticket,
    parent: Option<&'a RemoteTicket>,
}

fn failure(error: &Error) -> Failure {
    let reason = match error.kind {
        ErrorKind::Corrupt => Reason::Unreadable,
        _ => Reason::Unreachable,
    };
    Failure::new(reason, &error.to_string())
}

impl Tracker for FileTracker {
    fn name(&self) -> &TrackerName {
        &self.name
    }

    fn batch(&self, _: RequestKind) -> usize {
        1000
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        Route::new(&self.name, (format!("file/{}", self.name), "none"), kind.name(), tickets)
    }

    fn cost(&self, _: RequestKind, _: usize) -> Cost {
        Cost { requests: 0, writes: 0, creations: 0, points: 0 }
    }

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        observed.markdown_differences(desired, before, BODY_LIMIT)
    }

    fn target(&self) -> Reply<'_, String> {
        Box::pin(async move { Ok(format!("file {}", self.log.path())) })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let wanted = creations.iter().map(|Creation { ticket, parent }| Wanted {
                change: None,
                ticket,
                parent: parent.as_ref(),
            });
            Self::answer(creations.len(), self.append(&wanted.collect::<Vec<_>>()))
        })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let wanted = changes.iter().map(|change| Wanted {
                change: Some(change),
                ticket: &change.desired,
                parent: change.parent.as_ref(),
            });
            Self::answer(changes.len(), self.append(&wanted.collect::<Vec<_>>()))
        })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async move {
            let found = self.tickets().map(|known| {
                let find = |remote: &RemoteTicket| known.get(&remote.id.parse().ok()?).cloned();
                tickets.iter().map(|remote| Outcome::Done(find(remote))).collect()
            });
            Self::answer(tickets.len(), found)
        })
    }

    fn list<'t>(&'t self, project: &'t str, _: Option<&'t Cursor>, _: Listing) -> Reply<'t, Page> {
        Box::pin(async move {
            let tickets = self.tickets().map_err(|error| failure(&error))?;
            let own = tickets.into_values().filter(|ticket| ticket.marker.project() == project);
            Ok(Page { tickets: own.collect(), unmarked: Vec::new(), next: None, budget: None })
        })
    }
}
