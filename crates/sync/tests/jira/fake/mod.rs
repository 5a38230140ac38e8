//! A Jira of our own: it keeps issues, and does what it is told to do wrong.

#[path = "../../github/fake/fault.rs"]
mod fault;
#[path = "../../github/fake/http.rs"]
#[expect(dead_code, reason = "what GitHub's server needs of it")]
mod http;
mod bulk;
mod edit;
mod issue;
mod meta;
mod search;
mod state;
mod workflow;

use std::{
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use self::http::Request;
use crate::recording::{Exchange, RecordedReply, record};

pub(crate) use self::{
    fault::{Fault, When},
    http::Reply,
    issue::Issue,
    meta::field,
    state::{Meanwhile, State, refused},
    workflow::{Status, Workflow},
};

/// A server on this machine. It ends with the test.
pub(crate) struct FakeJira {
    state: Arc<Mutex<State>>,
    port: u16,
}

impl FakeJira {
    /// Starts one with the project `ABC`.
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

    /// Is as it was at the beginning.
    pub(crate) fn forget(&self) {
        *self.state() = State::new(self.port);
    }

    /// Does something wrong at the next request that `when` is about.
    pub(crate) fn fail(&self, when: When, fault: Fault) {
        self.state().faults.push((when, fault));
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
    while let Some(request) = Request::read(&mut connection).map(behind_gateway) {
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
        write_down(&request, reply.as_ref(), is_fault);
        if hangs {
            thread::sleep(Duration::from_secs(3));
        }
        let Some(reply) = reply else { return };
        if reply.write(&mut connection).is_err() {
            return;
        }
    }
}

/// A request as the site gets it from a gateway in front of it, which its description does not know.
fn behind_gateway(mut request: Request) -> Request {
    if let Some(target) = request.target.strip_prefix("/ex/jira/1") {
        request.target = target.to_owned();
    }
    request
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
