//! One host, one write after another. Answers are kept for conditional requests (RFC 9110, 13.1.2): GitHub
//! counts a confirmation against no limit ("Best practices for using the REST API").

use std::{
    collections::BTreeMap,
    fmt, iter,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Client, Method, Response,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION},
    redirect::Policy,
};
use tokio::time::{Instant, sleep_until};
use url::Url;

use super::{Effect, HttpLimits, HttpReply, HttpRequest, Refused};
use crate::{
    Error, ErrorKind, Result,
    breaker::{Failure, Reason},
    configuration::BaseUrl,
    credential::{Credential, Secret},
};
use stepmark_model::spelling::causes;

pub(in crate::tracker) struct HttpClient {
    client: Client,
    base: Url,
    authorization: HeaderValue,
    /// In every form that a server may repeat.
    secrets: Vec<Secret>,
    limits: HttpLimits,
    turn: Turn,
    kept: KeptReplies,
    sent: AtomicUsize,
}

pub(in crate::tracker) struct HttpIdentity<'a> {
    pub(in crate::tracker) scheme: HttpScheme<'a>,
    pub(in crate::tracker) credential: &'a Credential,
    pub(in crate::tracker) headers: &'a [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum HttpScheme<'a> {
    /// RFC 6750.
    #[cfg_attr(not(feature = "github"), expect(dead_code, reason = "GitHub wants it"))]
    Bearer,
    /// RFC 7617: the password of an account.
    #[cfg_attr(not(feature = "jira"), expect(dead_code, reason = "Jira wants it"))]
    Basic { account: &'a str },
}

impl HttpClient {
    /// `write_interval` is the least time between two writes.
    pub(in crate::tracker) fn new(
        base: &BaseUrl,
        identity: &HttpIdentity<'_>,
        limits: HttpLimits,
        write_interval: Duration,
    ) -> Result<Self> {
        let failed = |reason: String| {
            Error::new(ErrorKind::Remote, format!("requests to `{}` cannot be made: {reason}", base.host()))
        };
        // Fails if the embedding program has chosen one already, which is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
        let url = Url::parse(base.as_str()).map_err(|error| failed(error.to_string()))?;
        let mut headers = HeaderMap::new();
        for (name, value) in identity.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut builder = Client::builder()
            .default_headers(headers)
            .user_agent(concat!("stepmark/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(limits.connect)
            .https_only(url.scheme() == "https");
        if base.is_loopback() {
            // A proxy would get the credential in the clear.
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| failed(chain(&error)))?;
        let secret = &identity.credential.secret;
        let sample = match identity.scheme {
            HttpScheme::Bearer => client.get(url.clone()).bearer_auth(secret.expose()),
            HttpScheme::Basic { account } => {
                client.get(url.clone()).basic_auth(account, Some(secret.expose()))
            }
        };
        let sample = sample.build().map_err(|error| failed(chain(&error)))?;
        let unfit = || failed("the credential is unfit".to_owned());
        let authorization = sample.headers().get(AUTHORIZATION).ok_or_else(unfit)?.clone();
        let mut secrets = vec![secret.clone()];
        // Hide the Base64 form of Basic, too.
        let encoded = authorization.to_str().ok().and_then(|value| value.rsplit(' ').next());
        secrets.extend(encoded.and_then(|encoded| Secret::new(encoded).ok()));
        let (turn, kept) = (Turn::new(write_interval), KeptReplies::default());
        let sent = AtomicUsize::new(0);
        Ok(Self { client, base: url, authorization, secrets, limits, turn, kept, sent })
    }

    pub(in crate::tracker) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    pub(in crate::tracker) fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// `None` if `text` leads to another host.
    pub(in crate::tracker) fn own_url(&self, text: &str) -> Option<Url> {
        let url = self.base.join(text).ok()?;
        (url.origin() == self.base.origin() && url.username().is_empty() && url.password().is_none())
            .then_some(url)
    }

    /// Replaces the host: behind a proxy a server may use another name for itself.
    #[cfg(feature = "github")]
    pub(in crate::tracker) fn on_own_host(&self, text: &str) -> Option<Url> {
        let named = self.base.join(text).ok()?;
        let mut url = self.base.clone();
        url.set_path(named.path());
        url.set_query(named.query());
        Some(url)
    }

    /// Follows redirects within the host with the same method and body, as GitHub asks ("REST API, Best
    /// practices: Follow redirects"); any other is a failure.
    pub(in crate::tracker) async fn send(&self, request: HttpRequest) -> Result<HttpReply, Refused> {
        let effect = request.effect;
        if effect == Effect::Writes {
            self.turn.wait().await;
        }
        match tokio::time::timeout(self.limits.answer, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let detail = format!("no answer within {} ms", self.limits.answer.as_millis());
                Err(Refused::lost(effect, Failure::new(Reason::Timeout, &detail)))
            }
        }
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpReply, Refused> {
        let mut url = request.url.clone();
        for _ in 0..=self.limits.redirects {
            let mut builder = self.client.request(request.method.clone(), url.clone());
            builder = builder.header(AUTHORIZATION, self.authorization.clone());
            if let Some(body) = &request.body {
                builder = builder.json(body);
            }
            let known = self.kept.get(&url).filter(|_| request.method == Method::GET);
            if let Some(known) = &known {
                builder = builder.header(IF_NONE_MATCH, &known.tag);
            }
            self.sent.fetch_add(1, Ordering::Relaxed);
            let response = builder.send().await.map_err(|error| self.not_answered(request.effect, &error))?;
            let status = response.status().as_u16();
            let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let Some(target) = target.filter(|_| matches!(status, 301 | 302 | 307 | 308)) else {
                let reply =
                    self.read(response).await.map_err(|failure| Refused::lost(request.effect, failure))?;
                let is_read = request.method == Method::GET;
                return Ok(if is_read { self.kept.settle(&url, known, reply) } else { reply });
            };
            // The base of a relative address is the page itself.
            let target = url.join(target).ok().and_then(|target| self.own_url(target.as_str()));
            url = target.ok_or_else(|| {
                let detail = "it redirects to another host, which does not get the credential";
                Refused::Failed(Failure::new(Reason::Unreadable, detail))
            })?;
        }
        Err(Refused::Failed(Failure::new(Reason::Unreadable, "it redirects again and again")))
    }

    async fn read(&self, mut response: Response) -> Result<HttpReply, Failure> {
        let status = response.status().as_u16();
        let named = response.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), self.hide(value.to_str().ok()?.to_owned())))
        });
        let headers = named.collect();
        let mut bytes = Vec::new();
        loop {
            let piece = response.chunk().await;
            let Some(piece) = piece.map_err(|error| self.broken(&error))? else { break };
            if bytes.len() + piece.len() > self.limits.answer_bytes {
                let detail = format!("the answer has more than {} bytes", self.limits.answer_bytes);
                return Err(Failure::new(Reason::Unreadable, &detail));
            }
            bytes.extend_from_slice(&piece);
        }
        let body = self.hide(String::from_utf8_lossy(&bytes).into_owned());
        Ok(HttpReply { status, headers, body })
    }

    fn not_answered(&self, effect: Effect, error: &reqwest::Error) -> Refused {
        if error.is_connect() || error.is_builder() {
            Refused::Failed(Failure::new(Reason::Unreachable, &self.told(error)))
        } else {
            Refused::lost(effect, self.broken(error))
        }
    }

    fn broken(&self, error: &reqwest::Error) -> Failure {
        Failure::new(Reason::Timeout, &self.told(error))
    }

    fn told(&self, error: &reqwest::Error) -> String {
        self.hide(chain(error))
    }

    fn hide(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| secret.hide_in(text))
    }
}

