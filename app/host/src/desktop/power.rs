//! Listens to UPower (`org.freedesktop.UPower`) for battery and lid, and asks logind whether another display is connected.

use super::Bus;
use crate::power::PowerNews;

#[cfg(not(target_os = "linux"))]
pub(crate) async fn run(_: Bus, _tell: impl Fn(PowerNews) -> bool) {}

/// Reports the state of battery and lid at first and with each change, until `tell` returns false.
#[cfg(target_os = "linux")]
pub(crate) async fn run(bus: Bus, tell: impl Fn(PowerNews) -> bool) {
    /// As for sleep: the bus usually returns only with a reboot.
    const AGAIN: std::time::Duration = std::time::Duration::from_mins(1);
    while linux::attend(&bus, &tell).await {
        tokio::time::sleep(AGAIN).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use dbus::channel::{BusType, MatchingReceiver};
    use dbus::message::MatchRule;
    use dbus::nonblock::stdintf::org_freedesktop_dbus::Properties;
    use dbus::nonblock::{Proxy, SyncConnection};
    use tokio::sync::mpsc;
    use tracing::{debug, info};

    use super::super::bus::{CALL_WITHIN, Connected};
    use super::{Bus, PowerNews};

    const UPOWER: &str = "org.freedesktop.UPower";
    const UPOWER_PATH: &str = "/org/freedesktop/UPower";
    const LOGIND: &str = "org.freedesktop.login1";
    const LOGIND_PATH: &str = "/org/freedesktop/login1";
    const MANAGER: &str = "org.freedesktop.login1.Manager";

    /// Listens until the bus is lost; returns whether to reconnect.
    pub(super) async fn attend(bus: &Bus, tell: &impl Fn(PowerNews) -> bool) -> bool {
        let mut connected = match Connected::open(bus, BusType::System) {
            Ok(connected) => connected,
            Err(error) => {
                debug!(%error, "no system bus: battery and lid are not known");
                return true;
            }
        };
        let connection = connected.connection.clone();
        let mut changes = match listen(&connection).await {
            Ok(changes) => changes,
            Err(error) => {
                debug!(%error, "the bus does not tell of battery and lid");
                return true;
            }
        };
        let mut told = None;
        loop {
            let news = read(&connection).await;
            if told.replace(news) != Some(news) {
                info!(news.on_battery, news.lid_closed, "power");
                if !tell(news) {
                    return false;
                }
            }
            tokio::select! {
                change = changes.recv() => if change.is_none() { return true },
                () = connected.gone() => return true,
            }
            // UPower reports several properties at once: they are read once.
            while changes.try_recv().is_ok() {}
        }
    }

    /// Receives a unit for each change of UPower's state, and when UPower has been started again.
    async fn listen(connection: &SyncConnection) -> Result<mpsc::UnboundedReceiver<()>, dbus::Error> {
        let (tell, changes) = mpsc::unbounded_channel();
        let changed = MatchRule::new_signal("org.freedesktop.DBus.Properties", "PropertiesChanged")
            .with_path(UPOWER_PATH);
        connection.add_match_no_cb(&changed.match_str()).await?;
        let told = tell.clone();
        connection.start_receive(
            changed,
            Box::new(move |_, _| {
                let _ = told.send(());
                true
            }),
        );
        // Filtered on the bus by `arg0`; otherwise every program that starts or ends would wake this one.
        connection
            .add_match_no_cb(&format!(
                "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{UPOWER}'"
            ))
            .await?;
        connection.start_receive(
            MatchRule::new_signal("org.freedesktop.DBus", "NameOwnerChanged"),
            Box::new(move |message, _| {
                if message.read1::<String>().is_ok_and(|name| name == UPOWER) {
                    let _ = tell.send(());
                }
                true
            }),
        );
        Ok(changes)
    }

    /// What cannot be read is taken for a plugged-in device with an open lid.
    async fn read(connection: &SyncConnection) -> PowerNews {
        let upower = Proxy::new(UPOWER, UPOWER_PATH, CALL_WITHIN, connection);
        let logind = Proxy::new(LOGIND, LOGIND_PATH, CALL_WITHIN, connection);
        let on_battery = upower.get(UPOWER, "OnBattery").await.unwrap_or(false);
        // logind has the lid's state too, but sends no signal when it changes; UPower's later versions lack it.
        let lid = match upower.get(UPOWER, "LidIsClosed").await {
            Ok(closed) => closed,
            Err(_) => logind.get(MANAGER, "LidClosed").await.unwrap_or(false),
        };
        // True with more than one display, too.
        let docked = lid && logind.get(MANAGER, "Docked").await.unwrap_or(false);
        PowerNews { on_battery, lid_closed: lid && !docked }
    }
}
