//! Gamepads: buttons and sticks become one of a few [`Press`]es; a held direction repeats, as on a keyboard.

use std::time::Duration;

/// A player's command by gamepad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Press {
    /// The directional pad or left stick.
    Up,
    /// As [`Press::Up`].
    Down,
    /// As [`Press::Up`].
    Left,
    /// As [`Press::Up`].
    Right,
    /// The lower of the four buttons, A on most pads.
    Confirm,
    /// The right of the four buttons, B on most pads.
    Back,
    /// The left shoulder: one move back.
    Earlier,
    /// The right shoulder: one move on.
    Later,
    /// Start.
    Menu,
}

impl Press {
    /// Whether the press repeats while held.
    fn repeats(self) -> bool {
        !matches!(self, Self::Confirm | Self::Back | Self::Menu)
    }
}

/// A gamepad's input event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw {
    /// The button with this meaning was pressed or released.
    Button(Press, bool),
    /// The left stick: right and up are positive, each from -1 to 1.
    Stick(Axis, f32),
    /// The pad is gone; everything held is released.
    Gone,
}

/// Axis of the left stick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// From left to right.
    Across,
    /// From below to above.
    Upward,
}

/// Delay before a held press repeats.
const REPEATS_AFTER: Duration = Duration::from_millis(420);
/// Interval between repeats.
const REPEATS_EACH: Duration = Duration::from_millis(110);
/// Hysteresis of the stick: a direction starts beyond this, and ends within the other.
const POINTS: f32 = 0.6;
const RESTS: f32 = 0.35;

/// Translates input events into presses. The translator has no clock: the caller passes the time, counted from any
/// moment.
#[derive(Debug, Default)]
pub struct Translator {
    stick: [f32; 2],
    /// The stick's last direction.
    pointed: Option<Press>,
    held: Option<(Press, Duration)>,
}

impl Translator {
    /// The press for this event.
    pub fn take(&mut self, raw: Raw, now: Duration) -> Option<Press> {
        match raw {
            Raw::Button(press, true) => Some(self.begin(press, now)),
            Raw::Button(press, false) => {
                self.release(press);
                None
            }
            Raw::Stick(axis, value) => {
                self.stick[usize::from(axis == Axis::Upward)] = value;
                self.point(now)
            }
            Raw::Gone => {
                *self = Self::default();
                None
            }
        }
    }

    /// When the held press repeats, if one is held.
    pub fn due(&self) -> Option<Duration> {
        self.held.map(|(_, when)| when)
    }

    /// The held press, if its repeat is due.
    pub fn repeat(&mut self, now: Duration) -> Option<Press> {
        let (press, _) = self.held.filter(|(_, when)| *when <= now)?;
        // Counted from now: a late call gives one repeat, never several.
        self.held = Some((press, now + REPEATS_EACH));
        Some(press)
    }

    fn begin(&mut self, press: Press, now: Duration) -> Press {
        if press.repeats() {
            self.held = Some((press, now + REPEATS_AFTER));
        }
        press
    }

    fn release(&mut self, press: Press) {
        self.held.take_if(|(held, _)| *held == press);
    }

    fn point(&mut self, now: Duration) -> Option<Press> {
        let [across, upward] = self.stick;
        let far = across.abs().max(upward.abs());
        let points = if far > POINTS {
            // The axis with the larger deflection.
            Some(match (across.abs() >= upward.abs(), across > 0.0, upward > 0.0) {
                (true, true, _) => Press::Right,
                (true, false, _) => Press::Left,
                (false, _, true) => Press::Up,
                (false, _, false) => Press::Down,
            })
        } else if far < RESTS {
            None
        } else {
            // Between the two thresholds the direction stays.
            self.pointed
        };
        if points == self.pointed {
            return None;
        }
        if let Some(before) = std::mem::replace(&mut self.pointed, points) {
            self.release(before);
        }
        points.map(|press| self.begin(press, now))
    }
}

/// Listens to all present and future gamepads, on a thread of its own. `give` is called on that thread for each press
/// and returns whether to continue. Without the feature `gamepad`, and on a machine without udev, no press comes.
pub fn listen(give: impl FnMut(Press) -> bool + Send + 'static) {
    #[cfg(feature = "gamepad")]
    {
        let started =
            std::thread::Builder::new().name("gamepads".into()).spawn(move || listening::serve(give));
        if let Err(error) = started {
            tracing::debug!(%error, "no thread for gamepads");
        }
    }
    #[cfg(not(feature = "gamepad"))]
    drop(give);
}

#[cfg(feature = "gamepad")]
mod listening {
    use std::time::{Duration, Instant};

    use gilrs::GilrsBuilder;
    use gilrs::ev::{Axis as PadAxis, Button, EventType};

    use super::{Axis, Press, Raw, Translator};

