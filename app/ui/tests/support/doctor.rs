//! What the host finds on the device.

use std::time::Duration;

use proto::control::{self, Check, CheckState, reply};
use qiyou::headless::Stage;
use qiyou::screens::DoctorAdapter;
use slint::ComponentHandle;

use super::{Tell, Told, body};

fn check(subject: &str, state: CheckState, found: &str, remedy: &str) -> Check {
    Check { subject: subject.into(), state: state.into(), found: found.into(), remedy: remedy.into() }
}

/// What a host finds where Bluetooth is in flight mode and its address never changes.
pub(crate) fn in_flight_mode() -> Vec<Check> {
    vec![
        check("storage", CheckState::CheckOk, "matches can be saved", ""),
        check("bluez", CheckState::CheckOk, "5.66", ""),
        check(
            "privacy",
            CheckState::CheckWarning,
            "the adapter's address is fixed: whoever has heard it once recognises this device by it",
            "set Privacy = device under [General] in /etc/bluetooth/main.conf, then: systemctl restart bluetooth",
        ),
        check(
            "rfkill",
            CheckState::CheckFailed,
            "blocked by software",
            "leave flight mode, or: rfkill unblock bluetooth",
        ),
        check("network", CheckState::CheckOk, "wlan0, 192.168.1.20", ""),
    ]
}

/// The host answers with these findings. Returns how often it was asked.
pub(crate) fn found(stage: &Stage, told: &mut Told, checks: &[Check]) -> usize {
    let mut asked = 0;
    for request in told.answer(stage) {
        if matches!(body(&request), control::request::Body::Diagnose(_)) {
            asked += 1;
            told.reply(request.id, reply::Body::Diagnosis(control::Diagnosis { checks: checks.to_vec() }));
        }
    }
    stage.pass(Duration::ZERO);
    asked
}

/// The story.
pub(super) const DOCTOR: [(&str, Tell); 1] = [("doctor", |stage, told| {
    told.app.window().global::<DoctorAdapter<'_>>().invoke_open();
    found(stage, told, &in_flight_mode());
})];
