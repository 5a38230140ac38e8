//! SM103: the frontmatter is no YAML.

use super::tab_in_indentation;
use crate::artifact::{Artifact, Problem};
use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};
use stepmark_frontmatter::{Document, NodeKind, ParseError, Span, Splice, Yaml, merge_sides, splice};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM103",
    name: "not-yaml",
    group: Group::Document,
    severity: Severity::Error,
    summary: "The frontmatter is no YAML.",
    why: "No reader gets any state out of the file. A value with `: ` or ` #` in it, or text after a \
              closing quote, is the usual cause.",
    bad: "---\nstatus: 'draft' of May\n---\n",
    good: "---\nstatus: 'draft of May'\n---\n",
    fix: "Put the value in quotes. The message says where the reader gave up, which may be a little \
              below the mistake.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // A tab is said to be one, by a rule of its own.
    if tab_in_indentation::tabs_to_blame(subject.artifact).is_some() {
        return;
    }
    let is_about = |problem: &Problem| {
        let error = match problem {
            Problem::NotYaml { error } => error,
            _ => return false,
        };
        matches!(
            error,
            ParseError::NotUtf8 { .. } | ParseError::Syntax { .. } | ParseError::MergeConflict { .. }
        )
    };
    found.extend(subject.diagnosed(&RULE, is_about).map(|mut finding| {
        let place = subject.artifact.bytes().get(finding.span.start..).unwrap_or_default();
        if place.starts_with(b"<<<<<<<") {
            let help = conflict_help(subject.artifact);
            return help.map_or(finding.clone(), |help| finding.with_help(help));
        }
        if std::str::from_utf8(subject.artifact.bytes()).is_err() {
            return finding.with_help("save it as UTF-8; where it is Windows-1252: `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW`");
        }
        let state = subject.artifact.state_span().and_then(|span| subject.artifact.bytes().get(span.range()));
        if state.and_then(|state| std::str::from_utf8(state).ok()).is_some_and(is_joined) {
            let help = "a formatter joined the lines: put each key on a line of its own, or take the block back from git";
            return finding.with_help(help);
        }
        let Some(splices) = quotes(subject.artifact) else { return finding };
        // The reader may give up a line below the one that is wrong.
        let first = splices[0].span;
        let between = subject.artifact.bytes().get(first.end..finding.span.start).unwrap_or_default();
        if between.contains(&b'\n') {
            finding.span = Span::at(first.start);
        }
        let help = match &splices[..] {
            [only] if only.text.starts_with(' ') => format!("put a blank behind the colon:{}", only.text),
            [only] => format!("put the value in quotes: {}", on_one_line(&only.text)),
            _ => format!("put {} values in quotes, the first so: {}", splices.len(), on_one_line(&splices[0].text)),
        };
        let title = "put in quotes what is no YAML without them".to_owned();
        finding.with_help(help).with_fix(Some(Fix { safety: Safety::Unsafe, title, splices }))
    }));
}

fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The largest frontmatter for which quotes are tried, in bytes, and the most values that are put in them.
const TRIED: (usize, usize) = (64 << 10, 32);

/// The quotes around values, each on the line where the reader gives up or the one above, with which the
/// frontmatter is YAML; `None` where they do not help.
fn quotes(artifact: &Artifact) -> Option<Vec<Splice>> {
    let bytes = artifact.bytes();
    // The line of the fault that is left, and whether it is a reference that leads nowhere.
    let error_in = |splices: &[Splice]| -> Option<Result<(), (usize, bool)>> {
        let text = splice(bytes, splices)?;
        let span =
            artifact.region().find(&Document::scan(&text)).ok().filter(|span| span.len() <= TRIED.0)?;
        let line = |offset: usize| text[..offset].iter().filter(|byte| **byte == b'\n').count();
        match Yaml::parse(&text, span) {
            Ok(yaml) => match yaml.unresolved_aliases().first() {
                Some(alias) => Some(Err((line(alias.span.start), true))),
                None => matches!(yaml.root()?.kind, NodeKind::Mapping { .. }).then_some(Ok(())),
            },
            Err(ParseError::Syntax { offset, .. }) => Some(Err((line(offset), false))),
            Err(_) => None,
        }
    };
    let mut splices: Vec<Splice> = Vec::new();
    let (mut at, _) = error_in(&splices)?.err()?;
    while splices.len() < TRIED.1 {
        let quoted =
            [Some(at), at.checked_sub(1), key_above(bytes, at)].into_iter().flatten().find_map(|line| {
                let new = quoted_value(bytes, line)?;
                let is_new = splices.iter().all(|known| known.span != new.span);
                let mut tried = splices.clone();
                tried.insert(tried.partition_point(|known| known.span.start < new.span.start), new);
                let error = error_in(&tried).filter(|error| {
                    is_new && error.err().is_none_or(|(next, is_alias)| is_alias || next > at)
                })?;
                Some((tried, error))
            });
        let (tried, error) = quoted?;
        splices = tried;
        match error {
            Ok(()) => return Some(splices),
            Err((next, _)) => at = next,
        }
    }
    None
}

