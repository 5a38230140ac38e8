//! Serving, until somebody says that it is enough.

use std::{convert::Infallible, future::Future, io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use futures_util::stream::{Stream, unfold};
use stepmark_core::workspace::Workspace;
use tokio::sync::watch;

use super::{Shown, answers, bounded_listener::BoundedListener, guard};

/// How often a silent stream says that it is there, so that a connection that broke is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// After how long a browser whose stream broke asks again.
const RECONNECT: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Clone, Debug)]
pub struct Served {
    /// The latest state. When its sender is gone, streams end.
    pub shown: watch::Receiver<Arc<Shown>>,
    /// The project, for the history of single artifacts.
    pub workspace: Arc<Workspace>,
    /// The port under which pages ask for it.
    pub port: u16,
}

/// Serves connections of `listener` until `end`; then streams are over, and answers that were begun are finished.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: BoundedListener,
    served: Served,
    end: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router(served)).with_graceful_shutdown(end).await
}

/// All addresses.
pub(super) fn router(served: Served) -> Router {
    let port = served.port;
    Router::new()
        .route("/", get(answers::overview))
        .route("/artifact/{*path}", get(answers::artifact))
        .route("/journal", get(answers::journal))
        .route("/sync", get(answers::sync))
        .route("/update", get(answers::update))
        .route("/events", get(events))
        .route("/page.css", get(answers::style))
        .route("/page.js", get(answers::script))
        .fallback(answers::nothing_here)
        .with_state(served)
        // The last layer is asked first, before any address.
        .layer(from_fn_with_state(port, guarded))
}

async fn guarded(State(port): State<u16>, request: Request, next: Next) -> Response {
    let mut response = match guard::refusal(request.method(), request.headers(), port) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    guard::add_headers(response.headers_mut());
    response
}

/// The latest revision, and each that follows while somebody listens; one that comes while another is sent takes its place.
async fn events(State(served): State<Served>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let first = Some(RECONNECT);
    let stream = unfold((served.shown, first), |(mut shown, first)| async move {
        if first.is_none() && shown.changed().await.is_err() {
            return None;
        }
        let revision = shown.borrow_and_update().revision;
        let event = Event::default().event("revision").data(revision.to_string());
        let event = first.map_or(event.clone(), |retry| event.retry(retry));
        Some((Ok(event), (shown, None)))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}
