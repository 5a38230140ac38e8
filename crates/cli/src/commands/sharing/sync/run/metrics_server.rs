//! Serving metrics to this machine.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HOST},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use stepmark_sync::{
    TrackerName,
    ledger::{Ledger as _, LedgerError, SqliteLedger},
    run::{LedgerCounts, RunMetrics},
};
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};

/// The number of requests that are served at a time; others wait.
const CONNECTIONS: usize = 8;

/// The time that one may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// The sources of what is served.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) metrics: Arc<Mutex<RunMetrics>>,
    pub(super) ledger_path: PathBuf,
    pub(super) trackers: Arc<Mutex<Vec<TrackerName>>>,
}

/// Listens at `address`, and answers which one that is.
pub(super) async fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves whoever asks, for as long as it is polled.
pub(super) async fn serve(listener: TcpListener, address: SocketAddr, served: Served) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Too many files are open, or the other side has gone: neither is helped by asking again at once.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            }
        };
        let served = served.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = answer(&request, address, &served);
                async { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server
                .timer(TokioTimer::new())
                .header_read_timeout(CONNECTION_TIMEOUT)
                .keep_alive(false)
                .max_buf_size(16 * 1024);
            // Whoever asks wrongly, or not to the end, gets nothing.
            let _served =
                timeout(CONNECTION_TIMEOUT, server.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
    }
}

fn answer(request: &Request<Incoming>, address: SocketAddr, served: &Served) -> Response<Full<Bytes>> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let (status, kind, text) = match page(address, request.method().as_str(), request.uri().path(), host) {
        Page::Metrics => match served.expose() {
            Ok(text) => (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, PLAIN, format!("{error}\n")),
        },
        Page::Health => match served.health() {
            Ok(()) => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        },
        Page::NotFound => (StatusCode::NOT_FOUND, PLAIN, "there are /metrics and /healthz\n".to_owned()),
        Page::NotAllowed => (StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET is wanted\n".to_owned()),
        Page::OtherHost => (StatusCode::FORBIDDEN, PLAIN, "only this machine is served\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

const PLAIN: &str = "text/plain; charset=utf-8";

impl Served {
    fn health(&self) -> Result<(), String> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner).health()
    }

    fn expose(&self) -> Result<String, LedgerError> {
        let trackers = self.trackers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut counts = BTreeMap::new();
        if let Some(mut ledger) = SqliteLedger::open_existing(&self.ledger_path)? {
            let ledger = ledger.read()?;
            for tracker in trackers {
                let of_tracker = LedgerCounts::read(&*ledger, &tracker)?;
                counts.insert(tracker, of_tracker);
            }
        }
        Ok(self.metrics.lock().unwrap_or_else(PoisonError::into_inner).expose(&counts))
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// Metrics.
    Metrics,
    /// The answer that says whether the process works.
    Health,
    /// There is nothing else.
    NotFound,
    /// Only reading is possible.
    NotAllowed,
    /// The request names another host: a page in a browser may have been led here (DNS rebinding).
    OtherHost,
}

/// Returns what a request with this method, path and `Host` gets from a server that listens at `address`.
pub(super) fn page(address: SocketAddr, method: &str, path: &str, host: Option<&str>) -> Page {
    let own = [address.to_string(), format!("localhost:{}", address.port())];
    if !host.is_some_and(|host| own.iter().any(|own| own.eq_ignore_ascii_case(host))) {
        return Page::OtherHost;
    }
    match (method, path) {
        ("GET" | "HEAD", "/metrics") => Page::Metrics,
        ("GET" | "HEAD", "/healthz") => Page::Health,
        ("GET" | "HEAD", _) => Page::NotFound,
        _ => Page::NotAllowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pages_for_this_machine() {
        let address: SocketAddr = "127.0.0.1:9464".parse().unwrap();
        for (method, path, host, expected) in [
            ("GET", "/metrics", Some("127.0.0.1:9464"), Page::Metrics),
            ("HEAD", "/healthz", Some("LOCALHOST:9464"), Page::Health),
            ("GET", "/", Some("localhost:9464"), Page::NotFound),
            ("POST", "/metrics", Some("localhost:9464"), Page::NotAllowed),
            ("GET", "/metrics", Some("evil.example:9464"), Page::OtherHost),
            ("GET", "/metrics", Some("127.0.0.1"), Page::OtherHost),
            ("GET", "/metrics", None, Page::OtherHost),
        ] {
            assert_eq!(page(address, method, path, host), expected, "{method} {path} {host:?}");
        }
    }
}
