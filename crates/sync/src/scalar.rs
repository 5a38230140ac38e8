//! Configuration scalars that are parsed where they stand, so that an error has their line and column.

pub(crate) use stepmark_model::packs::deserialize_as_scalar;

macro_rules! one_of_two_words {
    ($own:ident: $one:literal => $first:ident, $other:literal => $second:ident) => {
        impl std::str::FromStr for $own {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $one => Ok(Self::$first),
                    $other => Ok(Self::$second),
                    _ => Err(format!("`{}` or `{}` is wanted, not `{word}`", $one, $other)),
                }
            }
        }

        $crate::scalar::deserialize_as_scalar!($own);
    };
}

pub(crate) use one_of_two_words;
