//! Reading frontmatter into types of the caller, by `serde`.

mod deserializer;
mod value;

use serde::Deserialize;

pub use value::ReadError;

use crate::{Document, Region, Yaml};
use deserializer::{Empty, Tree};

/// Reads the frontmatter of `file` into a type of your own, which may borrow text from `file`.
///
/// Scalars mean what YAML 1.2 says: `1.10` is a number and no text, `yes` is text. Aliases are followed
/// within [`LIMITS`](crate::LIMITS). An enum is written as the name of its variant, or as a map with that one
/// key. Frontmatter without entries reads as an empty map.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Story {
///     status: String,
///     points: u8,
/// }
///
/// let file = b"---\nstatus: draft\npoints: many\n---\n# Login\n";
/// let error = stepmark_frontmatter::from_frontmatter::<Story>(file).map(|story| story.status).unwrap_err();
/// assert_eq!(error.to_string(), "`points` at 3:9: invalid type: string \"many\", expected u8");
/// ```
///
/// # Errors
/// When there is no frontmatter, it is not YAML, a key stands twice, or a value does not fit; then the error
/// says which and where.
pub fn from_frontmatter<'a, T: Deserialize<'a>>(file: &'a [u8]) -> Result<T, ReadError> {
    from_region(file, &Region::Frontmatter)
}

/// Reads a region of `file` as [`from_frontmatter`] reads the frontmatter.
///
/// # Errors
/// Those of [`from_frontmatter`].
pub fn from_region<'a, T: Deserialize<'a>>(file: &'a [u8], region: &Region) -> Result<T, ReadError> {
    let document = Document::scan(file);
    let yaml = Yaml::parse(file, region.find(&document)?)
        .map_err(|source| ReadError::Parse { position: document.position(source.offset()), source })?;
    if yaml.documents() > 1 {
        return Err(ReadError::SeveralDocuments { count: yaml.documents() });
    }
    if let Some(key) = yaml.duplicate_keys().first() {
        let position = document.position(key.span.start);
        return Err(ReadError::KeyTwice { key: key.as_key().unwrap_or_default().to_owned(), position });
    }
    let read = match yaml.root() {
        Some(root) => T::deserialize(Tree::new(&yaml).reader(root)),
        None => T::deserialize(Empty),
    };
    read.map_err(|wrong| ReadError::Value {
        position: document.position(wrong.offset.unwrap_or(yaml.span().start)),
        key: wrong.path(),
        message: wrong.message,
    })
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, collections::BTreeMap};

    use super::*;
    use crate::Value;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Prd<'a> {
        #[serde(default)]
        steps_completed: Vec<&'a str>,
        status: Option<Status>,
        #[serde(borrow)]
        note: Option<Cow<'a, str>>,
        #[serde(default)]
        counts: BTreeMap<String, u64>,
        ratio: Option<f64>,
        delegation: Option<Delegation>,
        #[serde(default)]
        big: Option<u128>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Status {
        InProgress,
        Blocked { by: String },
        Score(i8),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Delegation {
        id: String,
        chain: Vec<(String, u8)>,
    }

    fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
        from_frontmatter(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_what_derived_types_ask_for() {
        let file = "---\nstepsCompleted: [a, 'b']\nstatus: in-progress\nnote: >\n  two\n  lines\n\
            counts: {x: 1}\nratio: .5\nbig: 0xFFFFFFFFFFFFFFFFFF\n\
            delegation: {id: d, chain: [[a, 1], [b, 2]]}\nunknown: ~\n---\n";
        let prd: Prd<'_> = read(file).unwrap();
        assert_eq!(prd.steps_completed, ["a", "b"]);
        assert_eq!((prd.status, prd.note.as_deref()), (Some(Status::InProgress), Some("two lines\n")));
        assert_eq!((prd.counts["x"], prd.ratio, prd.big), (1, Some(0.5), Some(0xFF_FFFF_FFFF_FFFF_FFFF)));
        assert_eq!(prd.delegation.unwrap().chain[1], ("b".to_owned(), 2));
        for (text, wanted) in
            [("{blocked: {by: x}}", Status::Blocked { by: "x".into() }), ("{score: -3}", Status::Score(-3))]
        {
            let prd: BTreeMap<String, Status> = read(&format!("---\na: {text}\n---\n")).unwrap();
            assert_eq!(prd["a"], wanted);
        }
        assert_eq!(read::<Prd<'_>>("---\n# nothing\n---\n").unwrap().steps_completed, [""; 0]);
        assert_eq!(read::<Prd<'_>>("---\nstatus:\n---\n").unwrap().status, None);
        let followed: BTreeMap<String, Vec<u8>> = read("---\na: &x [1]\nb: *x\n---\n").unwrap();
        assert_eq!(followed["b"], [1]);
    }

    #[test]
    fn errors_know_key_line_and_column() {
        let prd = |text: &str| read::<Prd<'_>>(text).unwrap_err();
        for (file, wanted) in [
            ("# Title\n", "the file has no frontmatter"),
            (
                "---\nstatus: draft\n---\n",
                "`status` at 2:9: unknown variant `draft`, expected one of `in-progress`, `blocked`, `score`",
            ),
            ("---\ncounts:\n  é: [1]\n---\n", "`counts.é` at 3:6: invalid type: sequence, expected u64"),
            (
                "---\nstepsCompleted: [a, 2]\n---\n",
                "`stepsCompleted[1]` at 2:21: invalid type: integer `2`, expected a borrowed string",
            ),
            ("---\ndelegation:\n  id: x\n---\n", "`delegation` at 3:3: missing field `chain`"),
            ("---\nratio: 1\nratio: 2\n---\n", "the key `ratio` stands twice, again at 3:1"),
            ("---\na: [\n---\n", "at 2:4: not YAML: unclosed bracket '['"),
            ("---\nnote: *x\n---\n", "`note` at 2:7: the alias `*x` has no anchor"),
        ] {
            assert_eq!(prd(file), wanted, "{file}");
        }
        let laughs: String = (1..12)
            .map(|at| format!("k{at}: &k{at} [{}]\n", vec![format!("*k{}", at - 1); 9].join(", ")))
            .collect();
        let file = format!("---\nk0: &k0 [x]\n{laughs}---\n");
        let error = read::<BTreeMap<String, Value>>(&file).unwrap_err();
        assert!(
            error.ends_with("following the aliases gives more than the limit of 250000 nodes"),
            "{error}"
        );
    }

    #[test]
    fn a_value_goes_through_json_and_back() {
        let file = "---\na: [1, 1.5, x, ~, true]\nb: {c: 18446744073709551615, d: .inf}\ne: 99999999999999999999\n---\n";
        let value: Value = read(file).unwrap();
        let yaml = Yaml::parse(file.as_bytes(), crate::Span::new(4, file.len() - 4)).unwrap();
        assert_eq!(value, Value::of(&yaml, yaml.root().unwrap()).unwrap());
        let finite: Value = read("---\na: [1, 1.5, x, ~, true]\nb: {c: d}\n---\n").unwrap();
        let json = serde_json::to_string(&finite).unwrap();
        assert_eq!(json, r#"{"a":[1,1.5,"x",null,true],"b":{"c":"d"}}"#);
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), finite);
    }
}