/// The value of the line with this number, with the lines that go on with it, in quotes.
fn quoted_value(bytes: &[u8], number: usize) -> Option<Splice> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').skip(number).map(std::str::from_utf8);
    let start: usize = bytes.split_inclusive(|byte| *byte == b'\n').take(number).map(<[u8]>::len).sum();
    let line = lines.next()?.ok()?;
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let goes_on = |next: &&str| !next.trim().is_empty() && indent(next) > indent(line);
    let more: usize = lines.map_while(Result::ok).take_while(goes_on).map(str::len).sum();
    let whole = std::str::from_utf8(bytes.get(start..start + line.len() + more)?).ok()?.trim_end();
    let item = whole.trim_start_matches([' ', '-']);
    let value = match value_of(item) {
        Some(value) => value,
        None if item.len() < whole.trim_start().len() => item,
        None => return None,
    };
    let at = start + whole.len() - value.len();
    let has_blank = value.len() == item.len() || value.starts_with([' ', '\t']);
    let (value, comment) = value.split_once(" #").map_or((value, None), |(value, rest)| (value, Some(rest)));
    let blanks = if has_blank { value.len() - value.trim_start().len() } else { 0 };
    let end = at + value.trim_end().len();
    let value = value.trim();
    let first = value.lines().next()?;
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let header = first.strip_prefix(['|', '>']);
    // A `#` that may be text, a quote without an end, a list or map with a fault: a person decides.
    let is_unclear = quote.is_some_and(|quote| !value[1..].contains(quote))
        || comment.is_some_and(|rest| quote.is_some() || !rest.starts_with(' ') || rest.contains('\n'))
        || [('[', ']'), ('{', '}')].iter().any(|(open, close)| {
            value.starts_with(*open) && value.find(*close).is_none_or(|at| at + 1 == value.len())
        })
        || header.is_some_and(|header| header.trim_start_matches(['-', '+', ' ', '1', '2', '4']).is_empty())
        || value.starts_with("- ");
    if is_unclear {
        return None;
    }
    // The quotes around `'it's'` are meant so, those of `'a' or 'b'` are not.
    let stripped =
        quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote).map(|inner| (quote, inner)));
    let is_whole = |(quote, inner): &(char, &str)| {
        let behind = inner.split_once(*quote).map(|(_, behind)| behind);
        behind.is_none_or(|behind| !behind.is_empty() && !behind.starts_with(char::is_whitespace))
    };
    let inner = stripped.filter(is_whole).map_or(value, |(_, inner)| inner);
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.');
    let mut text = match inner.contains('\'') && !inner.contains(['"', '\\']) {
        _ if !has_blank && inner.chars().all(is_plain) => inner.to_owned(),
        true => format!("\"{inner}\""),
        false => format!("'{}'", inner.replace('\'', "''")),
    };
    if !has_blank {
        text.insert(0, ' ');
    }
    Some(Splice { span: Span::new(at + blanks, end), text })
}

/// The number of the nearest line above that one which is indented less.
fn key_above(bytes: &[u8], number: usize) -> Option<usize> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(number + 1).collect();
    let indent = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    let own = indent(lines.last()?);
    (0..number).rev().find(|at| !lines[*at].trim_ascii().is_empty() && indent(lines[*at]) < own)
}

/// The text behind the colon of `key: value`; the blank may be missing, or be none that YAML takes for one.
fn value_of(item: &str) -> Option<&str> {
    let is_word = |key: &str| {
        key.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ' '))
    };
    let value = match item.chars().next()? {
        quote @ ('\'' | '"') => item[1..].split_once(quote)?.1.strip_prefix(':')?,
        '[' | '{' => return None,
        _ => match item.split_once(':')? {
            (key, value) if is_word(key) && !value.starts_with('/') => value,
            _ => item.split_once(": ")?.1,
        },
    };
    (!value.lines().next()?.trim().is_empty()).then_some(value)
}

/// Returns whether a formatter joined the lines of the frontmatter `text`: several keys stand in one line.
fn is_joined(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (Some(only), None) = (lines.next(), lines.next()) else { return false };
    let keys = only.split_whitespace().skip(1).filter(|word| {
        let key = word.strip_suffix(':').unwrap_or_default();
        let is_key = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        key.len() > 1 && key.starts_with(|first: char| first.is_ascii_lowercase()) && key.chars().all(is_key)
    });
    keys.count() > 1 || only.contains(" status: ")
}

