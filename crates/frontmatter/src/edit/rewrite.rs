//! `Edit::Rewrite` and `Edit::PutBack`: text that is known from before, put back as it was.

use super::{Change, Context, Planned, Refusal, Splice, prove};
use crate::{Entry, Span, Yaml, parse::Comment};

pub(super) fn plan(
    context: &Context<'_, '_>,
    file: &[u8],
    splices: &[Splice],
    meaning: prove::Meaning,
) -> Planned {
    let span = splices.first().map_or(context.yaml.span(), |splice| splice.span);
    let is_inside = |splice: &Splice| context.yaml.span().holds(splice.span);
    if context.file != file || !splices.iter().all(is_inside) {
        return Err((Refusal::NotProven, span));
    }
    Ok((!splices.is_empty()).then(|| Change { splices: splices.to_vec(), meaning }))
}

/// Proves that the splices moved the end of the region and nothing behind it.
pub(super) fn prove_end(before: &Yaml<'_>, after: &Yaml<'_>, splices: &[Splice]) -> Result<(), Refusal> {
    let removed: usize = splices.iter().map(|splice| splice.span.len()).sum();
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let is_whole = after.span().end + removed == before.span().end + added;
    (is_whole && after.documents() <= 1).then_some(()).ok_or(Refusal::NotProven)
}

/// Proves that every entry and comment which no splice touches is as it was.
pub(super) fn prove(before: &Yaml<'_>, after: &Yaml<'_>, splices: &[Splice]) -> Result<(), Refusal> {
    let old: Vec<Span> = splices.iter().map(|splice| splice.span).collect();
    let new = spans_after(splices);
    let (kept, found) = (entries_outside(before, &old), entries_outside(after, &new));
    let is_kept =
        kept.len() == found.len() && kept.iter().zip(&found).all(|(old, new)| prove::same_entry(old, new));
    if after.documents() > 1 || !is_kept {
        return Err(Refusal::NotProven);
    }
    let mut kept = comments_outside(before.comments(), &old);
    let mut found = comments_outside(after.comments(), &new);
    loop {
        match (kept.next(), found.next()) {
            (None, None) => return Ok(()),
            (Some(one), Some(other)) if one == other => {}
            (Some(text), _) | (None, Some(text)) => {
                return Err(Refusal::CommentLost { text: text.trim().to_owned() });
            }
        }
    }
}

/// The spans of the splices' texts after them.
fn spans_after(splices: &[Splice]) -> Vec<Span> {
    let (mut removed, mut added) = (0, 0);
    let span_after = |splice: &Splice| {
        let start = splice.span.start - removed + added;
        removed += splice.span.len();
        added += splice.text.len();
        Span::new(start, start + splice.text.len())
    };
    splices.iter().map(span_after).collect()
}

fn entries_outside<'y, 'a>(yaml: &'y Yaml<'a>, spans: &[Span]) -> Vec<&'y Entry<'a>> {
    let is_outside = |entry: &&Entry<'_>| {
        let (start, end) = (entry.key.outer_start(), entry.value.span.end.max(entry.key.span.end));
        spans.iter().all(|span| end <= span.start || span.end <= start)
    };
    yaml.root().map(|root| root.entries().iter().filter(is_outside).collect()).unwrap_or_default()
}

fn comments_outside<'c>(comments: &'c [Comment<'_>], spans: &'c [Span]) -> impl Iterator<Item = &'c str> {
    let is_outside = |comment: &&Comment<'_>| !spans.iter().any(|span| span.holds(comment.span));
    comments.iter().filter(is_outside).map(|comment| &*comment.text)
}
