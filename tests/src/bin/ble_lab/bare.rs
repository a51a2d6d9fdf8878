//! A minimal GATT service and its client: the baseline of radio, kernel and BlueZ without our code.
//!
//! The game's figures are reported beside these, taken in the same run on the same radio: an echo of one characteristic
//! value for a move's round trip, a loop of writes without response for the stream's goodput.

use anyhow::{Context, Result, bail, ensure};
use bluer::adv::Advertisement;
use bluer::gatt::local::{
    Application, ApplicationHandle, Characteristic as Local, CharacteristicControl,
    CharacteristicControlEvent, CharacteristicNotify, CharacteristicNotifyMethod, CharacteristicWrite,
    CharacteristicWriteMethod, Service, characteristic_control,
};
use bluer::gatt::{CharacteristicReader, CharacteristicWriter};
use btleplug::api::{
    Central as _, Characteristic, Manager as _, Peripheral as _, ScanFilter, ValueNotification, WriteType,
};
use btleplug::platform::{Adapter, Manager, Peripheral};
use futures::stream::BoxStream;
use futures::{
    StreamExt,
    future::{pending, ready},
};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use uuid::{Uuid, uuid};

const SERVICE: Uuid = uuid!("7f1c2d60-5b0e-4c39-9a8e-3b1d0c5e9a01");
const WRITTEN: Uuid = uuid!("7f1c2d61-5b0e-4c39-9a8e-3b1d0c5e9a01");
const NOTIFIED: Uuid = uuid!("7f1c2d62-5b0e-4c39-9a8e-3b1d0c5e9a01");

/// Kind byte: echo the value.
const ECHO: u8 = b'E';
/// Kind byte: count the value.
const SINK: u8 = b'S';
/// Kind byte: report the count, as JSON after the same byte.
const COUNT: u8 = b'C';
/// Kind byte: reset the count and confirm.
const ANEW: u8 = b'N';

/// The server's statistics of the write loop.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Sunk {
    values: u32,
    bytes: u64,
    /// Values that do not directly follow their predecessor.
    misplaced: u32,
    /// From the first value to the last, in microseconds.
    took: u64,
    first_bytes: u64,
}

impl Sunk {
    /// Bytes a second, from the first value's arrival to the last's.
    fn goodput(&self) -> f64 {
        (self.bytes - self.first_bytes) as f64 / (self.took.max(1) as f64 / 1e6)
    }
}

#[derive(clap::Args)]
pub(crate) struct Load {
    #[arg(long, default_value_t = 40)]
    echoes: u32,
    /// Length of an echoed value, in bytes.
    #[arg(long, default_value_t = ECHO_BYTES)]
    echo_bytes: usize,
    #[arg(long, default_value_t = 200)]
    writes: u32,
    /// Length of a written value, in bytes.
    #[arg(long, default_value_t = 490)]
    write_bytes: usize,
}

/// The output of `drive`, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bare {
    /// Milliseconds from the start of the scan to the first advertisement, and from there to the first answer.
    pub(crate) found: f64,
    pub(crate) connected: f64,
    /// Each echo, in milliseconds.
    pub(crate) round_trips: Vec<f64>,
    pub(crate) wrong_echoes: u32,
    pub(crate) written: u32,
    pub(crate) arrived: u32,
    pub(crate) misplaced: u32,
    /// Bytes a second, from the first value's arrival to the last's.
    pub(crate) goodput: f64,
}

/// About the size of a move in its Noise record and its fragment.
const ECHO_BYTES: usize = 60;

#[derive(clap::Args)]
pub(crate) struct Serving {
    /// Do not advertise; serve connected devices only.
    #[arg(long)]
    silent: bool,
}

/// Serves until killed.
pub(crate) async fn serve(how: Serving) -> Result<()> {
    let session = bluer::Session::new().await?;
    let adapter = session.default_adapter().await?;
    let offered = Offered::on(&adapter).await?;
    let _advert = if how.silent {
        None
    } else {
        let advert = Advertisement {
            service_uuids: [SERVICE].into(),
            discoverable: Some(true),
            min_interval: Some(Duration::from_millis(100)),
            max_interval: Some(Duration::from_millis(100)),
            ..Default::default()
        };
        Some(adapter.advertise(advert).await?)
    };
    println!("serving");
    offered.attend().await
}

