//! Listens to logind (`org.freedesktop.login1`) for the system's sleep, and delays it until peers have received a goodbye.

use super::Bus;

/// A change of the system's sleep state.
pub(crate) enum SleepNews {
    /// The system is about to sleep. It waits until the inhibitor is dropped, for at most five seconds (logind.conf(5),
    /// InhibitDelayMaxSec). `None`: it does not wait.
    Soon(Option<Inhibitor>),
    /// The system has woken up.
    Over,
}

/// Delays sleep until dropped.
pub(crate) struct Inhibitor {
    #[cfg(target_os = "linux")]
    _held: dbus::arg::OwnedFd,
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn run(_: Bus, _tell: impl Fn(SleepNews) -> bool) {}

/// Reports sleep until `tell` returns false.
#[cfg(target_os = "linux")]
pub(crate) async fn run(bus: Bus, tell: impl Fn(SleepNews) -> bool) {
    /// Delay before reconnecting to the system bus. The bus usually returns only with a reboot, and polling must not keep a
    /// device awake.
    const AGAIN: std::time::Duration = std::time::Duration::from_mins(1);
    while linux::attend(&bus, &tell).await {
        tokio::time::sleep(AGAIN).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use dbus::channel::{BusType, MatchingReceiver};
    use dbus::message::MatchRule;
    use dbus::nonblock::{Proxy, SyncConnection};
    use tokio::sync::mpsc;
    use tracing::{debug, info};

    use super::super::bus::{CALL_WITHIN, Connected};
    use super::{Bus, Inhibitor, SleepNews};

    const SERVICE: &str = "org.freedesktop.login1";
    const PATH: &str = "/org/freedesktop/login1";
    const MANAGER: &str = "org.freedesktop.login1.Manager";

    /// A signal from the bus.
    enum BusSignal {
        Sleep(bool),
        /// logind was restarted: the inhibitor is void.
        NewService,
    }

    /// Listens until the bus is lost; returns whether to reconnect.
    pub(super) async fn attend(bus: &Bus, tell: &impl Fn(SleepNews) -> bool) -> bool {
        let mut connected = match Connected::open(bus, BusType::System) {
            Ok(connected) => connected,
            Err(error) => {
                debug!(%error, "no system bus: sleep comes unannounced");
                return true;
            }
        };
        let connection = connected.connection.clone();
        let mut heard = match listen(&connection).await {
            Ok(heard) => heard,
            Err(error) => {
                debug!(%error, "the bus does not tell of sleep");
                return true;
            }
        };
        let mut inhibitor = inhibit(&connection).await;
        loop {
            let news = tokio::select! {
                news = heard.recv() => news,
                () = connected.gone() => return true,
            };
            let goes_on = match news {
                Some(BusSignal::Sleep(true)) => {
                    info!("the system goes to sleep");
                    tell(SleepNews::Soon(inhibitor.take()))
                }
                Some(BusSignal::Sleep(false)) => {
                    info!("the system has woken up");
                    inhibitor = inhibit(&connection).await;
                    tell(SleepNews::Over)
                }
                Some(BusSignal::NewService) => {
                    inhibitor = inhibit(&connection).await;
                    true
                }
                None => return true,
            };
            if !goes_on {
                return false;
            }
        }
    }

    async fn listen(connection: &SyncConnection) -> Result<mpsc::UnboundedReceiver<BusSignal>, dbus::Error> {
        let (tell, heard) = mpsc::unbounded_channel();
        let sleep = MatchRule::new_signal(MANAGER, "PrepareForSleep").with_path(PATH);
        connection.add_match_no_cb(&sleep.match_str()).await?;
        let told = tell.clone();
        connection.start_receive(
            sleep,
            Box::new(move |message, _| {
                if let Ok(asleep) = message.read1::<bool>() {
                    let _ = told.send(BusSignal::Sleep(asleep));
                }
                true
            }),
        );
        // Filtered on the bus by `arg0`; otherwise every program that starts or ends would wake this one.
        connection
            .add_match_no_cb(&format!(
                "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{SERVICE}'"
            ))
            .await?;
        connection.start_receive(
            MatchRule::new_signal("org.freedesktop.DBus", "NameOwnerChanged"),
            Box::new(move |message, _| {
                if let Ok((name, _, new)) = message.read3::<String, String, String>()
                    && name == SERVICE
                    && !new.is_empty()
                {
                    let _ = tell.send(BusSignal::NewService);
                }
                true
            }),
        );
        Ok(heard)
    }

    /// Takes a delay inhibitor; `None` if logind refuses.
    async fn inhibit(connection: &SyncConnection) -> Option<Inhibitor> {
        let proxy = Proxy::new(SERVICE, PATH, CALL_WITHIN, connection);
        let why = ("sleep", "Qiyou", "tells the other player", "delay");
        let held: Result<(dbus::arg::OwnedFd,), _> = proxy.method_call(MANAGER, "Inhibit", why).await;
        match held {
            Ok((held,)) => Some(Inhibitor { _held: held }),
            Err(error) => {
                debug!(%error, "sleep will not wait for a goodbye");
                None
            }
        }
    }
}
