//! Fuzzes a secure link with a man in the middle: the bytes read are a prefix of the bytes sent, and an end that detects
//! tampering closes. The seeds are scripts of tampering, five bytes a step. Runs for `FUZZ_SECONDS`, or a fixed number of
//! mutations.

#[path = "../../tests/src/seed.rs"]
mod seed;

use std::path::Path;
use std::time::{Duration, Instant};

use link::CarrierKind;
use link::identity::Identity;
use link::secure::{self, AcceptedPeers, ExpectedPeer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::timeout;

/// Mutations without `FUZZ_SECONDS`: about a second, since each needs a handshake.
const CHANGES: u32 = 150;

/// Bytes sent; more than one record.
const SAID_BYTES: usize = 6_000;

/// Buffer of each side.
const BUFFER: usize = 16 << 10;

/// One step of tampering: the kind, the first byte in the stream, the number of bytes, and a value.
#[derive(Clone, Copy)]
struct Step {
    kind: u8,
    at: usize,
    length: usize,
    value: u8,
}

fn steps(script: &[u8]) -> Vec<Step> {
    let step = |bytes: &[u8]| Step {
        kind: bytes[0] % 5,
        at: usize::from(u16::from_be_bytes([bytes[1], bytes[2]])),
        length: usize::from(bytes[3]),
        value: bytes[4],
    };
    // More than a few steps end the link anyway.
    script.chunks_exact(5).take(8).map(step).collect()
}

/// The tampered stream, as far as it has arrived.
fn tampered(stream: &[u8], steps: &[Step]) -> Vec<u8> {
    let mut bytes = stream.to_vec();
    for Step { kind, at, length, value } in steps.iter().copied() {
        if at >= bytes.len() {
            continue;
        }
        let end = (at + length).min(bytes.len());
        match kind {
            0 => bytes[at..end].iter_mut().for_each(|byte| *byte ^= value),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, std::iter::repeat_n(value, length))),
            // Repeated bytes: a replay if they are a whole record.
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(end..end, again);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// Forwards bytes from one end to the other and tampers with them. A step applies once its bytes have arrived.
async fn carry(mut from: DuplexStream, mut to: DuplexStream, mut back: DuplexStream, script: Vec<Step>) {
    let (mut stream, mut sent) = (Vec::new(), 0);
    let mut piece = [0; 2048];
    let mut answer = [0; 2048];
    loop {
        tokio::select! {
            read = from.read(&mut piece) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => {
                    stream.extend_from_slice(&piece[..read]);
                    let now = tampered(&stream, &script);
                    if now.len() > sent {
                        if to.write_all(&now[sent..]).await.is_err() {
                            return;
                        }
                        sent = now.len();
                    }
                }
            },
            read = to.read(&mut answer) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => if back.write_all(&answer[..read]).await.is_err() { return },
            },
        }
    }
}

/// Two streams as one carrier: one for reading, one for writing.
fn joined(read: DuplexStream, write: DuplexStream) -> tokio::io::Join<DuplexStream, DuplexStream> {
    tokio::io::join(read, write)
}

/// Returns how many bytes were heard.
async fn check(script: &[u8]) -> usize {
    let steps = steps(script);
    let (anna, ben) = (Identity::generate().expect("random"), Identity::generate().expect("random"));
    // Anna writes to `up` and reads from `down`; `bens` is Ben's end.
    let (up, from) = duplex(BUFFER);
    let (back, down) = duplex(BUFFER);
    let (to, bens) = duplex(BUFFER);
    let untouched = steps.is_empty();
    let carrier = tokio::spawn(carry(from, to, back, steps));
    let said: Vec<u8> = (0..SAID_BYTES).map(|at| (at * 7 % 251) as u8).collect();
    let saying = said.clone();
    let speaker = tokio::spawn(async move {
        let Ok(mut link) =
            secure::dial(joined(down, up), &anna, CarrierKind::Memory, ExpectedPeer::Anybody).await
        else {
            return;
        };
        let _ = link.write_all(&saying).await;
        let _ = link.flush().await;
        let _ = link.shutdown().await;
    });
    let listen = async {
        let Ok(mut link) = secure::accept(bens, &ben, CarrierKind::Memory, &AcceptedPeers::all()).await
        else {
            return Vec::new();
        };
        let (mut heard, mut piece) = (Vec::new(), [0; 1000]);
        while let Ok(read @ 1..) = link.read(&mut piece).await {
            heard.extend_from_slice(&piece[..read]);
        }
        heard
    };
    let heard = timeout(Duration::from_mins(1), listen).await.expect("the listener comes to an end");
    speaker.abort();
    carrier.abort();
    assert!(said.starts_with(&heard), "something else than what was said, or out of order: {script:?}");
    assert!(!untouched || heard == said, "an honest carrier");
    heard.len()
}

#[test]
fn no_tampering_makes_a_link_say_what_was_not_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds/noise");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("has seeds").map(|entry| entry.expect("readable").path()).collect();
    // Sorted, because the file system's order varies.
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    assert!(!seeds.is_empty());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let mut heard: Vec<usize> = seeds.iter().map(|seed| runtime.block_on(check(seed))).collect();
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Xorshift64 (Marsaglia 2003).
    let mut random = seed::begin("noise", 1).max(1);
    let mut below = move |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % end.max(1) as u64) as usize
    };
    let mut done = 0;
    while end.map_or(done < CHANGES, |end| Instant::now() < end) {
        let mut script = seeds[below(seeds.len())].clone();
        for _ in 0..=below(3) {
            match below(3) {
                0 if !script.is_empty() => {
                    let at = below(script.len());
                    script[at] = below(256) as u8;
                }
                1 => script.extend((0..5).map(|_| below(256) as u8)),
                _ => script.truncate(below(script.len() + 1)),
            }
        }
        heard.push(runtime.block_on(check(&script)));
        done += 1;
    }
    let runs = |is: fn(usize) -> bool| heard.iter().filter(|heard| is(**heard)).count();
    let (none, all) = (runs(|heard| heard == 0), runs(|heard| heard == SAID_BYTES));
    let part = heard.len() - none - all;
    println!("noise: heard nothing in {none} runs, a part in {part}, all in {all}");
    // `.ci/run` counts lines that end like this.
    println!("noise: {} seeds, {done} changes", seeds.len());
    assert!(none > 0 && part > 0 && all > 0, "tampering in every phase: {none}, {part}, {all}");
}
