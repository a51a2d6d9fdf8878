//! Measures the stream between two devices: one serves, the other dials. One JSON object per line.
//!
//! ```text
//! ble_echo serve [--adapter hci0] [--seconds 600]
//! ble_echo dial  [--adapter hci0] [--echoes 200] [--size 60] [--bytes 200000]
//! ble_echo hold  [--adapter hci0] [--seconds 60]     # keeps a link, says when it comes and goes
//! ble_echo doctor
//! ```

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ble_transport::{BleConfig, BleTransport};
use futures::StreamExt;
use link::{Card, Listener, Tag, Transport, WatchEvent};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

type Failure = Box<dyn std::error::Error>;

/// First byte of a request, then a length as u32 big-endian.
const ECHO: u8 = b'e';
const SINK: u8 = b's';
const SOURCE: u8 = b'g';

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let mut words = std::env::args().skip(1);
    let mode = words.next().unwrap_or_default();
    let mut options = BTreeMap::new();
    while let Some(word) = words.next() {
        options.insert(word, words.next().ok_or("each option has a value")?);
    }
    let adapter = options.get("--adapter").cloned();
    let number = |name: &str, default: u32| options.get(name).map_or(Ok(default), |text| text.parse());
    let bluetooth = BleTransport::new(BleConfig { adapter });
    match mode.as_str() {
        "serve" => {
            let seconds = u64::from(number("--seconds", 600)?);
            match tokio::time::timeout(Duration::from_secs(seconds), serve(&bluetooth)).await {
                Ok(result) => result,
                Err(_) => Ok(()),
            }
        }
        "dial" => {
            dial(&bluetooth, number("--echoes", 200)?, number("--size", 60)?, number("--bytes", 200_000)?)
                .await
        }
        "hold" => {
            let seconds = u64::from(number("--seconds", 60)?);
            // `hold` runs until the time is over.
            let _ = tokio::time::timeout(Duration::from_secs(seconds), hold(&bluetooth)).await;
            Ok(())
        }
        "doctor" => {
            for finding in bluetooth.diagnose().await {
                println!("{finding:?}");
            }
            Ok(())
        }
        _ => Err("ble_echo serve | dial | hold | doctor".into()),
    }
}

