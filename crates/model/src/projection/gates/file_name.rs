//! The name of a gate's file.

use crate::artifact::FileHash;

/// The extension of gates.
pub const GATE_EXTENSION: &str = ".gate";

/// Longer names are cut; every file system takes 255 bytes.
const LONGEST: usize = 150;

/// The file name of the gate of `step`: `step-03-success.gate`. Two different steps never share one, on file
/// systems that do not tell upper case from lower case either: every byte but `a`–`z`, `0`–`9`, `-`, `_` and
/// inner `.` is written as `%` and two hexadecimal digits; a name that is too long ends with its hash.
pub fn gate_file_name(step: &str) -> String {
    let mut name = String::with_capacity(step.len() + GATE_EXTENSION.len());
    for (place, byte) in step.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if place > 0 => name.push('.'),
            _ => {
                let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
                name.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    if name.len() > LONGEST {
        let hash = FileHash::of(step.as_bytes()).to_string();
        name.truncate(LONGEST - 40);
        // `%~` stands in no name that was not cut.
        name.push_str("%~");
        name.extend(hash.chars().take(32));
    }
    name.push_str(GATE_EXTENSION);
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_stay_and_others_are_safe() {
        for (step, expected) in [
            ("step-03-success", "step-03-success.gate"),
            ("3", "3.gate"),
            ("1.10", "1.10.gate"),
            ("Step 1: Title", "%53tep%201%3a%20%54itle.gate"),
            ("../../etc/passwd", "%2e.%2f..%2fetc%2fpasswd.gate"),
            ("", ".gate"),
            ("é", "%c3%a9.gate"),
            ("a%2f", "a%252f.gate"),
        ] {
            assert_eq!(gate_file_name(step), expected);
        }
        let long = gate_file_name(&"x".repeat(1000));
        assert!(long.len() < 160 && long != gate_file_name(&"x".repeat(1001)));
    }

    proptest! {
        #[test]
        fn no_two_steps_share_a_name(one in ".{0,300}", other in ".{0,300}") {
            let names = [gate_file_name(&one), gate_file_name(&other)];
            prop_assert!(names.iter().all(|name| name.len() < 200 && !name.contains(['/', '\\', '\0'])));
            prop_assert_eq!(names[0].eq_ignore_ascii_case(&names[1]), one == other);
        }
    }
}
