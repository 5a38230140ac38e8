//! A row of the list: an artifact, or something wrong that belongs to none.

use stepmark_model::artifact::ProjectPath;

use crate::observation::Entry;
use crate::overview::{Overview, Trouble};

#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'o> {
    /// A problem of the whole project, or of a file that is no artifact.
    Trouble(&'o Trouble),
    Artifact(&'o Entry),
}

/// The row that is chosen: by what it is about, so that it stays chosen when others come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Trouble(String),
    Artifact(ProjectPath),
}

impl<'o> Row<'o> {
    /// The troubles of `overview` that have no artifact to stand at, the worst first.
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

    /// The choice that it is known by when it is chosen.
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
