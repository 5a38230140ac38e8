//! The checks that stepmark-frontmatter is proven against: a model of its edits on plain values, documents
//! generated together with the value that they say, and readers that share no code with it.
//!
//! The tests of this package, the interop scripts in `tests/interop/` and the fuzz targets in `fuzz/` run the
//! same bodies ([`target`]); a failure is a [`Wrong`], never a panic of the code under test.

mod choices;
mod model;
mod sample;
mod reader;
mod judge;
mod generate;
mod flow_layout;
mod mutate;
pub mod target;

pub use choices::{Choices, Random};
pub use flow_layout::{FlowText, flow_text, line_too_far_left};
pub use generate::{Generated, Remark, generate, remarks};
pub use judge::{Verdict, Wrong, judge};
pub use model::{at, expected};
pub use mutate::mutate;
pub use reader::{LIBYAML, Reader};
pub use sample::{edit_for, paths, value};