    /// Most waits in a row without an event; one such wait follows each event.
    const IN_VAIN: u32 = 8;
    /// Pause of the thread after too many empty waits.
    const LULL: Duration = Duration::from_millis(20);

    fn meaning(button: Button) -> Option<Press> {
        Some(match button {
            Button::DPadUp => Press::Up,
            Button::DPadDown => Press::Down,
            Button::DPadLeft => Press::Left,
            Button::DPadRight => Press::Right,
            Button::South => Press::Confirm,
            Button::East => Press::Back,
            Button::LeftTrigger => Press::Earlier,
            Button::RightTrigger => Press::Later,
            Button::Start => Press::Menu,
            _ => return None,
        })
    }

    fn raw(event: EventType) -> Option<Raw> {
        match event {
            EventType::ButtonPressed(button, _) => meaning(button).map(|press| Raw::Button(press, true)),
            EventType::ButtonReleased(button, _) => meaning(button).map(|press| Raw::Button(press, false)),
            EventType::AxisChanged(PadAxis::LeftStickX, value, _) => Some(Raw::Stick(Axis::Across, value)),
            EventType::AxisChanged(PadAxis::LeftStickY, value, _) => Some(Raw::Stick(Axis::Upward, value)),
            EventType::Disconnected => Some(Raw::Gone),
            _ => None,
        }
    }

    pub(super) fn serve(mut give: impl FnMut(Press) -> bool) {
        // gilrs' force feedback server would wake twenty times a second.
        let mut pads = match GilrsBuilder::new().with_force_feedback(false).build() {
            Ok(pads) => pads,
            Err(error) => {
                tracing::debug!(%error, "no gamepads on this system");
                return;
            }
        };
        let began = Instant::now();
        let mut translator = Translator::default();
        let mut in_vain = 0;
        loop {
            let wait = translator.due().map(|due| due.saturating_sub(began.elapsed()));
            let event = pads.next_event_blocking(wait);
            let now = began.elapsed();
            // After a pad is unplugged and until udev reports that, each wait returns at once.
            in_vain = if event.is_none() && wait.is_none() { in_vain + 1 } else { 0 };
            if in_vain > IN_VAIN {
                std::thread::sleep(LULL);
            }
            let press = match event {
                Some(event) => raw(event.event).and_then(|raw| translator.take(raw, now)),
                None => translator.repeat(now),
            };
            if press.is_some_and(|press| !give(press)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_direction_that_is_held_comes_again_and_a_button_does_not() {
        let mut pad = Translator::default();
        assert_eq!(pad.take(Raw::Button(Press::Left, true), ms(0)), Some(Press::Left));
        assert_eq!((pad.repeat(ms(100)), pad.due()), (None, Some(ms(420))));
        assert_eq!(pad.repeat(ms(420)), Some(Press::Left));
        assert_eq!(pad.repeat(ms(421)), None);
        assert_eq!(pad.repeat(ms(530)), Some(Press::Left));
        // A late call gives one repeat.
        assert_eq!((pad.repeat(ms(5_000)), pad.repeat(ms(5_001))), (Some(Press::Left), None));
        assert_eq!(pad.take(Raw::Button(Press::Left, false), ms(5_002)), None);
        assert_eq!((pad.repeat(ms(9_000)), pad.due()), (None, None));
        assert_eq!(pad.take(Raw::Button(Press::Confirm, true), ms(9_001)), Some(Press::Confirm));
        assert_eq!(pad.due(), None);
    }

    #[test]
    fn the_stick_points_once_until_it_rests_and_trembling_does_nothing() {
        let mut pad = Translator::default();
        let mut push = |across: f32, upward: f32, now| {
            let first = pad.take(Raw::Stick(Axis::Across, across), ms(now));
            first.or(pad.take(Raw::Stick(Axis::Upward, upward), ms(now)))
        };
        assert_eq!(push(0.3, -0.2, 0), None);
        assert_eq!(push(0.2, 0.9, 10), Some(Press::Up));
        assert_eq!(push(0.1, 0.5, 20), None, "neither beyond nor at rest");
        assert_eq!(push(0.1, 0.7, 30), None, "still up");
        assert_eq!(push(0.0, 0.1, 40), None);
        assert_eq!(push(0.1, 0.7, 50), Some(Press::Up));
        assert_eq!(push(-0.95, 0.1, 60), Some(Press::Left), "over to another side without a rest");
        assert_eq!(push(0.0, 0.0, 70), None);
        assert_eq!(pad.due(), None, "what rests is not held");
    }

    #[test]
    fn a_pad_that_is_gone_holds_nothing() {
        let mut pad = Translator::default();
        pad.take(Raw::Stick(Axis::Across, 1.0), ms(0));
        assert!(pad.due().is_some());
        assert_eq!(pad.take(Raw::Gone, ms(1)), None);
        assert_eq!((pad.due(), pad.repeat(ms(10_000))), (None, None));
    }
}
