//! The served state, and the response for each address.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    response::{
        Html, IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream::unfold;
use serde::Deserialize;
use stepmark_model::{artifact::ProjectPath, journal::ArtifactKey, spelling::with_causes};
use stepmark_store::{history::Selection, workspace::Workspace};
use tokio::sync::{Semaphore, watch};

use super::Shown;
use crate::observation::ObservedMemory;
use crate::page::{self, ArtifactView, SCRIPT, STYLE};

const EVENTS: usize = 200;

/// At a time, for pages of artifacts: each takes memory and a processor.
const DRAWN: usize = 2;

/// Fewer than connections, so that pages are served despite many listeners.
const LISTENERS: usize = 128;

/// Clones share the limits.
#[derive(Clone, Debug)]
pub struct Served {
    /// Streams end when the sender is dropped.
    pub(super) shown: watch::Receiver<Arc<Shown>>,
    pub(super) workspace: Arc<Workspace>,
    pub(super) port: u16,
    pub(super) drawing: Arc<Semaphore>,
    pub(super) listening: Arc<Semaphore>,
}

impl Served {
    pub fn new(shown: watch::Receiver<Arc<Shown>>, workspace: Arc<Workspace>, port: u16) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { shown, workspace, port, drawing: places(DRAWN), listening: places(LISTENERS) }
    }

    pub(super) fn now(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.borrow())
    }
}

/// For silent streams, to notice broken connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
const RECONNECT: Duration = Duration::from_secs(1);

/// Sends the latest revision, then each new one; slow listeners skip revisions.
pub(super) async fn events(State(served): State<Served>) -> Response {
    let Ok(place) = Arc::clone(&served.listening).try_acquire_owned() else {
        return last((StatusCode::SERVICE_UNAVAILABLE, "too many listen already\n"));
    };
    let first = Some(RECONNECT);
    let stream = unfold((served.shown, first, place), |(mut shown, first, place)| async move {
        if first.is_none() && shown.changed().await.is_err() {
            return None;
        }
        let revision = shown.borrow_and_update().revision;
        let event = Event::default().event("revision").data(revision.to_string());
        let event = first.map_or(event.clone(), |retry| event.retry(retry));
        Some((Ok::<_, Infallible>(event), (shown, None, place)))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct From {
    from: u64,
}

pub(super) async fn overview(State(served): State<Served>) -> Html<Bytes> {
    Html(served.now().html.clone())
}

pub(super) async fn update(
    State(served): State<Served>,
    Query(from): Query<From>,
) -> Json<serde_json::Value> {
    Json(served.now().update(from.from))
}

pub(super) async fn journal(State(served): State<Served>) -> Html<String> {
    let shown = served.now();
    Html(page::journal_page(&shown.overview, shown.revision()))
}

pub(super) async fn sync(State(served): State<Served>) -> Html<String> {
    let shown = served.now();
    Html(page::sync_page(&shown.overview, shown.revision()))
}

/// Only for observed artifacts: no other file of the project is ever read.
pub(super) async fn artifact(State(served): State<Served>, Path(path): Path<String>) -> Response {
    let Ok(path) = ProjectPath::new(&path) else { return nothing_here().await };
    drawn(served, move |workspace, shown| artifact_page(workspace, shown, &path)).await
}

pub(super) async fn memory(State(served): State<Served>) -> Response {
    drawn(served, |workspace, shown| {
        let memory = shown.overview.has_memory.then(|| ObservedMemory::read(workspace))?;
        let memory = memory.map_err(|error| with_causes(&error));
        let read = memory.as_ref().map_err(String::as_str);
        Some(page::memory_page(&shown.overview, read, shown.revision()))
    })
    .await
}

/// Drawn on request, in a blocking thread; `None` if there is no such page.
async fn drawn(
    served: Served,
    page: impl FnOnce(&Workspace, &Shown) -> Option<String> + Send + 'static,
) -> Response {
    // Held until drawn, even if the client is gone.
    let Ok(place) = Arc::clone(&served.drawing).acquire_owned().await else { return not_drawn() };
    let (shown, workspace) = (served.now(), Arc::clone(&served.workspace));
    // History is on disk, and long texts take a while.
    let drawn = tokio::task::spawn_blocking(move || {
        let _place = place;
        page(&workspace, &shown)
    });
    match drawn.await {
        Ok(Some(html)) => Html(html).into_response(),
        Ok(None) => nothing_here().await,
        Err(_) => not_drawn(),
    }
}

fn not_drawn() -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be drawn\n").into_response()
}

fn artifact_page(workspace: &Workspace, shown: &Shown, path: &ProjectPath) -> Option<String> {
    shown.overview.entry(path)?;
    let read = workspace.artifact(path).map_err(|error| with_causes(&error));
    // The file may be deleted since the observation.
    let key =
        read.as_ref().map_or_else(|_| ArtifactKey::of_path(path), |read| ArtifactKey::of(read.artifact()));
    let selection = Selection { artifact: Some((&key, path)), limit: Some(EVENTS), ..Selection::default() };
    let history =
        workspace.history().ask(|history| history.select(selection)).map_err(|error| error.to_string());
    let history = history.as_ref().map(Vec::as_slice).map_err(String::as_str);
    let revision = shown.revision();
    let text = read.as_ref().map(|read| read.artifact().bytes()).map_err(String::as_str);
    page::artifact_page(&ArtifactView { overview: &shown.overview, path, text, history, revision })
}

pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

pub(super) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

pub(super) async fn nothing_here() -> Response {
    (StatusCode::NOT_FOUND, "there is no such page\n").into_response()
}

/// Closes the connection, to free its place.
pub(super) fn last(answer: (StatusCode, &'static str)) -> Response {
    (answer.0, [(header::CONNECTION, "close")], answer.1).into_response()
}
