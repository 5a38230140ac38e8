//! Rules about values: within one artifact, and between all artifacts of packs.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::{ArgumentType, scalar::Name, spelling::listed};

/// A rule about the values of a frontmatter key.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `use` and `key`")]
pub struct KeyRule {
    /// The test that the values pass.
    #[serde(rename = "use")]
    pub test: KeyTest,
    /// The frontmatter key.
    pub key: Name,
    /// The values that it may have, with `one-of`.
    pub values: Option<Vec<Name>>,
    /// The least number, with `in-range`.
    pub from: Option<f64>,
    /// The greatest number, with `in-range`.
    pub to: Option<f64>,
    /// The most days without a change, with `holder-alive`.
    pub days: Option<f64>,
}

/// Tests of the values of a key: they are among `values`; they are numbers between `from` and `to`; as names
/// of artifacts of the kind they lead in no circle; no other artifact of the kind has them; whoever they name
/// has changed the artifact within `days`, as long as the work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyTest {
    OneOf,
    InRange,
    NoCircle,
    Unique,
    HolderAlive,
}

impl KeyRule {
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let has_range = self.from.is_some() || self.to.is_some();
        if self.days.is_some() != (self.test == KeyTest::HolderAlive) {
            return Some("`holder-alive` wants `days`, and no other rule has them");
        }
        match (self.test == KeyTest::OneOf, self.test == KeyTest::InRange) {
            (true, _) if self.values.as_ref().is_none_or(Vec::is_empty) => Some("`one-of` wants `values`"),
            (_, true) if !has_range => Some("`in-range` wants `from`, `to`, or both"),
            (is_choice, is_range) if !is_choice && self.values.is_some() || !is_range && has_range => {
                Some("`values` belong to `one-of`, `from` and `to` to `in-range`")
            }
            _ => None,
        }
    }

    pub(crate) fn fault(&self, state: &Json) -> Option<String> {
        let key = &self.key.0;
        let given = texts(state.get(key));
        match self.test {
            KeyTest::OneOf => {
                let values: Vec<&str> = self.values.iter().flatten().map(|name| &*name.0).collect();
                let odd = given.iter().find(|own| !values.contains(&&***own))?;
                Some(format!("`{key}` is `{odd}`, and one of {} is wanted", listed(&values)))
            }
            KeyTest::InRange => {
                let fits = |text: &&String| {
                    let number = text.parse::<f64>().ok();
                    number.is_some_and(|number| {
                        self.from.is_none_or(|from| number >= from) && self.to.is_none_or(|to| number <= to)
                    })
                };
                let odd = given.iter().find(|own| !fits(own))?;
                let from = self.from.map(|from| format!(" from {from}")).unwrap_or_default();
                let to = self.to.map(|to| format!(" to {to}")).unwrap_or_default();
                Some(format!("`{key}` is `{odd}`, and a number{from}{to} is wanted"))
            }
            KeyTest::NoCircle | KeyTest::Unique | KeyTest::HolderAlive => None,
        }
    }

    pub fn silence(&self, state: &Json, days: f64) -> Option<String> {
        let most = self.days.filter(|most| days > *most)?;
        let holders = texts(state.get(&self.key.0));
        let told = || format!("{} has it, and nothing happened for more than {most} days", listed(&holders));
        (!holders.is_empty()).then(told)
    }
}

fn texts(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::String(text)) if !text.is_empty() => vec![text.clone()],
        Some(Json::Number(number)) => vec![number.to_string()],
        Some(Json::Bool(value)) => vec![value.to_string()],
        Some(Json::Array(items)) => items.iter().flat_map(|item| texts(Some(item))).collect(),
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub path: &'a str,
    pub id: Option<&'a str>,
    pub kind: (&'a str, &'a str),
    pub keys: &'a [(String, ArgumentType)],
    pub rules: &'a [KeyRule],
    pub state: &'a Json,
}

/// Id, path, file name without extension, leading number.
fn names(path: &str, id: Option<&str>) -> HashSet<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".md").unwrap_or(file);
    let digits = stem.split_once(|letter: char| !letter.is_ascii_digit()).map(|(digits, _)| digits);
    let names = [id, Some(path), Some(stem), digits.filter(|digits| !digits.is_empty())];
    names.into_iter().flatten().map(plain).collect()
}

pub fn is_name_of(name: &str, path: &str, id: Option<&str>) -> bool {
    names(path, id).contains(&plain(name))
}

