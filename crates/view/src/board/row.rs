//! Rows of the list and their order.

use std::cmp::Reverse;

use stepmark_model::artifact::ProjectPath;

use crate::observation::Entry;
use crate::overview::{Overview, Trouble};

#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'o> {
    Trouble(&'o Trouble),
    Artifact(&'o Entry),
}

/// Identifies the chosen row by its subject, so that it stays chosen as rows come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Trouble(String),
    Artifact(ProjectPath),
}

impl<'o> Row<'o> {
    /// Troubles without an artifact in the list, worst first.
    pub(super) fn troubles(overview: &'o Overview) -> impl Iterator<Item = Self> {
        let is_of_artifact =
            |trouble: &Trouble| trouble.path.as_ref().is_some_and(|path| overview.entry(path).is_some());
        overview.wrong.iter().filter(move |trouble| !is_of_artifact(trouble)).map(Self::Trouble)
    }

    pub(super) fn name(&self) -> &'o str {
        match self {
            Self::Trouble(trouble) => {
                trouble.path.as_ref().map_or(trouble.what.as_str(), ProjectPath::file_name)
            }
            Self::Artifact(entry) => entry.name(),
        }
    }

    pub(super) fn choice(&self) -> Choice {
        match self {
            Self::Trouble(trouble) => Choice::Trouble(trouble.what.clone()),
            Self::Artifact(entry) => Choice::Artifact(entry.path.clone()),
        }
    }

    pub(super) fn is(&self, choice: &Choice) -> bool {
        match (self, choice) {
            (Self::Trouble(trouble), Choice::Trouble(what)) => trouble.what == *what,
            (Self::Artifact(entry), Choice::Artifact(path)) => entry.path == *path,
            _ => false,
        }
    }

    pub(super) fn fits(&self, words: &[String]) -> bool {
        let texts = match self {
            Self::Trouble(trouble) => {
                let path = trouble.path.as_ref().map(ProjectPath::as_str);
                vec![path, Some(trouble.what.as_str()), trouble.rule, Some(trouble.severity.as_str())]
            }
            Self::Artifact(entry) => vec![
                Some(entry.path.as_str()),
                entry.title.as_deref(),
                Some(entry.workflow.as_str()),
                Some(entry.condition.word()),
                entry.status.as_deref(),
                entry.next.as_deref(),
            ],
        };
        let texts: Vec<String> = texts.into_iter().flatten().map(str::to_lowercase).collect();
        words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Path,
    /// Troubles first, then blocked, underway, not started, done.
    Trouble,
    Change,
    Progress,
}

impl Sort {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Path => Self::Trouble,
            Self::Trouble => Self::Change,
            Self::Change => Self::Progress,
            Self::Progress => Self::Path,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Trouble => "trouble",
            Self::Change => "last change",
            Self::Progress => "progress",
        }
    }

    pub(super) fn apply(self, entries: &[Entry], places: &mut [usize]) {
        match self {
            Self::Path => {}
            Self::Trouble => places.sort_by_key(|place| {
                let entry = &entries[*place];
                let is_finished = entry.condition == crate::overview::Condition::Finished;
                (Reverse(entry.errors), Reverse(entry.warnings), is_finished, entry.condition)
            }),
            Self::Change => places.sort_by_key(|place| Reverse(entries[*place].changed_at)),
            Self::Progress => places.sort_by_key(|place| {
                let bar = entries[*place].bar.as_ref();
                let percent = bar.and_then(|bar| (bar.done * 100).checked_div(bar.total));
                Reverse(percent.filter(|percent| *percent < 100))
            }),
        }
    }
}
