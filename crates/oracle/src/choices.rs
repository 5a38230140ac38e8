//! Decisions taken from bytes, so that one generator serves property tests (which shrink bytes), the fuzzer
//! (which mutates them) and seeded loops.

/// A run of decisions. When the bytes are used up every decision is the first one, so all generation ends.
#[derive(Debug)]
pub struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    /// Decisions made of `bytes`, one byte each.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    /// A number below `count` (and below 256); 0 when the bytes are used up.
    pub fn below(&mut self, count: usize) -> usize {
        let byte = usize::from(self.bytes.next().copied().unwrap_or_default());
        if count == 0 { 0 } else { byte % count }
    }

    /// True in `share` of 256 cases; false when the bytes are used up.
    pub fn chance(&mut self, share: u8) -> bool {
        self.bytes.next().is_some_and(|byte| *byte >= u8::MAX - share.saturating_sub(1) && share > 0)
    }

    /// One of `options`, which must not be empty.
    pub fn pick<'o, T>(&mut self, options: &'o [T]) -> &'o T {
        &options[self.below(options.len())]
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): the same seed
/// gives the same run everywhere, so that counts can be recorded.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The run of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `count`, which must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.word() % count as u64).unwrap_or_default()
    }

    /// `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.word().to_le_bytes());
        words.flatten().take(length).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_up_choices_are_the_first_ones() {
        let mut choices = Choices::new(&[7, 255]);
        assert_eq!(
            (choices.below(5), choices.chance(1), choices.below(9), choices.chance(255)),
            (2, true, 0, false)
        );
    }

    #[test]
    fn the_published_first_outputs_of_seed_0() {
        let mut random = Random::new(0);
        assert_eq!([random.word(), random.word()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }
}
