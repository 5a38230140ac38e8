//! The rank of a record for a question, and why it has it.

use jiff::Timestamp;
use serde::Serialize;

use crate::MemoryRecord;

/// Chosen, not tuned: words count most, the rest decides between similar ones.
const TEXT: f64 = 0.7;
const GRAPH: f64 = 0.15;
const RECENCY: f64 = 0.07;
const KIND: f64 = 0.08;
const HALF_LIFE: f64 = 180.0;
const STEP: f64 = 0.5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    pub total: f64,
    pub text: f64,
    pub graph: f64,
    pub recency: f64,
    /// Importance times certainty.
    pub kind: f64,
}

/// `text` is the fit of its words against the best, `distance` that in the graph.
pub fn score(record: &MemoryRecord, (text, distance): (f64, Option<u32>), now: Timestamp) -> Score {
    let days = now.duration_since(record.created_at).as_secs_f64().max(0.0) / 86_400.0;
    let recency = 0.5_f64.powf(days / HALF_LIFE);
    let graph = distance.map_or(0.0, |steps| STEP.powi(i32::try_from(steps.min(30)).unwrap_or(30)));
    let kind = record.importance * record.confidence;
    let total = TEXT * text + GRAPH * graph + RECENCY * recency + KIND * kind;
    Score { total, text, graph, recency, kind }
}

/// From 0 to 1; endings do not count.
pub fn coverage(question: &str, record: &MemoryRecord) -> f64 {
    let decision = record.decision.as_ref().map(|own| own.alternatives.join(" ")).unwrap_or_default();
    let rationale = record.rationale.as_deref().unwrap_or_default();
    let text = format!("{} {rationale} {decision} {}", record.content, record.tags.join(" ")).to_lowercase();
    let own: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let wanted = words(question);
    let has = |word: &&String| {
        let kept = word.chars().count().saturating_sub(2).max(3);
        let stem: String = word.chars().take(kept).collect();
        own.iter().any(|own| own.starts_with(&stem))
    };
    let found = wanted.iter().filter(has).count();
    if wanted.is_empty() { 0.0 } else { found as f64 / wanted.len() as f64 }
}

/// Prompts are longer than questions: half of the words must fit, or two of a few more, or three.
pub fn fits(prompt: &str, record: &MemoryRecord) -> bool {
    let (share, all) = (coverage(prompt, record), words(prompt).len() as f64);
    share >= 0.5 || share >= 0.15 && share * all >= 1.5 || share * all >= 2.5
}

/// Without common words, unless nothing else is left.
pub fn words(question: &str) -> Vec<String> {
    let all: Vec<String> = question
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .take(64)
        .collect();
    let rare: Vec<String> = all.iter().filter(|word| !COMMON.contains(&word.as_str())).cloned().collect();
    if rare.is_empty() { all } else { rare }
}

const COMMON: [&str; 62] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "of",
    "on", "or", "our", "should", "so", "that", "the", "their", "them", "there", "they", "this", "to", "us",
    "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
    "your", "not", "no", "than",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryKind, Source};

    #[test]
    fn of_alike_words_the_nearer_and_newer_counts() {
        let at = |day: &str| format!("2026-01-{day}T00:00:00Z").parse::<Timestamp>().unwrap();
        let record = |kind, day| MemoryRecord::new(kind, "x".to_owned(), Source::default(), at(day));
        let decision = record(MemoryKind::Decision, "01");
        let now = at("31");
        let total = |record: &MemoryRecord, distance| score(record, (1.0, distance), now).total;
        assert!(total(&decision, Some(0)) > total(&decision, Some(1)));
        assert!(total(&decision, Some(1)) > total(&decision, None));
        assert!(total(&record(MemoryKind::Decision, "30"), None) > total(&decision, None));
        assert!(total(&decision, None) > total(&record(MemoryKind::Summary, "01"), None));
    }

    #[test]
    fn a_record_covers_a_part_of_a_question() {
        let record = MemoryRecord::new(
            MemoryKind::Learning,
            "The ports are taken by tests".to_owned(),
            Source::default(),
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(coverage("Is the port taken?", &record), 1.0);
        assert_eq!(coverage("Rename the port to harbour", &record), 1.0 / 3.0);
        assert_eq!(coverage("", &record), 0.0);
    }

    #[test]
    fn common_words_are_not_looked_for() {
        assert_eq!(words("Why did we use SQLite?"), ["use", "sqlite"]);
        assert_eq!(words("who is it"), ["who", "is", "it"]);
    }
}
