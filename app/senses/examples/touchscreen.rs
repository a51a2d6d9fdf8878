//! A touchscreen made through /dev/uinput, for tests in a virtual machine. Each line of standard input, `X Y` in thousandths of its
//! width and height, is a tap of one finger. Ends with standard input.

use std::io::BufRead as _;
use std::time::Duration;

use evdev::uinput::VirtualDevice;
use evdev::{
    AbsInfo, AbsoluteAxisCode as Axis, AttributeSet, EventType, InputEvent, KeyCode, PropType, UinputAbsSetup,
};

/// Longer than a tap that is taken for a bounce, shorter than a long press.
const HELD: Duration = Duration::from_millis(120);

fn main() {
    let keys: AttributeSet<KeyCode> = [KeyCode::BTN_TOUCH].into_iter().collect();
    let properties: AttributeSet<PropType> = [PropType::DIRECT].into_iter().collect();
    let place = AbsInfo::new(0, 0, 1_000, 0, 0, 10);
    let axes = [
        (Axis::ABS_X, place),
        (Axis::ABS_Y, place),
        (Axis::ABS_MT_POSITION_X, place),
        (Axis::ABS_MT_POSITION_Y, place),
        (Axis::ABS_MT_SLOT, AbsInfo::new(0, 0, 4, 0, 0, 0)),
        (Axis::ABS_MT_TRACKING_ID, AbsInfo::new(0, 0, 65_535, 0, 0, 0)),
    ];
    let mut builder = VirtualDevice::builder().expect("uinput is there").name("A touchscreen");
    builder = builder.with_keys(&keys).expect("keys are taken").with_properties(&properties).expect("taken");
    for (axis, info) in axes {
        builder = builder.with_absolute_axis(&UinputAbsSetup::new(axis, info)).expect("an axis is taken");
    }
    let mut screen = builder.build().expect("the kernel makes the touchscreen");
    println!("touchscreen: ready");
    let at = |axis: Axis, value| InputEvent::new(EventType::ABSOLUTE.0, axis.0, value);
    let touch = |down: i32| InputEvent::new(EventType::KEY.0, KeyCode::BTN_TOUCH.0, down);
    for (number, line) in (1..).zip(std::io::stdin().lock().lines()) {
        let line = line.expect("standard input is readable");
        let words: Vec<i32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [x, y] = words[..] else { continue };
        let down = [
            at(Axis::ABS_MT_SLOT, 0),
            at(Axis::ABS_MT_TRACKING_ID, number),
            at(Axis::ABS_MT_POSITION_X, x),
            at(Axis::ABS_MT_POSITION_Y, y),
            touch(1),
            at(Axis::ABS_X, x),
            at(Axis::ABS_Y, y),
        ];
        screen.emit(&down).expect("it is plugged in");
        std::thread::sleep(HELD);
        screen.emit(&[at(Axis::ABS_MT_TRACKING_ID, -1), touch(0)]).expect("it is plugged in");
        println!("touchscreen: tapped {x} {y}");
    }
}
