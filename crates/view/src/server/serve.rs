//! The loop of the server, until its end is requested.

use std::{future::Future, pin::pin, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::get,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    task::JoinSet,
};

use super::{
    Served, answers,
    connections::{self, BoundedListener, Connection},
};

/// For the first request, and each after an answer.
const REQUEST: Duration = Duration::from_secs(10);
/// Of a request head; a browser's has a few hundred.
const HEAD_BYTES: usize = 64 * 1024;

/// After `end`, streams stop and started responses finish; dropping it cuts them off.
pub async fn serve(listener: BoundedListener, served: Served, end: impl Future<Output = ()>) {
    let router = router(served);
    // Streams end with the sender.
    let (over, is_over) = watch::channel(());
    let (mut connections, mut end) = (JoinSet::new(), pin!(end));
    loop {
        tokio::select! {
            (stream, place) = listener.accept() => {
                connections.spawn(answer(stream, place, router.clone(), is_over.clone()));
            }
            Some(_) = connections.join_next() => {}
            () = &mut end => break,
        }
    }
    drop((listener, over));
    while connections.join_next().await.is_some() {}
}

async fn answer(
    stream: Connection,
    _place: OwnedSemaphorePermit,
    router: Router,
    mut is_over: watch::Receiver<()>,
) {
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(REQUEST).max_buf_size(HEAD_BYTES);
    let connection = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // Hyper reports bad or partial requests to the client.
        _ended = &mut connection => return,
        _over = is_over.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ended = connection.await;
}

pub(super) fn router(served: Served) -> Router {
    let port = served.port;
    Router::new()
        .route("/", get(answers::overview))
        .route("/artifact/{*path}", get(answers::artifact))
        .route("/journal", get(answers::journal))
        .route("/memory", get(answers::memory))
        .route("/sync", get(answers::sync))
        .route("/update", get(answers::update))
        .route("/events", get(answers::events))
        .route("/page.css", get(answers::style))
        .route("/page.js", get(answers::script))
        .fallback(answers::nothing_here)
        .with_state(served)
        // The last layer runs first, before routing.
        .layer(from_fn_with_state(port, guarded))
}

async fn guarded(State(port): State<u16>, request: Request, next: Next) -> Response {
    let mut response = match connections::refusal(request.method(), request.uri(), request.headers(), port) {
        Some(refusal) => answers::last(refusal),
        None => next.run(request).await,
    };
    connections::add_headers(response.headers_mut());
    response
}
