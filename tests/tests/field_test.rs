//! The field test between two devices of a house: its steps, and that its reports name nobody.

use std::path::Path;
use std::process::Stdio;

use link::CarrierState;
use proto::control::{Radio, RadioState};
use serde_json::Value;
use tests::house::{Device, House};
use tests::programs::{Hands, programs};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// `qiyouctl field-test` on one device, and the person before it.
struct Tester {
    child: Child,
    keys: ChildStdin,
    screen: Lines<BufReader<ChildStdout>>,
    _hands: Hands,
}

impl Tester {
    fn start(device: &Device, words: &[&str], file: &Path) -> Self {
        let hands = Hands::at(device);
        let mut child = Command::new(programs().join("qiyouctl"))
            .arg("field-test")
            .args(words)
            .args(["--json", "--file"])
            .arg(file)
            .arg("--socket")
            .arg(hands.socket())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("qiyouctl runs");
        let (keys, screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, keys, screen: BufReader::new(screen).lines(), _hands: hands }
    }

    /// The next step that the screen shows; empty at the end.
    async fn step(&mut self) -> String {
        let Some(line) = self.screen.next_line().await.expect("text") else { return String::new() };
        let said: Value = serde_json::from_str(&line).expect("JSON");
        said["step"].as_str().unwrap_or_default().to_owned()
    }

    async fn type_line(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).await.expect("it reads");
    }

    async fn until_step(&mut self, step: &str) {
        loop {
            let shown = self.step().await;
            if shown == step {
                return;
            }
            assert_ne!(shown, "", "the test ended before {step}");
        }
    }
}

/// What the report says of this, such as `echo p50`.
fn measured<'a>(report: &'a str, what: &str) -> &'a str {
    let line = report.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("{what} is not in the report:\n{report}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_strangers_with_their_devices_go_through_all_steps_and_their_reports_name_nobody() {
    let mut house = House::new(420);
    let (mut anna, ben) = (house.device("Annabel").await, house.device("Benedict").await);
    let folder = tempfile::tempdir().expect("a directory");
    let files = ["leads.md", "follows.md"].map(|name| folder.path().join(name));
    let mut follower = Tester::start(&ben, &[], &files[1]);
    follower.until_step("follow").await;
    follower.type_line("y").await;
    let mut leader = Tester::start(&anna, &["Benedict"], &files[0]);
    leader.until_step("beside").await;
    leader.type_line("").await;
    leader.until_step("found").await;
    leader.until_step("connected").await;
    leader.until_step("compare").await;
    leader.type_line("y").await;
    leader.until_step("echo").await;
    // Carried away, and back.
    leader.until_step("out of range").await;
    house.air.set_reach("Annabel", false);
    leader.until_step("lost").await;
    house.air.set_reach("Annabel", true);
    leader.type_line("").await;
    leader.until_step("back").await;
    leader.until_step("Bluetooth off and on").await;
    house.air.set_state("Annabel", CarrierState::Off);
    leader.until_step("lost").await;
    // The link is lost first, and nobody switches so quickly that the host sees no change.
    let is_off = |radio: &Radio| radio.state() == RadioState::RadioOff;
    anna.client.until("Bluetooth is off", |seen| seen.radios.values().any(is_off)).await;
    house.air.set_state("Annabel", CarrierState::Ready);
    leader.until_step("back").await;
    leader.until_step("lid closed").await;
    house.air.set_reach("Annabel", false);
    leader.until_step("lost").await;
    house.air.set_reach("Annabel", true);
    leader.until_step("back").await;
    for tester in [&mut leader, &mut follower] {
        while let Some(line) = tester.screen.next_line().await.expect("text") {
            assert!(!line.contains("\"error\""), "{line}");
        }
        assert!(tester.child.wait().await.expect("it ends").success());
    }
    let reports = files.map(|file| std::fs::read_to_string(file).expect("a report"));
    for what in ["found", "connected", "invitation until the match", "first move", "echo p50", "echo p95"] {
        assert_ne!(measured(&reports[0], what), "not measured", "{what}");
    }
    for what in ["out of range", "Bluetooth off and on", "lid closed"] {
        assert!(measured(&reports[0], what).starts_with("play went on "), "{what}");
    }
    assert!(measured(&reports[0], "Bluetooth off and on").contains("after the return"), "{}", reports[0]);
    assert_eq!(reports[1].matches("\ninterruption: play went on ").count(), 3, "{}", reports[1]);
    assert_ne!(measured(&reports[1], "echo p50"), "not measured");
    for (report, role) in reports.iter().zip(["leads", "follows"]) {
        assert_eq!(measured(report, "this device"), role);
        assert!(!report.contains("\ntrouble: "), "{report}");
        assert!(report.contains("## Row for hardware-notes.md\n\n| 20"), "{report}");
        for device in [&anna, &ben] {
            let me = &device.client.seen.me;
            let friend = device.client.seen.friends.keys().next().cloned().unwrap_or_default();
            for secret in [device.name.as_str(), &me.fingerprint, &friend] {
                assert!(secret.is_empty() || !report.contains(secret), "{secret} is in a report:\n{report}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_that_comes_to_nothing_leaves_a_report_that_says_why() {
    let mut house = House::new(422);
    let (anna, ben) = (house.device("Annabel").await, house.device("Benedict").await);
    let folder = tempfile::tempdir().expect("a directory");
    let files = ["leads.md", "follows.md"].map(|name| folder.path().join(name));
    let mut follower = Tester::start(&ben, &[], &files[1]);
    follower.until_step("follow").await;
    let mut leader = Tester::start(&anna, &["Benedict"], &files[0]);
    leader.type_line("").await;
    leader.until_step("compare").await;
    leader.type_line("n").await;
    while !leader.step().await.is_empty() {}
    assert_eq!(leader.child.wait().await.expect("it ends").code(), Some(5));
    let report = std::fs::read_to_string(&files[0]).expect("a report");
    assert_eq!(measured(&report, "trouble"), "the two strings were not the same");
    assert_ne!(measured(&report, "found"), "not measured");
    assert!(!report.contains("Benedict") && !report.contains("Annabel"), "{report}");
}
