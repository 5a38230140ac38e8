//! As much HTTP/1.1 as a test needs.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
};

/// A request, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    /// The next request; `None` at the end of the connection.
    pub(super) fn read(connection: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut piece = [0; 65_536];
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            match connection.read(&mut piece) {
                Ok(0) | Err(_) => return None,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
            }
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let mut words = lines.next()?.split(' ').map(str::to_owned);
        let (method, target) = (words.next()?, words.next()?);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
        while bytes.len() < end + length {
            match connection.read(&mut piece) {
                Ok(0) | Err(_) => return None,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
            }
        }
        let body = String::from_utf8(bytes[end..].to_vec()).unwrap();
        Some(Self { method, target, headers, body })
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A header by its lower-case name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// A part of the query, decoded.
    pub(super) fn query(&self, name: &str) -> Option<String> {
        let url = url::Url::parse(&format!("http://h{}", self.target)).unwrap();
        url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
    }
}

impl Reply {
    /// An answer in JSON.
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string() }
    }

    /// An error as GitHub tells it.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &serde_json::json!({ "message": message, "documentation_url": "https://docs.github.com/rest" }),
        )
    }

    /// The same with one header more.
    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    pub(super) fn write(&self, connection: &mut TcpStream) -> io::Result<()> {
        let mut text = format!("HTTP/1.1 {} X\r\nContent-Length: {}\r\n", self.status, self.body.len());
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        connection.write_all(text.as_bytes())
    }
}
