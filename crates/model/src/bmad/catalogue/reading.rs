//! Catalogue entries from files.
//!
//! Agents of 6.0.4 have markup below the frontmatter, and most tasks are XML: reads the same attributes and
//! elements as the installer, in the same way.

use std::{borrow::Cow, fmt};

use super::{CatalogueKind, Entry};
use crate::artifact::ProjectPath;
use stepmark_frontmatter::{Document, Frontmatter, NodeKind, Scalar, Span, Yaml};

pub const SKILL_FILE: &str = "SKILL.md";

const YAML_WORKFLOW: &str = "workflow.yaml";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryProblem {
    pub path: ProjectPath,
    pub line: Option<usize>,
    pub message: String,
}

impl fmt::Display for EntryProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(out, "{}{line}: {}", self.path, self.message)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CatalogueFile<'a> {
    pub path: &'a ProjectPath,
    pub bytes: &'a [u8],
    pub module: &'a str,
    /// The installed path in the catalogue, which may be gone.
    pub listed_path: &'a str,
}

type Find = fn(&str, &str) -> Option<String>;

/// Column, method and key of the installer; each may be a frontmatter key, too.
const TOLD: [(&str, Find, &str); 8] = [
    ("displayName", attribute, "name"),
    ("title", attribute, "title"),
    ("icon", attribute, "icon"),
    ("capabilities", |text, name| attribute(text, name).map(|value| on_one_line(&value)), "capabilities"),
    ("role", plain_element, "role"),
    ("identity", element, "identity"),
    ("communicationStyle", element, "communication_style"),
    ("principles", element, "principles"),
];

impl CatalogueKind {
    pub fn may_be(self, file_name: &str) -> bool {
        let is_markdown = file_name.ends_with(".md");
        match self {
            Self::Agent => is_markdown && !file_name.eq_ignore_ascii_case("readme.md"),
            Self::Workflow => {
                matches!(file_name, YAML_WORKFLOW | "workflow.md")
                    || (file_name.starts_with("workflow-") && is_markdown)
            }
            Self::Skill => file_name == SKILL_FILE,
            Self::Task | Self::Tool => is_markdown || file_name.ends_with(".xml"),
        }
    }
}