async fn serve(bluetooth: &BleTransport) -> Result<(), Failure> {
    let card = Card {
        tag: Tag(*b"echo!"),
        open_to_all: true,
        wish: 0,
        busy: false,
        name: Some("echo".into()),
        seldom: false,
    };
    let mut listener: Box<dyn Listener> = bluetooth.listen(card).await?;
    let mut states = bluetooth.watch(false);
    loop {
        let mut stream = tokio::select! {
            accepted = listener.accept() => accepted?.duplex,
            Some(event) = states.next() => {
                println!(r#"{{"event":"{event:?}"}}"#);
                continue;
            }
        };
        println!(r#"{{"event":"accepted"}}"#);
        let served = async {
            loop {
                let what = stream.read_u8().await?;
                let length = stream.read_u32().await? as usize;
                match what {
                    ECHO => {
                        let mut body = vec![0; length.min(16_384)];
                        stream.read_exact(&mut body).await?;
                        stream.write_all(&body).await?;
                    }
                    SINK => {
                        let took = swallow(&mut stream, length).await?;
                        stream.write_u32(took.as_millis() as u32).await?;
                    }
                    SOURCE => stream.write_all(&vec![7; length.min(4_000_000)]).await?,
                    _ => return Ok(()),
                }
                stream.flush().await?;
            }
        };
        let result: std::io::Result<()> = served.await;
        println!(r#"{{"event":"over","result":"{result:?}"}}"#);
    }
}

/// Reads `left` bytes; returns the time from the first byte to the last.
async fn swallow(stream: &mut (impl AsyncRead + Unpin), mut left: usize) -> std::io::Result<Duration> {
    let mut buffer = [0; 4096];
    let mut first = None;
    while left > 0 {
        let most = left.min(buffer.len());
        left -= match stream.read(&mut buffer[..most]).await? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => n,
        };
        first.get_or_insert_with(Instant::now);
    }
    Ok(first.map_or(Duration::ZERO, |first| first.elapsed()))
}

async fn hold(bluetooth: &BleTransport) {
    let mut down_at = Instant::now();
    loop {
        let mut found = None;
        let link: Result<_, Failure> = async {
            let mut watch = bluetooth.watch(true);
            let address = loop {
                match watch.next().await.ok_or("the watch ended")? {
                    WatchEvent::Seen(seen) => break seen.address,
                    WatchEvent::State(state) => println!(r#"{{"event":"state","state":"{state:?}"}}"#),
                    WatchEvent::TurnedAway => {}
                }
            };
            found = Some(down_at.elapsed().as_millis());
            Ok(bluetooth.dial(&address).await?)
        }
        .await;
        let mut stream = match link {
            Ok(stream) => stream,
            Err(error) => {
                println!(r#"{{"event":"failed","found_ms":{found:?},"error":"{error}"}}"#);
                continue;
            }
        };
        println!(
            r#"{{"event":"up","found_ms":{},"up_ms":{}}}"#,
            found.unwrap_or_default(),
            down_at.elapsed().as_millis()
        );
        let mut echoes = 0;
        let mut last = Instant::now();
        let ended: std::io::Result<()> = async {
            loop {
                let mut request = vec![ECHO];
                request.extend(20u32.to_be_bytes());
                request.extend([echoes as u8; 20]);
                stream.write_all(&request).await?;
                stream.flush().await?;
                let mut back = [0; 20];
                stream.read_exact(&mut back).await?;
                if back != [echoes as u8; 20] {
                    return Err(std::io::Error::other("a wrong echo"));
                }
                (echoes, last) = (echoes + 1, Instant::now());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        .await;
        down_at = Instant::now();
        println!(
            r#"{{"event":"down","echoes":{echoes},"silent_ms":{},"why":"{ended:?}"}}"#,
            last.elapsed().as_millis()
        );
    }
}

async fn dial(bluetooth: &BleTransport, echoes: u32, size: u32, bytes: u32) -> Result<(), Failure> {
    let started = Instant::now();
    let mut watch = bluetooth.watch(true);
    let address = loop {
        match watch.next().await.ok_or("the watch ended")? {
            WatchEvent::Seen(seen) => {
                println!(
                    r#"{{"event":"found","ms":{},"address":"{}","rssi":{:?}}}"#,
                    started.elapsed().as_millis(),
                    seen.address.text,
                    seen.rssi_dbm.unwrap_or_default()
                );
                break seen.address;
            }
            WatchEvent::State(state) => println!(r#"{{"event":"state","state":"{state:?}"}}"#),
            WatchEvent::TurnedAway => {}
        }
    };
    let dialling = Instant::now();
    let mut stream = bluetooth.dial(&address).await?;
    drop(watch);
    println!(
        r#"{{"event":"connected","ms":{},"att_payload":{}}}"#,
        dialling.elapsed().as_millis(),
        stream.fragment_limit()
    );

    let mut round_trips = Vec::new();
    let before = stream.counts();
    for i in 0..echoes {
        let body: Vec<u8> = (0..size).map(|at| (at ^ i) as u8).collect();
        let sent = Instant::now();
        let mut request = vec![ECHO];
        request.extend(size.to_be_bytes());
        request.extend(&body);
        stream.write_all(&request).await?;
        stream.flush().await?;
        let mut back = vec![0; body.len()];
        stream.read_exact(&mut back).await?;
        round_trips.push(sent.elapsed().as_secs_f64() * 1e3);
        if back != body {
            return Err(format!("echo {i} differs").into());
        }
    }
    let after = stream.counts();
    round_trips.sort_by(f64::total_cmp);
    if let Some(last) = round_trips.len().checked_sub(1) {
        let at = |part: f64| round_trips[(last as f64 * part) as usize];
        println!(
            r#"{{"event":"echo","count":{echoes},"size":{size},"p50_ms":{:.1},"p95_ms":{:.1},"max_ms":{:.1},"sent":{},"received":{}}}"#,
            at(0.5),
            at(0.95),
            at(1.0),
            after.sent - before.sent,
            after.received - before.received
        );
    }

    for (name, what) in [("to_peripheral", SINK), ("to_central", SOURCE)] {
        let mut request = vec![what];
        request.extend(bytes.to_be_bytes());
        if what == SINK {
            request.extend(vec![9; bytes as usize]);
        }
        stream.write_all(&request).await?;
        stream.flush().await?;
        let took = if what == SINK {
            Duration::from_millis(u64::from(stream.read_u32().await?))
        } else {
            swallow(&mut stream, bytes as usize).await?
        };
        println!(
            r#"{{"event":"goodput","way":"{name}","bytes":{bytes},"seconds":{:.2},"kB_per_s":{:.1}}}"#,
            took.as_secs_f64(),
            f64::from(bytes) / took.as_secs_f64() / 1e3
        );
        println!(r#"{{"event":"counts","counts":"{:?}","flow":"{:?}"}}"#, stream.counts(), stream.flow());
    }
    stream.shutdown().await?;
    println!(r#"{{"event":"done","seconds":{:.1}}}"#, started.elapsed().as_secs_f64());
    Ok(())
}
