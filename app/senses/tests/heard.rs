//! Orders reach the loudspeaker: ALSA writes the sound into a pipe.

#![cfg(feature = "sound")]

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};

use senses::{Cue, LOUDEST, Player};

const ASKED: &str = "QIYOU_SENSES_HEARD_CHILD";

/// Runs only in the process of the test below, which also ends it.
#[test]
#[ignore = "the child of the test below"]
fn a_stone_is_ordered() {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let player = Player::new(1);
    player.play(Cue::Stone, LOUDEST);
    std::thread::park();
}

/// Amplitude above which there is a sound.
const HEARD: f32 = 0.01;
/// Most seconds of audio to wait for a sound: the pipe runs faster than real time, and on a busy machine much silence passes
/// before the sound.
const PATIENCE: usize = 600;

/// The first second with a sound, of one channel, from -1 to 1, of a WAV stream of unknown length.
fn samples(mut wav: impl Read) -> (u32, Vec<f32>) {
    let mut header = [0; 44];
    wav.read_exact(&mut header).expect("a header comes first");
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    assert_eq!((&header[..4], &header[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    let (float, channels, bytes) = (half(20) == 3, usize::from(half(22)), usize::from(half(34)) / 8);
    let rate = u32::from_le_bytes([header[24], header[25], header[26], header[27]]);
    let one = |frame: &[u8]| match (float, bytes) {
        (true, 4) => f32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]),
        (false, 2) => f32::from(i16::from_le_bytes([frame[0], frame[1]])) / 32_768.0,
        (false, 4) => i32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as f32 / 2_147_483_648.0,
        other => panic!("samples of another kind: {other:?}"),
    };
    let mut second = || -> Vec<f32> {
        let mut data = vec![0; rate as usize * channels * bytes];
        wav.read_exact(&mut data).expect("the loudspeaker stays open for a while");
        data.chunks(channels * bytes).map(one).collect()
    };
    for _ in 0..PATIENCE {
        let mut heard = second();
        if let Some(began) = heard.iter().position(|one| one.abs() > HEARD) {
            heard.extend(second());
            return (rate, heard[began..began + rate as usize].to_vec());
        }
    }
    panic!("nothing is heard")
}

#[test]
fn a_stone_is_heard_at_its_loudness_and_then_it_is_quiet() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (pipe, rules) = (folder.path().join("heard"), folder.path().join("asound.conf"));
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe with a name");
    let text = format!(
        "pcm.!default {{ type file slave.pcm nobody file \"{}\" format wav }}\npcm.nobody {{ type null }}\n",
        pipe.display()
    );
    fs::write(&rules, text).expect("written");
    let mut child = Command::new(std::env::current_exe().expect("this test has a file"))
        .args(["a_stone_is_ordered", "--exact", "--ignored", "--nocapture"])
        .env(ASKED, "1")
        .env("ALSA_CONFIG_PATH", &rules)
        .stdout(Stdio::null())
        .spawn()
        .expect("this test runs again");
    let (rate, heard) = samples(File::open(&pipe).expect("the child opens its end"));
    child.kill().and_then(|()| child.wait()).expect("the child is there");

    let loudest = |part: &[f32]| part.iter().fold(0.0_f32, |loudest, one| loudest.max(one.abs()));
    let wanted = loudest(&senses::synth::samples(Cue::Stone));
    assert!((loudest(&heard) - wanted).abs() < 0.06, "{} rather than {wanted}", loudest(&heard));
    assert!(loudest(&heard[rate as usize / 5..]) < 0.001, "a fifth of a second later it is quiet");
}
