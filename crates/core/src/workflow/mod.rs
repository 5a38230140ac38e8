//! Workflow definitions, their step chains, and how far an artifact has come.
