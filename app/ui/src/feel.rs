//! What the app gives to hear and to feel, and what it takes from a gamepad.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use senses::{Cue, Feel, Motor, Player, Press};
use slint::platform::{Key, WindowEvent};
use slint::{ComponentHandle, SharedString};

use crate::screens::MainWindow;

/// Where sounds and shakes go. Tests have their own.
pub trait Senses {
    /// Plays this at a level from 0, not at all, to [`senses::LOUDEST`].
    fn hear(&self, cue: Cue, level: u8);
    /// Plays music at this level from now on; 0 ends it.
    fn music(&self, level: u8);
    /// Shakes the device.
    fn feel(&self, feel: Feel);
    /// Whether it can be shaken.
    fn has_motor(&self) -> bool;
}

/// Nothing is heard or felt.
pub(crate) struct Nothing;

impl Senses for Nothing {
    fn hear(&self, _: Cue, _: u8) {}
    fn music(&self, _: u8) {}
    fn feel(&self, _: Feel) {}
    fn has_motor(&self) -> bool {
        false
    }
}

/// This machine's loudspeaker and motor, where it has them.
pub struct Devices {
    player: Player,
    motor: Motor,
}

impl Devices {
    /// Looks for them on threads of their own. The music is another piece each time.
    pub fn of_this_machine() -> Rc<Self> {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Rc::new(Self { player: Player::new(seed), motor: Motor::find() })
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
}

/// What is pressed on a gamepad is the key that would do the same: there is one way through the app, not two.
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
