//! Document: fences, YAML, bytes.

use crate::artifact::{Artifact, Problem};
use crate::check::{Finding, Fix, Safety, Subject, rule::Decision};
use ParseError::{TooDeep, TooLarge, TooManyNodes};
use stepmark_frontmatter::{
    Document, LineEnding, NodeKind, ParseError, Span, Splice, Yaml, heading_title, merge_sides, splice,
};

rules! { Document;
    pub(crate) FENCE_UNCLOSED "SM101" "fence-unclosed" Error Decision::OfArtifact(check_fence_unclosed);
    pub(crate) FRONTMATTER_MISPLACED "SM102" "frontmatter-misplaced" Error Decision::fixable(|problem| matches!(problem, Problem::FrontmatterMisplaced), "move it above everything else", to_the_start);
    pub(crate) NOT_YAML "SM103" "not-yaml" Error Decision::OfArtifact(check_not_yaml);
    pub(crate) NOT_A_MAPPING "SM104" "not-a-mapping" Error Decision::diagnosed(|problem| matches!(problem, Problem::NotAMapping), "write `key: value` lines");
    pub(crate) SEVERAL_DOCUMENTS "SM105" "several-documents" Error Decision::diagnosed(|problem| matches!(problem, Problem::SeveralDocuments), "take the line that parts them out");
    pub(crate) KEY_TWICE "SM106" "key-twice" Error Decision::diagnosed(|problem| matches!(problem, Problem::KeyTwice { .. }), "keep one of them; stepmark reads the first and edits neither");
    pub(crate) ALIAS_UNRESOLVED "SM107" "alias-unresolved" Error Decision::fixable(|problem| matches!(problem, Problem::AliasUnresolved { .. }), "put the text in quotes if it is text", quoted);
    pub(crate) LINE_ENDS_MIXED "SM108" "line-ends-mixed" Note Decision::fixable(|problem| matches!(problem, Problem::LineEndsMixed), "", made_the_same);
    pub(crate) BYTE_ORDER_MARK "SM109" "byte-order-mark" Note Decision::fixable(|problem| matches!(problem, Problem::ByteOrderMark), "", |_, mark| Some(Fix::splice(Safety::Safe, "take the byte order mark out", mark, "")));
    pub(crate) OVER_LIMIT "SM110" "over-limit" Error Decision::diagnosed(is_over_limit, "move what is large out of the frontmatter");
    pub(crate) TAB_IN_INDENTATION "SM111" "tab-in-indentation" Error Decision::OfArtifact(check_tab_in_indentation);
    pub(crate) VALUE_AMBIGUOUS "SM112" "value-ambiguous" Note Decision::OfArtifact(check_value_ambiguous);
}

