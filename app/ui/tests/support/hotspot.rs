//! This device makes a Wi-Fi for a guest.

use std::time::Duration;

use proto::control::{self, event};
use slint::ComponentHandle;

use super::{Tell, guest, open, show_guest_code, with_guest};

pub(crate) const HOTSPOT: [(&str, Tell); 1] = [("guest-hotspot", |stage, told| {
    open(stage, told, with_guest(""));
    told.app.window().global::<qiyou::screens::GuestAdapter<'_>>().invoke_show(false);
    show_guest_code(told);
    told.say(event::Body::Guest(guest("", false)));
    told.say(event::Body::Hotspot(hotspot()));
    stage.pass(Duration::ZERO);
    show_guest_code(told);
})];

/// The Wi-Fi of this device, as it is up.
pub(crate) fn hotspot() -> control::Hotspot {
    control::Hotspot {
        state: control::HotspotState::HotspotOn.into(),
        ssid: "Qiyou-k3wz".into(),
        passphrase: "n7hcq4yb2xdm".into(),
        side: 21,
        dark: (0..63u8).map(|byte| byte.wrapping_mul(83) ^ 0xa7).collect::<Vec<u8>>().into(),
        trouble: None,
    }
}
