//! How many findings there are of each severity.

use serde::Serialize;

use super::{Finding, Severity};

/// How many findings of each severity an artifact has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProblemCounts {
    /// How many errors.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// How many notes.
    pub notes: usize,
}

impl ProblemCounts {
    /// Counts `findings`.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }

    /// Returns how many errors and warnings there are.
    pub const fn problems(self) -> usize {
        self.errors + self.warnings
    }
}
