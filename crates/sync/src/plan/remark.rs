//! A remark for a person about a ticket, which no action follows.

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;

use crate::ticket::{FieldDifference, Marker, RemoteTicket, Withheld};

/// A remark for a person about a ticket, which no action follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Remark {
    /// A person changed managed fields, and the policy is to report that.
    Drift {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
        /// The fields: `before` is what the tracker has.
        differences: Vec<FieldDifference>,
    },
    Duplicates {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        /// The ticket that counts: the linked one, else the oldest.
        kept: RemoteTicket,
        others: Vec<RemoteTicket>,
    },
    /// Its artifact is gone, and the policy is to keep it.
    Orphan {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// Its artifact is there, and the patterns of the tracker leave it out: the ticket stays as it is.
    Excluded {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// So many artifacts are gone at once that their tickets are not closed without a word of a person.
    ManyGone { gone: usize, tickets: usize },
    /// The linked ticket was not among those that the tracker lists with our label: it was deleted, moved, or
    /// has lost its marker.
    Missing {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// The ticket was written from something newer than what is checked out, and is left alone.
    Newer {
        marker: Marker,
        /// The name by which people know the artifact: its path, else the title of its ticket.
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
        /// The commit that it was written from, in a sentence.
        reason: String,
    },
    /// BMAD says that another ticket is the artifact's than the one that it has.
    OtherNamed { artifact: String, remote: RemoteTicket, named: String },
    /// A ticket that was copied, or into which the text of another was pasted. Nothing is done with it.
    Copy { marker: Marker, remote: RemoteTicket },
    /// Somebody changed the text of the ticket between our reading and our writing: it was written over, and
    /// stands in the history of the ticket.
    Overwritten { marker: Marker, artifact: String, remote: RemoteTicket },
    /// The ticket does not tell all that the artifact says.
    Withheld {
        marker: Marker,
        artifact: String,
        /// The rules that found secrets, as `github_token`.
        secrets: Vec<String>,
        /// Characters that nobody sees, as `U+202E`.
        characters: Vec<String>,
    },
    /// The tracker shows no more tickets below one: others only name it in their text.
    Crowded {
        /// The path of the artifact below whose ticket there is no room.
        artifact: String,
        tickets: usize,
    },
    /// Tickets follow another branch than the one that is checked out, so nothing is done.
    Aside {
        /// The branch that is checked out; a commit where none is.
        branch: String,
        follows: String,
    },
    /// The configuration names another place than the one in which the tickets are known to be. Before
    /// anything is sent the tracker is asked whether that is the same repository or project under another
    /// name.
    Moved { from: String },
    /// An artifact gets no ticket.
    LeftOut {
        path: String,
        reason: String,
        /// True where something is wrong with it: an artifact that was never given an id only has no ticket.
        #[serde(default)]
        is_problem: bool,
    },
}

impl Remark {
    pub(super) fn withheld(marker: &Marker, path: &ProjectPath, withheld: &Withheld) -> Self {
        let code = |letter: &char| format!("U+{:04X}", u32::from(*letter));
        Self::Withheld {
            marker: marker.clone(),
            artifact: path.to_string(),
            secrets: withheld.secrets.iter().cloned().collect(),
            characters: withheld.characters.iter().map(code).collect(),
        }
    }
}
