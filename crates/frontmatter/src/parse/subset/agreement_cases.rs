//! The subset against the full parser: the same tree to the last byte, or nothing.
#![expect(clippy::disallowed_methods, reason = "an edge: fixtures are read here")]

use std::path::Path;

use proptest::prelude::*;

use super::{
    super::{Comments, LIMITS, ParseError, Tree, Yaml, granit::GranitReader, tree},
    KEY_LENGTH, read,
};
use crate::{Document, Frontmatter, Span};

/// The offset of the texts in their file.
const BASE: usize = 4;

/// Of the mutated fixtures, one in so many is tried: all of them take minutes without optimisation.
const SAMPLE: usize = 17;

pub(super) fn full(text: &str) -> Result<Tree<'_>, ParseError> {
    tree::build(GranitReader::new(text, Comments::Skip, LIMITS.depth), BASE)
}

/// Returns whether `text` is read by the subset; if it is, then to the tree of the full parser, also with
/// line breaks of Windows.
pub(super) fn is_read(text: &str) -> bool {
    let of_windows = text.replace("\r\n", "\n").replace('\n', "\r\n");
    let is_read = agrees(text);
    assert!(text.contains('\r') || agrees(&of_windows) == is_read, "{of_windows:?}");
    is_read
}

fn agrees(text: &str) -> bool {
    let Some(tree) = read(text, BASE) else { return false };
    let full = full(text).unwrap_or_else(|error| panic!("{text:?} is an error to the full parser: {error}"));
    let said = |tree: &Tree<'_>| format!("{:?}", (&tree.root, tree.documents, &tree.comments));
    assert_eq!(said(&tree), said(&full), "{text:?}");
    true
}

#[test]
fn limits_are_those_of_the_full_parser() {
    // The map, its key and the list are nodes too.
    let items = |count: usize| format!("a: [{}]\n", "1,".repeat(count - 3));
    let (most, more) = (items(LIMITS.nodes), items(LIMITS.nodes + 1));
    assert!(read(&most, BASE).is_some() && full(&most).is_ok());
    assert!(read(&more, BASE).is_none());
    let error = Yaml::parse(more.as_bytes(), Span::new(0, more.len())).unwrap_err();
    assert!(matches!(error, ParseError::TooManyNodes { .. }), "{error}");
    let long = format!("a: {}\n", "x".repeat(LIMITS.bytes));
    let error = Yaml::parse(long.as_bytes(), Span::new(0, long.len())).unwrap_err();
    assert!(matches!(error, ParseError::TooLarge { .. }), "{error}");
}

#[test]
fn long_keys_long_values_and_deep_maps_are_read_or_left_to_the_full_parser() {
    let key = |length: usize| format!("{}: 1\n", "k".repeat(length));
    let deep = |depth: usize| (0..depth).fold(String::new(), |text, at| text + &" ".repeat(at) + "k:\n");
    let long = "x, ".repeat(700);
    for (text, wanted) in [
        (key(KEY_LENGTH), true),
        (key(KEY_LENGTH + 1), false),
        (key(1024), false),
        (key(1025), false),
        (deep(9), true),
        (deep(10), false),
        (deep(LIMITS.depth + 1), false),
        (
            format!(
                "a: {long}y\nb: '{long}'\nc: [{long}]\nd: {{{}}}\ne:\n- \"{long}\"\n- [{long}]\n",
                "k: v, ".repeat(700)
            ),
            true,
        ),
    ] {
        assert_eq!(is_read(&text), wanted, "{text:.40}");
    }
}

/// The texts that the files of `fixtures` hold as YAML.
fn fixtures() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = ["valid", "invalid"].map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let text = |file: Vec<u8>| match Document::scan(&file).frontmatter() {
        Frontmatter::Present { content, .. } => String::from_utf8(file[content.range()].to_vec()).ok(),
        _ => String::from_utf8(file).ok(),
    };
    files.filter_map(text).collect()
}

