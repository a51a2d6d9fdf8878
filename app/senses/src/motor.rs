//! The motor that shakes a phone or handheld: through feedbackd where it runs (Phosh, Plasma Mobile), else through the
//! kernel's force feedback.

/// How it is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feel {
    /// A touch did something.
    Light,
    /// Something asks for the player's eyes: their turn, a check, the end.
    Strong,
}

impl Feel {
    /// Milliseconds of shaking.
    pub fn milliseconds(self) -> u16 {
        match self {
            Self::Light => 18,
            Self::Strong => 60,
        }
    }

    /// How hard, from 0 to 1.
    pub fn strength(self) -> f64 {
        match self {
            Self::Light => 0.45,
            Self::Strong => 1.0,
        }
    }
}

/// The motor, kept by a thread. Where there is none, nothing happens.
#[derive(Debug)]
pub struct Motor {
    #[cfg(feature = "vibration")]
    wishes: std::sync::mpsc::Sender<Feel>,
    #[cfg(feature = "vibration")]
    there: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Motor {
    /// Looks for a motor on a thread of its own.
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

    /// Whether there is one, as far as is known by now.
    pub fn is_there(&self) -> bool {
        #[cfg(feature = "vibration")]
        return self.there.load(std::sync::atomic::Ordering::Relaxed);
        #[cfg(not(feature = "vibration"))]
        false
    }

    /// Shakes once.
    pub fn shake(&self, feel: Feel) {
        #[cfg(feature = "vibration")]
        if self.is_there() {
            // The thread is only gone where the motor is.
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
    /// A service that starts on demand is there within this time.
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

    /// What shakes once; false when it no longer can.
    type Shake = Box<dyn FnMut(Feel) -> bool>;

    fn any() -> Option<Shake> {
        let session = Connection::new_session().ok().and_then(Feedbackd::on);
        if let Some(daemon) = session {
            return Some(Box::new(move |feel| daemon.shake(feel)));
        }
        kernel()
    }

    /// feedbackd's own interface for games.
    pub struct Feedbackd(Connection);

    impl Feedbackd {
        /// On this bus, if it is there or starts when it is called, and has a motor.
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
            // Only a daemon that knows the interface for patterns has this; one without a motor answers "no" when asked.
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

        /// Shakes once; false when it could not.
        pub fn shake(&self, feel: Feel) -> bool {
            self.vibrate(&[(feel.strength(), u32::from(feel.milliseconds()))])
        }
    }

    /// A motor among the input devices that this user may write to; a gamepad's is the gamepad's.
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
