//! Numbers that look random and are the same in every run.

/// `SplitMix64` (Steele, Lea and Flood, 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // The sequence is spread evenly enough for a corpus; limits are small.
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    /// One of `items`, which are not empty.
    pub(crate) fn pick<'items>(&mut self, items: &[&'items str]) -> &'items str {
        items[self.below(items.len())]
    }
}
