//! A GitHub of our own: it keeps issues, and does what it is told to do wrong.

mod chaos;
mod fault;
mod graphql;
mod http;
mod issue;
mod repository;
mod rest;
mod state;
mod watch;

use std::{
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use self::{http::Request, watch::Watch};
use crate::recording::{Exchange, RecordedReply, record};

pub(crate) use self::{
    chaos::Chaos,
    fault::{Fault, When},
    http::Reply,
    issue::Issue,
    state::State,
    watch::Side,
};

/// The credential that the server accepts.
pub(crate) const TOKEN: &str = "ghp_thisIsTheSECRET";

/// A server on this machine. It ends with the test.
pub(crate) struct FakeGitHub {
    state: Arc<Mutex<State>>,
    port: u16,
}

impl FakeGitHub {
    /// Starts one with the repository `o/r`.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::new(port)));
        let served = Arc::clone(&state);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let state = Arc::clone(&served);
                thread::spawn(move || serve(connection.unwrap(), &state));
            }
        });
        Self { state, port }
    }

    /// Where it is reached.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns what it keeps.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Does something wrong at the next request that `when` is about.
    pub(crate) fn fail(&self, when: When, fault: Fault) {
        self.state().faults.push((when, fault));
    }

    /// Tells `watch` before and after the work of each request, with its number from 1. Where that says so,
    /// the connection breaks there.
    pub(crate) fn watch(&self, watch: impl Fn(usize, Side) -> bool + Send + Sync + 'static) {
        let mut state = self.state();
        (state.watch, state.served) = (Watch(Arc::new(watch)), 0);
    }

    /// The methods and paths of the requests since the last call.
    pub(crate) fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state().asked)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(mut connection: TcpStream, state: &Mutex<State>) {
    while let Some(request) = Request::read(&mut connection) {
        let (number, watch) = lock(state).next_request();
        if watch.0(number, Side::Before) {
            return;
        }
        let (fault, reply) = {
            let mut state = lock(state);
            let fault = state.take_fault(&request);
            let does_work = matches!(fault, None | Some(Fault::LoseReply | Fault::Scramble(_)));
            let reply = does_work.then(|| state.answer(&request));
            (fault, reply)
        };
        let (is_fault, hangs) = (fault.is_some(), matches!(fault, Some(Fault::Hang)));
        let reply = match (fault, reply) {
            (None, reply) => reply,
            (Some(Fault::Scramble(body)), Some(reply)) => Some(Reply { body, ..reply }),
            (Some(Fault::Answer(reply)), _) => Some(reply),
            // Closed without an answer, before the work or after it.
            _ => None,
        };
        // The contract knows no confirmations of lists, which GitHub sends all the same.
        let is_confirmation = reply.as_ref().is_some_and(|reply| reply.status == 304);
        write_down(&request, reply.as_ref(), is_fault || is_confirmation);
        if watch.0(number, Side::After) {
            return;
        }
        if hangs {
            thread::sleep(Duration::from_secs(3));
        }
        let Some(reply) = reply else { return };
        if reply.write(&mut connection).is_err() {
            return;
        }
    }
}

fn write_down(request: &Request, reply: Option<&Reply>, is_fault: bool) {
    record(&Exchange {
        method: &request.method,
        target: &request.target,
        headers: &request.headers,
        body: &request.body,
        reply: reply.map(|reply| RecordedReply {
            status: reply.status,
            headers: &reply.headers,
            body: &reply.body,
        }),
        is_fault,
    });
}
