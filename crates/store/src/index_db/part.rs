//! The parts of the database that are brought up to date by themselves.

/// A part: tables that come from the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The CSV catalogues.
    Inventory,
    /// Artifacts with their steps and delegations.
    Artifacts,
    /// The journal.
    Events,
    /// The findings of a check.
    Findings,
    /// Leases of artifacts.
    Leases,
    /// Tickets of all trackers. The caller brings the rows: what stands in a tracker is known to another
    /// crate.
    Tickets,
    /// Signs of life of agents, and the files that follow records.
    Systems,
    /// Memories and their edges. The caller brings the rows, too.
    Memory,
}

impl Part {
    /// All parts, in the order in which they are brought up to date.
    pub const ALL: [Self; 8] = [
        Self::Inventory,
        Self::Artifacts,
        Self::Events,
        Self::Findings,
        Self::Leases,
        Self::Tickets,
        Self::Systems,
        Self::Memory,
    ];

    /// The name, as it stands in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Artifacts => "artifacts",
            Self::Events => "events",
            Self::Findings => "findings",
            Self::Leases => "leases",
            Self::Tickets => "tickets",
            Self::Systems => "systems",
            Self::Memory => "memory",
        }
    }
}

/// Some of the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u8);

impl Parts {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(0b1111_1111);

    /// These and `part`.
    #[must_use]
    pub const fn with(self, part: Part) -> Self {
        Self(self.0 | 1 << part as u8)
    }

    /// Returns whether `part` is among them.
    pub const fn contains(self, part: Part) -> bool {
        self.0 & 1 << part as u8 != 0
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        parts.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_a_set() {
        assert_eq!(Part::ALL.into_iter().collect::<Parts>(), Parts::ALL);
        for part in Part::ALL {
            let others: Parts = Part::ALL.into_iter().filter(|other| *other != part).collect();
            assert!(!Parts::NONE.contains(part) && !others.contains(part));
            assert_eq!(others.with(part), Parts::ALL);
        }
    }
}
