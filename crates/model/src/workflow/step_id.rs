//! Step names, in all spellings of artifacts and step files.

use std::fmt;

use super::Track;

/// `02b` is major 2, letter b; `1.10` is major 1, minor 10 (not 1.1). Order: 2 < 2b < 2c < 2.1 < 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepNumber {
    /// At most three digits (four are a year).
    pub major: u16,
    /// After a dot: `1.10`.
    pub minor: Option<u16>,
    /// Lower case: `02b`.
    pub letter: Option<char>,
}

/// Without case, extension, leading zeros and separators.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepForm {
    /// `step-02b-vision`, `02b`, `2`, `Step 2b: Vision`.
    Numbered {
        number: StepNumber,
        /// From a marker in the spelling (`step-e-01`).
        track: Option<Track>,
        /// Words after the number, lower case, joined by `-`.
        slug: Option<Box<str>>,
    },
    /// Without a number: `oneshot` of `step-oneshot`.
    Named(Box<str>),
    /// `edit-2026-02-24`: not a step.
    Words,
}

/// A spelling with its meaning; [`StepForm::Words`] if it is no step. Steps are names, not numbers, because
/// lists mix both (docs/formats.md, "Lists of steps").
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepId {
    spelling: Box<str>,
    form: StepForm,
    skipped: bool,
}

impl StepId {
    /// Accepts a list item, a file name or its stem, or what a person typed.
    ///
    /// Rules, each from a variety in docs/formats.md: folder and `.md` are dropped; case is ignored; `step`
    /// and its separator may be missing (`01-init`); `e-`, `v-` and `c-` before a digit mark the track; a
    /// number has one to three digits, then nothing, a letter (`02b`) or a dot and a number (`1.10`); the
    /// rest is the slug (`-init`, `: Title`); `-skipped` at the end means done by skipping.
    pub fn parse(spelling: &str) -> Self {
        let text = spelling.trim();
        let text = text.rsplit(['/', '\\']).next().unwrap_or(text).to_lowercase();
        let text = text.strip_suffix(".md").unwrap_or(&text);
        let (text, skipped) = without_skip_mark(text);
        Self { spelling: spelling.into(), form: form(text), skipped }
    }

    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    pub fn form(&self) -> &StepForm {
        &self.form
    }

    pub fn number(&self) -> Option<StepNumber> {
        match &self.form {
            StepForm::Numbered { number, .. } => Some(*number),
            StepForm::Named(_) | StepForm::Words => None,
        }
    }

    pub fn track(&self) -> Option<Track> {
        match &self.form {
            StepForm::Numbered { track, .. } => *track,
            StepForm::Named(_) | StepForm::Words => None,
        }
    }

    pub fn slug(&self) -> Option<&str> {
        match &self.form {
            StepForm::Numbered { slug, .. } => slug.as_deref(),
            StepForm::Named(name) => Some(name),
            StepForm::Words => None,
        }
    }

    /// `step-03-success-skipped`: done without work.
    pub fn is_skipped(&self) -> bool {
        self.skipped
    }

    /// `step-01b-continue`, `step-01b-resume`: upstream adds one on each resume (docs/formats.md,
    /// "Resumption"); never progress.
    pub fn is_resume(&self) -> bool {
        self.slug().is_some_and(|slug| {
            let last = slug.rsplit('-').next().unwrap_or(slug);
            last == "continue" || slug == "resume"
        })
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.spelling)
    }
}

impl fmt::Display for StepNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.major)?;
        if let Some(minor) = self.minor {
            write!(out, ".{minor}")?;
        }
        self.letter.map_or(Ok(()), |letter| write!(out, "{letter}"))
    }
}

fn without_skip_mark(text: &str) -> (&str, bool) {
    for mark in ["-skipped", "_skipped", " skipped", " (skipped)"] {
        if let Some(rest) = text.strip_suffix(mark).filter(|rest| !rest.is_empty()) {
            return (rest.trim_end(), true);
        }
    }
    (text, false)
}

/// `text` is lower case, without folder, extension and skip mark.
fn form(text: &str) -> StepForm {
    let rest = text.strip_prefix("step").map_or(text, |rest| rest.trim_start_matches(is_separator));
    if let Some(numbered) = numbered(rest) {
        return numbered;
    }
    // `step` needs a separator: `step-oneshot`, not `steps`.
    let set_apart = text.strip_prefix("step").is_some_and(|rest| rest.starts_with(['-', '_']));
    if set_apart && !rest.is_empty() && !rest.contains(char::is_whitespace) {
        return StepForm::Named(rest.into());
    }
    StepForm::Words
}

fn numbered(text: &str) -> Option<StepForm> {
    let (track, text) = track_marker(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let major = small_number(&text[..digits])?;
    let mut rest = &text[digits..];
    let mut minor = None;
    if let Some(after_dot) = rest.strip_prefix('.') {
        let digits = after_dot.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            minor = Some(small_number(&after_dot[..digits])?);
            rest = &after_dot[digits..];
        }
    }
    let mut letter = None;
    if let Some(first) = rest.chars().next().filter(char::is_ascii_lowercase) {
        letter = Some(first);
        rest = &rest[1..];
    }
    let slug = if rest.is_empty() {
        None
    } else if rest.starts_with(is_separator) {
        slug(rest)
    } else {
        return None;
    };
    Some(StepForm::Numbered { number: StepNumber { major, minor, letter }, track, slug })
}

