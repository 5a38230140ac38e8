//! Commands that keep the state right.

pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod gate;
pub(crate) mod hook;
pub(crate) mod lifecycle;
pub(crate) mod manifest;
pub(crate) mod project;
