//! State systems as data: pack files, parsed and judged. No file, clock or environment.
//!
//! `lifecycle` is the state machine of one kind of artifact: states, legal moves, guards, counters, roles.
//! [`built_in`] are the packs that come with the program, one YAML file each.

mod path_globs;
pub mod scalar;
pub mod spelling;
pub mod lifecycle;
mod rules;
mod pack;
mod declaration;
mod built_in;

pub use built_in::{built_in, declaration_of};
pub use declaration::{KindDeclaration, MOST_BYTES, PackDeclaration, ViewDeclaration};
pub use lifecycle::arguments::{ArgumentShape, ArgumentType, Need};
pub use lifecycle::moves::{MoveCall, NamedMove, NamedMoveDeclaration, Refused, VARIABLES, Write};
pub use pack::{FileDeclaration, Kind, Pack, PackError, PackKind, command_for};
pub use path_globs::{PathGlob, PathGlobs};
pub use rules::{KeyRule, KeyTest, Peer, PeerFault, PeerProblem, faults_between, is_name_of};