impl CatalogueFile<'_> {
    /// `None`: not an entry. Unreadable files count by name or markup.
    pub fn read(&self, kind: CatalogueKind, problems: &mut Vec<EntryProblem>) -> Option<Entry> {
        if !kind.may_be(self.path.file_name()) {
            return None;
        }
        match kind {
            CatalogueKind::Agent => self.agent(problems),
            CatalogueKind::Workflow => self.workflow(problems),
            CatalogueKind::Skill => self.skill().map_err(|problem| problems.push(problem)).ok(),
            CatalogueKind::Task | CatalogueKind::Tool => self.task(kind, problems),
        }
    }

    /// Must contain `<agent`, and must not be for the web only.
    fn agent(&self, problems: &mut Vec<EntryProblem>) -> Option<Entry> {
        let text = self.text();
        if !text.contains("<agent") || text.contains("localskip=\"true\"") {
            return None;
        }
        let keys = self.keys_or_none(problems);
        let name = self.path.file_name().replacen(".md", "", 1);
        let mut entry = self.entry().with("displayName", &name).with("name", name);
        for (column, find, tag) in TOLD {
            if let Some(told) = find(&text, tag).or_else(|| keys.text(column).map(on_one_line)) {
                entry = entry.with(column, told);
            }
        }
        Some(entry)
    }

    /// Needs `name` and `description`; no template name (`{…}`) and no `standalone: false`, which marks a
    /// part of another workflow.
    fn workflow(&self, problems: &mut Vec<EntryProblem>) -> Option<Entry> {
        let keys = self.keys_or_none(problems);
        let (name, description) = keys.text("name").zip(keys.text("description"))?;
        let is_template = name.contains('{') && name.contains('}');
        let entry = self.entry().with("name", name).with("description", on_one_line(description));
        (!is_template && !keys.is_false("standalone")).then(|| entry.with("standalone", "true"))
    }

    /// `internal="true"` excludes it.
    fn task(&self, kind: CatalogueKind, problems: &mut Vec<EntryProblem>) -> Option<Entry> {
        let (text, file_name) = (self.text(), self.path.file_name());
        if text.contains("internal=\"true\"") {
            return None;
        }
        let entry = |name: &str, shown: &str, description: &str, is_standalone: bool| {
            let entry = self.entry().with("name", name).with("displayName", shown);
            entry.with("description", on_one_line(description)).with("standalone", is_standalone.to_string())
        };
        if let Some(stem) = file_name.strip_suffix(".md") {
            let keys = self.keys_or_none(problems);
            let name = keys.text("name").unwrap_or(stem);
            let shown = keys.text("displayName").unwrap_or(name);
            let description = keys.text("description").unwrap_or_default();
            return Some(entry(name, shown, description, !keys.is_false("standalone")));
        }
        let stem = file_name.strip_suffix(".xml")?;
        let shown = attribute(&text, "name").unwrap_or_else(|| stem.to_owned());
        let description = attribute(&text, "description").or_else(|| plain_element(&text, "objective"));
        let is_standalone = !tag_holds(&text, kind.noun(), "standalone=\"false\"");
        Some(entry(stem, &shown, &description.unwrap_or_default(), is_standalone))
    }

    /// `name` must be the folder name, and `description` not empty.
    fn skill(&self) -> Result<Entry, EntryProblem> {
        let keys = self.keys()?;
        let refused = |message: String| EntryProblem { path: self.path.clone(), line: None, message };
        if keys.0.is_none() {
            let why =
                "it does not begin with frontmatter, so it is no skill: write `name` and `description` there";
            return Err(refused(why.to_owned()));
        }
        let string = |key| {
            let why = || refused(format!("its frontmatter has no `{key}` with text, so it is no skill"));
            keys.string(key).ok_or_else(why)
        };
        let (name, description) = (string("name")?, string("description")?);
        let folder = self.path.parent();
        let folder = folder.as_ref().map_or("", |folder| folder.file_name());
        if name != folder {
            return Err(refused(format!(
                "its `name` is `{name}` and its folder is called `{folder}`: agents find it only if both are the same"
            )));
        }
        let entry = self.entry().with("canonicalId", folder).with("name", name);
        Ok(entry.with("description", on_one_line(description)))
    }

    pub fn agent_of_skill(&self, skill: &Entry) -> Entry {
        // The skill has reported problems of the same frontmatter.
        let keys = self.keys_or_none(&mut Vec::new());
        let name = skill.get("name");
        let mut entry = self.entry().with("name", name).with("displayName", name);
        for (column, ..) in TOLD {
            if let Some(told) = keys.text(column) {
                entry = entry.with(column, on_one_line(told));
            }
        }
        entry.with("canonicalId", skill.get("canonicalId"))
    }

    fn entry(&self) -> Entry {
        Entry::default().with("module", self.module).with("path", self.listed_path)
    }

    /// Invalid UTF-8 becomes U+FFFD, as in the installer.
    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes)
    }

    fn keys_or_none(&self, problems: &mut Vec<EntryProblem>) -> Keys<'_> {
        self.keys().unwrap_or_else(|problem| {
            problems.push(problem);
            Keys(None)
        })
    }

    fn keys(&self) -> Result<Keys<'_>, EntryProblem> {
        let document = Document::scan(self.bytes);
        let refused = |line: usize, message: String| {
            let message = format!("its frontmatter {message}");
            EntryProblem { path: self.path.clone(), line: Some(line), message }
        };
        let span = match document.frontmatter() {
            _ if self.path.file_name() == YAML_WORKFLOW => Span::new(0, self.bytes.len()),
            Frontmatter::Absent => return Ok(Keys(None)),
            Frontmatter::Present { content, .. } => content,
            Frontmatter::Unclosed { .. } => {
                let why = "has no closing `---`, so no catalogue can say what it is";
                return Err(refused(1, why.to_owned()));
            }
        };
        Yaml::parse(self.bytes, span).map(|yaml| Keys(Some(yaml))).map_err(|error| {
            let line = document.position(error.offset()).line;
            refused(line, format!("cannot be read, so no catalogue can say what it is: {error}"))
        })
    }
}

