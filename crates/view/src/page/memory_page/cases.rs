//! Memory with text of others.
