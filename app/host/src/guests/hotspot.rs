//! The Wi-Fi network that this device makes for guests: its states, and what clients are shown of it.

use std::net::IpAddr;
use std::time::Duration;

use link::friend_code::Qr;
use proto::control::{self, HotspotState, Words};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::desktop::{AccessPointNews, AccessPointTrouble, BeforeFile, Network};

/// The network ends when no code has been shown for so long.
const UNUSED: Duration = Duration::from_mins(3);

/// Characters of names and passphrases: none that is taken for another on a small screen.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Length of a passphrase: 60 bits, far beyond what an evening's listener can try against WPA2.
const PASSPHRASE: usize = 12;

/// The state of the network.
#[derive(Default)]
pub(crate) struct Hotspot {
    state: State,
    last_ticket: u64,
    /// What the adapter was connected to.
    before: BeforeFile,
    /// Why the last attempt failed or the network ended.
    trouble: Option<AccessPointTrouble>,
    /// Since when it has been up without any code.
    unused_since: Option<Instant>,
}

#[derive(Default)]
enum State {
    #[default]
    Off,
    Starting(Attempt),
    On(Attempt, IpAddr),
}

struct Attempt {
    ticket: u64,
    network: Network,
    /// Ends the task when dropped.
    _stop: oneshot::Sender<()>,
}

/// What a new network needs.
pub(crate) struct Start {
    pub(crate) ticket: u64,
    pub(crate) network: Network,
    pub(crate) before: BeforeFile,
    pub(crate) stop: oneshot::Receiver<()>,
}

impl Hotspot {
    /// `before`: where it is kept what the adapter was connected to.
    pub(crate) fn new(before: BeforeFile) -> Self {
        Self { before, ..Self::default() }
    }

    /// Begins a network with a name and a passphrase from these random bytes, unless there is one. `None`: nothing to do.
    pub(crate) fn start(&mut self, random: [u8; 4 + PASSPHRASE]) -> Option<Start> {
        if !matches!(self.state, State::Off) {
            return None;
        }
        let text: String = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
        let (name, passphrase) = text.split_at(4);
        let network =
            Network { ssid: format!("{}{name}", Network::PREFIX), passphrase: passphrase.to_owned() };
        let (sender, stop) = oneshot::channel();
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        self.state = State::Starting(Attempt { ticket, network: network.clone(), _stop: sender });
        self.trouble = None;
        Some(Start { ticket, network, before: self.before.clone(), stop })
    }

    /// Ends the network. Returns whether anything has changed.
    pub(crate) fn stop(&mut self) -> bool {
        self.unused_since = None;
        !matches!(std::mem::take(&mut self.state), State::Off)
    }

    /// Handles news of the task with this ticket. Returns whether anything has changed.
    pub(crate) fn on_news(&mut self, ticket: u64, news: AccessPointNews, now: Instant) -> bool {
        let (State::Starting(attempt) | State::On(attempt, _)) = &self.state else { return false };
        if attempt.ticket != ticket {
            return false;
        }
        match (std::mem::take(&mut self.state), news) {
            (State::Starting(attempt) | State::On(attempt, _), AccessPointNews::On(address)) => {
                self.state = State::On(attempt, address);
                self.unused_since = Some(now);
            }
            (_, AccessPointNews::Off(trouble)) => {
                self.trouble = trouble;
                self.unused_since = None;
            }
            (State::Off, AccessPointNews::On(_)) => {}
        }
        true
    }

    /// Whether codes are shown decides how long the network stays.
    pub(crate) fn set_used(&mut self, used: bool, now: Instant) {
        if matches!(self.state, State::On(..)) {
            self.unused_since = if used { None } else { self.unused_since.or(Some(now)) };
        }
    }

    /// When the network ends because nobody uses it.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.unused_since.map(|since| since + UNUSED)
    }

    /// This device's address in the network.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match &self.state {
            State::On(_, address) => Some(*address),
            State::Off | State::Starting(_) => None,
        }
    }

    /// The state for clients.
    pub(crate) fn shown(&self) -> control::Hotspot {
        match &self.state {
            State::Off => {
                control::Hotspot { trouble: self.trouble.as_ref().map(words), ..control::Hotspot::default() }
            }
            State::Starting(_) => control::Hotspot {
                state: HotspotState::HotspotStarting.into(),
                ..control::Hotspot::default()
            },
            State::On(attempt, _) => {
                let Network { ssid, passphrase } = &attempt.network;
                // The form that cameras of phones know (by ZXing); nothing in it needs to be escaped.
                let qr = Qr::of(&format!("WIFI:T:WPA;S:{ssid};P:{passphrase};;"));
                control::Hotspot {
                    state: HotspotState::HotspotOn.into(),
                    ssid: ssid.clone(),
                    passphrase: passphrase.clone(),
                    side: qr.side as u32,
                    dark: qr.packed().into(),
                    trouble: None,
                }
            }
        }
    }
}

