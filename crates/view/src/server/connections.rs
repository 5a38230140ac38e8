//! A socket that takes so many connections at a time and no more.

use std::{
    future::pending,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncWrite, Join, join},
    net::TcpListener,
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};

pub(super) type Connection = Join<OwnedReadHalf, Sending>;

/// The most connections that are served at a time; others wait until one ends.
pub const CONNECTIONS: usize = 256;

/// The time to wait after the system had no connection to give: asking again at once helps nobody.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct BoundedListener {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl BoundedListener {
    pub const fn new(listener: TcpListener, places: Arc<Semaphore>) -> Self {
        Self { listener, places }
    }

    /// The next connection for which there is a place. It may be dropped at any moment, and nothing is lost.
    pub(super) async fn accept(&self) -> (Connection, OwnedSemaphorePermit) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // Nobody closes the semaphore; if somebody did, nothing more would be taken.
                return pending().await;
            };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    // Small answers go at once; where the system does not want that, they come later.
                    let _asked = stream.set_nodelay(true);
                    let (receiving, stream) = stream.into_split();
                    return (join(receiving, Sending { stream, deadline: None }), place);
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// The time for which somebody may take nothing of what is sent before the connection ends.
const STALLED: Duration = Duration::from_secs(30);

/// The side of a connection that sends, which fails where what is sent is not taken.
#[derive(Debug)]
pub(super) struct Sending {
    stream: OwnedWriteHalf,
    /// Until when something of what is sent must be taken; `None` while nothing waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl AsyncWrite for Sending {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