/// The names of both sides of a conflict, and their steps together, if both of them have some.
fn conflict_help(artifact: &Artifact) -> Option<String> {
    let [ours, theirs] = merge_sides(std::str::from_utf8(artifact.bytes()).ok()?)?;
    let names = format!("choose between `{}` and `{}`", ours.0, theirs.0);
    let steps = |side: String| -> Vec<String> {
        let side = Artifact::read(artifact.path().clone(), side.into_bytes());
        side.steps().into_iter().flat_map(|steps| steps.spellings()).map(str::to_owned).collect()
    };
    let [mut ours, theirs] = [steps(ours.1), steps(theirs.1)];
    let is_union = !ours.is_empty() && !theirs.is_empty() && ours != theirs;
    ours.extend(theirs.into_iter().filter(|step| !ours.contains(step)).collect::<Vec<_>>());
    Some(if is_union { format!("{names}; both have steps, together [{}]", ours.join(", ")) } else { names })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn quotes_repair_what_people_type() {
        for (typed, quoted) in [
            ("title: Rust: the book", "title: 'Rust: the book'"),
            ("owner: @ada # lead", "owner: '@ada' # lead"),
            ("cmd: `x`", "cmd: '`x`'"),
            ("rate: %x", "rate: '%x'"),
            ("title: [WIP] x", "title: '[WIP] x'"),
            ("title: *bold* x", "title: '*bold* x'"),
            ("title: 'it's'", "title: \"it's\""),
            ("status: 'draft' of May", "status: \"'draft' of May\""),
            ("title: \"say \"hi\"\"", "title: 'say \"hi\"'"),
            ("path: \"C:\\Users\"", "path: 'C:\\Users'"),
            ("a: 'a' or 'b'", "a: \"'a' or 'b'\""),
            ("id: d: d", "id: 'd: d'"),
            ("argument-hint: [a] | [b]", "argument-hint: '[a] | [b]'"),
            ("title:x", "title: x"),
            ("title:\u{a0}x", "title: x"),
            ("\"a\": b: c", "\"a\": 'b: c'"),
            ("title:\tx: y", "title:\t'x: y'"),
            ("t: | x", "t: '| x'"),
            ("t: > x", "t: '> x'"),
            ("t: a\n  b: c", "t: 'a\n  b: c'"),
            ("t: a: b\n  c\n  d", "t: 'a: b\n  c\n  d'"),
            ("t: a\n  b\n  c: d", "t: 'a\n  b\n  c: d'"),
            ("t: 'it's\n  so'", "t: \"it's\n  so\""),
            ("description: Rule: so\nglobs: **/*.ts", "description: 'Rule: so'\nglobs: '**/*.ts'"),
            ("globs: *.ts\ntitle: *bold* x", "globs: '*.ts'\ntitle: '*bold* x'"),
            ("a: x: y\nlist:\n  - b: c: d\n  - @e", "a: 'x: y'\nlist:\n  - b: 'c: d'\n  - '@e'"),
        ] {
            let file = |lines: &str| format!("---\nid: draft\n{lines}\nlast: 1\n---\n# B: c\n");
            assert_eq!(fixed(&RULE, &file(typed)), Some(file(quoted)), "{typed}");
        }
        let alone = fixed(&RULE, "---\ntitle: Part 1: Intro: Basics\n---\n");
        assert_eq!(alone.as_deref(), Some("---\ntitle: 'Part 1: Intro: Basics'\n---\n"));
        for unclear in [
            "title: x owner: ada status: draft",
            "a: {b: c",
            "a: \"Fix #12 \"now\"\"",
            "a: Fix: see #12 and: x",
            "a: \"Half a quote",
            "list: [a, b: c: d]",
            "map: {a: b: c}",
            "a: - b",
        ] {
            assert_eq!(fixed(&RULE, &format!("---\n{unclear}\n---\n")), None, "{unclear}");
        }
    }

    #[test]
    fn says_where_the_reader_gave_up() {
        assert_eq!(
            found(&RULE, "---\nstatus: 'draft' of May\n---\n"),
            ["2:17 SM103 not YAML: invalid trailing content after single-quoted scalar"]
        );
        assert_eq!(
            found(&RULE, "---\nid: P\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n---\n"),
            [
                "3:1 SM103 a merge conflict begins here that nobody has resolved: both versions stand in the file"
            ]
        );
        assert_eq!(found(&RULE, "---\na: {b: c\n---\n").len(), 1);
        assert!(found(&RULE, "---\nstatus: \"draft: of May\"\n---\n").is_empty());
    }
}
