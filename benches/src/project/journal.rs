//! A journal of any size: sessions that work on artifacts in turn, as agents that run for days leave it.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use serde_json::{Map, Value as Json, json};
use stepmark_frontmatter::diff;
use stepmark_model::{
    artifact::{FileHash, ProjectPath, StateDigest},
    journal::{
        Actor, ActorKind, ArtifactKey, ArtifactRef, Digests, Event, EventDraft, EventId, HashChain, Header,
        Kind, SegmentName,
    },
};

use crate::{failure::Failure, project::random::Random};

/// The events of the artifact with the longest history.
const LONGEST: usize = 3_000;
/// The number of artifacts that a session works on at a time.
const WORKING_SET: usize = 8;
/// The steps of the workflow; behind the last, the artifact is reopened.
const STEPS: usize = 14;

/// An artifact as it is while the journal is written.
struct Artifact {
    path: ProjectPath,
    key: ArtifactKey,
    /// The keys that stay as they are.
    fixed: Map<String, Json>,
    steps: usize,
    rounds: usize,
    head: Option<(EventId, u64)>,
    state: Json,
    digests: Option<Digests>,
}

/// Makes a journal of `events` events over `artifacts` artifacts in `sessions` sealed segments, the last one
/// live, and the artifacts in the state after their last event.
pub(crate) fn make(folder: &Path, events: usize, artifacts: usize, sessions: usize) -> Result<(), Failure> {
    let all: Result<_, _> = (0..artifacts).map(Artifact::plain).collect();
    make_of(folder, ("version: 1\n", all?), events, sessions, 0)
}

/// The same of the records of a flow `f` with so many tasks; each has an event at least.
pub(crate) fn make_flow(folder: &Path, events: usize, tasks: usize, sessions: usize) -> Result<(), Failure> {
    let ids: Vec<String> = (0..tasks).map(|task| format!("t{task:05}")).collect();
    let defined: Vec<Json> = ids.iter().map(|id| json!({ "id": id })).collect();
    let executions: Vec<String> = ids.iter().map(|id| format!("f.{id}")).collect();
    let graph =
        json!({"stepmark_kind": "task-graph", "id": "g.v1", "graph": "g", "version": 1, "tasks": defined});
    let flow = json!({"stepmark_kind": "task-flow", "id": "f", "graph": "g", "graph_version": 1, "tasks": executions});
    let mut all =
        vec![Artifact::new("flows/graphs/g.v1.md", &graph)?, Artifact::new("flows/f/flow.md", &flow)?];
    for (id, task) in executions.iter().zip(&ids) {
        let execution = json!({"stepmark_kind": "task-execution", "id": id, "flow": "f", "task": task});
        all.push(Artifact::new(&format!("flows/f/tasks/{task}.md"), &execution)?);
    }
    let begun = all.len();
    make_of(folder, ("flows: {}\n", all), events, sessions, begun)
}

/// Words of which memories are made; no two of them are alike, since each has a number.
const WORDS: [&str; 16] = [
    "checkout", "search", "billing", "upload", "mailer", "cache", "router", "ledger", "Redis", "Postgres",
    "SQLite", "Kafka", "latency", "licence", "backups", "audit",
];

/// Makes a journal of `records` memories of four kinds, each about one of a hundred artifacts, in `sessions`
/// sealed segments.
pub(crate) fn make_memories(folder: &Path, records: usize, sessions: usize) -> Result<(), Failure> {
    let sealed = folder.join(".stepmark/journal");
    fs::create_dir_all(&sealed).map_err(Failure::file("make", &sealed))?;
    let configuration = folder.join(".stepmark/config.yaml");
    fs::write(&configuration, "memory: {track: git}\n").map_err(Failure::file("write", &configuration))?;
    let mut random = Random::new(11);
    for session in 0..sessions.max(1) {
        let mut segment = Segment::begin(&sealed, session)?;
        for number in records * session / sessions.max(1)..records * (session + 1) / sessions.max(1) {
            let event = memory(number, &mut random, &segment.session)?;
            segment.add(&event)?;
        }
        segment.finish()?;
    }
    Ok(())
}

fn memory(number: usize, random: &mut Random, session: &str) -> Result<Event, Failure> {
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().map_err(Failure::library)?;
    let mut word = || WORDS[random.below(WORDS.len())];
    let content =
        format!("The {} uses {} for {} and {}, as of change {number}", word(), word(), word(), word());
    let kind = ["decision", "error", "pattern", "preference"][number % 4];
    let artifact = number % 100;
    let told = json!({
        "content": content,
        "kind": kind,
        "rationale": format!("{} was too slow", word()),
        "artifact": format!("docs/artifact-{artifact:06}.md"),
        "key": format!("id:A-{artifact:06}"),
    });
    let draft = EventDraft::new(Kind::of("memory")).with("memory", told);
    let actor = Actor { kind: ActorKind::Agent, name: format!("dev-{}", number % 7) };
    let mut event = Event::new(draft, actor, start + Duration::from_millis(1_500 * number as u64));
    event.session = Some(session.to_owned());
    Ok(event.sealed())
}

