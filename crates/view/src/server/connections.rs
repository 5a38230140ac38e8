//! A socket that takes so many connections at a time and no more, and a connection that has a place.

use std::{
    future::pending,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};

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
    pub(super) async fn accept(&self) -> PlacedStream {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // Nobody closes the semaphore; if somebody did, nothing more would be taken.
                return pending().await;
            };
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    // Small answers go at once; where the system does not want that, they come later.
                    let _asked = stream.set_nodelay(true);
                    return PlacedStream::new(stream, place);
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// The time for which somebody may take nothing of what is sent before the connection ends.
const STALLED: Duration = Duration::from_secs(30);

/// A connection that gives its place back when it ends, and ends where what is sent is not taken.
#[derive(Debug)]
pub(super) struct PlacedStream {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
    /// Until when something of what is sent must be taken; `None` while nothing waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl PlacedStream {
    pub(super) const fn new(stream: TcpStream, place: OwnedSemaphorePermit) -> Self {
        Self { stream, _place: place, deadline: None }
    }

    /// `written`, or an error where that waits for too long.
    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for PlacedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for PlacedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