fn words(trouble: &AccessPointTrouble) -> Words {
    let [zh, en] = match trouble {
        AccessPointTrouble::NoService => [
            "这台设备的 Wi-Fi 不归 NetworkManager 管，不能在这里开热点。请在系统设置里开，再试一次。",
            "Qiyou cannot make a Wi-Fi on this device, because NetworkManager is not running. Turn on a hotspot in the system's settings.",
        ],
        AccessPointTrouble::NoAdapter => {
            ["这台设备的 Wi-Fi 不能开热点。", "This device has no Wi-Fi adapter that can make a network."]
        }
        AccessPointTrouble::WirelessOff => {
            ["Wi-Fi 关着。先打开 Wi-Fi，再试一次。", "Wi-Fi is off. Turn it on, then try again."]
        }
        AccessPointTrouble::Denied => [
            "系统不让开热点。请在系统设置里开。",
            "The system does not allow it. Turn on a hotspot in the system's settings.",
        ],
        AccessPointTrouble::Failed(_) => {
            ["热点没有开成。请再试一次。", "The Wi-Fi could not be made. Try again."]
        }
        AccessPointTrouble::Ended => ["热点断了。", "The Wi-Fi has ended."],
    };
    Words { zh: zh.into(), en: en.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 42, 0, 1));

    fn started() -> (Hotspot, Start) {
        let mut hotspot = Hotspot::default();
        let start = hotspot.start([7; 16]).expect("it was off");
        (hotspot, start)
    }

    #[test]
    fn a_network_is_shown_with_its_passphrase_once_it_is_up() {
        let (mut hotspot, start) = started();
        assert_eq!(hotspot.shown().state(), HotspotState::HotspotStarting);
        assert!(hotspot.shown().passphrase.is_empty() && hotspot.address().is_none());
        assert!(hotspot.on_news(start.ticket, AccessPointNews::On(ADDRESS), Instant::now()));
        let shown = hotspot.shown();
        let code = Qr::of(&format!("WIFI:T:WPA;S:{};P:{};;", shown.ssid, shown.passphrase));
        assert_eq!((shown.side as usize, &shown.dark[..]), (code.side, &code.packed()[..]));
        assert_eq!((shown.ssid, shown.passphrase), (start.network.ssid, start.network.passphrase));
        assert_eq!(hotspot.address(), Some(ADDRESS));
    }

    #[test]
    fn a_second_start_changes_nothing() {
        let (mut hotspot, start) = started();
        assert!(hotspot.start([8; 16]).is_none());
        assert!(hotspot.on_news(start.ticket, AccessPointNews::On(ADDRESS), Instant::now()));
        assert!(hotspot.start([8; 16]).is_none());
        assert_eq!(hotspot.shown().ssid, start.network.ssid);
    }

    #[test]
    fn stopping_ends_the_task_and_its_late_news_change_nothing() {
        let (mut hotspot, mut start) = started();
        assert!(hotspot.stop());
        assert_eq!(start.stop.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(!hotspot.on_news(start.ticket, AccessPointNews::On(ADDRESS), Instant::now()));
        assert_eq!(hotspot.shown(), control::Hotspot::default());
        // The next attempt is not ended by the end of the one before.
        let next = hotspot.start([9; 16]).expect("it is off");
        assert!(!hotspot.on_news(start.ticket, AccessPointNews::Off(None), Instant::now()));
        assert!(hotspot.on_news(next.ticket, AccessPointNews::On(ADDRESS), Instant::now()));
    }

    #[test]
    fn why_there_is_no_network_is_said_until_the_next_attempt() {
        let (mut hotspot, start) = started();
        let off = AccessPointNews::Off(Some(AccessPointTrouble::NoAdapter));
        assert!(hotspot.on_news(start.ticket, off, Instant::now()));
        assert!(hotspot.shown().trouble.is_some());
        hotspot.start([1; 16]).expect("it is off");
        assert!(hotspot.shown().trouble.is_none());
    }

    #[test]
    fn a_network_that_nobody_uses_has_a_deadline_and_one_with_a_code_has_none() {
        let (mut hotspot, start) = started();
        let now = Instant::now();
        assert_eq!(hotspot.deadline(), None);
        assert!(hotspot.on_news(start.ticket, AccessPointNews::On(ADDRESS), now));
        assert_eq!(hotspot.deadline(), Some(now + UNUSED));
        hotspot.set_used(true, now);
        assert_eq!(hotspot.deadline(), None);
    }

    #[test]
    fn every_passphrase_is_one_of_wpa2_and_needs_no_escape() {
        for byte in 0..=255 {
            let mut hotspot = Hotspot::default();
            let network = hotspot.start([byte; 16]).expect("it was off").network;
            assert!((8..=63).contains(&network.passphrase.len()) && network.ssid.len() <= 32);
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            assert!(plain(&network.passphrase) && plain(&network.ssid));
        }
    }
}
