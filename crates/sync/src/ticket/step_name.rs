//! Steps and their progress, as people read them.

use stepmark_model::workflow::{StepForm, StepId, Track};

use super::Inline;

/// A step as people read it: `2b · Executive summary` for `step-02b-executive-summary`. What is no name of a
/// step stays as it is written.
pub(super) fn step_name(spelling: &str) -> Inline {
    let step = StepId::parse(spelling);
    let shown = match step.form() {
        StepForm::Numbered { number, track, slug } => {
            // Those of the usual track are told without it.
            let track = track
                .filter(|track| *track != Track::Create)
                .map(|track| format!("{} ", sentence(&track.to_string())));
            let track = track.unwrap_or_default();
            match slug {
                Some(slug) => format!("{track}{number} · {}", sentence(slug)),
                None if track.is_empty() => format!("Step {number}"),
                None => format!("{track}{number}"),
            }
        }
        StepForm::Named(name) => sentence(name),
        StepForm::Words => return Inline::Code(spelling.to_owned()),
    };
    let mark = if step.is_skipped() { " (skipped)" } else { "" };
    Inline::Text(format!("{shown}{mark}"))
}

/// The words of a slug, of which the first begins with a capital letter.
fn sentence(slug: &str) -> String {
    let words = slug.split(['-', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const CELLS: usize = 20;

/// A bar of `done` of `total`. It is full only when all is done, and empty only when nothing is.
pub(super) fn bar(done: usize, total: usize) -> String {
    let done = done.min(total);
    let filled = match done {
        0 => 0,
        _ if done == total => CELLS,
        _ => (done * CELLS / total).clamp(1, CELLS - 1),
    };
    "█".repeat(filled) + &"░".repeat(CELLS - filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_words() {
        for (spelling, expected) in [
            ("step-02c-executive-summary", "2c · Executive summary"),
            ("step-12-complete.md", "12 · Complete"),
            ("1.10", "Step 1.10"),
            ("3", "Step 3"),
            ("Step 1: Title", "1 · Title"),
            ("step-e-01-discovery", "Edit 1 · Discovery"),
            ("step-v-02b-parity-check", "Validate 2b · Parity check"),
            ("step-oneshot", "Oneshot"),
            ("step-03-success-skipped", "3 · Success (skipped)"),
        ] {
            assert_eq!(step_name(spelling), Inline::Text(expected.to_owned()), "{spelling}");
        }
        for words in ["edit-2026-02-24", "<!-- stepmark:end -->", ""] {
            assert_eq!(step_name(words), Inline::Code(words.to_owned()));
        }
    }

    #[test]
    fn is_full_and_empty_only_at_the_ends() {
        for (done, total, filled) in
            [(0, 0, 0), (0, 14, 0), (1, 100, 1), (7, 14, 10), (99, 100, 19), (14, 14, 20), (15, 14, 20)]
        {
            let bar = bar(done, total);
            let cells: Vec<char> = bar.chars().collect();
            assert_eq!(cells.len(), CELLS);
            assert_eq!(cells.iter().filter(|cell| **cell == '█').count(), filled, "{done}/{total}");
        }
    }
}
