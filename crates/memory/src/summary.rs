//! Summaries of sessions.

use std::collections::BTreeSet;

use crate::{MemoryKind, MemoryRecord, Source, rows::Fact};

const MOST: usize = 12;

pub fn summary_of(facts: &[Fact], told: &[MemoryRecord]) -> Option<MemoryRecord> {
    let end = facts.iter().find(|fact| fact.text.is_empty())?;
    let happened: Vec<&Fact> = facts.iter().filter(|fact| !fact.text.is_empty()).collect();
    if happened.is_empty() && told.is_empty() {
        return None;
    }
    let tellers = told.iter().map(|record| record.source.agent.as_str());
    let agents: BTreeSet<&str> = happened.iter().map(|fact| fact.agent.as_str()).chain(tellers).collect();
    let agents: Vec<&str> = agents.into_iter().collect();
    let mut lines = vec![format!("Session {} of {}", end.session, agents.join(", "))];
    lines.extend(told.iter().take(MOST).map(|record| format!("{}: {}", record.kind.name(), record.content)));
    let left = happened.len().saturating_sub(MOST);
    if left > 0 {
        lines.push(format!("{left} earlier changes"));
    }
    lines.extend(happened.iter().skip(left).map(|fact| fact.text.clone()));
    let source = Source {
        event: end.event.clone(),
        session: Some(end.session.clone()),
        agent: end.agent.clone(),
        ..Source::default()
    };
    let content = lines.join("\n").chars().take(4_000).collect();
    Some(MemoryRecord::new(MemoryKind::Summary, content, source, end.at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn fact(event: &str, text: &str) -> Fact {
        Fact {
            at: Timestamp::UNIX_EPOCH,
            event: event.to_owned(),
            session: "s-1".to_owned(),
            text: text.to_owned(),
            agent: "agent:pm".to_owned(),
        }
    }

    #[test]
    fn a_session_is_told_when_it_has_ended() {
        assert_eq!(summary_of(&[fact("1", "docs/prd.md: status draft → done")], &[]), None);
        assert_eq!(summary_of(&[fact("1", "")], &[]), None);
        let summary =
            summary_of(&[fact("1", "docs/prd.md: status draft → done"), fact("2", "")], &[]).unwrap();
        assert_eq!(summary.content, "Session s-1 of agent:pm\ndocs/prd.md: status draft → done");
        assert_eq!((summary.id.as_str(), summary.kind), ("2", MemoryKind::Summary));
    }
}