/// In the `agents` folder of its module, as in all releases: `_bmad/bmm/agents/NAME/SKILL.md`.
pub fn is_agent_skill(listed_path: &str) -> bool {
    let parts: Vec<&str> = listed_path.split('/').collect();
    parts.len() > 4 && parts[2] == "agents"
}

/// Top-level scalars; the first of equal keys counts.
struct Keys<'b>(Option<Yaml<'b>>);

impl Keys<'_> {
    fn scalar(&self, key: &str) -> Option<(Scalar<'_>, &str)> {
        let yaml = self.0.as_ref()?;
        let value = yaml.root()?.get(key)?;
        let is_alias = matches!(value.kind, NodeKind::Alias { .. });
        let value = if is_alias { yaml.target(value)? } else { value };
        Some((value.scalar()?, value.text()?))
    }

    fn text(&self, key: &str) -> Option<&str> {
        let (scalar, text) = self.scalar(key)?;
        (scalar != Scalar::Null && !text.is_empty()).then_some(text)
    }

    /// `None` for empty texts, numbers, dates and booleans.
    fn string(&self, key: &str) -> Option<&str> {
        self.text(key).filter(|_| matches!(self.scalar(key), Some((Scalar::String(_), _))))
    }

    fn is_false(&self, key: &str) -> bool {
        self.scalar(key).is_some_and(|(scalar, text)| scalar == Scalar::Bool(false) || text == "false")
    }
}

/// The first non-empty `name="…"` anywhere in the text.
fn attribute(text: &str, name: &str) -> Option<String> {
    let start = format!("{name}=\"");
    text.match_indices(&start).find_map(|(at, _)| {
        let (value, _) = text[at + start.len()..].split_once('"')?;
        (!value.is_empty()).then(|| value.to_owned())
    })
}

fn element(text: &str, name: &str) -> Option<String> {
    let (_, content) = text.split_once(&format!("<{name}>"))?;
    content.split_once(&format!("</{name}>")).map(|(content, _)| on_one_line(content))
}

fn plain_element(text: &str, name: &str) -> Option<String> {
    let (start, end) = (format!("<{name}>"), format!("/{name}>"));
    text.match_indices(&start).find_map(|(at, _)| {
        let (content, rest) = text[at + start.len()..].split_once('<')?;
        (!content.is_empty() && rest.starts_with(&end)).then(|| on_one_line(content))
    })
}

/// Not directly after the tag name.
fn tag_holds(markup: &str, name: &str, text: &str) -> bool {
    let start = format!("<{name}");
    markup.match_indices(&start).any(|(at, _)| {
        let tag = &markup[at + start.len()..];
        let tag = tag.find('>').map_or(tag, |end| &tag[..end]);
        tag.char_indices().nth(1).is_some_and(|(second, _)| tag[second..].contains(text))
    })
}

