//! The address at which the file of an artifact can be looked at as it was when its ticket was written.

use std::{fmt, sync::Arc};

use stepmark_model::artifact::ProjectPath;

use super::{Inline, Ticket, title::percent_encoded};

/// The commit that is checked out. It is no part of what a ticket says: another commit alone changes no
/// ticket.
#[derive(Clone)]
pub struct Commit {
    pub id: String,
    /// The folder of the project in the repository: empty, or ending with `/`.
    pub folder: String,
    pub remotes: Vec<String>,
    /// Tells whether it holds an artifact as it is. Only artifacts whose ticket is made are asked for.
    pub holds: Arc<dyn Fn(&ProjectPath) -> bool + Send + Sync>,
    /// Tells whether a commit came before it, or was given up since: no branch has that one any more.
    pub contains: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The branch that is checked out and the one that tickets follow, where these are not the same.
    pub aside: Option<(String, String)>,
}

impl fmt::Debug for Commit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Commit").field("id", &self.id).field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Commit {
    /// The address of the file at `path`, which it holds as it is, where the repository has a remote on the
    /// host of `web` (`https://github.com`).
    pub(super) fn address(&self, web: &str, path: &ProjectPath) -> Option<String> {
        let host = host_and_path(web)?.0;
        let own = |remote: &String| {
            let (host_of_remote, path) = host_and_path(remote)?;
            let path = path.trim_matches('/');
            let path = path.strip_suffix(".git").unwrap_or(path);
            let is_plain = path.split('/').count() == 2
                && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
            (is_plain && host_of_remote.eq_ignore_ascii_case(host)).then(|| path.to_owned())
        };
        let repository = self.remotes.iter().find_map(own)?;
        let file = percent_encoded(&format!("{}{path}", self.folder));
        Some(format!("{}/{repository}/blob/{}/{file}", web.trim_end_matches('/'), self.id))
    }
}

/// The host and the path of a remote: `https://[user@]host[:port]/path`, `ssh://…` or `[user@]host:path`.
fn host_and_path(address: &str) -> Option<(&str, &str)> {
    let (authority, path) = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => address.split_once(':')?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some((host.split_once(':').map_or(host, |(host, _)| host), path))
}

impl Ticket {
    pub(super) fn linked_at_commit(&self, markdown: &str) -> String {
        match (&self.file, &self.file_at_commit) {
            (Inline::Link { url, .. }, Some(at_commit)) => {
                markdown.replace(&format!("(<{url}>)"), &format!("(<{at_commit}>)"))
            }
            _ => markdown.to_owned(),
        }
    }

    /// `body` with the link to this ticket's file as it is without a commit, whatever commit it leads to.
    pub(super) fn without_commit(&self, body: &str) -> String {
        let Inline::Link { text, url } = &self.file else { return body.to_owned() };
        let file = percent_encoded(text);
        let (mut kept, mut rest) = (String::with_capacity(body.len()), body);
        while let Some((before, after)) = rest.split_once("(<") {
            kept.push_str(before);
            kept.push_str("(<");
            let target = after.split_once(">)").map(|(target, _)| target);
            let is_at_commit = |target: &str| {
                target.split_once("/blob/").and_then(|(_, file)| file.split_once('/')).is_some_and(
                    |(commit, path)| {
                        let is_commit = matches!(commit.len(), 40 | 64)
                            && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                        is_commit && (path == file || path.ends_with(&format!("/{file}")))
                    },
                )
            };
            rest = match target.filter(|target| is_at_commit(target)) {
                Some(target) => {
                    kept.push_str(url);
                    &after[target.len()..]
                }
                None => after,
            };
        }
        kept + rest
    }
}

#[cfg(test)]
impl Commit {
    /// A commit that holds nothing and follows none.
    pub(crate) fn sample(id: &str) -> Self {
        let (folder, remotes, aside) = (String::new(), Vec::new(), None);
        Self {
            id: id.to_owned(),
            folder,
            remotes,
            holds: Arc::new(|_| false),
            contains: Arc::new(|_| false),
            aside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(remote: &str) -> Commit {
        Commit {
            folder: "sub dir/".to_owned(),
            remotes: vec!["/local/path".to_owned(), remote.to_owned()],
            holds: Arc::new(|path| path.as_str() == "docs/a.md"),
            ..Commit::sample(&"a".repeat(40))
        }
    }

    #[test]
    fn remotes_are_read_in_every_form() {
        let path = ProjectPath::new("docs/a.md").unwrap();
        for (remote, expected) in [
            ("https://github.com/o/r.git", Some("o/r")),
            ("https://me:secret@GitHub.com/o/r", Some("o/r")),
            ("git@github.com:o/r.git", Some("o/r")),
            ("ssh://git@github.com:22/o/r.git/", Some("o/r")),
            ("https://gitlab.com/o/r.git", None),
            ("https://github.com/o", None),
            ("https://github.com/o/r/x", None),
            ("https://github.com/o/r\"<x", None),
            ("/home/me/r.git", None),
        ] {
            let made = commit(remote).address("https://github.com", &path);
            let of = |slug| format!("https://github.com/{slug}/blob/{}/sub%20dir/docs/a.md", "a".repeat(40));
            assert_eq!(made, expected.map(of), "{remote}");
        }
    }
}