/// The same of these artifacts, of which as many as are `begun` have an event at least.
fn make_of(
    folder: &Path,
    (configured, mut all): (&str, Vec<Artifact>),
    events: usize,
    sessions: usize,
    begun: usize,
) -> Result<(), Failure> {
    let artifacts = all.len();
    if artifacts == 0 || sessions == 0 || events < sessions {
        return Err(Failure::Usage("at least one artifact, one session, and an event for each".to_owned()));
    }
    let sealed = folder.join(".stepmark/journal");
    let live = folder.join(".stepmark/local/journal");
    for place in [&sealed, &live, &folder.join("docs")] {
        fs::create_dir_all(place).map_err(Failure::file("make", place))?;
    }
    let configuration = folder.join(".stepmark/config.yaml");
    fs::write(&configuration, configured).map_err(Failure::file("write", &configuration))?;
    let mut random = Random::new(7);
    // The first artifact is worked on evenly by all sessions.
    let every = (events / LONGEST).max(2);
    let mut written = 0;
    for session in 0..sessions {
        let place = if session + 1 == sessions { &live } else { &sealed };
        let until = events * (session + 1) / sessions;
        let set: Vec<usize> = (0..WORKING_SET).map(|_| random.below(artifacts)).collect();
        let mut segment = Segment::begin(place, session)?;
        while written < until {
            let chosen = if written < begun {
                written
            } else if written.is_multiple_of(every) {
                0
            } else {
                set[random.below(set.len())]
            };
            let event = all[chosen].complete(written, &segment.session)?;
            segment.add(&event)?;
            written += 1;
        }
        segment.finish()?;
    }
    all.iter().try_for_each(|artifact| {
        let file = folder.join(artifact.path.as_str());
        let above = file.parent().unwrap_or(folder);
        fs::create_dir_all(above).map_err(Failure::file("make", above))?;
        fs::write(&file, artifact.text()).map_err(Failure::file("write", &file))
    })
}

struct Segment {
    session: String,
    place: std::path::PathBuf,
    file: BufWriter<File>,
    chain: HashChain,
}

impl Segment {
    fn begin(folder: &Path, session: usize) -> Result<Self, Failure> {
        let session = format!("s-{session:05}");
        let random = FileHash::of(session.as_bytes()).to_string();
        let name = SegmentName::new(&format!("{session}-{}", &random[..12]))
            .ok_or_else(|| Failure::Usage("no name of a segment".to_owned()))?;
        let place = folder.join(format!("{name}.jsonl"));
        let file = File::create(&place).map_err(Failure::file("make", &place))?;
        let (header, chain) = Header::new(&name, Some(&session)).line();
        let mut segment = Self { session, place, file: BufWriter::new(file), chain };
        segment.write(&header)?;
        Ok(segment)
    }

    fn add(&mut self, event: &Event) -> Result<(), Failure> {
        let line = self.chain.add(event);
        self.write(&line)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(Failure::file("write", &self.place))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.file.flush().map_err(Failure::file("write", &self.place))
    }
}

impl Artifact {
    fn plain(number: usize) -> Result<Self, Failure> {
        let path = format!("docs/artifact-{number:06}.md");
        Self::new(&path, &json!({"id": format!("A-{number:06}")}))
    }

    fn new(path: &str, fixed: &Json) -> Result<Self, Failure> {
        let path = ProjectPath::new(path).map_err(Failure::library)?;
        let id = fixed["id"].as_str().unwrap_or_default();
        let key = serde_json::from_value(format!("id:{id}").into()).map_err(Failure::library)?;
        let fixed = fixed.as_object().cloned().unwrap_or_default();
        Ok(Self { path, key, fixed, steps: 0, rounds: 0, head: None, state: json!({}), digests: None })
    }

    fn next_state(&mut self) -> Json {
        if self.steps == STEPS {
            self.steps = 0;
            self.rounds += 1;
        }
        self.steps += 1;
        let steps: Vec<String> = (1..=self.steps).map(|step| format!("step-{step:02}-name")).collect();
        let moving = [
            ("status", json!(self.status())),
            ("round", json!(self.rounds)),
            ("stepsCompleted", json!(steps)),
        ];
        let moving = moving.into_iter().map(|(key, value)| (key.to_owned(), value));
        Json::Object(self.fixed.clone().into_iter().chain(moving).collect())
    }

    fn status(&self) -> &'static str {
        if self.steps == STEPS { "done" } else { "draft" }
    }

    fn text(&self) -> String {
        if self.head.is_none() {
            return "# Not begun\n".to_owned();
        }
        let keys = self.state.as_object().into_iter().flatten();
        let lines: String = keys.map(|(key, value)| format!("{key}: {value}\n")).collect();
        format!("---\n{lines}---\n\n# Text\n")
    }

    /// The event that completes the next step.
    fn complete(&mut self, number: usize, session: &str) -> Result<Event, Failure> {
        let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().map_err(Failure::library)?;
        let at = start + Duration::from_millis(1_500 * number as u64);
        let state = self.next_state();
        let command = format!("complete {} step-{:02}-name", self.path, self.steps);
        let draft = EventDraft::new(Kind::CHANGE).with_command(command);
        let actor = Actor { kind: ActorKind::Agent, name: "writer".to_owned() };
        let mut event = Event::new(draft, actor, at);
        event.session = Some(session.to_owned());
        event.artifact = Some(ArtifactRef { key: self.key.clone(), path: self.path.clone(), was: None });
        event.parents = self.head.iter().map(|(id, _)| *id).collect();
        event.n = self.head.map_or(1, |(_, n)| n + 1);
        event.changes = diff(&self.state, &state);
        event.before = self.digests;
        let is_first = self.head.is_none();
        if is_first || event.n.is_multiple_of(Event::SNAPSHOT_EVERY) {
            event.snapshot = Some(state.clone());
        }
        (self.head, self.state) = (Some((event.id, event.n)), state);
        let state = Some(StateDigest::of(&self.state));
        let digests = Digests { file: FileHash::of(self.text().as_bytes()), state };
        event.after = Some(digests);
        let event = event.sealed();
        (self.head, self.digests) = (Some((event.id, event.n)), Some(digests));
        Ok(event)
    }
}