/// Trims and collapses blanks as the installer does: JavaScript's `\s` (ECMA-262 §22.2.2.9) includes U+FEFF,
/// not U+0085.
fn on_one_line(text: &str) -> String {
    let is_blank = |letter: char| letter == '\u{FEFF}' || (letter != '\u{85}' && letter.is_whitespace());
    text.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry, and the problem.
    type Reading = (Option<Entry>, Option<EntryProblem>);

    fn read(kind: CatalogueKind, (module, path): (&str, &str), listed_path: &str, text: &str) -> Reading {
        let path = ProjectPath::new(path).unwrap();
        let mut problems = Vec::new();
        let source = CatalogueFile { path: &path, bytes: text.as_bytes(), module, listed_path };
        let entry = source.read(kind, &mut problems);
        assert!(problems.len() < 2, "{problems:?}");
        (entry, problems.pop())
    }

    fn read_an_agent(path: &str, text: &str) -> Reading {
        read(CatalogueKind::Agent, ("bmm", path), path, text)
    }

    const KEEPER: &str = "---\nname: \"keeper\"\ntitle: From frontmatter\nrole: Also from there\n---\n\n```xml\n\
        <agent id=\"k\" name=\"Kim\" icon=\"🧰\" capabilities=\"lending,\n  fixing\">\n<persona>\n\
        <identity>Keeps tools.\n  <i>All</i> of them.</identity>\n<communication_style>&quot;Short&quot;</communication_style>\n";

    #[test]
    fn what_an_agent_is_stands_in_its_markup_then_in_its_frontmatter() {
        let (entry, problem) = read_an_agent("_bmad/bmm/agents/keeper.md", KEEPER);
        assert_eq!(problem, None);
        let entry = entry.unwrap();
        for (column, expected) in [
            ("name", "keeper"),
            ("displayName", "Kim"),
            ("title", "From frontmatter"),
            ("icon", "🧰"),
            ("capabilities", "lending, fixing"),
            ("role", "Also from there"),
            ("identity", "Keeps tools. <i>All</i> of them."),
            ("communicationStyle", "&quot;Short&quot;"),
            ("principles", ""),
            ("module", "bmm"),
            ("path", "_bmad/bmm/agents/keeper.md"),
        ] {
            assert_eq!(entry.get(column), expected, "{column}");
        }
    }

    #[test]
    fn what_is_no_agent_is_left_out() {
        for (path, text) in [
            ("_bmad/bmm/agents/notes.md", "---\nname: notes\n---\n"),
            ("_bmad/bmm/agents/README.md", KEEPER),
            ("_bmad/bmm/agents/keeper.yaml", KEEPER),
            ("_bmad/bmm/agents/web.md", "<agent name=\"Web\" localskip=\"true\">"),
        ] {
            assert_eq!(read_an_agent(path, text).0, None, "{path}");
        }
    }

    #[test]
    fn an_agent_whose_frontmatter_is_broken_is_listed_and_told() {
        let (entry, problem) =
            read_an_agent("_bmad/bmm/agents/keeper.md", "---\nname: \"keeper\" x\n---\n<agent title=\"T\">");
        let entry = entry.unwrap();
        assert_eq!((entry.get("displayName"), entry.get("title")), ("keeper", "T"));
        assert_eq!(problem.unwrap().line, Some(2));
    }

    #[test]
    fn a_skill_is_an_agent_by_the_folder_it_was_installed_from() {
        for (path, expected) in [
            ("_bmad/bmm/agents/x/SKILL.md", true),
            ("_bmad/bmm/plan/x/SKILL.md", false),
            ("_bmad/bmm/agents/SKILL.md", false),
            (".claude/skills/agents/SKILL.md", false),
        ] {
            assert_eq!(is_agent_skill(path), expected, "{path}");
        }
    }

    fn read_a_skill(text: &str) -> Reading {
        let path = ".claude/skills/tool-loan/SKILL.md";
        read(CatalogueKind::Skill, ("shed", path), "_bmad/shed/lend/tool-loan/SKILL.md", text)
    }

    #[test]
    fn a_skill_is_called_as_its_folder_and_stands_where_it_was_installed() {
        let text = "---\r\nname: tool-loan\r\ndescription: >\r\n  Lends a \"tool\",\r\n  and more\r\n---\r\n";
        let (entry, problem) = read_a_skill(text);
        assert_eq!(problem, None);
        let entry = entry.unwrap();
        assert_eq!(entry.get("canonicalId"), "tool-loan");
        assert_eq!(entry.get("description"), "Lends a \"tool\", and more");
        assert_eq!(entry.get("path"), "_bmad/shed/lend/tool-loan/SKILL.md");
        assert_eq!(entry.get("module"), "shed");
    }

    #[test]
    fn what_is_wrong_with_a_skill_is_told() {
        let missing = |key| format!("its frontmatter has no `{key}` with text, so it is no skill");
        let none =
            "it does not begin with frontmatter, so it is no skill: write `name` and `description` there";
        for (text, expected) in [
            ("# No frontmatter\n", none.to_owned()),
            ("# Title\n---\nname: tool-loan\ndescription: x\n---\n", none.to_owned()),
            (
                "---\nname: tool-loan\n",
                "its frontmatter has no closing `---`, so no catalogue can say what it is".to_owned(),
            ),
            ("---\ndescription: x\n---\n", missing("name")),
            ("---\nname: 5\ndescription: x\n---\n", missing("name")),
            ("---\nname: tool-loan\ndescription: ''\n---\n", missing("description")),
            ("---\nname: tool-loan\ndescription: [x]\n---\n", missing("description")),
            (
                "---\nname: loan\ndescription: x\n---\n",
                "its `name` is `loan` and its folder is called `tool-loan`: agents find it only if both are the same"
                    .to_owned(),
            ),
        ] {
            let (entry, problem) = read_a_skill(text);
            assert_eq!((entry, problem.unwrap().message), (None, expected), "{text:?}");
        }
        let broken = read_a_skill("---\nname: tool-loan\ndescription: 'x' y\n---\n").1.unwrap();
        assert!(broken.to_string().starts_with(".claude/skills/tool-loan/SKILL.md:3: "), "{broken}");
    }

    fn read_a_workflow(file: &str, text: &str) -> Reading {
        let path = format!("_bmad/bmm/workflows/{file}");
        read(CatalogueKind::Workflow, ("bmm", &path), &path, text)
    }

    #[test]
    fn a_workflow_has_a_name_and_a_description() {
        for (file, text) in [
            ("a/workflow.md", "---\nname: lend\ndescription: 'Lends\n\n  a tool'\nstandalone: true\n---\n"),
            ("a/workflow.yaml", "# The whole file\nname: lend\ndescription: Lends a tool\nsteps: [1]\n"),
        ] {
            let entry = read_a_workflow(file, text).0.unwrap();
            assert_eq!((entry.get("name"), entry.get("description")), ("lend", "Lends a tool"));
        }
    }

    #[test]
    fn what_is_no_workflow_of_its_own_is_left_out() {
        for text in [
            "# No frontmatter\n",
            "---\nname: lend\n---\n",
            "---\nname: ''\ndescription: x\n---\n",
            "---\nname: '{workflow}'\ndescription: x\n---\n",
            "---\nname: lend\ndescription: x\nstandalone: false\n---\n",
        ] {
            assert_eq!(read_a_workflow("a/workflow.md", text), (None, None), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let problem = read_a_workflow("a/workflow.yaml", "name: x\ndescription: 'a' b\n").1.unwrap();
        assert_eq!(problem.line, Some(2));
        assert!(read_a_workflow("a/workflow.md", "---\nname: x\n").1.is_some());
    }

    #[test]
    fn workflow_files_are_known_by_their_names() {
        for (name, expected) in [
            ("workflow.md", true),
            ("workflow.yaml", true),
            ("workflow-domain-research.md", true),
            ("workflow-x.yaml", false),
            ("my-workflow.md", false),
        ] {
            assert_eq!(CatalogueKind::Workflow.may_be(name), expected, "{name}");
        }
    }

    fn read_a_task(kind: CatalogueKind, file: &str, text: &str) -> Option<[String; 4]> {
        let path = format!("_bmad/core/tasks/{file}");
        let (entry, problem) = read(kind, ("core", &path), &path, text);
        assert_eq!(problem.is_some(), text.contains("broken"), "{text}");
        let columns = ["name", "displayName", "description", "standalone"];
        entry.map(|entry| columns.map(|column| entry.get(column).to_owned()))
    }

    #[test]
    fn tasks_are_read_as_the_installer_reads_them() {
        use CatalogueKind::{Task, Tool};
        for (kind, file, text, expected) in [
            (
                Task,
                "a.md",
                "---\nname: lend\ndescription: ' Lends\n  it '\n---\n",
                ["lend", "lend", "Lends it", "true"],
            ),
            (Task, "a.md", "---\ndisplayName: A\nstandalone: false\n---\n", ["a", "A", "", "false"]),
            (Task, "a.md", "---\nname: lend\nstandalone: 'false'\n---\n", ["lend", "lend", "", "false"]),
            (Task, "a.md", "no frontmatter", ["a", "a", "", "true"]),
            (Task, "a.md", "---\nname: 'x' broken\n---\n", ["a", "a", "", "true"]),
            (Task, "a.md", "---\nname: 7\n---\n", ["7", "7", "", "true"]),
            (Task, "a.xml", "<task name=\"Lend\" description=\"x  y\">", ["a", "Lend", "x y", "true"]),
            (
                Task,
                "a.xml",
                "<task standalone=\"false\"><objective> x </objective>",
                ["a", "a", "x", "false"],
            ),
            (Tool, "a.xml", "<task x standalone=\"false\">", ["a", "a", "", "true"]),
            (Tool, "a.xml", "<tool x standalone=\"false\">", ["a", "a", "", "false"]),
        ] {
            assert_eq!(
                read_a_task(kind, file, text).as_ref().map(|row| row.each_ref().map(String::as_str)),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(read_a_task(Task, "a.xml", "<task internal=\"true\">"), None);
        assert_eq!(read_a_task(Task, "a.txt", "x"), None);
    }

    #[test]
    fn finds_what_the_installers_patterns_match() {
        let text = "<agent id=\"x\" name=\"\" name=\"Ada\">\n<role>a <b>no</b></role>\n<role>Keeper & guide</role>\n\
                    <identity>one <i>two</i>\nthree</identity> <identity>other</identity>";
        assert_eq!(attribute(text, "name").as_deref(), Some("Ada"));
        assert_eq!(attribute(text, "title").as_deref(), None);
        assert_eq!(attribute("name=\"open", "name").as_deref(), None);
        assert_eq!(element(text, "identity").as_deref(), Some("one <i>two</i> three"));
        assert_eq!(element(text, "principles").as_deref(), None);
        assert_eq!(plain_element(text, "role").as_deref(), Some("Keeper & guide"));
        assert_eq!(plain_element("<role></role>", "role").as_deref(), None);
    }

    #[test]
    fn a_tag_ends_at_its_bracket() {
        let says = |text| tag_holds(text, "task", "standalone=\"false\"");
        assert!(says("<task id=\"x\"\n standalone=\"false\">"));
        assert!(says("<task>\n<task standalone=\"false\""));
        assert!(!says("<task id=\"x\"> standalone=\"false\""));
        assert!(!says("<taskstandalone=\"false\">"), "a tag of another name");
        assert!(!says("<task"));
    }

    /// The right column was computed by Node 20 with `trim()` and `replaceAll(/\s+/g, ' ')`.
    #[test]
    fn blanks_are_those_of_javascript() {
        for (text, expected) in [
            ("", ""),
            ("  ", ""),
            (" a\r\n  b\t", "a b"),
            ("a\u{A0}\u{2028}\u{3000}b", "a b"),
            ("\u{FEFF}a\u{FEFF}", "a"),
            ("a\u{85}b", "a\u{85}b"),
            ("a\u{200B}b", "a\u{200B}b"),
            ("a\u{B}\u{C}b", "a b"),
        ] {
            assert_eq!(on_one_line(text), expected, "{text:?}");
        }
    }
}
