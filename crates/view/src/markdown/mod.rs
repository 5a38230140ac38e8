//! Markdown of artifacts as inert HTML: no scripts, styles, forms, images or requests. Pure.
//!
//! HTML in the text is shown as text, so all elements are those of CommonMark. The only attribute is `href`,
//! with a few allowed schemes. The page's content security policy is the second fence.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};
use stepmark_model::artifact::with_plain_boxes;
use url::{ParseError, Url};

/// Levels added to headings: the page uses the first two.
const HEADINGS_BELOW: usize = 2;

const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Deeper elements are flattened: browsers and parsers need quadratic time for nesting.
const DEEPEST: usize = 64;

/// HTML is shown as text, without its comments. Images become their description, task boxes characters.
pub fn render(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut depth = 0_usize;
    let is_shallow = |event: &Event<'_>| match event {
        Event::Start(_) => {
            depth += 1;
            depth <= DEEPEST
        }
        Event::End(_) => {
            depth = depth.saturating_sub(1);
            depth < DEEPEST
        }
        _ => true,
    };
    let mut block = String::new();
    let text = with_plain_boxes(text);
    let events =
        Parser::new_ext(&text, options).filter_map(|event| tamed(event, &mut block)).filter(is_shallow);
    let mut harmless = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut harmless, events);
    PreEscaped(harmless)
}

/// Parses as browsers do (WHATWG URL), ignoring blanks and line ends: no scheme may run code.
fn may_be_followed(target: &str) -> bool {
    match Url::parse(target) {
        Ok(url) => SCHEMES.contains(&url.scheme()),
        Err(error) => error == ParseError::RelativeUrlWithoutBase,
    }
}

/// Collects the HTML of a block in `block`: it comes line by line, and comments span lines.
fn tamed<'t>(event: Event<'t>, block: &mut String) -> Option<Event<'t>> {
    Some(match event {
        Event::Start(Tag::Image { .. }) => Event::Text("[image: ".into()),
        Event::End(TagEnd::Image) => Event::Text("]".into()),
        // A forbidden link leads to the page itself.
        Event::Start(Tag::Link { dest_url, .. }) => Event::Start(Tag::Link {
            link_type: LinkType::Inline,
            dest_url: if may_be_followed(&dest_url) { dest_url } else { "#".into() },
            title: "".into(),
            id: "".into(),
        }),
        Event::Start(Tag::CodeBlock(_)) => Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)),
        Event::Start(Tag::Table(columns)) => {
            Event::Start(Tag::Table(columns.into_iter().map(|_| Alignment::None).collect()))
        }
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lowered(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lowered(level))),
        Event::Start(Tag::HtmlBlock) => return None,
        Event::Html(line) => {
            block.push_str(&line);
            return None;
        }
        Event::End(TagEnd::HtmlBlock) => return as_text(&std::mem::take(block)),
        Event::InlineHtml(html) => return as_text(&html),
        other => other,
    })
}

fn as_text(html: &str) -> Option<Event<'static>> {
    let html = without_comments(html);
    match html.trim() {
        "" => None,
        "<br>" | "<br/>" | "<br />" => Some(Event::HardBreak),
        _ => Some(Event::Text(html.into())),
    }
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + HEADINGS_BELOW).unwrap_or(HeadingLevel::H6)
}

