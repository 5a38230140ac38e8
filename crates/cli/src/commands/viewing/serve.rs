//! `stepmark serve`

use std::{
    io, iter,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use clap::Args;
use jiff::Timestamp;
use stepmark_store::watching::WatchTrouble;
use stepmark_sync::run::ChangeSignal;
use stepmark_view::{
    observation::Observation,
    server::{BoundedListener, CONNECTIONS, Served, Shown, Shows, Stale, serve},
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    time::timeout,
};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
    watch::{Following, Seen, Signal, Signals},
};

/// Not registered (IANA, Service Name and Transport Protocol Port Number Registry).
const PORT: u16 = 4747;

const DRAIN: Duration = Duration::from_secs(2);

/// Show the page of `report` in a browser, live: it changes as the project does
///
/// Only this machine is served, and nothing can be changed. SIGTERM or Ctrl-C ends it.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The port on 127.0.0.1 and [::1]; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
}

answers! { Answer<'a>
    /// `serve`: where the page is
    "stepmark.serve/1" Serve { url: &'a str }
}

impl Serve {
    pub(crate) fn run(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::new(Exit::Io, format!("cannot serve a page: {error}")))?;
        let ended = runtime.block_on(self.live(project, output));
        // A look that is still under way is not waited for: it changes nothing.
        runtime.shutdown_background();
        ended
    }

    async fn live(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let mut signals = Signals::listen()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot hear signals of the system: {error}")))?;
        // An error at the start fails the command.
        let workspace = Arc::new(project()?.workspace);
        let first = Shows::first(Observation::take(&workspace)?);
        let (listeners, port) = listen(self.port).await.map_err(|error| not_served(self.port, &error))?;
        let (sender, shown) = watch::channel(Arc::new(first));
        let (seen, observations) = mpsc::channel();
        thread::spawn(move || draw(&observations, &sender));
        let (end, ended) = watch::channel(());
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let served = Served::new(shown, Arc::clone(&workspace), port);
        let servers: Vec<_> = listeners
            .into_iter()
            .map(|listener| {
                let served = served.clone();
                let mut ended = ended.clone();
                let end = async move {
                    // Ends when the sender is gone.
                    while ended.changed().await.is_ok() {}
                };
                tokio::spawn(serve(BoundedListener::new(listener, Arc::clone(&places)), served, end))
            })
            .collect();
        let url = format!("http://127.0.0.1:{port}/");
        output.answer(|| Answer::Serve { url: &url });
        output.line(&url);
        let again = ChangeSignal::default();
        let following = Following { open: project, again: again.clone() };
        tokio::select! {
            () = following.run(|one| take(one, &seen, output, || workspace.now())) => {}
            () = until_told(&mut signals, &again) => {}
        }
        // Ends streams and servers.
        drop((seen, end));
        for server in servers {
            // What takes longer is cut off.
            let _served = timeout(DRAIN, server).await;
        }
        Ok(Exit::Fine)
    }
}

/// Ends on a signal to stop; one to reload triggers `again`.
async fn until_told(signals: &mut Signals, again: &ChangeSignal) {
    while signals.next().await == Signal::Reload {
        again.tell();
    }
}

type Drawn = Result<Observation, Stale>;

/// Beside the thread that answers; of several only the last is drawn.
fn draw(seen: &mpsc::Receiver<Drawn>, sender: &watch::Sender<Arc<Shown>>) {
    let before = || Arc::clone(&sender.borrow());
    let show = |next: Option<Shown>| next.map(|next| sender.send_replace(Arc::new(next)));
    while let Ok(first) = seen.recv() {
        let (mut observation, mut stale) = (None, None);
        for one in iter::once(first).chain(seen.try_iter()) {
            match one {
                Ok(one) => (observation, stale) = (Some(one), None),
                Err(one) => stale = Some(one),
            }
        }
        if let Some(observation) = observation {
            show(Shows::next(&before(), observation));
        }
        if let Some(stale) = stale {
            show(Shows::stale(&before(), stale));
        }
    }
}

fn take(seen: Seen, drawn: &mpsc::Sender<Drawn>, output: &Output, now: impl Fn() -> Timestamp) {
    match seen {
        // The drawing thread ends last.
        Seen::Observation(observation) => drop(drawn.send(Ok(*observation))),
        Seen::Failure(failure) => {
            drop(drawn.send(Err(Stale { since: now(), why: failure.in_one_line() })));
            output.failure(&failure);
        }
        Seen::Trouble(WatchTrouble::Nothing { why }) => {
            output.warning(format_args!(
                "changes are seen half a minute late, since the system watches nothing: {why}"
            ));
        }
        Seen::Trouble(WatchTrouble::Folder { why }) => {
            output.warning(format_args!("changes in some folders are seen half a minute late: {why}"));
        }
    }
}

/// At 127.0.0.1 and, if it exists, [::1], with the same port.
async fn listen(port: u16) -> io::Result<(Vec<TcpListener>, u16)> {
    let first = TcpListener::bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)).await?;
    let port = first.local_addr()?.port();
    let second = TcpListener::bind(SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), port)).await;
    match second {
        // Somebody else would answer whoever asks `localhost` there.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok((vec![first], port)),
        Ok(second) => Ok((vec![first, second], port)),
    }
}

fn not_served(port: u16, error: &io::Error) -> Failure {
    let failure =
        Failure::new(Exit::Io, format!("cannot serve a page at port {port} of this machine: {error}"));
    failure.with_help("`--port 0` takes any port that is free")
}
