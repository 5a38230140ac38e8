//! Parses a line as a protocol message.

use rmcp::{
    RoleServer,
    model::{ErrorData, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde_json::Value;

pub(super) enum Message {
    ForServer(Box<RxJsonRpcMessage<RoleServer>>),
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
    /// Needs no answer: an empty line, an answer, an unknown notification.
    Nothing,
}

pub(super) fn read(line: &[u8]) -> Message {
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
        // An invalid id would turn a request into a notification.
        Ok(_) if is_answerable && id.is_none() => invalid("an id is a text or a whole number", None),
        Ok(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => Message::Nothing,
        Ok(message) => Message::ForServer(Box::new(message)),
        Err(_) if is_call && !is_answerable => Message::Nothing,
        Err(_) => invalid("this is no message of JSON-RPC 2.0", id),
    }
}

pub(super) fn unreadable(reason: &str) -> Message {
    refused(ErrorData::parse_error(reason.to_owned(), None), None)
}

fn invalid(reason: &'static str, id: Option<RequestId>) -> Message {
    refused(ErrorData::invalid_request(reason, None), id)
}

fn refused(error: ErrorData, id: Option<RequestId>) -> Message {
    Message::Refused(Box::new(JsonRpcMessage::error(error, id)))
}
