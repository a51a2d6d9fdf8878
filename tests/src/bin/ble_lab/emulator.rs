//! BlueZ's controller emulator (`btvirt`), which runs on this machine out of a guest's own tree.
//!
//! Its server sockets give controllers of Bluetooth 4 only. Those of Bluetooth 5 it makes for the kernel of its own machine, through
//! `/dev/vhci`; the preloaded `btvirt-host.c` leads each to a datagram socket of the lab instead, packet by packet.

use crate::cell::Controller;
use crate::h4::Splitter;
use anyhow::{Context, Result, bail, ensure};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// The emulator makes this the last byte of a controller's address; its own socket for LE controllers does the same.
const ADDRESS_BYTE: u8 = 0x42;
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Emulator {
    process: Child,
    /// Each connection to this socket gets another LE controller of Bluetooth 4.
    pub(crate) socket: PathBuf,
}

impl Emulator {
    /// Starts it out of the tree `root`, with its sockets in `work`. Also returns the line to each of `count` controllers, the first
    /// one's address ending in the lowest number.
    pub(crate) async fn start(
        root: &Path,
        work: &Path,
        out: &Path,
        controller: Controller,
        count: usize,
    ) -> Result<(Emulator, Vec<UnixStream>)> {
        let own = if controller == Controller::Le { 0 } else { count };
        let lines: Vec<_> =
            (0..own).map(|n| UnixDatagram::bind(work.join(format!("vhci-{n}")))).collect::<Result<_, _>>()?;
        let log = std::fs::File::create(out.join("btvirt.log"))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(root.join("lib64/ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(root.join("lib/x86_64-linux-gnu"));
        command.arg("--preload").arg(work.join("btvirt-host.so"));
        command.arg(root.join("bin/btvirt")).arg("-s").env("BLE_LAB_DIR", work);
        if own > 0 {
            command.arg(format!("-l{own}"));
        }
        command.stdin(std::process::Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        let mut process = command.spawn().context("btvirt")?;
        let mut controllers = Vec::new();
        for line in lines {
            controllers.push(
                timeout(PATIENCE, plug(line))
                    .await
                    .context("btvirt made no controller; see btvirt.log")??,
            );
        }
        let socket = work.join("bt-server-le");
        let begun = Instant::now();
        while !socket.exists() {
            if let Some(status) = process.try_wait()? {
                bail!("btvirt ended with {status}; see btvirt.log");
            }
            ensure!(begun.elapsed() < PATIENCE, "btvirt made no socket");
            sleep(Duration::from_millis(20)).await;
        }
        while controllers.len() < count {
            controllers.push(UnixStream::connect(&socket).context("no controller emulator")?);
        }
        Ok((Emulator { process, socket }, controllers))
    }

    pub(crate) async fn stop(&mut self) {
        let _ = self.process.kill().await;
    }
}

/// Answers as the kernel's `/dev/vhci` does, and forwards packets between the emulator's datagrams and the returned stream.
async fn plug(line: UnixDatagram) -> Result<UnixStream> {
    let mut packet = [0; 4096];
    let (length, from) = line.recv_from(&mut packet).await?;
    // The kernel's vendor packet: which kind of controller is made.
    ensure!(length == 2 && packet[0] == 0xff, "btvirt began with {:?}", &packet[..length]);
    line.connect(from.as_pathname().context("btvirt has no address")?)?;
    line.send(&[0xff, packet[1], ADDRESS_BYTE, 0]).await?;
    let (ours, theirs) = tokio::net::UnixStream::pair()?;
    let (mut from_air, mut to_air) = ours.into_split();
    let line = std::sync::Arc::new(line);
    let emulator = line.clone();
    tokio::spawn(async move {
        let mut packet = [0; 4096];
        while let Ok(length) = emulator.recv(&mut packet).await {
            if to_air.write_all(&packet[..length]).await.is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        let (mut splitter, mut buffer) = (Splitter::default(), [0; 4096]);
        while let Ok(length @ 1..) = from_air.read(&mut buffer).await {
            splitter.feed(&buffer[..length]);
            while let Ok(Some(packet)) = splitter.next() {
                if line.send(&packet).await.is_err() {
                    return;
                }
            }
        }
    });
    Ok(theirs.into_std()?)
}
