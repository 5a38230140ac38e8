//! A socket that takes so many connections at a time and no more.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// How many connections are served at a time; others wait until one ends.
pub const CONNECTIONS: usize = 256;

/// How long to wait after the system had no connection to give: asking again at once helps nobody.
const PAUSE: Duration = Duration::from_millis(200);

/// A listener with places.
#[derive(Debug)]
pub struct BoundedListener {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

/// A connection that gives its place back when it ends.
#[derive(Debug)]
pub struct PlacedStream {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl BoundedListener {
    /// Takes the connections of `listener`, which shares `places` with others.
    pub const fn new(listener: TcpListener, places: Arc<Semaphore>) -> Self {
        Self { listener, places }
    }
}

impl Listener for BoundedListener {
    type Io = PlacedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (PlacedStream, SocketAddr) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // Nobody closes the semaphore; if somebody did, nothing more would be taken.
                std::future::pending::<()>().await;
                continue;
            };
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Small answers go at once; where the system does not want that, they come later.
                    let _asked = stream.set_nodelay(true);
                    return (PlacedStream { stream, _place: place }, address);
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
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
