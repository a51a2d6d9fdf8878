//! Virtual gamepads and motors, made through /dev/uinput and found through udev. Few test machines have access, so `make test`
//! ignores these tests and `make test-devices` runs them in a virtual machine.
#![cfg(all(feature = "gamepad", feature = "vibration"))]

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use evdev::uinput::VirtualDevice;
use evdev::{
    AbsInfo, AbsoluteAxisCode as Axis, AttributeSet, BusType, EventSummary, EventType, FFEffectCode,
    FFEffectKind, FFStatusCode, InputEvent, InputId, KeyCode, UInputCode, UinputAbsSetup,
};
use senses::pads::{self, Press};
use senses::{Feel, Motor};

const PATIENCE: Duration = Duration::from_secs(10);
/// Nothing arrives within this time: less than the delay of a held direction.
const QUIET: Duration = Duration::from_millis(300);

/// The buttons that every common pad has.
const BUTTONS: [KeyCode; 11] = [
    KeyCode::BTN_SOUTH,
    KeyCode::BTN_EAST,
    KeyCode::BTN_NORTH,
    KeyCode::BTN_WEST,
    KeyCode::BTN_TL,
    KeyCode::BTN_TR,
    KeyCode::BTN_SELECT,
    KeyCode::BTN_START,
    KeyCode::BTN_MODE,
    KeyCode::BTN_THUMBL,
    KeyCode::BTN_THUMBR,
];
const DIRECTIONS: [KeyCode; 4] =
    [KeyCode::BTN_DPAD_UP, KeyCode::BTN_DPAD_DOWN, KeyCode::BTN_DPAD_LEFT, KeyCode::BTN_DPAD_RIGHT];

/// A virtual gamepad.
struct Pad(VirtualDevice);

impl Pad {
    /// A pad whose directional pad is an axis, as with the kernel's driver for Xbox pads.
    fn with_hat() -> Self {
        let stick = AbsInfo::new(0, -32_768, 32_767, 16, 128, 0);
        let hat = AbsInfo::new(0, -1, 1, 0, 0, 0);
        let trigger = AbsInfo::new(0, 0, 255, 0, 0, 0);
        // All axes of the driver, because the mapping for such a pad depends on their order.
        let axes = [
            (Axis::ABS_X, stick),
            (Axis::ABS_Y, stick),
            (Axis::ABS_Z, trigger),
            (Axis::ABS_RX, stick),
            (Axis::ABS_RY, stick),
            (Axis::ABS_RZ, trigger),
            (Axis::ABS_HAT0X, hat),
            (Axis::ABS_HAT0Y, hat),
        ];
        Self::new("A pad with a hat", InputId::new(BusType::BUS_USB, 0x045e, 0x028e, 0x0110), &BUTTONS, &axes)
    }

    /// An unknown pad with a button for each direction.
    fn with_buttons() -> Self {
        let stick = AbsInfo::new(128, 0, 255, 0, 15, 0);
        let buttons: Vec<KeyCode> = BUTTONS.into_iter().chain(DIRECTIONS).collect();
        let id = InputId::new(BusType::BUS_BLUETOOTH, 0x7e57, 0x0001, 0x0100);
        Self::new("A pad of no name", id, &buttons, &[(Axis::ABS_X, stick), (Axis::ABS_Y, stick)])
    }

    fn new(name: &str, id: InputId, buttons: &[KeyCode], axes: &[(Axis, AbsInfo)]) -> Self {
        let keys: AttributeSet<KeyCode> = buttons.iter().copied().collect();
        let mut builder = VirtualDevice::builder().expect("uinput is there");
        builder = builder.name(name).input_id(id).with_keys(&keys).expect("buttons are taken");
        for &(axis, info) in axes {
            builder = builder.with_absolute_axis(&UinputAbsSetup::new(axis, info)).expect("an axis is taken");
        }
        Self(builder.build().expect("the kernel makes the pad"))
    }

    fn push(&mut self, button: KeyCode, down: bool) {
        self.say(InputEvent::new(EventType::KEY.0, button.0, down.into()));
    }

    fn tap(&mut self, button: KeyCode) {
        self.push(button, true);
        self.push(button, false);
    }

    fn bend(&mut self, axis: Axis, to: i32) {
        self.say(InputEvent::new(EventType::ABSOLUTE.0, axis.0, to));
    }

    fn say(&mut self, event: InputEvent) {
        self.0.emit(&[event]).expect("the pad is plugged in");
    }
}

/// The presses received.
struct Asked(Receiver<Press>);

impl Asked {
    fn listen() -> Self {
        let (told, asked) = channel();
        pads::listen(move |press| told.send(press).is_ok());
        Self(asked)
    }

    #[track_caller]
    fn next(&self) -> Press {
        self.0.recv_timeout(PATIENCE).expect("something is asked for")
    }

    #[track_caller]
    fn nothing(&self) {
        assert_eq!(self.0.recv_timeout(QUIET), Err(RecvTimeoutError::Timeout));
    }

    /// Waits until a new pad is recognised: udev and the listener need some time.
    fn hears(&self, pad: &mut Pad) {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            pad.tap(KeyCode::BTN_START);
            if self.0.recv_timeout(Duration::from_millis(100)) == Ok(Press::Menu) {
                // Earlier taps may still arrive.
                while self.0.recv_timeout(QUIET).is_ok() {}
                return;
            }
        }
        panic!("the pad is not heard");
    }
}

