//! Chance, passed in.

/// A number drawn at random, all of `u64` being equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(pub u64);

/// Draws numbers. May be sent to another thread, as all that a worker uses may.
pub type Chance<'d> = dyn FnMut() -> Draw + Send + 'd;

impl Draw {
    /// A whole number from 0 to `most`, all of which are equally likely.
    pub fn up_to(self, most: u64) -> u64 {
        let scaled = (u128::from(self.0) * (u128::from(most) + 1)) >> 64;
        u64::try_from(scaled).unwrap_or(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_the_whole_range() {
        for (draw, most, expected) in [
            (0, 10, 0),
            (u64::MAX, 10, 10),
            (u64::MAX / 2, 9, 4),
            (u64::MAX / 2 + 1, 9, 5),
            (u64::MAX, u64::MAX, u64::MAX),
        ] {
            assert_eq!(Draw(draw).up_to(most), expected);
        }
    }
}
