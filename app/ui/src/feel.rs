//! Output of sounds, music and vibration, the screen that stays on, and input from gamepads.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use senses::{Cue, Feel, Motor, Player, Press, Screen};
use slint::platform::{Key, WindowEvent};
use slint::{ComponentHandle, SharedString};

use crate::screens::MainWindow;

/// Output devices. Tests have their own implementation.
pub trait Senses {
    /// Plays a sound at a volume from 0 (silent) to [`senses::LOUDEST`].
    fn hear(&self, cue: Cue, level: u8);
    /// Plays music at this volume from now on; 0 stops it.
    fn music(&self, level: u8);
    /// Vibrates.
    fn feel(&self, feel: Feel);
    /// Whether there is a vibration motor.
    fn has_motor(&self) -> bool;
    /// Keeps the screen on from now on, or lets it go off again.
    fn keep_screen_on(&self, on: bool);
}

/// No output.
pub(crate) struct Nothing;

impl Senses for Nothing {
    fn hear(&self, _: Cue, _: u8) {}
    fn music(&self, _: u8) {}
    fn feel(&self, _: Feel) {}
    fn has_motor(&self) -> bool {
        false
    }
    fn keep_screen_on(&self, _: bool) {}
}

/// Loudspeaker, vibration motor and screen of this machine, as far as present.
pub struct Devices {
    player: Player,
    motor: Motor,
    screen: Screen,
    /// What the screen was told last.
    screen_on: Cell<bool>,
}

impl Devices {
    /// Opens the devices on threads of their own. Each start plays another piece of music.
    pub fn of_this_machine() -> Rc<Self> {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Rc::new(Self {
            player: Player::new(seed),
            motor: Motor::find(),
            screen: Screen::default(),
            screen_on: Cell::new(false),
        })
    }
}

impl Senses for Devices {
    fn hear(&self, cue: Cue, level: u8) {
        self.player.play(cue, level);
    }

    fn music(&self, level: u8) {
        self.player.music(level);
    }

    fn feel(&self, feel: Feel) {
        self.motor.shake(feel);
    }

    fn has_motor(&self) -> bool {
        self.motor.is_there()
    }

    fn keep_screen_on(&self, on: bool) {
        if self.screen_on.replace(on) != on {
            self.screen.keep_on(on);
        }
    }
}

/// Translates a gamepad button to the key with the same effect, so that the app has only one kind of navigation.
pub fn press(window: &MainWindow, press: Press) {
    let key = match press {
        Press::Up => Key::UpArrow,
        Press::Down => Key::DownArrow,
        Press::Left => Key::LeftArrow,
        Press::Right => Key::RightArrow,
        Press::Confirm => Key::Return,
        Press::Back => Key::Escape,
        Press::Earlier => Key::PageUp,
        Press::Later => Key::PageDown,
        Press::Menu => Key::Menu,
    };
    let text = SharedString::from(key);
    window.window().dispatch_event(WindowEvent::KeyPressed { text: text.clone() });
    window.window().dispatch_event(WindowEvent::KeyReleased { text });
}