/// `e-01` is track edit and `01`. Only before a digit, so that `e-mail` stays words.
fn track_marker(text: &str) -> (Option<Track>, &str) {
    let mut letters = text.chars();
    let marked = letters.next().and_then(Track::from_marker).and_then(|track| {
        let rest = letters.as_str().strip_prefix(['-', '_'])?;
        rest.starts_with(|first: char| first.is_ascii_digit()).then_some((track, rest))
    });
    marked.map_or((None, text), |(track, rest)| (Some(track), rest))
}

/// Four digits are a year (`2026-02-24`).
fn small_number(digits: &str) -> Option<u16> {
    if digits.len() > 3 { None } else { digits.parse().ok() }
}

/// `-init`, `: Project Init` and ` – Project init` give words joined by `-`.
fn slug(text: &str) -> Option<Box<str>> {
    let mut slug = String::new();
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    (!slug.is_empty()).then(|| slug.into())
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '-' | '_' | ':' | '.' | '–' | '—' | '(' | ')')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(major: u16, letter: Option<char>, track: Option<Track>, slug: &str) -> StepForm {
        StepForm::Numbered {
            number: StepNumber { major, minor: None, letter },
            track,
            slug: (!slug.is_empty()).then(|| slug.into()),
        }
    }

    #[test]
    fn reads_every_variety_of_the_wild() {
        use Track::{Edit, Validate};
        for (spelling, form) in [
            ("step-01-init", numbered(1, None, None, "init")),
            ("step-01-init.md", numbered(1, None, None, "init")),
            ("steps/step-01-init.md", numbered(1, None, None, "init")),
            ("STEP-01-Init", numbered(1, None, None, "init")),
            ("step-02b-vision", numbered(2, Some('b'), None, "vision")),
            ("step-e-01-discovery", numbered(1, None, Some(Edit), "discovery")),
            ("e-01-load-existing", numbered(1, None, Some(Edit), "load-existing")),
            ("step-v-02b-parity-check", numbered(2, Some('b'), Some(Validate), "parity-check")),
            ("01-init", numbered(1, None, None, "init")),
            ("1", numbered(1, None, None, "")),
            ("01", numbered(1, None, None, "")),
            ("02b", numbered(2, Some('b'), None, "")),
            ("Step 1: Project  Title", numbered(1, None, None, "project-title")),
            ("Step 2b", numbered(2, Some('b'), None, "")),
            ("step-04", numbered(4, None, None, "")),
            ("step3", numbered(3, None, None, "")),
            ("1. Init", numbered(1, None, None, "init")),
            ("step-oneshot", StepForm::Named("oneshot".into())),
            ("edit-2026-02-24", StepForm::Words),
            ("2026-02-24", StepForm::Words),
            ("3rd-pass", StepForm::Words),
            ("1.2.3.4 beta", numbered_minor(1, 2, "3-4-beta")),
            ("1.10", numbered_minor(1, 10, "")),
            ("1.1", numbered_minor(1, 1, "")),
            ("step by step", StepForm::Words),
            ("steps", StepForm::Words),
            ("e-mail", StepForm::Words),
            ("step-", StepForm::Words),
            ("", StepForm::Words),
            ("-skipped", StepForm::Words),
        ] {
            assert_eq!(*StepId::parse(spelling).form(), form, "{spelling:?}");
        }
    }

    fn numbered_minor(major: u16, minor: u16, slug: &str) -> StepForm {
        StepForm::Numbered {
            number: StepNumber { major, minor: Some(minor), letter: None },
            track: None,
            slug: (!slug.is_empty()).then(|| slug.into()),
        }
    }

    #[test]
    fn knows_skipped_and_resume_marks() {
        let skipped = StepId::parse("step-03-success-skipped");
        assert!(skipped.is_skipped());
        assert_eq!(skipped.form(), StepId::parse("step-03-success").form());
        assert_eq!(skipped.spelling(), "step-03-success-skipped");
        for resume in ["step-01b-continue", "step-01b-continue.md", "step-01b-resume", "step-07-continue"] {
            assert!(StepId::parse(resume).is_resume(), "{resume}");
        }
        for step in ["step-01b", "step-02-resume-parsing", "continue", "step-01-continuous-delivery"] {
            assert!(!StepId::parse(step).is_resume(), "{step}");
        }
    }

    #[test]
    fn orders_numbers_as_a_reader_does() {
        let order = ["1", "2", "02b", "2c", "2.1", "2.10", "10"];
        let numbers: Vec<_> = order.iter().filter_map(|text| StepId::parse(text).number()).collect();
        assert_eq!(numbers.len(), order.len());
        assert!(numbers.is_sorted());
        assert_eq!(numbers[5].to_string(), "2.10");
    }

    proptest! {
        #[test]
        fn any_text_parses_and_keeps_its_spelling(text in "\\PC{0,40}") {
            let id = StepId::parse(&text);
            prop_assert_eq!(id.spelling(), &*text);
        }

        #[test]
        fn dressing_does_not_change_a_step(major in 0u16..1000, slug in "[a-z]{2,8}(-[a-z]{1,8}){0,2}") {
            prop_assume!(!slug.ends_with("-skipped"));
            let plain = StepId::parse(&format!("step-{major:02}-{slug}"));
            for dressed in [
                format!("{major}-{slug}"),
                format!("a/b/step-{major:03}-{slug}.md"),
                format!("Step {major}: {}", slug.replace('-', " ").to_uppercase()),
            ] {
                let dressed = StepId::parse(&dressed);
                prop_assert_eq!(dressed.form(), plain.form());
            }
        }
    }
}
