//! Statuses and the ways between them.

use serde_json::{Value as Json, json};

use super::{
    State,
    http::Reply,
    state::{nothing, refused},
};

/// A status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    ToDo,
    InProgress,
    InReview,
    Cancelled,
    Done,
}

/// Which ways there are.
#[derive(Clone, Debug)]
pub(crate) struct Workflow {
    ways: Vec<(Status, Status)>,
    /// True where closing asks for a resolution.
    pub(crate) asks_resolution: bool,
}

pub(super) const ALL: [Status; 5] =
    [Status::ToDo, Status::InProgress, Status::InReview, Status::Cancelled, Status::Done];

impl Status {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ToDo => "To Do",
            Self::InProgress => "In Progress",
            Self::InReview => "In Review",
            Self::Cancelled => "Cancelled",
            Self::Done => "Done",
        }
    }

    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::ToDo => "1",
            Self::InProgress => "3",
            Self::InReview => "10000",
            Self::Cancelled => "10005",
            Self::Done => "10001",
        }
    }

    pub(super) fn told(self) -> Json {
        let category = match self {
            Self::ToDo => "new",
            Self::InProgress | Self::InReview => "indeterminate",
            Self::Cancelled | Self::Done => "done",
        };
        json!({ "id": self.id(), "name": self.name(), "statusCategory": { "key": category, "name": category } })
    }
}

impl Workflow {
    /// From each status to each other one.
    pub(crate) fn free() -> Self {
        let ways = ALL.iter().flat_map(|from| ALL.iter().map(move |to| (*from, *to)));
        Self { ways: ways.filter(|(from, to)| from != to).collect(), asks_resolution: false }
    }

    /// With these ways alone.
    pub(crate) fn of(ways: &[(Status, Status)]) -> Self {
        Self { ways: ways.to_vec(), asks_resolution: false }
    }
}

impl Workflow {
    /// Returns whether a way begins or ends there.
    pub(super) fn knows(&self, status: Status) -> bool {
        self.ways.iter().any(|(from, to)| [*from, *to].contains(&status))
    }

    /// The ways out of a status, by number.
    pub(super) fn from(&self, status: Status) -> Vec<usize> {
        (0..self.ways.len()).filter(|at| self.ways[*at].0 == status).collect()
    }

    /// Where a way leads.
    pub(super) fn to(&self, way: usize) -> Status {
        self.ways[way].1
    }

    /// Returns whether it asks for something.
    pub(super) fn asks(&self, way: usize) -> bool {
        self.asks_resolution && self.to(way) == Status::Done
    }
}

impl State {
    pub(super) fn transitions(&mut self, id: &str) -> Reply {
        let Some(from) = self.issue(id).map(|issue| issue.status) else {
            return refused(404, "no such issue");
        };
        let ways = self.workflow.ways.iter().enumerate().filter(|(_, (own, _))| *own == from);
        let ways = ways.map(|(at, (_, to))| {
            let mut way =
                json!({ "id": at.to_string(), "name": to.name(), "to": to.told(), "isAvailable": true });
            if *to == Status::Done && self.workflow.asks_resolution {
                let allowed = json!([{ "name": "Done" }, { "name": "Won't Do" }, { "name": "Duplicate" }]);
                way["fields"] = json!({ "resolution": {
                    "required": true, "hasDefaultValue": false, "key": "resolution", "name": "Resolution",
                    "operations": ["set"], "schema": { "type": "resolution" }, "allowedValues": allowed } });
            }
            way
        });
        Reply::json(200, &json!({ "transitions": ways.collect::<Vec<_>>() }))
    }

    pub(super) fn transition(&mut self, id: &str, body: &Json) -> Reply {
        let way = body["transition"]["id"].as_str().unwrap().parse::<usize>().unwrap();
        let (way, asks) = (self.workflow.ways.get(way).copied(), self.workflow.asks_resolution);
        let Some(issue) = self.issue(id) else { return refused(404, "no such issue") };
        let Some((_, to)) = way.filter(|(from, _)| *from == issue.status) else {
            return refused(
                400,
                "It seems that you have tried to perform a workflow operation that is not valid",
            );
        };
        let resolution = body["fields"]["resolution"]["name"].as_str().map(str::to_owned);
        if asks && to == Status::Done && resolution.is_none() {
            return refused(400, "Resolution is required.");
        }
        issue.status = to;
        issue.resolution = resolution.filter(|_| to == Status::Done);
        nothing()
    }
}