fn check_fence_unclosed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let bytes = subject.artifact.bytes();
    for finding in subject.diagnosed(&FENCE_UNCLOSED, |problem| matches!(problem, Problem::FenceUnclosed)) {
        let line_end = LineEnding::first_of(bytes).map_or("\n", LineEnding::as_str);
        let (help, fix) = match formatted(bytes, finding.span, line_end) {
            Some(fix) => ("a formatter of Markdown took the block for a rule and a heading", Some(fix)),
            None => ("add a line `---` below the last key", closing_fence(bytes, finding.span)),
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

fn closing_fence(file: &[u8], opening: Span) -> Option<Fix> {
    let line_end = LineEnding::first_of(file)?;
    let blank = [line_end.as_str(), line_end.as_str()].concat();
    let start = opening.end + line_end.as_str().len();
    let rest = file.get(start..)?;
    let (at, fence) = match memchr::memmem::find(rest, blank.as_bytes()) {
        Some(at) => (start + at + line_end.as_str().len(), format!("---{}", line_end.as_str())),
        None if rest.ends_with(line_end.as_str().as_bytes()) => {
            (file.len(), format!("---{}", line_end.as_str()))
        }
        None => (file.len(), format!("{}---", line_end.as_str())),
    };
    let yaml = Yaml::parse(file, Span::new(start, at)).ok()?;
    yaml.root().filter(|root| !root.entries().is_empty())?;
    Some(Fix::splice(Safety::Unsafe, "close the frontmatter above the first blank line", Span::at(at), fence))
}

/// Undoes a formatter that lengthened the closing fence, or made the only key a heading.
fn formatted(file: &[u8], opening: Span, line_end: &str) -> Option<Fix> {
    let text = std::str::from_utf8(file).ok()?;
    let mut start = opening.end + line_end.len();
    let is_keys = |text: &str| {
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).ok();
        yaml.is_some_and(|yaml| yaml.root().is_some_and(|root| !root.entries().is_empty()))
    };
    let title = "put back the block that a formatter made a rule and a heading";
    let keys = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let (content, end) = (line.trim_end(), start + line.len());
        if content.len() > 3 && content.bytes().all(|byte| byte == b'-') {
            let span = Span::new(start, start + content.len());
            return is_keys(&text[keys..start])
                .then(|| Fix::splice(Safety::Unsafe, title, span, "---".to_owned()));
        }
        if let Some(heading) =
            heading_title(content.as_bytes()).filter(|_| text[keys..start].trim().is_empty())
        {
            let heading = std::str::from_utf8(heading).ok().filter(|heading| is_keys(heading))?;
            let block = format!("{heading}{line_end}---{line_end}");
            return Some(Fix::splice(Safety::Unsafe, title, Span::new(keys, end), block));
        }
        if content.starts_with('#') {
            return None;
        }
        start = end;
    }
    None
}

fn to_the_start(file: &[u8], block: Span) -> Option<Fix> {
    let mut text = std::str::from_utf8(file.get(block.range())?).ok()?.to_owned();
    let line_end = LineEnding::first_of(file)?.as_str();
    if !text.ends_with(line_end) {
        text.push_str(line_end);
    }
    if !file.starts_with(line_end.as_bytes()) {
        text.push_str(line_end);
    }
    let start = if Document::scan(file).has_byte_order_mark() { 3 } else { 0 };
    let title = "move the frontmatter to the start of the file".to_owned();
    let splices = vec![Splice { span: Span::at(start), text }, Splice { span: block, text: String::new() }];
    Some(Fix { safety: Safety::Unsafe, title, splices })
}

