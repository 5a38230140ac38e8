//! Findings: what is wrong with an artifact, where, and how to mend it.
