//! Finishing an artifact from which work was delegated.

use std::fmt;

use super::TransitionRefusal;
use crate::delegation::Member;

/// Work that was delegated and is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenChild {
    /// Its artifact.
    pub path: String,
    /// The agent that works on it.
    pub agent: Option<String>,
    /// Its status word; `None` where it has none, or cannot be read.
    pub status: Option<String>,
}

impl From<&Member> for OpenChild {
    fn from(member: &Member) -> Self {
        Self {
            path: member.path.to_string(),
            agent: member.agent.as_ref().map(|agent| agent.0.clone()),
            status: member.status.clone(),
        }
    }
}

impl fmt::Display for OpenChild {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`", self.path)?;
        match (&self.agent, &self.status) {
            (Some(agent), Some(status)) => write!(out, " ({agent}: {status})"),
            (Some(word), None) | (None, Some(word)) => write!(out, " ({word})"),
            (None, None) => Ok(()),
        }
    }
}

/// Decides on finishing an artifact whose children `open` are not finished. An `insistence` is the reason to
/// do it all the same.
///
/// # Errors
/// When children are open, and nobody insists.
pub fn finish_above(open: Vec<OpenChild>, insistence: Option<&str>) -> Result<(), TransitionRefusal> {
    if open.is_empty() || insistence.is_some() {
        return Ok(());
    }
    Err(TransitionRefusal::OpenChildren { children: open })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_children_are_listed_unless_somebody_insists() {
        let child = |path: &str, agent: Option<&str>, status: Option<&str>| OpenChild {
            path: path.to_owned(),
            agent: agent.map(str::to_owned),
            status: status.map(str::to_owned),
        };
        let open = vec![child("a.md", Some("writer"), Some("todo")), child("b.md", None, None)];
        assert_eq!(finish_above(Vec::new(), None), Ok(()));
        assert_eq!(finish_above(open.clone(), Some("the writer left")), Ok(()));
        let refused = finish_above(open, None).unwrap_err().to_string();
        assert_eq!(refused, "2 delegated pieces of work are open: `a.md` (writer: todo), `b.md`");
        let many: Vec<_> = (0..12).map(|number| child(&number.to_string(), None, None)).collect();
        assert!(finish_above(many, None).unwrap_err().to_string().ends_with("`9` and 2 more"));
    }
}
