//! `stepmark board`

use std::{
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

use clap::Args;
use ratatui::{DefaultTerminal, crossterm::event};
use stepmark_store::watching::WatchTrouble;
use stepmark_sync::run::ChangeSignal;
use stepmark_view::{
    board::{BoardState, Key, Pressed, Theme, draw},
    observation::Observation,
    overview::Overview,
};
use tokio::sync::mpsc;

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
    watch::{Following, Seen, Signal, Signals},
};

/// Show what is done, what is next and what is wrong in the terminal, live
///
/// `?` shows the keys. Nothing can be changed here.
#[derive(Debug, Args)]
pub(crate) struct Board {}

enum Wake {
    Key(Key),
    Window,
    Seen(Box<Seen>),
    Gone(io::Error),
}

/// The key thread checks this often if it is still needed.
const KEY_WAIT: Duration = Duration::from_millis(250);

impl Board {
    pub(crate) fn run(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if output.json || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            let failure = Failure::new(Exit::Usage, "a board is for people at a terminal, and this is none");
            return Err(
                failure.with_help("`stepmark status` prints the same once, with `--json` for programs")
            );
        }
        let overview = Overview::of(&Observation::take(&project()?.workspace)?);
        let theme = if output.has_colours() { Theme::Coloured } else { Theme::Plain };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| not_drawn(&error))?;
        // From here on the terminal is another one; whatever happens, a panic included, it is given back.
        let mut terminal = ratatui::try_init().map_err(|error| not_drawn(&error))?;
        let ended = runtime.block_on(live(project, BoardState::new(overview), theme, &mut terminal));
        let restored = ratatui::try_restore();
        runtime.shutdown_background();
        ended?;
        restored.map_err(|error| not_drawn(&error))?;
        Ok(Exit::Fine)
    }
}

async fn live(
    project: &dyn Fn() -> Result<Project, Failure>,
    mut state: BoardState,
    theme: Theme,
    terminal: &mut DefaultTerminal,
) -> Result<(), Failure> {
    let mut signals = Signals::listen().map_err(|error| not_drawn(&error))?;
    let (wakes, mut woken) = mpsc::unbounded_channel();
    let again = ChangeSignal::default();
    let following = Following { open: project, again: again.clone() };
    let seen = wakes.clone();
    // A receiver that is gone has ended.
    let mut followed = std::pin::pin!(following.run(|one| drop(seen.send(Wake::Seen(Box::new(one))))));
    thread::spawn(move || read_keys(&wakes));
    loop {
        terminal.draw(|frame| draw(&mut state, theme, frame)).map_err(|error| not_drawn(&error))?;
        let wake = tokio::select! {
            wake = woken.recv() => wake,
            signal = signals.next() => match signal {
                Signal::Terminate => None,
                Signal::Reload => { again.tell(); continue }
            },
            () = &mut followed => None,
        };
        match wake {
            None => return Ok(()),
            Some(Wake::Key(key)) => {
                if state.press(key) == Pressed::Ends {
                    return Ok(());
                }
            }
            Some(Wake::Window) => {}
            Some(Wake::Seen(seen)) => take(&mut state, *seen),
            Some(Wake::Gone(error)) => return Err(not_drawn(&error)),
        }
    }
}

fn take(state: &mut BoardState, seen: Seen) {
    match seen {
        Seen::Observation(observation) => state.show(Overview::of(&observation)),
        Seen::Failure(failure) => state.remark(failure.message),
        Seen::Trouble(WatchTrouble::Nothing { why } | WatchTrouble::Folder { why }) => {
            state.remark(format!("changes are seen half a minute late: {why}"));
        }
    }
}

fn read_keys(wakes: &mpsc::UnboundedSender<Wake>) {
    while !wakes.is_closed() {
        let wake = match event::poll(KEY_WAIT) {
            Ok(false) => continue,
            Ok(true) => match event::read() {
                Ok(event::Event::Key(key)) => Key::of(&key).map(Wake::Key),
                Ok(event::Event::Resize(..)) => Some(Wake::Window),
                Ok(_) => None,
                Err(error) => Some(Wake::Gone(error)),
            },
            Err(error) => Some(Wake::Gone(error)),
        };
        let is_last = matches!(wake, Some(Wake::Gone(_)));
        if let Some(wake) = wake {
            // It may have ended meanwhile.
            let _sent = wakes.send(wake);
        }
        if is_last {
            return;
        }
    }
}

fn not_drawn(error: &io::Error) -> Failure {
    Failure::new(Exit::Io, format!("cannot draw on the terminal: {error}"))
}