fn chain(error: &reqwest::Error) -> String {
    let told = if error.is_timeout() { "no answer in time" } else { "no answer" };
    iter::once(told.to_owned()).chain(causes(error)).collect::<Vec<_>>().join(": ")
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HttpClient").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// One write at a time, with a pause between their begins. The pace in the ledger covers requests of all
/// processes; this, the several writes of one request to a tracker.
#[derive(Debug)]
pub(super) struct Turn {
    interval: Duration,
    last: tokio::sync::Mutex<Option<Instant>>,
}

impl Turn {
    pub(super) const fn new(interval: Duration) -> Self {
        Self { interval, last: tokio::sync::Mutex::const_new(None) }
    }

    pub(super) async fn wait(&self) {
        if self.interval.is_zero() {
            return;
        }
        let mut last = self.last.lock().await;
        if let Some(last) = *last {
            sleep_until(last + self.interval).await;
        }
        *last = Some(Instant::now());
    }
}

/// Bytes: some pages of a hundred issues.
const LIMIT: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct KeptReplies {
    kept: Mutex<BTreeMap<Url, Arc<KeptReply>>>,
}

#[derive(Debug)]
pub(super) struct KeptReply {
    pub(super) tag: String,
    reply: HttpReply,
}

impl KeptReplies {
    pub(super) fn get(&self, url: &Url) -> Option<Arc<KeptReply>> {
        self.lock().get(url).cloned()
    }

    /// `known` was sent as the condition; the answer is kept for the next time.
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
        // A panic leaves only whole answers.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptReply {
    /// Headers of `confirmation` replace the kept ones, as for limits (RFC 9110, 15.4.5).
    fn confirmed_by(&self, confirmation: HttpReply) -> HttpReply {
        let mut reply = self.reply.clone();
        reply.headers.extend(confirmation.headers);
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn writes_keep_their_distance() {
        let (turn, begin) = (Turn::new(Duration::from_secs(1)), Instant::now());
        tokio::join!(turn.wait(), turn.wait(), turn.wait());
        assert_eq!(begin.elapsed().as_secs(), 2);
        tokio::time::advance(Duration::from_secs(5)).await;
        turn.wait().await;
        assert_eq!(begin.elapsed().as_secs(), 7);
        let free = Turn::new(Duration::ZERO);
        tokio::join!(free.wait(), free.wait());
        assert_eq!(begin.elapsed().as_secs(), 7);
    }

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