/// The presses of every pad's buttons.
fn says_by_buttons(pad: &mut Pad, asked: &Asked) {
    let meanings = [
        (KeyCode::BTN_SOUTH, Press::Confirm),
        (KeyCode::BTN_EAST, Press::Back),
        (KeyCode::BTN_TL, Press::Earlier),
        (KeyCode::BTN_TR, Press::Later),
        (KeyCode::BTN_START, Press::Menu),
    ];
    for (button, meaning) in meanings {
        pad.tap(button);
        assert_eq!(asked.next(), meaning, "{button:?}");
    }
    // Other buttons have no meaning.
    for button in [KeyCode::BTN_NORTH, KeyCode::BTN_WEST, KeyCode::BTN_SELECT, KeyCode::BTN_THUMBL] {
        pad.tap(button);
    }
    asked.nothing();
}

#[test]
#[ignore = "needs /dev/uinput and udev: make test-devices"]
fn a_pad_with_a_hat_that_was_there_before_the_app_asks_for_moves() {
    let mut pad = Pad::with_hat();
    std::thread::sleep(Duration::from_secs(1));
    let asked = Asked::listen();
    asked.hears(&mut pad);
    says_by_buttons(&mut pad, &asked);
    let ways = [
        (Axis::ABS_HAT0Y, -1, Press::Up),
        (Axis::ABS_HAT0Y, 1, Press::Down),
        (Axis::ABS_HAT0X, -1, Press::Left),
        (Axis::ABS_HAT0X, 1, Press::Right),
    ];
    for (axis, to, meaning) in ways {
        pad.bend(axis, to);
        assert_eq!(asked.next(), meaning);
        pad.bend(axis, 0);
        asked.nothing();
    }
    // On the stick's vertical axis, positive is down.
    for (axis, to, meaning) in [
        (Axis::ABS_Y, -30_000, Press::Up),
        (Axis::ABS_Y, 30_000, Press::Down),
        (Axis::ABS_X, -30_000, Press::Left),
        (Axis::ABS_X, 30_000, Press::Right),
    ] {
        pad.bend(axis, to / 4);
        asked.nothing();
        pad.bend(axis, to);
        assert_eq!(asked.next(), meaning);
        pad.bend(axis, 0);
        asked.nothing();
    }
}

#[test]
#[ignore = "needs /dev/uinput and udev: make test-devices"]
fn a_pad_of_no_name_is_heard_when_it_is_plugged_in_and_again_after_it_was_gone() {
    let asked = Asked::listen();
    for _ in 0..2 {
        let mut pad = Pad::with_buttons();
        asked.hears(&mut pad);
        says_by_buttons(&mut pad, &asked);
        for (button, meaning) in
            DIRECTIONS.into_iter().zip([Press::Up, Press::Down, Press::Left, Press::Right])
        {
            pad.tap(button);
            assert_eq!(asked.next(), meaning);
        }
        // A held button repeats until the pad is unplugged.
        pad.push(KeyCode::BTN_DPAD_LEFT, true);
        for _ in 0..4 {
            assert_eq!(asked.next(), Press::Left);
        }
        drop(pad);
        let since = Instant::now();
        while asked.0.recv_timeout(QUIET).is_ok() {
            assert!(since.elapsed() < PATIENCE, "what is gone still holds its direction");
        }
    }
}

#[test]
#[ignore = "needs /dev/uinput and udev: make test-devices"]
fn the_kernels_motor_shakes_as_long_as_it_is_told() {
    let can = AttributeSet::from_iter([FFEffectCode::FF_RUMBLE]);
    let builder = VirtualDevice::builder().expect("uinput is there").name("A motor");
    let builder = builder.with_ff(&can).expect("effects are taken").with_ff_effects_max(4);
    let mut device = builder.build().expect("the kernel makes the motor");
    let (told, felt) = channel();
    // The driver's side: accepts each effect, and reports the length of a played effect.
    std::thread::spawn(move || {
        let mut lengths = Vec::new();
        loop {
            let events: Vec<InputEvent> = device.fetch_events().expect("the motor runs").collect();
            for event in events {
                match event.destructure() {
                    EventSummary::UInput(event, UInputCode::UI_FF_UPLOAD, ..) => {
                        let mut upload = device.process_ff_upload(event).expect("the effect is read");
                        let effect = upload.effect();
                        let FFEffectKind::Rumble { strong_magnitude, .. } = effect.kind else {
                            panic!("{:?} is no rumbling", effect.kind)
                        };
                        upload.set_effect_id(lengths.len() as i16);
                        upload.set_retval(0);
                        lengths.push((effect.replay.length, strong_magnitude));
                    }
                    EventSummary::ForceFeedback(_, id, value)
                        if value == i32::from(FFStatusCode::FF_STATUS_PLAYING.0) =>
                    {
                        let (length, strength) = lengths[usize::from(id.0)];
                        if told.send((length, strength)).is_err() {
                            return;
                        }
                    }
                    _ => {}
                }
            }
        }
    });
    std::thread::sleep(Duration::from_secs(1));
    let motor = Motor::find();
    let since = Instant::now();
    while !motor.is_there() {
        assert!(since.elapsed() < PATIENCE, "no motor is found");
        std::thread::sleep(Duration::from_millis(20));
    }
    for feel in [Feel::Strong, Feel::Light, Feel::Strong] {
        motor.shake(feel);
        let (length, strength) = felt.recv_timeout(PATIENCE).expect("it is felt");
        assert_eq!(length, feel.milliseconds());
        assert_eq!(strength, (feel.strength() * f64::from(u16::MAX)) as u16);
    }
}
