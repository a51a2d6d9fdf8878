//! Random bytes on the control socket: the host keeps answering other clients. The seeds are those of the messages
//! (proto/tests/seeds/control). Runs for `FUZZ_SECONDS`, or a fixed number of mutations.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::Rng;
use proto::control::{Message, request};
use proto::frame::{FrameCodec, FrameLimit, Outgoing};
use tests::house::House;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::codec::Encoder;

/// Number of mutations without `FUZZ_SECONDS`: about two seconds.
const CHANGES: u32 = 300;

/// Number of a request on the socket; the first byte of its seed.
const REQUEST: u8 = 1;

/// A number below `end`, which is at least 1.
fn below(random: &mut Rng, end: usize) -> usize {
    random.below(u32::try_from(end.max(1)).unwrap_or(u32::MAX)) as usize
}

/// An attach, then mutated requests in frames, and occasionally mutated bytes. `None`: the requests would make the host
/// shut down.
fn conversation(seeds: &[Vec<u8>], attach: &[u8], random: &mut Rng) -> Option<Vec<u8>> {
    let (mut codec, mut bytes) = (FrameCodec::new(FrameLimit::Local), bytes::BytesMut::new());
    let mut put = |payload: Vec<u8>| {
        codec.encode(Outgoing { msgid: REQUEST.into(), payload: payload.into() }, &mut bytes).ok()
    };
    put(attach.to_vec())?;
    for _ in 0..=below(random, 4) {
        let mut payload = seeds[below(random, seeds.len())].clone();
        for _ in 0..below(random, 4) {
            let at = below(random, payload.len() + 1);
            match below(random, 4) {
                0 => payload.truncate(at),
                1 => payload.insert(at, below(random, 256) as u8),
                2 => drop(payload.splice(at..at, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F])),
                _ if at < payload.len() => payload[at] ^= 1 << below(random, 8),
                _ => {}
            }
        }
        if let Ok(Message::Request(request)) = Message::decode(REQUEST.into(), &payload)
            && matches!(request.body, Some(request::Body::Stop(_)))
        {
            return None;
        }
        put(payload)?;
    }
    let mut bytes = bytes.to_vec();
    if below(random, 4) == 0 {
        let at = below(random, bytes.len());
        bytes[at] ^= 1 << below(random, 8);
    }
    Some(bytes)
}

#[test]
fn no_bytes_of_a_client_disturb_the_host() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/tests/seeds/control");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("has seeds").map(|entry| entry.expect("readable").path()).collect();
    // In an order independent of the file system.
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    let requests = seeds.into_iter().filter(|seed| seed[0] == REQUEST);
    let seeds: Vec<Vec<u8>> = requests.map(|seed| seed[1..].to_vec()).collect();
    let attach = paths.iter().find(|path| path.ends_with("01-attach")).expect("a seed");
    let attach = std::fs::read(attach).expect("readable")[1..].to_vec();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut house = House::new(130);
        let mut anna = house.device_with("Anna", |config| config.bot_time = Duration::from_millis(1)).await;
        let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let (mut random, mut done) = (Rng::new(tests::seed::begin("client", 1)), 0);
        while end.map_or(done < CHANGES, |end| Instant::now() < end) {
            let Some(bytes) = conversation(&seeds, &attach, &mut random) else { continue };
            let mut stream = anna.host().client();
            // The host may close the connection in the middle.
            let _ = stream.write_all(&bytes).await;
            let mut answer = [0; 1024];
            let _ = timeout(Duration::from_millis(100), stream.read(&mut answer)).await;
            drop(stream);
            anna.client.scan(false).await;
            if done % 50 == 0 {
                // Closes what the mutations have opened, because the host would refuse more rooms in the end.
                anna.kill().await;
                std::fs::remove_dir_all(anna.directory()).expect("removed");
                anna.start().await;
            }
            done += 1;
        }
        println!("client: {} seeds, {done} changes", seeds.len());
    });
}
