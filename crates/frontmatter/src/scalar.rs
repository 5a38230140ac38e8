//! Values of unquoted scalars: the YAML 1.2.2 core schema (§10.3.2).

/// A scalar resolved by the core schema. Numbers that Rust cannot hold exactly keep their source text, so
/// that nothing is rounded on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// Empty, `~`, `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A decimal, `0o` octal or `0x` hexadecimal integer.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// An integer beyond 64 bits, or a float that is not finite: its source text.
    Number(&'a str),
    /// All else.
    String(&'a str),
}

impl<'a> Scalar<'a> {
    /// Resolves the text of a plain scalar.
    pub fn resolve(text: &'a str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Null,
            "true" | "True" | "TRUE" => return Self::Bool(true),
            "false" | "False" | "FALSE" => return Self::Bool(false),
            _ => {}
        }
        match text.as_bytes()[0] {
            b'0'..=b'9' | b'+' | b'-' | b'.' => resolve_number(text),
            _ => Self::String(text),
        }
    }
}

fn resolve_number(text: &str) -> Scalar<'_> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let all_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return match (all_digits, i64::from_str_radix(digits, radix)) {
                (true, Ok(value)) => Scalar::Integer(value),
                (true, Err(_)) => Scalar::Number(text),
                (false, _) => Scalar::String(text),
            };
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_or(Scalar::Number(text), Scalar::Integer);
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Scalar::Number(text);
    }
    if !is_decimal_fraction(unsigned) {
        return Scalar::String(text);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Scalar::Float(value),
        Ok(_) => Scalar::Number(text),
        Err(_) => Scalar::String(text),
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_decimal_fraction(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    let mut fraction = 0;
    if let Some(after_dot) = rest.strip_prefix('.') {
        fraction = digits(after_dot);
        rest = &after_dot[fraction..];
    }
    if whole == 0 && fraction == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

#[cfg(test)]
mod tests {
    use super::{Scalar::*, *};

    #[test]
    fn resolves_as_the_core_schema_says() {
        for (text, wanted) in [
            ("", Null),
            ("~", Null),
            ("NULL", Null),
            ("nUll", String("nUll")),
            ("True", Bool(true)),
            ("NO", String("NO")),
            ("on", String("on")),
            ("08", Integer(8)),
            ("0123456", Integer(123_456)),
            ("02b", String("02b")),
            ("-12", Integer(-12)),
            ("+7", Integer(7)),
            ("0o17", Integer(15)),
            ("0o8", String("0o8")),
            ("0xFf", Integer(255)),
            ("0x-1", String("0x-1")),
            ("1_000", String("1_000")),
            ("1.10", Float(1.1)),
            (".5", Float(0.5)),
            ("5.", Float(5.0)),
            (".", String(".")),
            ("-", String("-")),
            ("1e3", Float(1000.0)),
            ("1e", String("1e")),
            ("123e4567", Number("123e4567")),
            ("-.inf", Number("-.inf")),
            (".NaN", Number(".NaN")),
            ("+.nan", String("+.nan")),
            ("99999999999999999999", Number("99999999999999999999")),
            ("12:30", String("12:30")),
            ("2026-11-21", String("2026-11-21")),
            ("1.2.3", String("1.2.3")),
        ] {
            assert_eq!(Scalar::resolve(text), wanted, "{text}");
        }
    }
}
