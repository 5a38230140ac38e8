//! What is answered to a request over HTTP.

use std::net::SocketAddr;

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// Metrics.
    Metrics,
    /// Whether the process works.
    Health,
    /// There is nothing else.
    NotFound,
    /// Only reading is possible.
    NotAllowed,
    /// The request names another host: a page in a browser may have been led here (DNS rebinding).
    OtherHost,
}

/// What a request with this method, path and `Host` gets from a server that listens at `address`.
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
