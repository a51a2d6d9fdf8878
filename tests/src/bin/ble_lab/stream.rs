//! The project's own byte stream between two guests, with nothing above it: the cost of `ble-transport` over the bare
//! service.
//!
//! Client to server: a kind byte, a length (u32, big-endian), then that many bytes. The server answers an [`ECHO`] with
//! the same message and a [`SINK`] with a [`Sunk`] as JSON in a message of the same form.

use crate::bare;
use anyhow::{Context, Result, bail, ensure};
use ble_transport::stream::LARGEST;
use ble_transport::{BleConfig, BleTransport};
use futures::StreamExt;
use link::{Address, Card, Duplex, Tag, Transport, Watch, WatchEvent};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

const ECHO: u8 = b'E';
const SINK: u8 = b'S';
/// Longest accepted length: much more than any load here.
const MOST: u32 = 64 * 1024 * 1024;

/// The tag by which the two find each other; real tags change every 15 minutes.
const TAG: Tag = Tag(*b"lab!!");

#[derive(clap::Args)]
pub(crate) struct Load {
    /// Bluetooth address of the server, which also serves the bare service.
    address: String,
    /// Number of scans for the server before the measurements.
    #[arg(long, default_value_t = 8)]
    scans: u32,
    /// Number of rounds; each round measures stream and bare service in turn, so that load of the machine slows both.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Number of echoes per round.
    #[arg(long, default_value_t = 12)]
    echoes: u32,
    /// Length of an echoed message, in bytes: about that of a move in its Noise record.
    #[arg(long, default_value_t = 60)]
    echo_bytes: usize,
    /// Number of values that the bare loop writes per round, each as long as one of the stream; the stream's long message
    /// has their total length.
    #[arg(long, default_value_t = 100)]
    writes: u32,
}

/// The output of `drive`, as one line of JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Streamed {
    /// Milliseconds from the start of each scan to the first advertisement, and from there to a stream.
    pub(crate) found: Vec<f64>,
    pub(crate) connected: f64,
    /// Each echo, in milliseconds.
    pub(crate) round_trips: Vec<f64>,
    /// For each round: bytes a second at the receiver, from the first byte's arrival to the last's.
    pub(crate) goodput: Vec<f64>,
    /// The same for the bare service.
    pub(crate) bare_round_trips: Vec<f64>,
    pub(crate) bare_goodput: Vec<f64>,
}

/// The server's statistics of a sink's message.
#[derive(Debug, Serialize, Deserialize)]
struct Sunk {
    /// Microseconds from the first part to the last, and the bytes after that first part.
    took: u64,
    bytes: u64,
    /// Number of wrong bytes.
    wrong: u64,
}

/// Serves until killed.
pub(crate) async fn serve() -> Result<()> {
    let bluetooth = bluetooth();
    let card =
        Card { tag: TAG, open_to_all: true, busy: false, wish: 0, name: Some("lab".into()), seldom: false };
    let mut listener = bluetooth.listen(card).await?;
    let mut bare = tokio::spawn(bare::serve_beside());
    println!("serving");
    loop {
        let mut duplex = tokio::select! {
            accepted = listener.accept() => accepted?.duplex,
            ended = &mut bare => return ended?.context("the bare service"),
        };
        println!("accepted");
        // The lab sends one client at a time.
        if let Err(error) = converse(&mut *duplex).await {
            println!("ended: {error:#}");
        }
    }
}

async fn converse(duplex: &mut dyn Duplex) -> Result<()> {
    loop {
        let kind = duplex.read_u8().await?;
        let length = duplex.read_u32().await?;
        ensure!(length <= MOST, "a message of {length} bytes");
        match kind {
            ECHO => {
                let mut message = vec![0; length as usize];
                duplex.read_exact(&mut message).await?;
                send(duplex, ECHO, &message).await?;
            }
            SINK => {
                let (mut part, mut got, mut wrong) = (vec![0; 8192], 0, 0);
                let (mut first, mut first_bytes) = (None, 0);
                while got < u64::from(length) {
                    let most = part.len().min((u64::from(length) - got) as usize);
                    let read = duplex.read(&mut part[..most]).await?;
                    ensure!(read > 0, "the stream ended");
                    if first.is_none() {
                        (first, first_bytes) = (Some(Instant::now()), read as u64);
                    }
                    wrong +=
                        (got..).zip(&part[..read]).filter(|&(at, &byte)| byte != filling(at)).count() as u64;
                    got += read as u64;
                }
                let took = first.map_or(0, |first| first.elapsed().as_micros() as u64);
                let sunk = Sunk { took, bytes: got - first_bytes, wrong };
                send(duplex, SINK, &serde_json::to_vec(&sunk)?).await?;
            }
            kind => bail!("a message of kind {kind}"),
        }
    }
}

