//! The vibration motor of a phone or handheld: through feedbackd if available (Phosh, Plasma Mobile), else through the
//! kernel's force feedback.

/// Kinds of vibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feel {
    /// Confirms a touch.
    Light,
    /// Calls the player's attention: their turn, a check, the end.
    Strong,
}

impl Feel {
    /// Duration in milliseconds.
    pub fn milliseconds(self) -> u16 {
        match self {
            Self::Light => 18,
            Self::Strong => 60,
        }
    }

    /// Magnitude, from 0 to 1.
    pub fn strength(self) -> f64 {
        match self {
            Self::Light => 0.45,
            Self::Strong => 1.0,
        }
    }
}

/// The motor and its thread. Without a motor nothing happens.
#[derive(Debug)]
pub struct Motor {
    #[cfg(feature = "vibration")]
    wishes: std::sync::mpsc::Sender<Feel>,
    #[cfg(feature = "vibration")]
    there: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Motor {
    /// Searches for a motor on a thread of its own.
    pub fn find() -> Self {
        #[cfg(feature = "vibration")]
        {
            let (wishes, there) = shaking::start();
            Self { wishes, there }
        }
        #[cfg(not(feature = "vibration"))]
        {
            Self {}
        }
    }

    /// Whether a motor was found so far.
    pub fn is_there(&self) -> bool {
        #[cfg(feature = "vibration")]
        return self.there.load(std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(feature = "vibration"))]
        false
    }

    /// Vibrates once.
    pub fn shake(&self, feel: Feel) {
        #[cfg(feature = "vibration")]
        if self.is_there() {
            // The thread ends only if the motor is gone.
            self.wishes.send(feel).ok();
        }
        #[cfg(not(feature = "vibration"))]
        let _ = feel;
    }
}

#[cfg(feature = "vibration")]
pub use shaking::Feedbackd;

#[cfg(feature = "vibration")]
mod shaking {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use dbus::blocking::Connection;
    use evdev::{FFEffectCode, FFEffectData, FFEffectKind, FFReplay, FFTrigger, KeyCode};

    use super::Feel;

    const NAME: &str = "org.sigxcpu.Feedback";
    const PATH: &str = "/org/sigxcpu/Feedback";
    const HAPTIC: &str = "org.sigxcpu.Feedback.Haptic";
    /// Limit for a D-Bus service that starts on demand.
    const PATIENCE: Duration = Duration::from_secs(5);

    pub(super) fn start() -> (Sender<Feel>, Arc<AtomicBool>) {
        let (wishes, wished) = channel::<Feel>();
        let there = Arc::new(AtomicBool::new(false));
        let known = there.clone();
        let serve = move || {
            let Some(mut shake) = any() else { return };
            known.store(true, Ordering::Relaxed);
            while let Ok(feel) = wished.recv() {
                if !shake(feel) {
                    known.store(false, Ordering::Relaxed);
                    return;
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("motor".into()).spawn(serve) {
            tracing::debug!(%error, "no thread for the motor");
        }
        (wishes, there)
    }

    /// Vibrates once; returns false once the motor is gone.
    type Shake = Box<dyn FnMut(Feel) -> bool>;

    fn any() -> Option<Shake> {
        let session = Connection::new_session().ok().and_then(Feedbackd::on);
        if let Some(daemon) = session {
            return Some(Box::new(move |feel| daemon.shake(feel)));
        }
        kernel()
    }

    /// feedbackd's interface for vibration patterns.
    pub struct Feedbackd(Connection);

    impl Feedbackd {
        /// Connects on this bus. `None` unless feedbackd runs or starts on demand, and has a motor.
        pub fn on(bus: Connection) -> Option<Self> {
            use dbus::blocking::stdintf::org_freedesktop_dbus::Properties;
            let proxy = bus.with_proxy("org.freedesktop.DBus", "/org/freedesktop/DBus", PATIENCE);
            let bus_name = "org.freedesktop.DBus";
            let names = |method: &str| -> Vec<String> {
                proxy.method_call(bus_name, method, ()).map(|(names,)| names).unwrap_or_default()
            };
            if !names("ListNames").iter().chain(&names("ListActivatableNames")).any(|name| name == NAME) {
                return None;
            }
            // Only a daemon that supports vibration patterns has this property; a daemon without a motor answers "no".
            let daemon = bus.with_proxy(NAME, PATH, PATIENCE);
            daemon.get::<String>(NAME, "Profile").ok()?;
            let found = Self(bus);
            found.vibrate(&[]).then_some(found)
        }

        fn vibrate(&self, pattern: &[(f64, u32)]) -> bool {
            let daemon = self.0.with_proxy(NAME, PATH, PATIENCE);
            let answer: Result<(bool,), _> =
                daemon.method_call(HAPTIC, "Vibrate", ("org.qiyou.Qiyou", pattern.to_vec()));
            answer.is_ok_and(|(shaken,)| shaken)
        }

        /// Vibrates once; returns false on failure.
        pub fn shake(&self, feel: Feel) -> bool {
            self.vibrate(&[(feel.strength(), u32::from(feel.milliseconds()))])
        }
    }

    /// A motor among the input devices that this user may write to, gamepads excluded.
    fn kernel() -> Option<Shake> {
        let (path, mut device) = evdev::enumerate().find(|(_, device)| {
            let rumbles = device.supported_ff().is_some_and(|can| can.contains(FFEffectCode::FF_RUMBLE));
            let pad = device
                .supported_keys()
                .is_some_and(|keys| keys.contains(KeyCode::BTN_SOUTH) || keys.contains(KeyCode::BTN_TRIGGER));
            rumbles && !pad
        })?;
        tracing::debug!(path = %path.display(), "a motor");
        let effect = |feel: Feel| FFEffectData {
            direction: 0,
            trigger: FFTrigger { button: 0, interval: 0 },
            replay: FFReplay { length: feel.milliseconds(), delay: 0 },
            kind: FFEffectKind::Rumble {
                strong_magnitude: (feel.strength() * f64::from(u16::MAX)) as u16,
                weak_magnitude: (feel.strength() * f64::from(u16::MAX)) as u16,
            },
        };
        let mut light = device.upload_ff_effect(effect(Feel::Light)).ok()?;
        let mut strong = device.upload_ff_effect(effect(Feel::Strong)).ok()?;
        Some(Box::new(move |feel| {
            // The effects live as long as the device is open.
            let _open = &device;
            match feel {
                Feel::Light => light.play(1),
                Feel::Strong => strong.play(1),
            }
            .is_ok()
        }))
    }
}
