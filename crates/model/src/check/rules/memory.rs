//! Memories of a project, and the stores that receive them.

use crate::{artifact::ProjectPath, check::Finding, check::rule::Decision};
use stepmark_frontmatter::Span;

rules! { Memory;
    pub STORE_BEHIND "SMM01" "memory-store-behind" Note Decision::OfLaterStage;
    pub SECRET_IN_MEMORY "SMM02" "secret-in-memory" Error Decision::OfLaterStage;
    pub SUPERSEDED_BY_MISSING "SMM03" "superseded-by-missing" Warning Decision::OfLaterStage;
}

pub fn store_behind_finding(path: &ProjectPath, span: Span, (name, count): (&str, usize)) -> Finding {
    let message = match count {
        0 => format!("the store `{name}` could not be asked"),
        1 => format!("the store `{name}` lacks one memory or node"),
        count => format!("the store `{name}` lacks {count} memories and nodes"),
    };
    Finding::new(&STORE_BEHIND, path, span, message)
        .with_help("`stepmark memory sync` gives it what it lacks; `stepmark memory status` says what failed")
}

pub fn secret_in_memory_finding(path: &ProjectPath, span: Span, (id, secret): (&str, &str)) -> Finding {
    Finding::new(&SECRET_IN_MEMORY, path, span, format!("memory {id:.8} holds a secret ({secret})")).with_help(format!(
        "take the secret out of use, tell the memory without it, and `stepmark memory supersede {id:.8} --by ID`"
    ))
}

pub fn superseded_by_missing_finding(path: &ProjectPath, span: Span, (old, new): (&str, &str)) -> Finding {
    Finding::new(
        &SUPERSEDED_BY_MISSING,
        path,
        span,
        format!("memory {old:.8} was superseded by {new:.8}, which is not there"),
    )
    .with_help(format!(
        "fetch the history that has it, or tell it again and `stepmark memory supersede {old:.8} --by ID`"
    ))
}
