//! State systems as data: what a pack file declares, read and judged. No file, clock or environment.
//!
//! `lifecycle` is the state machine of one kind of artifact: states, legal moves, guards, counters, roles.
//! [`built_in`] are the packs that come with the program, one YAML file each.

mod path_globs;
pub mod scalar;
pub mod spelling;
pub mod lifecycle;
mod pack;

pub use lifecycle::arguments::{ArgumentShape, ArgumentType, Need};
pub use lifecycle::moves::{MoveCall, NamedMove, NamedMoveDeclaration, Refused, VARIABLES, Write};
pub use pack::{
    Kind, KindDeclaration, MOST_BYTES, Pack, PackDeclaration, PackError, PackKind, ViewDeclaration, built_in,
    command_for, declaration_of,
};
pub use path_globs::{PathGlob, PathGlobs};
