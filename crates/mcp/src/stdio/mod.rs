//! The server over stdio: one message per line.

mod line;
mod message;

#[cfg(test)]
mod cases;

use std::{
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    RoleServer, ServiceExt,
    model::JsonRpcMessage,
    service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::Transport,
};
use thiserror::Error;
use tokio::sync::Semaphore;

use self::{line::Line, message::Message};
use crate::Server;

pub use line::LONGEST_LINE;

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot start a server")]
    Start(#[source] io::Error),
    #[error("cannot agree with the client on how to speak")]
    Open(#[source] Box<ServerInitializeError>),
    #[error("the server broke down")]
    Ended,
}

/// Runs until the input ends. See [`ServeError`].
pub fn serve(
    server: Server,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(ServeError::Start)?.block_on(async {
        match server.serve(Lines::new(input, output)).await {
            Ok(running) => match running.waiting().await {
                Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
                _ => Err(ServeError::Ended),
            },
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Open(Box::new(error))),
        }
    })
}

/// Reads the next message after the answer to the last one, so reading may block the thread.
struct Lines<R, W> {
    input: R,
    output: Arc<Mutex<W>>,
    /// One permit while no answer is pending; closed if nobody reads answers.
    turn: Arc<Semaphore>,
    has_begun: bool,
}

impl<R: BufRead, W: Write> Lines<R, W> {
    fn new(input: R, output: W) -> Self {
        let turn = Arc::new(Semaphore::new(1));
        Self { input, output: Arc::new(Mutex::new(output)), turn, has_begun: false }
    }

    fn read(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        loop {
            let message = match line::next(&mut self.input)? {
                Line::End => return Ok(None),
                Line::Whole(line) => message::read(&line),
                Line::TooLong => message::unreadable(&format!("a line has at most {LONGEST_LINE} bytes")),
            };
            match message {
                Message::Refused(answer) => write(&self.output, &answer)?,
                Message::Nothing => {}
                Message::ForServer(message) => {
                    let is_request = matches!(*message, JsonRpcMessage::Request(_));
                    self.has_begun |= is_request;
                    // Nothing to notify about yet.
                    if self.has_begun {
                        return Ok(Some(*message));
                    }
                }
            }
        }
    }
}

fn write(output: &Mutex<impl Write>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(&line)?;
    output.flush()
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: BufRead + Send,
    W: Write + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, turn) = (Arc::clone(&self.output), Arc::clone(&self.turn));
        async move {
            let written = write(&output, &message);
            match message {
                _ if written.is_err() => turn.close(),
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => turn.add_permits(1),
                _ => {}
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let turn = Arc::clone(&self.turn);
        let permit = turn.acquire().await.ok()?;
        // An unreadable input counts as ended, like that of a client that is gone.
        let message = self.read().ok().flatten()?;
        if matches!(message, JsonRpcMessage::Request(_)) {
            permit.forget();
        }
        Some(message)
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