/// Normalized for comparison: `0007` is 7.
fn plain(name: &str) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let digits = name.trim_start_matches('0');
    if is_number { if digits.is_empty() { "0" } else { digits }.to_owned() } else { name.to_owned() }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFault {
    pub place: usize,
    pub key: String,
    pub problem: PeerProblem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerProblem {
    /// None or several artifacts have the name.
    Unknown {
        name: String,
        kind: String,
        count: usize,
    },
    Circle {
        paths: Vec<String>,
    },
    NotUnique {
        value: String,
        other: String,
    },
}

impl fmt::Display for PeerFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.problem {
            PeerProblem::Unknown { name, kind, count: 0 } => {
                write!(out, "`{key}` names `{name}`, and there is no {kind} of that name")
            }
            PeerProblem::Unknown { name, kind, count } => {
                write!(out, "`{key}` names `{name}`, and {count} of the kind {kind} have that name")
            }
            PeerProblem::Circle { paths } => {
                write!(out, "`{key}` leads in a circle: `{}`", paths.join("` → `"))
            }
            PeerProblem::NotUnique { value, other } => {
                write!(out, "`{key}` is `{value}`, and that of `{other}` is the same")
            }
        }
    }
}

type KindKey<'a> = ((&'a str, &'a str), &'a str);

pub fn faults_between(peers: &[Peer<'_>]) -> Vec<PeerFault> {
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, peer) in peers.iter().enumerate() {
        names(peer.path, peer.id).into_iter().for_each(|name| named.entry(name).or_default().push(place));
    }
    let places = |peer: &Peer<'_>, kind: &str, name: &str| {
        let mut all = named.get(&plain(name)).cloned().unwrap_or_default();
        all.retain(|place| peers[*place].kind == (peer.kind.0, kind));
        all
    };
    let mut found = Vec::new();
    let mut values: HashMap<(KindKey<'_>, String), usize> = HashMap::new();
    let mut ways: HashMap<KindKey<'_>, HashMap<usize, Vec<usize>>> = HashMap::new();
    for (place, peer) in peers.iter().enumerate() {
        let fault = |key: &str, problem| PeerFault { place, key: key.to_owned(), problem };
        for (key, own) in peer.keys {
            let Some(Name(kind)) = &own.target else { continue };
            for name in texts(peer.state.get(key)) {
                let count = places(peer, kind, &name).len();
                if count != 1 {
                    found.push(fault(key, PeerProblem::Unknown { name, kind: kind.clone(), count }));
                }
            }
        }
        for KeyRule { test, key: Name(key), .. } in peer.rules {
            let given = texts(peer.state.get(key));
            match test {
                KeyTest::Unique => {
                    for value in given {
                        let first = *values.entry(((peer.kind, key), value.clone())).or_insert(place);
                        if first != place {
                            let other = peers[first].path.to_owned();
                            found.push(fault(key, PeerProblem::NotUnique { value, other }));
                        }
                    }
                }
                KeyTest::NoCircle => {
                    let ends = given.iter().flat_map(|name| places(peer, peer.kind.1, name)).collect();
                    ways.entry((peer.kind, key)).or_default().insert(place, ends);
                }
                KeyTest::OneOf | KeyTest::InRange | KeyTest::HolderAlive => {}
            }
        }
    }
    for ((_, key), ways) in ways {
        for circle in circles(&ways) {
            let all = circle.iter().chain(circle.first());
            let paths: Vec<String> = all.map(|place| peers[*place].path.to_owned()).collect();
            let problem = PeerProblem::Circle { paths };
            let fault = |place| PeerFault { place, key: key.to_owned(), problem: problem.clone() };
            found.extend(circle.iter().copied().map(fault));
        }
    }
    found.sort_by(|one, other| (one.place, &one.key).cmp(&(other.place, &other.key)));
    found
}

/// Finds at least one cycle if there is any.
fn circles(ways: &HashMap<usize, Vec<usize>>) -> Vec<Vec<usize>> {
    let mut back: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut open: HashMap<usize, usize> = ways.iter().map(|(from, to)| (*from, to.len())).collect();
    for (from, to) in ways {
        to.iter().for_each(|to| back.entry(*to).or_default().push(*from));
    }
    let mut ended: Vec<usize> =
        open.iter().filter(|(_, count)| **count == 0).map(|(from, _)| *from).collect();
    while let Some(end) = ended.pop() {
        for from in back.get(&end).into_iter().flatten() {
            let Some(count) = open.get_mut(from) else { continue };
            *count -= 1;
            if *count == 0 {
                ended.push(*from);
            }
        }
    }
    // Only nodes on or before a cycle remain.
    let mut left: Vec<usize> = open.iter().filter(|(_, count)| **count > 0).map(|(from, _)| *from).collect();
    left.sort_unstable();
    let next = |from: usize| {
        ways.get(&from)?.iter().copied().find(|to| open.get(to).is_some_and(|count| *count > 0))
    };
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for start in left {
        let (mut way, mut at) = (Vec::new(), Some(start));
        while let Some(place) = at.filter(|place| seen.insert(*place)) {
            way.push(place);
            at = next(place);
        }
        if let Some(first) = way.iter().position(|place| Some(*place) == at) {
            found.push(way.split_off(first));
        }
    }
    found
}
