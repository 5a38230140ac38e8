//! The server on a socket.

mod revisions;
mod addresses;
mod places;

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};

use super::*;
use crate::{observation::Observation, sample_project::SampleProject};

fn observed(project: &SampleProject) -> Observation {
    Observation { project: "sample".to_owned(), ..Observation::take(&project.workspace()).unwrap() }
}

/// A server on a socket, and what it is told through.
struct Running {
    sender: Option<watch::Sender<Arc<Shown>>>,
    end: Option<watch::Sender<()>>,
    port: u16,
    served: Served,
    server: tokio::task::JoinHandle<()>,
}

async fn running(project: &SampleProject, places: usize) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, shown) = watch::channel(Arc::new(Shows::first(observed(project))));
    let (end, mut ended) = watch::channel(());
    let served = Served::new(shown, Arc::new(project.workspace()), port);
    let listener = BoundedListener::new(listener, Arc::new(Semaphore::new(places)));
    let end_of = async move { while ended.changed().await.is_ok() {} };
    let server = tokio::spawn(serve(listener, served.clone(), end_of));
    Running { sender: Some(sender), end: Some(end), port, served, server }
}

impl Running {
    /// A connection on which `bytes` were sent.
    async fn send(&self, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }

    fn request(&self, target: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", self.port)
    }

    async fn ask(&self, target: &str) -> TcpStream {
        self.send(&self.request(target)).await
    }

    async fn finish(mut self) {
        drop((self.sender.take(), self.end.take()));
        timeout(Duration::from_secs(10), self.server).await.expect("it ends").unwrap();
    }
}

/// Reads until `text` has come.
async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = Vec::new();
    let found = async {
        let mut part = [0; 4096];
        while !String::from_utf8_lossy(&read).contains(text) {
            let count = stream.read(&mut part).await.unwrap();
            assert!(count > 0, "it ended without `{text}`: {}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&part[..count]);
        }
    };
    timeout(Duration::from_secs(10), found).await.unwrap_or_else(|_| panic!("no `{text}` came"));
    String::from_utf8_lossy(&read).into_owned()
}
