//! Answers that a server may confirm instead of sending them again (RFC 9110, 13.1.2). GitHub counts a
//! confirmation against no limit ("Best practices for using the REST API: Use conditional requests").

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use url::Url;

use super::HttpReply;

/// The number of bytes that are kept: some pages of a hundred issues.
const LIMIT: usize = 16 * 1024 * 1024;

/// The last answers to what was read, by address, as long as the client lives.
#[derive(Debug, Default)]
pub(super) struct KeptReplies {
    kept: Mutex<BTreeMap<Url, Arc<KeptReply>>>,
}

/// An answer, and what its server calls it.
#[derive(Debug)]
pub(super) struct KeptReply {
    /// The tag that `If-None-Match` names.
    pub(super) tag: String,
    reply: HttpReply,
}

impl KeptReplies {
    pub(super) fn get(&self, url: &Url) -> Option<Arc<KeptReply>> {
        self.lock().get(url).cloned()
    }

    /// Returns what `reply` says, which was asked for in case that it is no longer as `known`; it is kept for
    /// the next time.
    pub(super) fn settle(&self, url: &Url, known: Option<Arc<KeptReply>>, reply: HttpReply) -> HttpReply {
        match known {
            Some(known) if reply.status == 304 => known.confirmed_by(reply),
            _ => {
                self.keep(url, &reply);
                reply
            }
        }
    }

    fn keep(&self, url: &Url, reply: &HttpReply) {
        let mut kept = self.lock();
        kept.remove(url);
        let held: usize = kept.values().map(|kept| kept.reply.body.len()).sum();
        let Some(tag) = reply.header("etag").filter(|_| reply.status == 200) else { return };
        if reply.body.len() > LIMIT {
            return;
        }
        if held + reply.body.len() > LIMIT {
            // Lists are read from page to page: the whole of a longer one would push itself out before it
            // comes round again.
            kept.clear();
        }
        kept.insert(url.clone(), Arc::new(KeptReply { tag: tag.to_owned(), reply: reply.clone() }));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Url, Arc<KeptReply>>> {
        // Whoever panicked left whole answers.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptReply {
    /// The answer under the headers of `confirmation`, which speak of limits as they are now (RFC 9110,
    /// 15.4.5); others stay.
    fn confirmed_by(&self, confirmation: HttpReply) -> HttpReply {
        let mut reply = self.reply.clone();
        reply.headers.extend(confirmation.headers);
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("https://h").unwrap().join(path).unwrap()
    }

    fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> HttpReply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        HttpReply { status, headers: headers.collect(), body: body.to_owned() }
    }

    #[test]
    fn what_is_confirmed_is_what_it_was_under_new_headers() {
        let replies = KeptReplies::default();
        let first = reply(200, &[("etag", "\"1\""), ("link", "next"), ("left", "9")], "[1]");
        replies.settle(&url("/a"), None, first);
        let known = replies.get(&url("/a"));
        assert_eq!(known.as_ref().unwrap().tag, "\"1\"");
        let confirmation = reply(304, &[("etag", "\"1\""), ("left", "8")], "");
        let settled = replies.settle(&url("/a"), known, confirmation.clone());
        assert_eq!((settled.status, settled.body.as_str()), (200, "[1]"));
        assert_eq!((settled.header("link"), settled.header("left")), (Some("next"), Some("8")));
        // Nobody asked whether it had changed.
        assert_eq!(replies.settle(&url("/b"), None, confirmation).status, 304);
    }

    #[test]
    fn only_whole_answers_with_a_tag_are_kept() {
        let replies = KeptReplies::default();
        for (status, headers) in [(200, &[][..]), (500, &[("etag", "x")]), (404, &[("etag", "x")])] {
            replies.settle(&url("/a"), None, reply(200, &[("etag", "old")], "[]"));
            replies.settle(&url("/a"), None, reply(status, headers, "[2]"));
            assert!(replies.get(&url("/a")).is_none(), "{status} {headers:?}: the old one is out of date");
        }
    }

    #[test]
    fn so_much_and_no_more_is_kept() {
        let replies = KeptReplies::default();
        let page = "x".repeat(LIMIT / 3);
        for number in 0..10 {
            replies.settle(&url(&format!("/{number}")), None, reply(200, &[("etag", "1")], &page));
            let kept = replies.lock();
            assert!(kept.values().map(|kept| kept.reply.body.len()).sum::<usize>() <= LIMIT);
            assert!(kept.contains_key(&url(&format!("/{number}"))));
        }
        replies.settle(&url("/long"), None, reply(200, &[("etag", "1")], &"x".repeat(LIMIT + 1)));
        assert!(replies.get(&url("/long")).is_none());
    }
}
