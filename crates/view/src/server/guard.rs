//! Who is answered, and what every answer says about itself.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

/// What a page of the server may do: run, be styled by and talk to what this server serves, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every answer.
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

/// Gives an answer the headers that all have.
pub(super) fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Why a request is not answered.
pub(super) fn refusal(method: &Method, headers: &HeaderMap, port: u16) -> Option<(StatusCode, &'static str)> {
    // A page of another site whose name was led here (DNS rebinding) names that site.
    let mut hosts = headers.get_all(header::HOST).iter();
    let is_own = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(|host| is_own_host(host, port)),
        _ => false,
    };
    if !is_own {
        return Some((StatusCode::MISDIRECTED_REQUEST, "only this machine is served, under its own name\n"));
    }
    // A page of another site asks in the name of whoever looks at it (Fetch Metadata, W3C).
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let is_navigation = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    if matches!(site, Some("cross-site" | "same-site")) && !is_navigation {
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

fn is_own_host(host: &str, port: u16) -> bool {
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.iter().any(|name| {
        host.eq_ignore_ascii_case(&format!("{name}:{port}")) || port == 80 && host.eq_ignore_ascii_case(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_reads() {
        for (method, host, site, status) in [
            ("GET", Some("localhost:4747"), None, None),
            ("HEAD", Some("127.0.0.1:4747"), Some("none"), None),
            ("GET", Some("[::1]:4747"), Some("same-origin"), None),
            ("GET", Some("LOCALHOST:4747"), None, None),
            ("GET", Some("localhost"), None, Some(421)),
            ("GET", Some("localhost:80"), None, Some(421)),
            ("GET", Some("evil.example:4747"), None, Some(421)),
            ("GET", Some("127.0.0.1.evil.example:4747"), None, Some(421)),
            ("GET", None, None, Some(421)),
            ("POST", Some("localhost:4747"), None, Some(405)),
            ("DELETE", Some("localhost:4747"), None, Some(405)),
            ("OPTIONS", Some("localhost:4747"), None, Some(405)),
            ("POST", Some("evil.example"), None, Some(421)),
            ("GET", Some("localhost:4747"), Some("cross-site"), Some(403)),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(host) = host {
                headers.insert(header::HOST, host.parse().unwrap());
            }
            if let Some(site) = site {
                headers.insert("sec-fetch-site", site.parse().unwrap());
            }
            let refusal =
                refusal(&method.parse().unwrap(), &headers, 4747).map(|(status, _)| status.as_u16());
            assert_eq!(refusal, status, "{method} {host:?} {site:?}");
        }
        let mut twice = HeaderMap::new();
        twice.append(header::HOST, "localhost:4747".parse().unwrap());
        twice.append(header::HOST, "evil.example".parse().unwrap());
        assert!(refusal(&Method::GET, &twice, 4747).is_some());
    }
}
