//! The server on standard input and output: a message a line.

use std::{
    io::{self, BufRead, Read, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::Server;
use rmcp::{
    RoleServer, ServiceExt,
    model::{ErrorData, JsonRpcMessage, RequestId},
    service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::Semaphore;

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot start a server")]
    Start(#[source] io::Error),
    #[error("cannot agree with the client on how to speak")]
    Open(#[source] Box<ServerInitializeError>),
    #[error("the server broke down")]
    Ended,
}

/// Answers what comes in until the input ends.
///
/// See [`ServeError`].
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

/// Messages as lines. The next one is read when the one before is answered: then nothing else is to be done,
/// and reading may take the thread.
struct Lines<R, W> {
    input: R,
    output: Arc<Mutex<W>>,
    /// One permit while nothing is to be answered; closed when nobody reads the answers.
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
            let message = match next(&mut self.input)? {
                Line::End => return Ok(None),
                Line::Whole(line) => read(&line),
                Line::TooLong => unreadable(&format!("a line has at most {LONGEST_LINE} bytes")),
            };
            match message {
                Message::Refused(answer) => write(&self.output, &answer)?,
                Message::Nothing => {}
                Message::ForServer(message) => {
                    let is_request = matches!(*message, JsonRpcMessage::Request(_));
                    self.has_begun |= is_request;
                    // There is nothing yet that a notification could be about.
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
        // An input that cannot be read has ended, as one has whose client is gone.
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

/// The length of the longest line that is read, in bytes. The largest answer of a tool is a hundredth of it.
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Its bytes, without its end.
    Whole(Vec<u8>),
    /// It is longer than [`LONGEST_LINE`], and was skipped.
    TooLong,
    End,
}

/// Reads the next line. The last one need not have an end.
fn next(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let most = LONGEST_LINE as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= LONGEST_LINE {
        return Ok(Line::Whole(line));
    }
    skip_rest(input)?;
    Ok(Line::TooLong)
}

fn skip_rest(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let here = input.fill_buf()?;
        let end = here.iter().position(|byte| *byte == b'\n');
        let is_last = here.is_empty() || end.is_some();
        let length = end.map_or(here.len(), |end| end + 1);
        input.consume(length);
        if is_last {
            return Ok(());
        }
    }
}

enum Message {
    ForServer(Box<RxJsonRpcMessage<RoleServer>>),
    /// The line is no message, which is what the client is told.
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
    /// Nothing that anybody answers: an empty line, an answer, a notification that is unknown.
    Nothing,
}

fn read(line: &[u8]) -> Message {
    let line = line.trim_ascii();
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.is_empty() {
        return Message::Nothing;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return unreadable(&format!("this line is no JSON: {error}")),
    };
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let Some(keys) = value.as_object() else {
        return invalid("a message is an object; there are no batches", None);
    };
    let (is_call, is_answerable) = (keys.contains_key("method"), keys.contains_key("id"));
    if !is_call && (keys.contains_key("result") || keys.contains_key("error")) {
        return Message::Nothing;
    }
    match serde_json::from_value(value) {
        // An id that is none would make a notification of a request.
        Ok(_) if is_answerable && id.is_none() => invalid("an id is a text or a whole number", None),
        Ok(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => Message::Nothing,
        Ok(message) => Message::ForServer(Box::new(message)),
        Err(_) if is_call && !is_answerable => Message::Nothing,
        Err(_) => invalid("this is no message of JSON-RPC 2.0", id),
    }
}

fn unreadable(reason: &str) -> Message {
    refused(ErrorData::parse_error(reason.to_owned(), None), None)
}

fn invalid(reason: &'static str, id: Option<RequestId>) -> Message {
    refused(ErrorData::invalid_request(reason, None), id)
}

fn refused(error: ErrorData, id: Option<RequestId>) -> Message {
    Message::Refused(Box::new(JsonRpcMessage::error(error, id)))
}

#[cfg(test)]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_their_end_or_with_the_input_and_long_ones_are_skipped() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let input = [b"one\n\n", &long[1..], b"\n", &long, b"\ntwo\n", &long[..], b"more\nthree"].concat();
        let mut input = io::BufReader::with_capacity(8192, input.as_slice());
        let mut lines = Vec::new();
        loop {
            match next(&mut input).unwrap() {
                Line::End => break,
                Line::Whole(line) if line.len() == LONGEST_LINE => lines.push("longest".to_owned()),
                Line::Whole(line) => lines.push(String::from_utf8(line).unwrap()),
                Line::TooLong => lines.push("too long".to_owned()),
            }
        }
        assert_eq!(lines, ["one", "", "longest", "too long", "two", "too long", "three"]);
    }
}