/// Runs the service beside other tasks of this process; returns only on an error.
pub(crate) async fn serve_beside() -> Result<()> {
    let session = bluer::Session::new().await?;
    Offered::on(&session.default_adapter().await?).await?.attend().await
}

/// The registered service.
struct Offered {
    application: ApplicationHandle,
    written: CharacteristicControl,
    notified: CharacteristicControl,
}

impl Offered {
    async fn on(adapter: &bluer::Adapter) -> Result<Offered> {
        let (written, written_handle) = characteristic_control();
        let (notified, notified_handle) = characteristic_control();
        let characteristics = vec![
            Local {
                uuid: WRITTEN,
                write: Some(CharacteristicWrite {
                    write: true,
                    write_without_response: true,
                    method: CharacteristicWriteMethod::Io,
                    ..Default::default()
                }),
                control_handle: written_handle,
                ..Default::default()
            },
            Local {
                uuid: NOTIFIED,
                notify: Some(CharacteristicNotify {
                    notify: true,
                    method: CharacteristicNotifyMethod::Io,
                    ..Default::default()
                }),
                control_handle: notified_handle,
                ..Default::default()
            },
        ];
        let service = Service { uuid: SERVICE, primary: true, characteristics, ..Default::default() };
        let application = adapter
            .serve_gatt_application(Application { services: vec![service], ..Default::default() })
            .await?;
        Ok(Offered { application, written, notified })
    }

