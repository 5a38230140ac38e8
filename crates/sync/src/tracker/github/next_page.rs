//! Where a list goes on.

/// The address that a `Link` header (RFC 8288) calls `next`.
pub(super) fn next_page(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (target, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            name.trim().eq_ignore_ascii_case("rel") && value.trim().trim_matches('"') == "next"
        });
        is_next.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::next_page;

    #[test]
    fn the_next_page_is_named() {
        for (link, next) in [
            ("", None),
            ("<https://h/i?page=1>; rel=\"prev\"", None),
            (
                "<https://h/i?page=1>; rel=\"prev\", <https://h/i?page=3>; rel=\"next\"",
                Some("https://h/i?page=3"),
            ),
            ("<https://h/i?after=Y3%3D>;rel=next", Some("https://h/i?after=Y3%3D")),
            ("<https://h/i?page=3; rel=\"next\"", None),
            ("nonsense, rel=\"next\"", None),
        ] {
            assert_eq!(next_page(link), next, "{link}");
        }
    }
}
