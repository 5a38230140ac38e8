//! Artifacts → the bytes of every local copy. Pure and rebuildable.