/// Tries one in `sample` of the fixtures with one byte taken out, or replaced by or preceded by one with a
/// meaning to YAML. Says how many were tried, and how many were read.
fn try_mutations(sample: usize) -> (usize, usize) {
    let signs = b"-?:,[]{}#&*!|>'\"%@`\\ \n\t\r~.a0<=\0";
    let (mut made, mut tried, mut read) = (0, 0, 0);
    let mut consider = |text: Vec<u8>| {
        made += 1;
        if made % sample == 0
            && let Ok(text) = String::from_utf8(text)
        {
            tried += 1;
            read += usize::from(is_read(&text));
        }
    };
    for text in fixtures() {
        for at in 0..text.len() {
            let changed =
                |end: usize, sign: &[u8]| [&text.as_bytes()[..at], sign, &text.as_bytes()[end..]].concat();
            consider(changed(at + 1, b""));
            for sign in signs {
                consider(changed(at + 1, &[*sign]));
                consider(changed(at, &[*sign]));
            }
        }
    }
    (tried, read)
}

#[test]
fn mutated_fixtures_are_read_as_the_full_parser_does() {
    let (tried, read) = try_mutations(SAMPLE);
    assert!(tried > 20_000 && read > tried / 10, "{tried} {read}");
}

#[test]
#[ignore = "takes minutes: every mutation of every fixture"]
fn all_mutated_fixtures_are_read_as_the_full_parser_does() {
    let (tried, read) = try_mutations(1);
    assert!(read > tried / 10, "{tried} {read}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// Lines of the everyday kind, and odd ones, in any order and with any indentation.
    #[test]
    fn lines_in_any_order_are_read_as_the_full_parser_does(
        lines in prop::collection::vec(
            (
                prop::sample::select(vec!["", "", "", "  ", "  ", "    ", " "]),
                prop::sample::select(vec![
                    "a:", "a:", "b:", "key-c:", "- ", "- x", "-", "#", "", "- k:", "word", "---", "...", "%", "<<:", "é:", "'q':", "? ", "- a:", "- \"q\":", "-  k-c:", "a: |", "b: >-", "- >", "- a: |+", "text here",
                ]),
                prop::sample::select(vec![
                    "", "", " x", " 'y'", " \"z\"", " [1, 'b', c d]", " []", " # comment", " x # comment", " 1.10",
                    " it's", " ''", " 'a''b'", " a: b", " [", " \"", " |", " {a}", "  ", " x:y", " x#y", " é", " -", " - x",
                    " [a:b]", " [ ]", " [a,]", " ~", " 'x'y", "#", ":", " ? x", " [#]", " .", " ...", " [x]y", " -1", " {}",
                    " {a: 1, b: 'c'}", " {a: }", " {a:b}", " [-1, x]", " {{a}}", " ---", " >-", " &a", " *a", " !t", "\t", "\r",
                    " -", " --", " {a, b: c,} # d", " <<", " ]", " [[a], {b: [c]}]", " {a: {b: c}}", " \u{2028}",
                ]),
            ),
            0..9,
        ),
        newline_at_end: bool,
    ) {
        let lines: Vec<String> = lines.into_iter().map(|(indent, start, rest)| format!("{indent}{start}{rest}")).collect();
        let text = lines.join("\n") + if newline_at_end { "\n" } else { "" };
        is_read(&text);
    }

    /// Characters in any order, behind a key, in a list, and in flow collections.
    #[test]
    fn characters_in_any_order_are_read_as_the_full_parser_does(
        start in prop::sample::select(vec!["a: ", "a:", "a: [", "a: {", "a: {b: ", "a:\n- ", "a:\n  - ", ""]),
        middle in "[-'\" #:,\\[\\]{}a1\n.~/é&*!|>%?]{0,16}",
        end in prop::sample::select(vec!["", "\n", "]\n", "}\n", "'\n", "\"\n", "\nb: 1\n"]),
    ) {
        is_read(&format!("{start}{middle}{end}"));
    }

    /// Text below a key or dash, with any indentation, blank lines and what may follow it.
    #[test]
    fn text_on_lines_below_is_read_as_the_full_parser_does(
        start in prop::sample::select(vec!["a: ", "a:\n- ", "a:\n  - ", "a:\n- b: ", "a:\n  b: ", "- "]),
        header in "[|>][-+]?( #c)?[ 1]?",
        lines in prop::collection::vec(
            (prop::sample::select(vec!["", "", " ", "  ", "   ", "    ", "      "]), "[x# :-]{0,3}[xé]?"),
            0..7,
        ),
        end in prop::sample::select(vec!["", "\n", "\nb: 1\n", "\n- b\n", "\n  b: 1\n", "\n---\n", "\n# c\nb:\n"]),
    ) {
        let lines: Vec<String> = lines.into_iter().map(|(indent, text)| format!("{indent}{text}")).collect();
        is_read(&format!("{start}{header}\n{}{end}", lines.join("\n")));
    }
}
