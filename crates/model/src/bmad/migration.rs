//! Migration from BMAD 6 to BMAD 7: epics and stories of a sprint become tickets (docs/bmad.md). Pure.
//!
//! A story becomes a leaf file, a spec a plan; both keep all bytes below their frontmatter. Old files move to
//! `archive-v6/` unchanged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use stepmark_frontmatter::{Edit, KeyPath, Value, apply};

use super::{
    sprint::{LedgerKey, LedgerPart, SprintStatus, is_story_spec},
    tickets::{BREAKDOWN_NAME, TicketTree, slug},
};
use crate::artifact::{Artifact, ProjectPath, state_region};

pub const ARCHIVE: &str = "archive-v6";

#[derive(Debug)]
pub struct SixProject {
    pub output: ProjectPath,
    pub ledger: (ProjectPath, Vec<u8>),
    pub epics: Option<Artifact>,
    /// Stories and specs, each with its effective status.
    pub stories: Vec<(Artifact, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct MigratedRow {
    pub key: String,
    pub title: String,
    pub from: Option<String>,
    pub to: String,
    /// Ticket name, or folder of the epic.
    pub ticket: String,
    pub files: Vec<ProjectPath>,
    /// Frontmatter keys that only the archived file keeps.
    pub left: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Migration {
    pub rows: Vec<MigratedRow>,
    pub files: Vec<(ProjectPath, Vec<u8>)>,
    pub archived: Vec<(ProjectPath, ProjectPath)>,
    pub unknown: Vec<(String, String)>,
    /// Neither epics nor stories.
    pub unplaced: Vec<String>,
}

/// The plan's status; `None` if no plan is needed.
fn status_of(word: &str, own: &BTreeMap<String, String>) -> Option<String> {
    let status = match word.trim().to_lowercase().replace([' ', '_'], "-").as_str() {
        other if own.contains_key(other) => return own.get(other).cloned(),
        "backlog" | "optional" => "",
        "draft" => "draft",
        "ready-for-dev" | "drafted" | "contexted" | "ready" => "ready-for-dev",
        "in-progress" => "in-progress",
        "review" | "in-review" | "ready-for-review" => "in-review",
        "awaiting-operator" => "built",
        "done" | "complete" | "completed" => "done",
        "blocked" => "blocked",
        _ => return None,
    };
    Some(status.to_owned())
}

/// From `## Epic 1: Lend` and `### Story 1.2: Return`, by key without slug.
fn titles(epics: Option<&Artifact>) -> BTreeMap<String, String> {
    let text = epics.map(|file| String::from_utf8_lossy(file.bytes()).into_owned()).unwrap_or_default();
    let title = |line: &str| {
        let heading = line.strip_prefix('#')?.trim_start_matches('#').trim();
        let (name, title) = heading.split_once([':', '–', '—'])?;
        let (kind, number) = name.trim().split_once(' ')?;
        let key = match kind {
            "Epic" => format!("epic-{number}"),
            "Story" => number.replace('.', "-"),
            _ => return None,
        };
        Some((key, title.trim().to_owned())).filter(|(_, title)| !title.is_empty())
    };
    // The first of two equal keys counts.
    text.lines().rev().filter_map(title).collect()
}

struct Maker<'m> {
    six: &'m SixProject,
    initiative: ProjectPath,
    titles: BTreeMap<String, String>,
    words: &'m BTreeMap<String, String>,
    made: Migration,
}

impl SixProject {
    /// `name` is the initiative; `words` maps statuses as a person chose.
    pub fn migrated(&self, name: &str, words: &BTreeMap<String, String>) -> Result<Migration, String> {
        let ledger = SprintStatus::read(&self.ledger.1).map_err(|error| error.to_string())?;
        let wrong = |error: crate::artifact::ProjectPathError| error.to_string();
        let initiative = self.output.join(name).map_err(wrong)?;
        let titles = titles(self.epics.as_ref());
        let mut maker = Maker { six: self, initiative, titles, words, made: Migration::default() };
        let unplaced = ledger.keys().filter(|key| LedgerKey::read(key).is_none()).map(str::to_owned);
        maker.made.unplaced = unplaced.collect();
        let mut keys: BTreeMap<LedgerKey, String> = BTreeMap::new();
        let listed = ledger.keys().filter_map(|key| Some((LedgerKey::read(key)?, key.to_owned())));
        let of_files = self.stories.iter().filter_map(|(file, _)| LedgerKey::of(file.path()));
        for (key, name) in listed.chain(of_files.map(|(key, name)| (key, name.to_owned()))) {
            keys.entry(key).or_insert(name);
        }
        let epics: BTreeSet<u16> = keys.keys().map(|key| key.epic).collect();
        let (mut list, mut slugs) = (String::new(), BTreeSet::new());
        for epic in epics {
            let title =
                maker.titles.get(&format!("epic-{epic}")).cloned().unwrap_or_else(|| format!("Epic {epic}"));
            let own = slug(&title);
            let mut slug = if own.starts_with("epic-") { own } else { format!("epic-{own}") };
            if !slugs.insert(slug.clone()) {
                slug = format!("{slug}-{epic}");
            }
            list.push_str(&format!(
                "[[epic]]\nid = {epic}\nslug = {}\ntitle = {}\nv6_key = \"epic-{epic}\"\n\n",
                Json::from(&*slug),
                Json::from(&*title)
            ));
            maker.epic(epic, &slug, &title, &keys, &ledger)?;
        }
        let name = maker.initiative.file_name().to_owned();
        maker.write(
            &[&format!("{name}.md")],
            format!("---\ntype: initiative\ntitle: {}\n---\n", Json::from(&*name)),
        )?;
        maker.write(&[BREAKDOWN_NAME], list)?;
        let old = self.stories.iter().map(|(file, _)| file.path());
        let old = old.chain([&self.ledger.0]).chain(self.epics.as_ref().map(Artifact::path));
        for path in old {
            let below = path.as_str().strip_prefix(self.output.as_str()).unwrap_or(path.as_str());
            let archived =
                self.output.join(ARCHIVE).and_then(|folder| folder.join(below.trim_start_matches('/')));
            maker.made.archived.push((path.clone(), archived.map_err(wrong)?));
        }
        Ok(maker.made)
    }
}

impl Maker<'_> {
    fn write(&mut self, parts: &[&str], text: impl Into<Vec<u8>>) -> Result<ProjectPath, String> {
        let place = parts.iter().try_fold(self.initiative.clone(), |place, part| place.join(part));
        let place = place.map_err(|error| error.to_string())?;
        self.made.files.push((place.clone(), text.into()));
        Ok(place)
    }

    /// An unknown status is noted and counts as not started.
    fn status(&mut self, key: &str, word: Option<&str>) -> String {
        let Some(word) = word else { return String::new() };
        status_of(word, self.words).unwrap_or_else(|| {
            self.made.unknown.push((key.to_owned(), word.to_owned()));
            String::new()
        })
    }

    fn epic(
        &mut self,
        epic: u16,
        slug: &str,
        title: &str,
        keys: &BTreeMap<LedgerKey, String>,
        ledger: &SprintStatus,
    ) -> Result<(), String> {
        let key = format!("epic-{epic}");
        let word = ledger.status(&key).map(str::to_owned);
        let status = self.status(&key, word.as_deref());
        // Containers are active or done, and have no plan.
        let said = match &*status {
            "done" => "status: done\n",
            "" | "draft" | "ready-for-dev" => "",
            _ => "status: in-progress\n",
        };
        let text = format!("---\ntype: epic\ntitle: {}\n{said}---\n", Json::from(title));
        let file = self.write(&[slug, &format!("{slug}.md")], text)?;
        let to = said.trim().trim_start_matches("status: ").to_owned();
        let row = (key, title.to_owned(), word, to, slug.to_owned());
        self.row(row, vec![file], Vec::new());
        let mut list = String::new();
        let own = keys.iter().filter(|(key, _)| key.epic == epic && key.is_story());
        let mut taken = BTreeSet::new();
        for (key, name) in own {
            let LedgerPart::Story { number, letter } = key.part else { continue };
            let id = format!("{number}{}", letter.map(String::from).unwrap_or_default());
            list.push_str(&self.story((epic, &id), slug, (*key, name), ledger, &mut taken)?);
        }
        if !list.is_empty() {
            self.write(&[slug, BREAKDOWN_NAME], list)?;
        }
        Ok(())
    }

    fn story(
        &mut self,
        (epic, id): (u16, &str),
        folder: &str,
        (key, name): (LedgerKey, &str),
        ledger: &SprintStatus,
        taken: &mut BTreeSet<String>,
    ) -> Result<String, String> {
        let files = self
            .six
            .stories
            .iter()
            .filter(|(file, _)| LedgerKey::of(file.path()).map(|own| own.0) == Some(key));
        let files: Vec<&(Artifact, Option<String>)> = files.collect();
        let find = |is_spec: bool| {
            files.iter().find(|(file, _)| is_story_spec(file.path()) == is_spec).map(|own| &own.0)
        };
        let (leaf, spec) = (find(false), find(true));
        let word = files
            .iter()
            .find_map(|(_, word)| word.clone())
            .or_else(|| ledger.status(name).map(str::to_owned));
        let status = self.status(name, word.as_deref());
        let words = || name.splitn(3, '-').nth(2).unwrap_or(name).replace('-', " ");
        let title = self
            .titles
            .get(&format!("{epic}-{id}"))
            .cloned()
            .or_else(|| title_of(leaf.or(spec)?))
            .unwrap_or_else(words);
        let mut stem = format!("story-{}", slug(&title));
        if !taken.insert(stem.clone()) {
            stem = format!("{stem}-{id}");
        }
        let quoted = Json::from(&*title);
        let bare =
            |id: &str| id.parse::<u32>().map_or_else(|_| Json::from(id).to_string(), |id| id.to_string());
        let (mut made, mut left) = (Vec::new(), Vec::new());
        if let Some(leaf) = leaf {
            let body = &leaf.bytes()[leaf.document().body().range()];
            let head = format!(
                "---\nid: {id}\ntype: story\ntitle: {quoted}\nparent: {folder}\nafter: []\nhitl: false\n---\n"
            );
            made.push(self.write(&[folder, &format!("{stem}.md")], [head.as_bytes(), body].concat())?);
            let keys =
                leaf.state_value().ok().and_then(|state| state.as_object().cloned()).unwrap_or_default();
            let is_left = |key: &String| !matches!(key.as_str(), "status" | "title");
            left = keys.into_iter().map(|(key, _)| key).filter(is_left).collect();
        }
        let plan = match spec {
            Some(spec) => {
                let ticket = id.parse::<i64>().map_or_else(|_| Value::from(id), Value::from);
                let set = |key: &str, value| Edit::Set { path: KeyPath::key(key), value };
                let now = if status.is_empty() { "draft" } else { &status };
                let edits = [set("status", Value::from(now)), set("ticket", ticket)];
                let edited = apply(spec.bytes(), &state_region(spec.path()), &edits);
                Some(edited.map_err(|error| format!("`{}`: {error}", spec.path()))?.bytes)
            }
            None if status.is_empty() => None,
            None => Some(
                format!("---\ntitle: {quoted}\nticket: {}\nstatus: {status}\n---\n", bare(id)).into_bytes(),
            ),
        };
        if let Some(plan) = plan {
            made.push(self.write(&[folder, &format!("{stem}-plan.md")], plan)?);
        }
        let entry = format!(
            "[[entry]]\nid = {}\ntype = \"story\"\ntitle = {quoted}\nv6_key = {}\n\n",
            bare(id),
            Json::from(name)
        );
        self.row((name.to_owned(), title, word, status, format!("{epic}.{id}")), made, left);
        Ok(entry)
    }

    fn row(
        &mut self,
        (key, title, from, to, ticket): (String, String, Option<String>, String, String),
        files: Vec<ProjectPath>,
        left: Vec<String>,
    ) {
        let to = if to.is_empty() { "planned".to_owned() } else { to };
        self.made.rows.push(MigratedRow { key, title, from, to, ticket, files, left });
    }
}

fn title_of(file: &Artifact) -> Option<String> {
    let own = file.state().title.as_ref().and_then(|title| title.filled()).map(str::to_owned);
    let title = own.or_else(|| file.first_heading())?;
    let bare = title.strip_prefix("Story ").and_then(|rest| Some(rest.split_once(':')?.1.trim().to_owned()));
    Some(bare.unwrap_or(title)).filter(|title| !title.is_empty())
}

/// Parts that `tree` lacks or contradicts, by key; later moves of a ticket are allowed.
pub fn lost_in(
    done: &Migration,
    tree: &TicketTree,
    read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
) -> Vec<(String, String)> {
    let mut lost = Vec::new();
    for row in done.rows.iter().filter(|row| !row.key.starts_with("epic-")) {
        let Some(ticket) = tree.tickets().iter().find(|own| own.v6_key() == row.key) else {
            lost.push((row.key.clone(), "no ticket has it as its `v6_key`".to_owned()));
            continue;
        };
        let state = if ticket.status.is_empty() { "planned" } else { &ticket.status };
        if state == "planned" && row.to != "planned" {
            lost.push((row.key.clone(), format!("it was `{}`, and its ticket is planned", row.to)));
        }
    }
    let is_text = |path: &ProjectPath| {
        path.file_name().ends_with(".md") && done.rows.iter().any(|row| row.files.contains(path))
    };
    let body = |bytes: Vec<u8>, path: &ProjectPath| {
        let file = Artifact::read(path.clone(), bytes);
        file.bytes()[file.document().body().range()].to_vec()
    };
    for (path, bytes) in done.files.iter().filter(|(path, _)| is_text(path)) {
        let key = || {
            done.rows
                .iter()
                .find(|row| row.files.contains(path))
                .map(|row| row.key.clone())
                .unwrap_or_default()
        };
        let wanted = body(bytes.clone(), path);
        match read(path).map(|bytes| body(bytes, path)) {
            None if wanted.is_empty() => {}
            None => lost.push((key(), format!("`{path}` is gone"))),
            Some(own) if own.is_empty() && !wanted.is_empty() => {
                lost.push((key(), format!("`{path}` has lost its text")))
            }
            Some(_) => {}
        }
    }
    lost
}
