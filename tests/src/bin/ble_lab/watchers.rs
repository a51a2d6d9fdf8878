//! People who watch a match in their browsers, beside the two who play it over Bluetooth.

use anyhow::{Context, Result, ensure};
use clap::Args;
use futures::{SinkExt, StreamExt};
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, interval_at};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A host takes this many connections from one address.
const PER_ADDRESS: u8 = 10;

/// As the page does: a host closes a connection that says nothing for 30 seconds.
const PING_EVERY: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(crate) struct Watching {
    /// The watching code's address, as `qiyouctl guest code --watch --plain` prints it.
    url: String,
    /// Number of pages, 250 at most.
    pages: u8,
}

/// Opens the pages. Prints `watching` when all have the board, and `all N.` whenever all of them have seen N moves; ends when all are
/// closed.
pub(crate) async fn run(asked: Watching) -> Result<()> {
    // Browsers are on other devices in truth: here they are to take as little as possible from the host's core.
    rustix::process::nice(19)?;
    let (tell, mut told) = unbounded_channel();
    for page in 0..asked.pages {
        let socket = open(&asked.url, page).await.with_context(|| format!("page {page}"))?;
        tokio::spawn(follow(socket, usize::from(page), tell.clone()));
    }
    drop(tell);
    let mut seen = vec![None; usize::from(asked.pages)];
    let mut shown = None;
    while let Some((page, ply)) = told.recv().await {
        seen[page] = Some(ply);
        let least = seen.iter().min().copied().flatten();
        if least > shown {
            if shown.is_none() {
                println!("watching");
            }
            println!("all {}.", least.unwrap_or(0));
            shown = least;
        }
    }
    println!("closed after {} moves at the least", shown.unwrap_or(0));
    Ok(())
}

/// One page's connection, after its hello.
async fn open(url: &str, page: u8) -> Result<WebSocketStream<TcpStream>> {
    let (origin, token) = url.split_once("/#").context("no token")?;
    let authority = origin.strip_prefix("http://").context("no address")?;
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2 + page / PER_ADDRESS), 0)))?;
    let stream = socket.connect(authority.parse().context("an address and a port")?).await?;
    let mut request = format!("ws://{authority}/play").into_client_request()?;
    request.headers_mut().insert("origin", origin.parse()?);
    let (mut socket, _) = client_async(request, stream).await?;
    let tab = format!("{page:016}");
    let hello = json!({"hello": {"version": 1, "token": token, "tab": tab, "name": ""}});
    socket.send(Message::text(hello.to_string())).await?;
    Ok(socket)
}

/// Tells the number of moves in each room that the page gets, until the connection ends.
async fn follow(mut socket: WebSocketStream<TcpStream>, page: usize, tell: UnboundedSender<(usize, u64)>) {
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            _ = pings.tick() => {
                let ping = json!({"ping": 1}).to_string();
                if socket.send(Message::text(ping)).await.is_err() {
                    return;
                }
                continue;
            }
        };
        let Some(Ok(message)) = message else { return };
        let Message::Text(text) = message else { continue };
        // Read no further than needed: in the lab this program shares the one core of the host.
        let ply = text
            .strip_prefix(r#"{"room":"#)
            .and_then(|room| room.split_once(r#""ply":"#))
            .and_then(|(_, rest)| rest.split([',', '}']).next()?.parse().ok());
        if let Some(ply) = ply {
            let _ = tell.send((page, ply));
        }
    }
}

/// Whether this is a code's address on this device.
pub(crate) fn check(url: &str) -> Result<()> {
    ensure!(
        url.starts_with("http://127.0.0.1:") && url.contains("/#"),
        "no code for a browser here: {url:?}"
    );
    Ok(())
}
