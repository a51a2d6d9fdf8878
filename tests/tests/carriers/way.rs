//! A proxy between devices and a server: it can be slow, silent or cut, as the network on a train.

use std::time::Duration;

use engine::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The state of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    Clear,
    /// Data arrives after the first duration, plus up to the second; in order, as TCP guarantees.
    Slow(Duration, Duration),
    /// No data passes, without an error.
    Silent,
    /// Connections are closed, new ones too.
    Cut,
}

/// A proxy to one server; it ends when dropped.
pub(crate) struct Way {
    /// The address for devices.
    pub(crate) address: String,
    weather: watch::Sender<Weather>,
}

impl Way {
    pub(crate) async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (weather, seen) = watch::channel(Weather::Clear);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if seen.has_changed().is_err() {
                    return;
                }
                if *seen.borrow() == Weather::Cut {
                    continue;
                }
                let Ok(upstream) = TcpStream::connect(&server).await else { continue };
                for stream in [&client, &upstream] {
                    stream.set_nodelay(true).expect("a socket");
                }
                let ((from_client, to_client), (from_server, to_server)) =
                    (client.into_split(), upstream.into_split());
                let seen = seen.clone();
                tokio::spawn(async move {
                    let mut cut = seen.clone();
                    tokio::select! {
                        () = carry(from_client, to_server, seen.clone()) => {}
                        () = carry(from_server, to_client, seen) => {}
                        _ = cut.wait_for(|weather| *weather == Weather::Cut) => {}
                    }
                });
            }
        });
        Self { address, weather }
    }

    pub(crate) fn becomes(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

/// Forwards one direction until it ends.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut weather: watch::Receiver<Weather>) {
    let (queue, mut waiting) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let seen = weather.clone();
    let read = async move {
        let mut chance = Rng::new(8);
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let delay = match *seen.borrow() {
                Weather::Slow(least, more) => least + more.mul_f64(f64::from(chance.below(1_000)) / 1_000.0),
                Weather::Clear | Weather::Silent | Weather::Cut => Duration::ZERO,
            };
            if queue.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    };
    let write = async move {
        while let Some((due, bytes)) = waiting.recv().await {
            tokio::time::sleep_until(due).await;
            let passes = weather.wait_for(|weather| *weather != Weather::Silent).await.is_ok();
            if !passes || to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
