//! Telling whoever listens that there is another revision.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::StatusCode,
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream::unfold;

use super::{Served, answers};

/// The interval at which a silent stream says that it is there, so that a connection that broke is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
const RECONNECT: Duration = Duration::from_secs(1);

/// The latest revision, and each that follows while somebody listens; one that comes while another is sent
/// takes its place.
pub(super) async fn events(State(served): State<Served>) -> Response {
    let Ok(place) = Arc::clone(&served.listening).try_acquire_owned() else {
        return answers::last((StatusCode::SERVICE_UNAVAILABLE, "too many listen already\n"));
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