/// An unclosed comment is shown: its author should not lose the rest of the text.
fn without_comments(html: &str) -> String {
    let mut rest = html;
    let mut kept = String::new();
    while let Some(start) = rest.find("<!--") {
        // `<!-->` and `<!--->` are comments too (CommonMark 0.31, 6.6): start and end may share hyphens.
        let from_hyphens = &rest[start + "<!".len()..];
        let Some((_, after)) = from_hyphens.split_once("-->") else { break };
        kept.push_str(&rest[..start]);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        render(text).into_string()
    }

    #[test]
    fn what_is_harmless_stays() {
        assert_eq!(html("# One\n\n*two* `three`"), "<h3>One</h3>\n<p><em>two</em> <code>three</code></p>\n");
        assert!(html("| a | b |\n|---|---|\n| 1 | 2 |").contains("<td>1</td>"));
        assert!(html("- [x] done\n- [ ] open").contains("☑ done"));
        let link = html("[next](../b.md) <https://example.org>");
        assert!(link.contains("href=\"../b.md\"") && link.contains("href=\"https://example.org\""), "{link}");
        assert!(html("[x](mailto:ada@example.org)").contains("href=\"mailto:ada@example.org\""));
    }

    #[test]
    fn comments_are_left_out_and_nothing_beside_them() {
        for (text, shown) in [
            ("<!-- c --> <b>after</b>", " &lt;b&gt;after&lt;/b&gt;"),
            ("<!-- one\ntwo\n\nthree -->\nafter", "<p>after</p>\n"),
            ("<div>\n<!-- one\ntwo -->\nx</div>\n\nafter", "&lt;div&gt;\n\nx&lt;/div&gt;\n<p>after</p>\n"),
            ("a <!-- one\ntwo --> b", "<p>a  b</p>\n"),
            ("<!-- never ends\n\nafter", "&lt;!-- never ends\n\nafter"),
            ("> <!-- quoted\n> hidden --> x", "<blockquote>\n x</blockquote>\n"),
        ] {
            assert_eq!(html(text), shown, "{text}");
        }
        let deep = format!("{}<div>deep</div>", "> ".repeat(DEEPEST * 2));
        assert!(html(&deep).contains("&lt;div&gt;deep"), "{}", html(&deep));
    }

    #[test]
    fn nothing_can_run_or_be_fetched() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "![x](https://example.org/a.png)",
            "![x](x\" onerror=\"alert(1))",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt&#58;alert(1))",
            "[x](java&#9;script:alert(1))",
            "[x](&#1;javascript:alert(1))",
            "[x](<java\u{9}script:alert(1)> 'onclick=x')",
            "<javascript:alert(1)>",
            "[x]\n\n[x]: javascript:alert(1)",
            "```x\" onclick=alert(1)\ny\n```",
            "| a |\n|:-:|\n| b |",
            "[x](data:text/html,<script>alert(1)</script>)",
            "<a href=\"vbscript:x\">x</a>",
            "<iframe src=https://example.org></iframe>",
            "<style>*{display:none}</style>",
            "<p style=\"position:fixed\" id=search class=x onclick=alert(1)>x</p>",
            "<form action=/x><input name=a><button>b</button></form>",
            "<svg><script>alert(1)</script></svg>",
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
            "<base href=https://example.org><meta http-equiv=refresh content=0>",
            "<video src=x onerror=alert(1)><object data=x><embed src=x>",
            "# x {#search onclick=alert(1)}",
        ] {
            let html = html(text).to_lowercase();
            let has_attribute = |name: &str| {
                html.split('<').skip(1).any(|tag| tag.split('>').next().is_some_and(|tag| tag.contains(name)))
            };
            for tag in [
                "<script", "<img", "<iframe", "<style", "<form", "<input", "<svg", "<base", "<meta",
                "<video", "<object", "<embed",
            ] {
                assert!(!html.contains(tag), "{text}: {html}");
            }
            for attribute in [" on", " style=", " id=", " class=", "javascript", "vbscript", "data:"] {
                assert!(!has_attribute(attribute), "{text}: {attribute}: {html}");
            }
        }
    }

    #[test]
    fn what_nests_without_end_is_read() {
        for text in [
            ">".repeat(20_000),
            "- ".repeat(5_000),
            "[".repeat(50_000),
            "*".repeat(50_000),
            "<div>".repeat(50_000),
        ] {
            assert!(!html(&text).contains("<script"));
        }
    }
}

#[cfg(test)]
mod comments_tests {
    use super::without_comments;

    #[test]
    fn only_comments_go() {
        for (html, kept) in [
            ("<!-- c --> <b>after</b>", " <b>after</b>"),
            ("<b>before</b><!-- c -->", "<b>before</b>"),
            ("<!-- one\ntwo\nthree --> after", " after"),
            ("<!-- a -->b<!-- c -->d", "bd"),
            ("<!-->a<!--->b", "ab"),
            ("<!---->a", "a"),
            ("a <!- b --> c", "a <!- b --> c"),
            ("<!-- never ends", "<!-- never ends"),
            ("a<!-- b --><!-- c", "a<!-- c"),
            ("é<!-- ü -->ß", "éß"),
            ("", ""),
        ] {
            assert_eq!(without_comments(html), kept, "{html}");
        }
    }
}
