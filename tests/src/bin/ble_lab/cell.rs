//! A cell of the lab's matrix: which Debian each device runs, what its controller can do, how BlueZ is configured. Names of cells and
//! their options are in `tests/ble-lab/run`.

use crate::air::{Habits, Limits, PACKETS_PER_EVENT, Side};
use crate::guest::Guest;
use crate::h4::AddressKind;
use crate::report::Report;
use anyhow::{Result, bail};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What an ATT value can carry at an MTU of 23, the least one.
const LEAST: usize = 20;

#[derive(clap::Args, Debug, Clone, Serialize)]
pub(crate) struct Cell {
    /// Name of the cell in the report.
    #[arg(long = "cell", default_value = "debian-12")]
    name: String,
    /// Debian's version at A, B and so on, by turns.
    #[arg(long, value_delimiter = ',', default_value = "12")]
    stacks: Vec<u8>,
    /// What the emulated controllers can do.
    #[arg(long, value_enum, default_value_t = Controller::Le)]
    pub(crate) controller: Controller,
    /// Private addresses that change: `Privacy = device` in BlueZ's main.conf.
    #[arg(long)]
    privacy: bool,
    /// The highest ATT MTU that a device is told of, with EATT off; BlueZ's own value is 517. The air lowers it: with an `ExchangeMTU`
    /// below 48 in main.conf bluetoothd 5.66 takes no adapter.
    #[arg(long)]
    mtu: Option<u16>,
    /// Data packets that a device sends in a connection event.
    #[arg(long = "packets", default_value_t = PACKETS_PER_EVENT)]
    packets_per_event: u32,
    /// Devices in the room, up to five; more than two only find each other and play, in `room`.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=5))]
    pub(crate) devices: u8,
    /// Play the short form: one match with a cut, and a whole board's record.
    #[arg(long)]
    pub(crate) short: bool,
    /// What the devices turned out to run.
    #[arg(skip)]
    found: Vec<Stack>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Controller {
    /// Bluetooth 4, LE only, without extended advertising.
    Le,
    /// Bluetooth 5.2 with extended advertising, its BR/EDR switched off in BlueZ's main.conf.
    Extended,
    /// Bluetooth 5.2 with extended advertising, and BR/EDR beside LE, as most real ones.
    Dual,
}

#[derive(Clone, Debug, Serialize)]
struct Stack {
    side: String,
    debian: u8,
    kernel: String,
    bluez: String,
}

impl Cell {
    fn debian(&self, side: Side) -> u8 {
        self.stacks[side as usize % self.stacks.len()]
    }

    /// Folder of a side's root file system, beside those of other versions of Debian.
    pub(crate) fn base(&self, bases: &Path, side: Side) -> PathBuf {
        let mut base = bases.as_os_str().to_owned();
        base.push(format!("-{}", self.debian(side)));
        base.into()
    }

    pub(crate) fn initrd(&self, work: &Path, side: Side) -> PathBuf {
        work.join(format!("initrd-{}", self.debian(side)))
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { packets: self.packets_per_event, mtu: self.mtu }
    }

    /// Changes to BlueZ's main.conf: section, key, value.
    pub(crate) fn settings(&self) -> Vec<(&'static str, &'static str, String)> {
        let mut settings = Vec::new();
        if self.controller == Controller::Extended {
            settings.push(("General", "ControllerMode", "le".to_owned()));
        }
        if self.privacy {
            settings.push(("General", "Privacy", "device".to_owned()));
        }
        if self.mtu.is_some() {
            // EATT has an MTU of its own, of 64 at the least.
            settings.push(("GATT", "Channels", "1".to_owned()));
        }
        settings
    }

    /// Notes what a device runs; `settings` are its adapter's, as `btmgmt info` says them.
    pub(crate) fn found(&mut self, guest: &Guest, bluez: &str, settings: &str) -> Result<()> {
        let debian = self.debian(guest.side);
        let (kernel_of, bluez_of) = match debian {
            12 => ("6.1.", "5.66"),
            13 => ("6.12.", "5.82"),
            _ => bail!("it is not known what Debian {debian} has"),
        };
        if !guest.kernel.starts_with(kernel_of) || bluez != bluez_of {
            bail!(
                "side {:?} should run Debian {debian}, and has {} and BlueZ {bluez}",
                guest.side,
                guest.kernel
            );
        }
        let has = |setting| settings.split_whitespace().any(|word| word == setting);
        let (classic, private) = (self.controller == Controller::Dual, self.privacy);
        if !has("le") || has("br/edr") != classic || has("privacy") != private {
            bail!(
                "side {:?}: {:?} and privacy {private}, and its adapter says {settings:?}",
                guest.side,
                self.controller
            );
        }
        let (side, kernel) = (format!("{:?}", guest.side), guest.kernel.clone());
        self.found.push(Stack { side, debian, kernel, bluez: bluez.to_owned() });
        Ok(())
    }

    /// Fails unless what was asked for shows in what the controllers were told and what was on the air.
    pub(crate) fn holds(&self, habits: &Habits, longest_value: usize, report: &mut Report) -> Result<()> {
        let extended = self.controller != Controller::Le;
        report
            .check(habits.advertised_extended == extended && habits.advertised_plainly != extended, || {
                format!("with {:?} controllers advertising was begun so: {habits:?}", self.controller)
            })?;
        // Nothing of ours is on BR/EDR.
        report.check(!habits.inquired, || "somebody looked for BR/EDR devices".into())?;
        let kind = if self.privacy { AddressKind::ResolvablePrivate } else { AddressKind::Public };
        report.check(habits.addresses == [kind].into(), || {
            format!("privacy {}, and peers came as {:?}", self.privacy, habits.addresses)
        })?;
        report.check(habits.most_packets <= self.packets_per_event, || {
            format!("{} packets in an event of {}", habits.most_packets, self.packets_per_event)
        })?;
        // A whole board's record does not fit into the least MTU at once.
        let most = usize::from(self.mtu.unwrap_or(517)) - 3;
        report.check(longest_value <= most && (longest_value > LEAST) == (most > LEAST), || {
            format!("the longest ATT value has {longest_value} bytes, at an MTU of {:?}", self.mtu)
        })
    }
}