    async fn attend(self) -> Result<()> {
        let Offered { application, written, notified } = self;
        // Registered until dropped.
        let _application = application;
        let (mut written, mut notified) = (Box::pin(written), Box::pin(notified));
        let (mut reader, mut writer): (Option<CharacteristicReader>, Option<CharacteristicWriter>) =
            (None, None);
        let mut counter = Counter::default();
        loop {
            let value = async {
                match &reader {
                    Some(reader) => reader.recv().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                event = written.next() => match event.context("bluetoothd is gone")? {
                    CharacteristicControlEvent::Write(request) => reader = Some(request.accept()?),
                    CharacteristicControlEvent::Notify(_) => {}
                },
                event = notified.next() => match event.context("bluetoothd is gone")? {
                    CharacteristicControlEvent::Notify(w) => writer = Some(w),
                    CharacteristicControlEvent::Write(_) => {}
                },
                value = value => match value {
                    Ok(value) if !value.is_empty() => {
                        if let Some(answer) = counter.take(value) {
                            // The client may have left; the next client brings its own writer.
                            if let Some(writer) = &writer && let Err(error) = writer.send(&answer).await {
                                eprintln!("answer: {error}");
                            }
                        }
                    }
                    _ => reader = None,
                },
            }
        }
    }
}

#[derive(Default)]
struct Counter {
    sunk: Sunk,
    first: Option<Instant>,
    expected: u32,
}

impl Counter {
    /// Handles a value and returns the answer.
    fn take(&mut self, value: Vec<u8>) -> Option<Vec<u8>> {
        match value.first() {
            Some(&ECHO) => Some(value),
            Some(&SINK) => {
                let now = Instant::now();
                let number = value.get(1..5).and_then(|n| n.try_into().ok()).map(u32::from_le_bytes);
                self.sunk.misplaced += u32::from(number != Some(self.expected));
                self.expected = number.map_or(self.expected, |n| n.wrapping_add(1));
                self.sunk.values += 1;
                self.sunk.bytes += value.len() as u64;
                if self.first.is_none() {
                    self.sunk.first_bytes = value.len() as u64;
                }
                self.sunk.took = now.duration_since(*self.first.get_or_insert(now)).as_micros() as u64;
                None
            }
            Some(&ANEW) => {
                *self = Counter::default();
                Some(value)
            }
            Some(&COUNT) => {
                Some([&[COUNT][..], &serde_json::to_vec(&self.sunk).expect("plain data")].concat())
            }
            _ => None,
        }
    }
}

/// Measures against a server in range and prints [`Bare`].
pub(crate) async fn drive(load: Load) -> Result<()> {
    let manager = Manager::new().await?;
    let begun = Instant::now();
    let peripheral = find(&manager).await?;
    let found = milliseconds(begun);
    let begun = Instant::now();
    let mut link = Link::open(peripheral).await?;
    let connected = milliseconds(begun);

    let (mut round_trips, mut wrong_echoes) = (Vec::new(), 0);
    for number in 1..=load.echoes {
        let begun = Instant::now();
        if !link.echo(number, load.echo_bytes, WriteType::WithoutResponse).await? {
            wrong_echoes += 1;
        }
        round_trips.push(milliseconds(begun));
    }

    for number in 0..load.writes {
        link.write(&value(SINK, number, load.write_bytes), WriteType::WithoutResponse).await?;
    }
    let sunk = link.settled(load.writes).await?;
    let bare = Bare {
        found,
        connected,
        round_trips,
        wrong_echoes,
        written: load.writes,
        arrived: sunk.values,
        misplaced: sunk.misplaced,
        goodput: sunk.goodput(),
    };
    println!("{}", serde_json::to_string(&bare)?);
    // btleplug's own disconnect takes 2 s and more; the end of the process would end the link too, but not reliably.
    link.peripheral.disconnect().await?;
    Ok(())
}

/// Echoes a value now and then over an existing connection, until killed, and prints the milliseconds of each echo.
pub(crate) async fn pace(load: Pace) -> Result<()> {
    let mut link = Link::beside(&load.address).await?;
    println!("up");
    for number in 1.. {
        let begun = Instant::now();
        ensure!(link.echo(number, ECHO_BYTES, WriteType::WithoutResponse).await?, "a wrong echo");
        println!("echo {}", milliseconds(begun));
        sleep(Duration::from_millis(load.every_ms)).await;
    }
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct Pace {
    /// Bluetooth address of the server.
    address: String,
    #[arg(long, default_value_t = 250)]
    every_ms: u64,
}

/// Keeps a link up until killed, reconnects after each loss, and prints "up", or "down" with the reason.
pub(crate) async fn hold() -> Result<()> {
    let manager = Manager::new().await?;
    loop {
        let held: Result<()> = async {
            let mut link = Link::open(find(&manager).await?).await?;
            println!("up");
            for number in 0.. {
                ensure!(
                    link.echo_within(HELD_LIMIT, number, 20, WriteType::WithoutResponse).await?,
                    "a wrong echo"
                );
                sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        }
        .await;
        println!("down: {:#}", held.expect_err("it ends by an error only"));
        sleep(Duration::from_millis(200)).await;
    }
}

/// Scans until the service is heard, and stops scanning.
async fn find(manager: &Manager) -> Result<Peripheral> {
    let adapter = manager.adapters().await?.into_iter().next().context("no adapter")?;
    let begun = Instant::now();
    // A controller reports each advertisement once per scan, and may have reported it before this program scanned: hence
    // several short scans.
    while begun.elapsed() < Duration::from_secs(30) {
        adapter.start_scan(ScanFilter { services: vec![SERVICE] }).await?;
        let heard = timeout(Duration::from_secs(2), hear(&adapter)).await;
        adapter.stop_scan().await?;
        if let Ok(peripheral) = heard {
            return peripheral;
        }
    }
    bail!("found nobody")
}

async fn hear(adapter: &Adapter) -> Result<Peripheral> {
    let mut events = adapter.events().await?;
    loop {
        events.next().await.context("no more events")?;
        for peripheral in adapter.peripherals().await? {
            // Without an RSSI it is a device that bluetoothd remembers, not an advertisement.
            let seen = peripheral.properties().await?;
            if seen.is_some_and(|p| p.services.contains(&SERVICE) && p.rssi.is_some()) {
                return Ok(peripheral);
            }
        }
    }
}

pub(crate) struct Link {
    peripheral: Peripheral,
    written: Characteristic,
    notes: BoxStream<'static, ValueNotification>,
}

impl Link {
    /// Connects and waits for the first answer.
    async fn open(peripheral: Peripheral) -> Result<Link> {
        peripheral.connect().await?;
        peripheral.discover_services().await?;
        let characteristics = peripheral.characteristics();
        let characteristic = |uuid| {
            characteristics
                .iter()
                .find(|c| c.uuid == uuid)
                .cloned()
                .context("the service lacks a characteristic")
        };
        let written = characteristic(WRITTEN)?;
        // btleplug delivers the peer's notifications for every program on this machine.
        let notes = peripheral.notifications().await?.filter(|note| ready(note.uuid == NOTIFIED)).boxed();
        peripheral.subscribe(&characteristic(NOTIFIED)?).await?;
        let mut link = Link { peripheral, written, notes };
        // The write that opens BlueZ's socket at the server must be alone: a following write can be lost.
        link.echo(0, 20, WriteType::WithResponse).await?;
        Ok(link)
    }

    /// Uses the connection that another program has made to this address.
    pub(crate) async fn beside(address: &str) -> Result<Link> {
        // The manager must outlive everything that it creates; leaking it is fine in a program with one task.
        let manager = Box::leak(Box::new(Manager::new().await?));
        let adapter = manager.adapters().await?.into_iter().next().context("no adapter")?;
        for peripheral in adapter.peripherals().await? {
            if peripheral.address().to_string() == address && peripheral.is_connected().await? {
                return Link::open(peripheral).await;
            }
        }
        bail!("no connection to {address}")
    }

    /// `count` echoes, each in milliseconds.
    pub(crate) async fn echoes(&mut self, count: u32) -> Result<Vec<f64>> {
        let mut took = Vec::new();
        for number in 1..=count {
            let begun = Instant::now();
            ensure!(self.echo(number, ECHO_BYTES, WriteType::WithoutResponse).await?, "a wrong echo");
            took.push(milliseconds(begun));
        }
        Ok(took)
    }

    /// `writes` writes of `length` bytes in a row; returns bytes a second at the receiver.
    pub(crate) async fn goodput(&mut self, writes: u32, length: usize) -> Result<f64> {
        self.write(&[ANEW], WriteType::WithoutResponse).await?;
        ensure!(self.note(Duration::from_secs(20)).await?.first() == Some(&ANEW), "an answer to nothing");
        for number in 0..writes {
            self.write(&value(SINK, number, length), WriteType::WithoutResponse).await?;
        }
        Ok(self.settled(writes).await?.goodput())
    }

    async fn write(&self, value: &[u8], how: WriteType) -> Result<()> {
        Ok(self.peripheral.write(&self.written, value, how).await?)
    }

    async fn note(&mut self, limit: Duration) -> Result<Vec<u8>> {
        let note = timeout(limit, self.notes.next()).await.context("no answer")?;
        Ok(note.context("the link ended")?.value)
    }

    /// Whether the echo equals the value sent.
    async fn echo(&mut self, number: u32, length: usize, how: WriteType) -> Result<bool> {
        self.echo_within(ECHO_LIMIT, number, length, how).await
    }

    async fn echo_within(
        &mut self,
        limit: Duration,
        number: u32,
        length: usize,
        how: WriteType,
    ) -> Result<bool> {
        let sent = value(ECHO, number, length);
        self.write(&sent, how).await?;
        Ok(self.note(limit).await? == sent)
    }

    /// Asks for the count until all have arrived or no more do.
    async fn settled(&mut self, all: u32) -> Result<Sunk> {
        let (mut last, mut since) = (Sunk::default(), Instant::now());
        loop {
            self.write(&[COUNT], WriteType::WithoutResponse).await?;
            let answer = self.note(Duration::from_secs(20)).await?;
            ensure!(answer.first() == Some(&COUNT), "an answer to nothing");
            let sunk: Sunk = serde_json::from_slice(&answer[1..])?;
            if sunk != last {
                (last, since) = (sunk, Instant::now());
            }
            if sunk.values >= all || since.elapsed() > Duration::from_secs(3) {
                if sunk.values == 0 {
                    bail!("no write arrived");
                }
                return Ok(sunk);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// An echo takes two connection intervals. A machine that is busy with other work may stop for seconds.
const ECHO_LIMIT: Duration = Duration::from_secs(30);
/// As long as [`hold`] takes a link for up: far more than a working one needs.
const HELD_LIMIT: Duration = Duration::from_secs(2);

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// A value with its number, so that order can be checked, padded with bytes derived from the number.
fn value(kind: u8, number: u32, length: usize) -> Vec<u8> {
    let mut value = vec![kind];
    value.extend(number.to_le_bytes());
    let filling = (0u32..)
        .map(|i| (number.wrapping_mul(2_654_435_761).wrapping_add(i.wrapping_mul(40_503)) >> 9) as u8);
    value.extend(filling.take(length.saturating_sub(value.len())));
    value
}