fn check_not_yaml(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // Tabs have a rule of their own.
    if tabs_to_blame(subject.artifact).is_some() {
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
    found.extend(subject.diagnosed(&NOT_YAML, is_about).map(|mut finding| {
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
        // The parser may fail below the wrong line.
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

/// Limits for trying quotes: bytes of frontmatter, and values.
const TRIED: (usize, usize) = (64 << 10, 32);

/// Quotes values on the failing line or the one above; `None` if that does not help.
fn quotes(artifact: &Artifact) -> Option<Vec<Splice>> {
    let bytes = artifact.bytes();
    // The line of the remaining error, and if it is an unresolved alias.
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
    // `#` in text, an unclosed quote, or a broken list or map: a person decides.
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
    // Quotes around `'it's'` are meant; those of `'a' or 'b'` are not.
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

fn key_above(bytes: &[u8], number: usize) -> Option<usize> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(number + 1).collect();
    let indent = |line: &[u8]| line.iter().take_while(|byte| **byte == b' ').count();
    let own = indent(lines.last()?);
    (0..number).rev().find(|at| !lines[*at].trim_ascii().is_empty() && indent(lines[*at]) < own)
}

/// After `key:`; the blank may be missing, or be one that YAML does not accept.
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

/// A formatter joined lines: several keys are on one line.
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

fn quoted(file: &[u8], alias: Span) -> Option<Fix> {
    let text = std::str::from_utf8(file.get(alias.range())?).ok()?;
    let title = format!("quote `{text}`");
    (!text.contains('\'')).then(|| Fix::splice(Safety::Unsafe, title, alias, format!("'{text}'")))
}

/// As on the first line of the file.
fn made_the_same(file: &[u8], content: Span) -> Option<Fix> {
    let wanted = LineEnding::first_of(file)?.as_str();
    let mut splices = Vec::new();
    let mut at = content.start;
    while let Some(length) = file.get(at..content.end).and_then(|rest| memchr::memchr2(b'\n', b'\r', rest)) {
        let start = at + length;
        let width = if file[start..].starts_with(b"\r\n") { 2 } else { 1 };
        let span = Span::new(start, start + width);
        if file.get(span.range()) != Some(wanted.as_bytes()) {
            splices.push(Splice { span, text: wanted.to_owned() });
        }
        at = span.end;
    }
    let title = "end all lines of the frontmatter like the first".to_owned();
    (!splices.is_empty()).then_some(Fix { safety: Safety::Safe, title, splices })
}

fn is_over_limit(problem: &Problem) -> bool {
    matches!(problem, Problem::NotYaml { error: TooLarge { .. } | TooDeep { .. } | TooManyNodes { .. } })
}

const BLANKS: &str = "  ";

fn check_tab_in_indentation(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(tabs) = tabs_to_blame(subject.artifact) else { return };
    let Some(first) = tabs.runs.first().copied() else { return };
    let message = match tabs.runs.len() {
        1 => "this line is indented with a tab, which YAML does not allow".to_owned(),
        lines => {
            format!("this line and {} more are indented with tabs, which YAML does not allow", lines - 1)
        }
    };
    let finding = subject.finding(&TAB_IN_INDENTATION, first, message).with_help("indent with blanks");
    let safety = if tabs.are_alone { Safety::Safe } else { Safety::Unsafe };
    let splices: Vec<Splice> =
        tabs.runs.iter().map(|run| Splice { span: *run, text: blanks(subject.artifact, *run) }).collect();
    let fix =
        tabs.are_all.then(|| Fix { safety, title: "write two blanks for each tab".to_owned(), splices });
    found.push(finding.with_fix(fix));
}

pub(super) struct TabIndentation {
    runs: Vec<Span>,
    /// Replacing all tabs makes the frontmatter readable.
    are_all: bool,
    are_alone: bool,
}

/// Indentation tabs that break the YAML: with blanks instead, parsing succeeds or gets further. `None` if it
/// parses, or fails for another reason.
pub(super) fn tabs_to_blame(artifact: &Artifact) -> Option<TabIndentation> {
    let is_syntax =
        |problem: &Problem| matches!(problem, Problem::NotYaml { error: ParseError::Syntax { .. } });
    let failed = artifact.diagnoses().iter().find(|diagnosis| is_syntax(&diagnosis.problem))?.span.start;
    let content = artifact.state_span()?;
    let bytes = artifact.bytes();
    let indents = indents(bytes, content);
    let (runs, others): (Vec<Span>, Vec<Span>) =
        indents.into_iter().partition(|indent| bytes[indent.range()].contains(&b'\t'));
    if runs.is_empty() {
        return None;
    }
    let mut blank = Vec::with_capacity(content.len());
    let mut at = content.start;
    let mut moved = 0;
    for run in &runs {
        blank.extend_from_slice(&bytes[at..run.start]);
        let text = blanks(artifact, *run);
        blank.extend_from_slice(text.as_bytes());
        if run.start <= failed {
            moved += text.len() - run.len();
        }
        at = run.end;
    }
    blank.extend_from_slice(&bytes[at..content.end]);
    let left = Yaml::parse(&blank, Span::new(0, blank.len())).err();
    let is_further = |error: &ParseError| error.offset() > failed.saturating_sub(content.start) + moved;
    let are_alone = others.is_empty() && runs.iter().all(|run| !bytes[run.range()].contains(&b' '));
    left.as_ref().is_none_or(is_further).then(|| TabIndentation { runs, are_all: left.is_none(), are_alone })
}

fn indents(bytes: &[u8], content: Span) -> Vec<Span> {
    let mut indents = Vec::new();
    let mut start = content.start;
    for line in bytes[content.range()].split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let blank = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if blank > 0 && !line.trim_ascii().is_empty() {
            indents.push(Span::new(start, start + blank));
        }
        start += line.len();
    }
    indents
}

fn blanks(artifact: &Artifact, run: Span) -> String {
    artifact.bytes()[run.range()].iter().map(|byte| if *byte == b'\t' { BLANKS } else { " " }).collect()
}

fn check_value_ambiguous(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.artifact.diagnoses() {
        let (text, help) = match &diagnosis.problem {
            Problem::ReadDifferently { text, .. } => (text, "put it in quotes if it is text"),
            Problem::ReadAsBool { text, .. } => (text, "put it in quotes, or write `true` or `false`"),
            _ => continue,
        };
        let title = format!("quote `{text}`");
        // With quotes, readers of a number or a boolean see another value.
        let fix = Fix::splice(Safety::Unsafe, title, diagnosis.span, format!("'{text}'"));
        let finding = subject.finding(&VALUE_AMBIGUOUS, diagnosis.span, diagnosis.problem.to_string());
        found.push(finding.with_help(help).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn names_the_opening_fence() {
        assert_eq!(
            found(&FENCE_UNCLOSED, "---\nstatus: draft\n\n# PRD\n"),
            ["1:1 SM101 the frontmatter that opens here is never closed"]
        );
        assert!(found(&FENCE_UNCLOSED, "---\nstatus: draft\n---\n").is_empty());
        assert!(found(&FENCE_UNCLOSED, "# PRD\n\n---\n").is_empty());
    }

    #[test]
    fn closes_what_reads_as_frontmatter() {
        for (file, expected) in [
            ("---\nstatus: draft\n\n# PRD\n", "---\nstatus: draft\n---\n\n# PRD\n"),
            ("---\r\na: 1\r\n\r\ntext", "---\r\na: 1\r\n---\r\n\r\ntext"),
            ("---\n\nstatus: draft\n\n# PRD\n", "---\n\nstatus: draft\n---\n\n# PRD\n"),
            ("---\r\n\r\na: 1\r\n", "---\r\n\r\na: 1\r\n---\r\n"),
            ("--- \nstatus: draft\n\n# PRD\n", "--- \nstatus: draft\n---\n\n# PRD\n"),
            ("---\nstatus: draft\n", "---\nstatus: draft\n---\n"),
            ("---\nstatus: draft", "---\nstatus: draft\n---"),
            ("---\n\na: [1]\nb: c\n------\n\n# PRD\n", "---\n\na: [1]\nb: c\n---\n\n# PRD\n"),
            ("---\n\n## status: 'draft'\n\n# PRD\n", "---\nstatus: 'draft'\n---\n\n# PRD\n"),
        ] {
            assert_eq!(fixed(&FENCE_UNCLOSED, file).as_deref(), Some(expected), "{file:?}");
        }
        for file in ["---\n# PRD\ntext: [\n", "---\n# PRD\n\nstatus: draft\n", "---"] {
            assert_eq!(fixed(&FENCE_UNCLOSED, file), None, "{file:?}");
        }
    }

    #[test]
    fn only_what_looks_like_frontmatter_is_misplaced() {
        let found_at =
            |text| found(&FRONTMATTER_MISPLACED, text).first().map(|line| line[..4].trim_end().to_owned());
        assert_eq!(found_at("# PRD\n\n---\nstatus: draft\n---\n").as_deref(), Some("3:1"));
        assert_eq!(found_at("\n---\nstatus: draft\n---\n").as_deref(), Some("2:1"));
        assert_eq!(found_at("# PRD\n\ntext\n\n---\nstatus: draft\n---\n"), None);
        assert_eq!(found_at("---\nstatus: draft\n---\n"), None);
    }

    #[test]
    fn moves_the_block_to_the_start() {
        for (file, expected) in [
            ("# PRD\n\n---\nstatus: draft\n---\ntext\n", "---\nstatus: draft\n---\n\n# PRD\n\ntext\n"),
            ("\n---\nstatus: draft\n---\n", "---\nstatus: draft\n---\n\n"),
            ("# A\r\n---\r\na: 1\r\n---", "---\r\na: 1\r\n---\r\n\r\n# A\r\n"),
        ] {
            assert_eq!(fixed(&FRONTMATTER_MISPLACED, file).as_deref(), Some(expected), "{file:?}");
        }
    }

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
            assert_eq!(fixed(&NOT_YAML, &file(typed)), Some(file(quoted)), "{typed}");
        }
        let alone = fixed(&NOT_YAML, "---\ntitle: Part 1: Intro: Basics\n---\n");
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
            assert_eq!(fixed(&NOT_YAML, &format!("---\n{unclear}\n---\n")), None, "{unclear}");
        }
    }

    #[test]
    fn says_where_the_reader_gave_up() {
        assert_eq!(
            found(&NOT_YAML, "---\nstatus: 'draft' of May\n---\n"),
            ["2:17 SM103 not YAML: invalid trailing content after single-quoted scalar"]
        );
        assert_eq!(
            found(&NOT_YAML, "---\nid: P\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n---\n"),
            [
                "3:1 SM103 a merge conflict begins here that nobody has resolved: both versions stand in the file"
            ]
        );
        assert_eq!(found(&NOT_YAML, "---\na: {b: c\n---\n").len(), 1);
        assert!(found(&NOT_YAML, "---\nstatus: \"draft: of May\"\n---\n").is_empty());
    }

    #[test]
    fn lists_and_texts_hold_no_keys() {
        assert_eq!(
            found(&NOT_A_MAPPING, "---\n- status\n---\n"),
            ["2:1 SM104 the frontmatter holds no keys"]
        );
        assert_eq!(found(&NOT_A_MAPPING, "---\ndraft\n---\n").len(), 1);
        assert!(found(&NOT_A_MAPPING, "---\n# nothing yet\n---\n").is_empty());
        assert!(found(&NOT_A_MAPPING, "---\n{}\n---\n").is_empty());
    }

    #[test]
    fn a_second_document_is_not_read() {
        assert_eq!(
            found(&SEVERAL_DOCUMENTS, "---\nstatus: draft\n--- # second\ntitle: PRD\n---\n"),
            ["2:1 SM105 only the first YAML document is read"]
        );
        assert!(found(&SEVERAL_DOCUMENTS, "---\nstatus: draft\ntitle: '---'\n---\n").is_empty());
    }

    #[test]
    fn the_later_key_is_named_at_any_depth() {
        assert_eq!(
            found(&KEY_TWICE, "---\nstatus: draft\nx: {a: 1, a: 2}\nstatus: done\n---\n"),
            [
                "3:11 SM106 the key `a` stands twice, and readers disagree on which one counts",
                "4:1 SM106 the key `status` stands twice, and readers disagree on which one counts"
            ]
        );
        assert!(found(&KEY_TWICE, "---\na: {status: x}\nstatus: done\n---\n").is_empty());
    }

    #[test]
    fn a_glob_without_quotes_is_a_reference() {
        let file = "---\nstatus: draft\nglob: *.md\n---\n";
        assert_eq!(
            found(&ALIAS_UNRESOLVED, file),
            ["3:7 SM107 `*.md` is a reference to an anchor that does not exist"]
        );
        assert_eq!(
            fixed(&ALIAS_UNRESOLVED, file).as_deref(),
            Some("---\nstatus: draft\nglob: '*.md'\n---\n")
        );
        assert!(found(&ALIAS_UNRESOLVED, "---\nstatus: &s draft\nother: *s\n---\n").is_empty());
    }

    #[test]
    fn the_first_line_says_how_lines_end() {
        let file = "---\r\nstatus: draft\ntitle: PRD\r\n---\r\nbody\n";
        assert_eq!(
            found(&LINE_ENDS_MIXED, file),
            ["2:1 SM108 lines of the frontmatter end in different ways"]
        );
        assert_eq!(
            fixed(&LINE_ENDS_MIXED, file).as_deref(),
            Some("---\r\nstatus: draft\r\ntitle: PRD\r\n---\r\nbody\n")
        );
        assert_eq!(
            fixed(&LINE_ENDS_MIXED, "---\na: 1\r\nb: 2\r---\n").as_deref(),
            Some("---\na: 1\nb: 2\n---\n")
        );
        assert!(
            found(&LINE_ENDS_MIXED, "---\r\nstatus: draft\r\n---\r\nbody\n").is_empty(),
            "the body is another matter"
        );
    }

    #[test]
    fn the_mark_is_taken_out() {
        let file = "\u{FEFF}---\nstatus: draft\n---\n";
        assert_eq!(found(&BYTE_ORDER_MARK, file).len(), 1);
        assert_eq!(fixed(&BYTE_ORDER_MARK, file).as_deref(), Some("---\nstatus: draft\n---\n"));
        assert!(found(&BYTE_ORDER_MARK, "---\nstatus: draft\n---\n\u{FEFF}").is_empty());
    }

    #[test]
    fn each_limit_is_named() {
        let deep = format!("---\na: {}{}\n---\n", "[".repeat(65), "]".repeat(65));
        assert_eq!(found(&OVER_LIMIT, &deep), ["2:68 SM110 collections nest deeper than the limit of 64"]);
        let large = format!("---\na: {}\n---\n", "x".repeat(1 << 20));
        assert_eq!(
            found(&OVER_LIMIT, &large),
            ["2:1 SM110 the YAML is 1048580 bytes long, more than the limit of 1048576"]
        );
        let many = format!("---\na: [{}]\n---\n", "1,".repeat(250_000));
        assert!(found(&OVER_LIMIT, &many)[0].ends_with("the YAML holds more than the limit of 250000 nodes"));
        assert!(found(&OVER_LIMIT, "---\na: [[[[]]]]\n---\n").is_empty());
    }

    #[test]
    fn a_tab_is_no_indentation() {
        let file = "---\nstatus: draft\nstepsCompleted:\n\t- step-01-init\n\t- step-02-discovery\nlead:\n\tname: Ada\n---\nbody\n";
        assert_eq!(
            found(&TAB_IN_INDENTATION, file),
            ["4:1 SM111 this line and 2 more are indented with tabs, which YAML does not allow"]
        );
        assert_eq!(found(&NOT_YAML, file), Vec::<String>::new(), "one finding for one mistake");
        assert_eq!(fixed(&TAB_IN_INDENTATION, file), Some(file.replace('\t', "  ")));
        let one = "---\nlead:\n\tname: Ada\nstatus: draft\n---\n";
        assert_eq!(
            found(&TAB_IN_INDENTATION, one),
            ["3:1 SM111 this line is indented with a tab, which YAML does not allow"]
        );
        assert_eq!(fixed(&TAB_IN_INDENTATION, one), Some(one.replace('\t', "  ")));
    }

    #[test]
    fn what_is_wrong_otherwise_is_no_matter_of_tabs() {
        let other = "---\nstatus: 'a' b\nnotes: |\n  text\n  \tmore\n---\n";
        assert!(found(&TAB_IN_INDENTATION, other).is_empty(), "{:?}", found(&TAB_IN_INDENTATION, other));
        assert_eq!(found(&NOT_YAML, other).len(), 1);
        for fine in [
            "---\nstatus:\tdraft\n---\n",
            "---\nnotes: |\n  a\n  \tb\nstatus: draft\n---\n",
            "---\na: 1\n\t\n---\n",
        ] {
            assert!(found(&TAB_IN_INDENTATION, fine).is_empty(), "{fine:?}");
        }
        // The tabs stand before what is wrong, and do no harm there.
        let harmless = "---\nnotes: |\n  a\n  \t\tb\n  \t\tc\nstatus: 'a' b\n---\n";
        assert!(
            found(&TAB_IN_INDENTATION, harmless).is_empty(),
            "{:?}",
            found(&TAB_IN_INDENTATION, harmless)
        );
        let both = "---\nlead:\n\tname: Ada\nstatus: 'a' b\n---\n";
        assert_eq!(found(&TAB_IN_INDENTATION, both).len(), 1);
        assert_eq!(fixed(&TAB_IN_INDENTATION, both), None, "blanks alone do not fix it");
    }
    proptest::proptest! {
        #[test]
        fn a_fix_leaves_frontmatter_that_can_be_read(text in "([a-c]: ?|\\t| |\n|- |'|\\||#){0,24}") {
            let file = format!("---\n{text}\n---\n");
            if let Some(fixed) = fixed(&TAB_IN_INDENTATION, &file) {
                proptest::prop_assert!(found(&TAB_IN_INDENTATION, &fixed).is_empty(), "{:?}", fixed);
                proptest::prop_assert!(found(&NOT_YAML, &fixed).is_empty(), "{:?}", fixed);
            }
            let both = found(&TAB_IN_INDENTATION, &file).len() + found(&NOT_YAML, &file).len();
            proptest::prop_assert!(both <= 1, "{:?}", file);
        }
    }

    /// Returns whether blanks may be written without asking.
    fn is_safe(frontmatter: &str) -> bool {
        let file = format!("---\n{frontmatter}---\n").into_bytes();
        let artifact = Artifact::read(ProjectPath::new("prd.md").unwrap(), file);
        let mut found = Vec::new();
        check_tab_in_indentation(&Subject::alone(&artifact), &mut found);
        found[0].fix.as_ref().unwrap().safety == Safety::Safe
    }

    #[test]
    fn how_wide_a_tab_is_beside_blanks_is_for_a_person_to_say() {
        assert!(is_safe("lead:\n\tname: Ada\nstatus: draft\n"));
        assert!(is_safe("lead:\n\tname: Ada\n  \nstatus: draft\n"), "an empty line says nothing");
        assert!(!is_safe("lead:\n\tname: Ada\nother:\n  name: Ben\n"));
        assert!(!is_safe("lead:\n\t name: Ada\n"));
    }

    #[test]
    fn values_that_versions_of_yaml_read_differently() {
        let file = "---\nfree: yes\nparts: [0123, {at: 1:30, big: 1_000}]\nsha: 75e9782\n---\n";
        assert_eq!(
            found(&VALUE_AMBIGUOUS, file),
            [
                "2:7 SM112 `yes` in `free` is a boolean to some readers and text to others",
                "3:9 SM112 `0123` in `parts` is another value to some readers",
                "3:20 SM112 `1:30` in `at` is another value to some readers",
                "3:31 SM112 `1_000` in `big` is another value to some readers",
                "4:6 SM112 `75e9782` in `sha` is another value to some readers",
            ]
        );
        assert_eq!(
            fixed(&VALUE_AMBIGUOUS, "---\nsha: 75e9782 # x\n---\n").as_deref(),
            Some("---\nsha: '75e9782' # x\n---\n")
        );
    }

    #[test]
    fn a_digit_is_lost_where_a_number_is_a_name() {
        for (key, is_found) in [
            ("version", true),
            ("schemaVersion", true),
            ("schema_version", true),
            ("story", true),
            ("conversion", false),
            ("confidence", false),
            ("cost", false),
        ] {
            let lines = found(&VALUE_AMBIGUOUS, &format!("---\n{key}: 1.10\n---\n"));
            assert_eq!(!lines.is_empty(), is_found, "{key}: {lines:?}");
        }
    }

    #[test]
    fn what_every_reader_takes_for_the_same_is_left_alone() {
        for value in [
            "1.0",
            "6.0.4",
            "v1.10",
            "'1.10'",
            "10",
            "0",
            "2026-11-21",
            "true",
            "done",
            "!!str 010",
            "null",
            "",
        ] {
            let file = format!("---\nversion: {value}\nstepsCompleted: [08, 1.10]\n---\n");
            assert_eq!(found(&VALUE_AMBIGUOUS, &file), Vec::<String>::new(), "{value}");
        }
    }
}
