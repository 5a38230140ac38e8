//! `stories.yaml`: stories in the order of execution (docs/formats.md). Pure.

use stepmark_frontmatter::{Document, Node, NodeKind, Region, Scalar, ScalarStyle, Span, Yaml};

pub const STORIES_NAME: &str = "stories.yaml";

const TEXTS: [&str; 3] = ["title", "description", "invoke_dev_with"];
/// A person reviews before the story is built, and before it is done.
const FLAGS: [&str; 2] = ["spec_checkpoint", "done_checkpoint"];

/// `files` are the names in the folder `stories` beside it.
pub fn faults(bytes: &[u8], files: &[&str]) -> Vec<(Span, String)> {
    let document = Document::scan(bytes);
    let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
    let yaml = match Yaml::parse(bytes, whole) {
        Ok(yaml) => yaml,
        Err(error) => return vec![(Span::at(error.offset()), error.to_string())],
    };
    let Some(root) = yaml.root() else { return Vec::new() };
    if !matches!(root.kind, NodeKind::Sequence { .. }) {
        return vec![(root.span, "it must be a list of stories".to_owned())];
    }
    let mut files = files.to_vec();
    files.sort_unstable();
    let mut found = Vec::new();
    let mut ids: Vec<(&str, Span)> = Vec::new();
    for story in root.items() {
        let Some(node) = story.get("id") else {
            found.push((story.span, "each story needs an `id`".to_owned()));
            continue;
        };
        found.extend(of_story(story));
        let Some(id) = node.text().filter(|id| is_id(id)) else {
            found.push((node.span, "an id has letters, digits and dashes".to_owned()));
            continue;
        };
        if !matches!(
            &node.kind,
            NodeKind::Scalar { style: ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, .. }
        ) {
            found.push((
                node.span,
                format!("the id `{id}` stands without quotes: readers may take it for a number"),
            ));
        }
        if id.len() > 1 && id.starts_with('0') && id.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push((node.span, format!("the id `{id}` begins with a zero")));
        }
        let start = format!("{id}-");
        let first = files.partition_point(|name| **name < *start);
        if let [first, second] = files[first..].iter().take(2).copied().collect::<Vec<_>>()[..]
            && second.starts_with(&start)
        {
            let message = format!("`stories/{first}` and `stories/{second}` are both of the story `{id}`");
            found.push((node.span, message));
        }
        ids.push((id, node.span));
    }
    found.extend(alike(ids));
    found.sort_by_key(|(span, _)| span.start);
    found
}

/// Duplicate ids, and ids that are a prefix of another one up to a dash. Sorting puts those side by side.
fn alike(mut ids: Vec<(&str, Span)>) -> Vec<(Span, String)> {
    ids.sort_by_key(|(id, span)| (*id, span.start));
    let (mut found, mut above) = (Vec::new(), Vec::<(&str, Span)>::new());
    for (id, span) in ids {
        let begins =
            |short: &str| id.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        while above.pop_if(|(short, _)| !begins(short)).is_some() {}
        if let Some((short, other)) = above.last() {
            let at = if span.start > other.start { span } else { *other };
            found.push((
                at,
                match *short == id {
                    true => format!("two stories have the id `{id}`"),
                    false => format!("the id `{short}` begins `{id}`: its files cannot be told apart"),
                },
            ));
        }
        above.push((id, span));
    }
    found
}

pub fn stories(bytes: &[u8]) -> Vec<(String, String)> {
    let document = Document::scan(bytes);
    let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
    let Ok(yaml) = Yaml::parse(bytes, whole) else { return Vec::new() };
    let text = |story: &Node<'_>, key| story.get(key).and_then(Node::text).map(str::to_owned);
    let stories = yaml.root().map(Node::items).unwrap_or_default().iter();
    stories.filter_map(|story| Some((text(story, "id")?, text(story, "title").unwrap_or_default()))).collect()
}

/// Reviews of `file` by a person: before it is built, before it is done.
pub fn checkpoints(bytes: &[u8], file: &str) -> [bool; 2] {
    let document = Document::scan(bytes);
    let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
    let Ok(yaml) = Yaml::parse(bytes, whole) else { return [false; 2] };
    let stories = yaml.root().map(Node::items).unwrap_or_default();
    let is_meant = |story: &&Node<'_>| {
        let id = story.get("id").and_then(Node::text);
        id.is_some_and(|id| file.strip_prefix(id).is_some_and(|rest| rest.starts_with('-')))
    };
    let story = stories.iter().find(is_meant);
    let is_set =
        |key| story.and_then(|story| story.get(key)).and_then(Node::scalar) == Some(Scalar::Bool(true));
    FLAGS.map(is_set)
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
}

fn of_story(story: &Node<'_>) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    if story.get("title").is_none_or(|title| title.text().is_none_or(str::is_empty)) {
        found.push((story.span, "each story needs a `title`".to_owned()));
    }
    for entry in story.entries() {
        let (key, value) = (entry.key.as_key().unwrap_or_default(), &entry.value);
        let is_flag = || matches!(value.scalar(), Some(Scalar::Bool(_) | Scalar::Null));
        match key {
            "status" => {
                let message = "a story has its status in the frontmatter of its spec, and never here";
                found.push((entry.key.span, message.to_owned()));
            }
            key if TEXTS.contains(&key) && value.text().is_none() => {
                found.push((value.span, format!("`{key}` must be a text")));
            }
            key if FLAGS.contains(&key) && !is_flag() => {
                found.push((value.span, format!("`{key}` must be true or false")));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_list_is_told_with_its_place() {
        for (text, files, expected) in [
            ("- id: \"1\"\n  title: A\n  spec_checkpoint: true\n", vec!["1-a.md"], None),
            ("a: b\n", vec![], Some((0, "must be a list"))),
            ("- title: A\n", vec![], Some((2, "needs an `id`"))),
            ("- id: 1.10\n  title: A\n", vec![], Some((6, "letters, digits and dashes"))),
            ("- id: 7\n  title: A\n", vec![], Some((6, "without quotes"))),
            ("- id: '01'\n  title: A\n", vec![], Some((6, "begins with a zero"))),
            ("- id: 'a'\n  title: A\n- id: 'a'\n  title: B\n", vec![], Some((27, "two stories have the id"))),
            ("- id: 'a'\n  title: A\n- id: 'a-b'\n  title: B\n", vec![], Some((27, "begins `a-b`"))),
            ("- id: 'a'\n  title: A\n", vec!["a-x.md", "a-y.md"], Some((6, "are both of the story"))),
            ("- id: 'a'\n  title: A\n  status: done\n", vec![], Some((23, "never here"))),
            ("- id: 'a'\n  title: A\n  done_checkpoint: maybe\n", vec![], Some((40, "true or false"))),
            ("- id: 'a'\n", vec![], Some((2, "needs a `title`"))),
            ("- id: [\n", vec![], Some((0, ""))),
        ] {
            let found = faults(text.as_bytes(), &files);
            match expected {
                None => assert_eq!(found, [], "{text}"),
                Some((_, "")) => assert_eq!(found.len(), 1, "{text}"),
                Some((at, told)) => {
                    assert!(found.len() == 1 && found[0].1.contains(told), "{text}: {found:?}");
                    assert_eq!(found[0].0.start, at, "{text}: {found:?}");
                }
            }
        }
    }
}
