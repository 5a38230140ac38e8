//! A socket that takes so many connections at a time and no more.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::Semaphore};

use super::placed_stream::PlacedStream;

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
