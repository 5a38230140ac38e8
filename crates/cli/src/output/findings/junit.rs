//! Findings as JUnit XML: a suite per file, a failed case per finding.
//!
//! There is no standard; this is the common subset of GitLab, Jenkins and GitHub's report actions:
//! `testsuites`, `testsuite` and `testcase` with `name` and `classname`, `failure` with `message` and `type`.

use std::io;

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use stepmark_model::check::{Finding, Severity};
use stepmark_view::wording::{on_one_line, visible};

use super::{Checked, CheckedFile};
use crate::output::report::Excerpt;

type Xml = Writer<Vec<u8>>;

/// Notes are passed cases with output; so are files without findings.
pub(super) fn render(checked: &Checked<'_>) -> io::Result<String> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let sum = |number: fn(&CheckedFile<'_>) -> usize| checked.files.iter().map(number).sum::<usize>();
    let unreadable = checked.unreadable.len();
    xml.create_element("testsuites")
        .with_attribute(("name", "stepmark"))
        .with_attribute(("tests", (sum(cases) + unreadable).to_string().as_str()))
        .with_attribute(("failures", sum(failures).to_string().as_str()))
        .with_attribute(("errors", unreadable.to_string().as_str()))
        .write_inner_content(|xml| {
            checked.files.iter().try_for_each(|file| suite(xml, file))?;
            write_unreadable(xml, &checked.unreadable)
        })?;
    let mut text = String::from_utf8(xml.into_inner()).map_err(io::Error::other)?;
    text.push('\n');
    Ok(text)
}

/// At least one: otherwise the file would look unchecked.
fn cases(file: &CheckedFile<'_>) -> usize {
    file.findings.len().max(1)
}

fn failures(file: &CheckedFile<'_>) -> usize {
    file.findings.iter().filter(|finding| finding.severity != Severity::Note).count()
}

fn suite(xml: &mut Xml, file: &CheckedFile<'_>) -> io::Result<()> {
    let path = on_one_line(file.path.as_str());
    xml.create_element("testsuite")
        .with_attribute(("name", path.as_str()))
        .with_attribute(("tests", cases(file).to_string().as_str()))
        .with_attribute(("failures", failures(file).to_string().as_str()))
        .with_attribute(("errors", "0"))
        .write_inner_content(|xml| {
            if file.findings.is_empty() {
                let case = xml.create_element("testcase").with_attribute(("name", "no findings"));
                case.with_attribute(("classname", path.as_str())).write_empty()?;
                return Ok(());
            }
            let excerpt = file.excerpt();
            file.findings.iter().try_for_each(|finding| case(xml, &path, &excerpt, finding))
        })?;
    Ok(())
}

fn case(xml: &mut Xml, path: &str, excerpt: &Excerpt<'_>, finding: &Finding) -> io::Result<()> {
    let place = excerpt.position(finding.span.start);
    let (id, name) = (finding.rule.id, finding.rule.name);
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}")).collect::<String>();
    let text = visible(&format!("{path}:{place}: {}{help}", finding.message));
    xml.create_element("testcase")
        .with_attribute(("name", format!("{id} {name} at {place}").as_str()))
        .with_attribute(("classname", path))
        .with_attribute(("file", path))
        .with_attribute(("line", place.line.to_string().as_str()))
        .write_inner_content(|xml| {
            let text = BytesText::new(&text);
            if finding.severity == Severity::Note {
                xml.create_element("system-out").write_text_content(text)?;
            } else {
                xml.create_element("failure")
                    .with_attribute(("type", finding.severity.as_str()))
                    .with_attribute(("message", on_one_line(&finding.message).as_str()))
                    .write_text_content(text)?;
            }
            Ok(())
        })?;
    Ok(())
}

fn write_unreadable(xml: &mut Xml, problems: &[String]) -> io::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let count = problems.len().to_string();
    xml.create_element("testsuite")
        .with_attribute(("name", "files that cannot be read"))
        .with_attribute(("tests", count.as_str()))
        .with_attribute(("failures", "0"))
        .with_attribute(("errors", count.as_str()))
        .write_inner_content(|xml| {
            for problem in problems {
                let problem = on_one_line(problem);
                let case = xml.create_element("testcase").with_attribute(("name", problem.as_str()));
                case.with_attribute(("classname", "unreadable")).write_inner_content(|xml| {
                    xml.create_element("error")
                        .with_attribute(("message", problem.as_str()))
                        .write_empty()?;
                    Ok(())
                })?;
            }
            Ok(())
        })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::Sample;

    #[test]
    fn every_finding_is_a_case() {
        assert_snapshot!(render(&Sample::nasty().checked()).unwrap());
    }

    /// XML 1.0 has no way to write most control characters, not even as references.
    #[test]
    fn no_control_character_is_left() {
        let text = render(&Sample::nasty().checked()).unwrap();
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
        let mut reader = quick_xml::Reader::from_str(&text);
        while reader.read_event().unwrap() != Event::Eof {}
    }
}
