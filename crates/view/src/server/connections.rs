//! A listener with a limit of connections.

use std::{
    future::pending,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use tokio::{
    io::{AsyncWrite, Join, join},
    net::{
        TcpListener,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};

pub(super) type Connection = Join<OwnedReadHalf, Sending>;

pub const CONNECTIONS: usize = 256;

/// After a failed accept: an immediate retry would fail too.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct BoundedListener {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl BoundedListener {
    pub const fn new(listener: TcpListener, places: Arc<Semaphore>) -> Self {
        Self { listener, places }
    }

    /// Cancel-safe.
    pub(super) async fn accept(&self) -> (Connection, OwnedSemaphorePermit) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // Unreachable: nobody closes the semaphore.
                return pending().await;
            };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    // Sends small answers at once; if the system refuses, they are only slower.
                    let _asked = stream.set_nodelay(true);
                    let (receiving, stream) = stream.into_split();
                    return (join(receiving, Sending { stream, deadline: None }), place);
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// A connection ends if the client reads nothing for so long.
const STALLED: Duration = Duration::from_secs(30);

/// Fails if the client does not read.
#[derive(Debug)]
pub(super) struct Sending {
    stream: OwnedWriteHalf,
    /// `None` while nothing waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl AsyncWrite for Sending {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
];

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

pub(super) fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

pub(super) fn refusal(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    port: u16,
) -> Option<(StatusCode, &'static str)> {
    // A page that comes here by DNS rebinding has its own host, maybe in the target (RFC 9112, 3.2.2).
    let is_own = only(headers, header::HOST)
        .and_then(|host| host.to_str().ok())
        .is_some_and(|host| is_own_host(host, port))
        && uri.authority().is_none_or(|target| is_own_host(target.as_str(), port));
    if !is_own {
        return Some((StatusCode::MISDIRECTED_REQUEST, "only this machine is served, under its own name\n"));
    }
    if !is_asked_by_own_page_or_person(headers) {
        return Some((StatusCode::FORBIDDEN, "pages of other sites are not served\n"));
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Some((
            StatusCode::METHOD_NOT_ALLOWED,
            "nothing can be changed here: GET or HEAD is wanted\n",
        ));
    }
    None
}

/// Rejects requests of other sites (Fetch Metadata, W3C), but not followed links: those show the site
/// nothing.
fn is_asked_by_own_page_or_person(headers: &HeaderMap) -> bool {
    if !headers.contains_key(SITE) {
        // An old browser or no browser: not a page's request.
        return true;
    }
    let says = |name, value| only(headers, name).is_some_and(|said| said == value);
    says(SITE, "same-origin")
        || says(SITE, "none")
        || only(headers, SITE).is_some() && says(MODE, "navigate") && says(DESTINATION, "document")
}

fn only(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

fn is_own_host(host: &str, port: u16) -> bool {
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.iter().any(|name| {
        host.eq_ignore_ascii_case(&format!("{name}:{port}")) || port == 80 && host.eq_ignore_ascii_case(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &str, target: &str, headers: &[(HeaderName, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        let refusal = refusal(&method.parse().unwrap(), &target.parse().unwrap(), &map, 4747);
        refusal.map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_this_machine_reads() {
        for (method, target, host, wanted) in [
            ("GET", "/", "localhost:4747", None),
            ("HEAD", "/", "127.0.0.1:4747", None),
            ("GET", "/", "[::1]:4747", None),
            ("GET", "/", "LOCALHOST:4747", None),
            ("GET", "http://localhost:4747/", "localhost:4747", None),
            ("GET", "http://evil.example/", "localhost:4747", Some(421)),
            ("GET", "http://ada@localhost:4747/", "localhost:4747", Some(421)),
            ("GET", "http://localhost:4747/", "evil.example", Some(421)),
            ("GET", "/", "localhost", Some(421)),
            ("GET", "/", "localhost:80", Some(421)),
            ("GET", "/", "evil.example:4747", Some(421)),
            ("GET", "/", "127.0.0.1.evil.example:4747", Some(421)),
            ("POST", "/", "localhost:4747", Some(405)),
            ("DELETE", "/", "localhost:4747", Some(405)),
            ("OPTIONS", "/", "localhost:4747", Some(405)),
            ("POST", "/", "evil.example", Some(421)),
        ] {
            assert_eq!(status(method, target, &[(header::HOST, host)]), wanted, "{method} {target} {host}");
        }
        assert_eq!(status("GET", "/", &[]), Some(421));
        let twice = [(header::HOST, "localhost:4747"), (header::HOST, "evil.example")];
        assert_eq!(status("GET", "/", &twice), Some(421));
    }

    #[test]
    fn pages_of_other_sites_read_nothing() {
        for (metadata, wanted) in [
            (&[(SITE, "none")][..], None),
            (&[(SITE, "same-origin")], None),
            (&[(SITE, "cross-site")], Some(403)),
            (&[(SITE, "CROSS-SITE")], Some(403)),
            (&[(SITE, "same-site")], Some(403)),
            (&[(SITE, "")], Some(403)),
            (&[(SITE, "none"), (SITE, "cross-site")], Some(403)),
            (&[(SITE, "cross-site"), (SITE, "none")], Some(403)),
            (&[(SITE, "cross-site"), (MODE, "no-cors"), (DESTINATION, "script")], Some(403)),
            // A link that a person follows, and what only looks like one.
            (&[(SITE, "cross-site"), (MODE, "navigate"), (DESTINATION, "document")], None),
            (&[(SITE, "cross-site"), (MODE, "navigate"), (DESTINATION, "iframe")], Some(403)),
            (&[(SITE, "cross-site"), (MODE, "navigate")], Some(403)),
            (
                &[(SITE, "cross-site"), (MODE, "navigate"), (MODE, "cors"), (DESTINATION, "document")],
                Some(403),
            ),
        ] {
            let headers = [&[(header::HOST, "localhost:4747")], metadata].concat();
            assert_eq!(status("GET", "/", &headers), wanted, "{metadata:?}");
        }
    }
}