/// Measures against a server in range and prints [`Streamed`].
pub(crate) async fn drive(load: Load) -> Result<()> {
    let bluetooth = bluetooth();
    let mut found = Vec::new();
    for _ in 1..load.scans {
        let begun = Instant::now();
        let (_, watch) = find(&bluetooth).await?;
        found.push(milliseconds(begun));
        drop(watch);
        // BlueZ needs some time to stop discovery.
        sleep(Duration::from_millis(500)).await;
    }
    let begun = Instant::now();
    let (address, watch) = find(&bluetooth).await?;
    found.push(milliseconds(begun));

    let begun = Instant::now();
    let mut stream = bluetooth.dial(&address).await?;
    let connected = milliseconds(begun);
    drop(watch);
    let mut bare = bare::Link::beside(&load.address).await.context("the bare service")?;

    let mut told = Streamed { found, connected, ..Streamed::default() };
    for _ in 0..load.rounds {
        told.bare_round_trips.extend(bare.echoes(load.echoes).await?);
        echoes(&mut stream, &load, &mut told.round_trips).await?;
        told.bare_goodput.push(bare.goodput(load.writes, LARGEST).await?);
        let before = stream.counts();
        told.goodput.push(sink(&mut stream, load.writes as usize * LARGEST).await?);
        let (round_trip, window) = stream.flow();
        let (bare, ours) = (told.bare_goodput.last(), told.goodput.last());
        eprintln!("bytes a second: {bare:?} bare, {ours:?} ours, round trip {round_trip:?}, window {window}");
        eprintln!("fragments before {before:?}, after {:?}", stream.counts());
    }
    println!("{}", serde_json::to_string(&told)?);
    Ok(())
}

/// Scans until the server is heard; the scan lasts as long as the watch is held.
async fn find(bluetooth: &BleTransport) -> Result<(Address, Watch)> {
    let mut watch = bluetooth.watch(true);
    let address = timeout(Duration::from_secs(30), async {
        loop {
            match watch.next().await.context("the watch ended")? {
                WatchEvent::Seen(sighting) if sighting.tag == TAG => return anyhow::Ok(sighting.address),
                event => eprintln!("{event:?}"),
            }
        }
    });
    Ok((address.await.context("found nobody")??, watch))
}

async fn echoes(duplex: &mut dyn Duplex, load: &Load, took: &mut Vec<f64>) -> Result<()> {
    for number in 0..load.echoes {
        let sent: Vec<u8> = (u64::from(number)..).take(load.echo_bytes).map(filling).collect();
        let begun = Instant::now();
        send(duplex, ECHO, &sent).await?;
        ensure!(receive(duplex, ECHO).await? == sent, "echo {number} is not what was sent");
        took.push(milliseconds(begun));
    }
    Ok(())
}

/// Sends a sink message; returns bytes a second at the receiver.
async fn sink(duplex: &mut dyn Duplex, bytes: usize) -> Result<f64> {
    let all: Vec<u8> = (0..bytes as u64).map(filling).collect();
    send(duplex, SINK, &all).await?;
    let sunk: Sunk = serde_json::from_slice(&receive(duplex, SINK).await?)?;
    ensure!(sunk.wrong == 0, "{} of {bytes} bytes are not what was sent", sunk.wrong);
    Ok(sunk.bytes as f64 / (sunk.took.max(1) as f64 / 1e6))
}

async fn send(duplex: &mut dyn Duplex, kind: u8, message: &[u8]) -> Result<()> {
    let mut whole = vec![kind];
    whole.extend((message.len() as u32).to_be_bytes());
    whole.extend(message);
    duplex.write_all(&whole).await?;
    Ok(duplex.flush().await?)
}

async fn receive(duplex: &mut dyn Duplex, kind: u8) -> Result<Vec<u8>> {
    let answer = async {
        ensure!(duplex.read_u8().await? == kind, "an answer of another kind");
        let length = duplex.read_u32().await?;
        ensure!(length <= MOST, "an answer of {length} bytes");
        let mut message = vec![0; length as usize];
        duplex.read_exact(&mut message).await?;
        Ok(message)
    };
    timeout(Duration::from_mins(1), answer).await.context("no answer")?
}

fn bluetooth() -> BleTransport {
    BleTransport::new(BleConfig::default())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The byte at a position, without a short period, so that a misplaced part is detected.
fn filling(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
}
