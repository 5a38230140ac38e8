//! What a server of the tests was asked and what it answered, as JSON lines: `tests/interop/sync_contracts`
//! holds them against the vendor's description. Nothing is recorded unless `STEPMARK_RECORD_HTTP` names a
//! folder; each process writes a file of its own in the folder there that is called after its test.
#![expect(clippy::disallowed_methods, reason = "the tests write a record where they are told to")]

use std::{
    env, fs,
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    process,
    sync::{Mutex, OnceLock, PoisonError},
};

use serde_json::{Value as Json, json};

/// One request with its answer.
pub(crate) struct Exchange<'e> {
    /// The method.
    pub(crate) method: &'e str,
    /// The path with its query.
    pub(crate) target: &'e str,
    /// The headers of the request.
    pub(crate) headers: &'e [(String, String)],
    /// The body of the request.
    pub(crate) body: &'e str,
    /// What the server answers; `None` where it breaks the connection.
    pub(crate) reply: Option<RecordedReply<'e>>,
    /// True where the server does something wrong on purpose: then only the request is held against the
    /// description.
    pub(crate) is_fault: bool,
}

/// An answer.
pub(crate) struct RecordedReply<'e> {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: &'e [(String, String)],
    /// The body.
    pub(crate) body: &'e str,
}

/// Writes `exchange` down.
pub(crate) fn record(exchange: &Exchange<'_>) {
    static FILE: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let Some(file) =
        FILE.get_or_init(|| env::var_os("STEPMARK_RECORD_HTTP").map(|folder| open(folder.as_ref())))
    else {
        return;
    };
    let line = json!({
        "method": exchange.method,
        "target": exchange.target,
        "headers": headers(exchange.headers),
        "body": exchange.body,
        "reply": exchange.reply.as_ref().map(|reply| json!({
            "status": reply.status,
            "headers": headers(reply.headers),
            "body": reply.body,
        })),
        "fault": exchange.is_fault,
    });
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    // One write: a test that is killed leaves whole lines.
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn open(folder: &Path) -> Mutex<File> {
    let folder = folder.join(env!("CARGO_CRATE_NAME"));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.jsonl", process::id()));
    Mutex::new(OpenOptions::new().create(true).append(true).open(file).unwrap())
}

/// What stands for a credential: `hidden:hidden` as Basic gives it.
const HIDDEN: &str = "aGlkZGVuOmhpZGRlbg==";

/// Headers by their lower-case names; of the credential only the word that stands before it.
fn headers(headers: &[(String, String)]) -> Json {
    let told = headers.iter().map(|(name, value)| {
        let name = name.to_lowercase();
        let value = match (name.as_str(), value.split_once(' ')) {
            ("authorization", Some((scheme, _))) => format!("{scheme} {HIDDEN}"),
            _ => value.clone(),
        };
        (name, Json::from(value))
    });
    Json::Object(told.collect())
}
