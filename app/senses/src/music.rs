//! Endless generative music on plucked strings, in the pentatonic scale.
//!
//! A composer makes phrases: a random walk over the scale that begins and ends on steady notes, a bass, occasional
//! ornaments, rests between phrases, and a change of key after some of them. The seed determines everything.

use std::f32::consts::PI;

use crate::Dice;
use crate::synth::{Pluck, RATE};

/// One note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// When the note is plucked, in samples since the start of the piece. Notes come in this order.
    pub start: u64,
    /// Pitch in semitones above the C two octaves below middle C.
    pub pitch: i32,
    /// 0 to 1.
    pub strength: f32,
}

impl Note {
    /// Frequency in hertz, in equal temperament over a' = 440 Hz.
    pub fn hertz(self) -> f32 {
        65.406 * 2.0_f32.powf(self.pitch as f32 / 12.0)
    }
}

/// The scale's five notes in semitones.
const SCALE: [i32; 5] = [0, 2, 4, 7, 9];

/// Index of the tonic in the modes gong, zhi, yu and shang.
const HOMES: [i32; 4] = [0, 3, 4, 1];

/// Range of the melody in steps of the scale, counted from the low C.
const LOWEST: i32 = 8;
const HIGHEST: i32 = 18;

/// An endless iterator of notes.
pub struct Composer {
    dice: Dice,
    /// Start of the next phrase, in samples.
    now: u64,
    /// Transposition of the scale in semitones.
    key: i32,
    home: i32,
    phrases_left: u32,
    /// Seconds of a beat.
    beat: f32,
    /// Position of the melody in steps of the scale.
    step: i32,
    /// Remaining notes of the present phrase, in reverse order.
    ready: Vec<Note>,
}

impl Composer {
    /// The piece of this seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let home = HOMES[(dice.part() * 4.0) as usize % 4];
        Self {
            dice,
            now: RATE as u64 / 4,
            key: 0,
            home,
            phrases_left: 5,
            beat: 0.82,
            step: 10 + home,
            ready: Vec::new(),
        }
    }

    fn pitch(&self, step: i32) -> i32 {
        SCALE[step.rem_euclid(5) as usize] + 12 * step.div_euclid(5) + self.key
    }

    /// The nearest step above `lowest` with the tonic or, less often, the third above the tonic in the scale.
    fn steady(&mut self, near: i32, lowest: i32) -> i32 {
        let wanted = if self.dice.part() < 0.6 { self.home } else { self.home + 3 };
        let rest = (near - wanted).rem_euclid(5);
        let step = if rest <= 2 { near - rest } else { near + 5 - rest };
        if step < lowest {
            step + 5
        } else if step > HIGHEST {
            step - 5
        } else {
            step
        }
    }

    fn phrase(&mut self) {
        if self.phrases_left == 0 {
            self.phrases_left = 4 + (self.dice.part() * 4.0) as u32;
            // Modulates by a fourth or fifth within a comfortable range, and changes the mode.
            let away = self.dice.weighed(&[(5, 1.0), (-5, 1.0), (7, 0.7), (-7, 0.7)]);
            self.key = if (-7..=7).contains(&(self.key + away)) {
                self.key + away
            } else {
                self.key - away.signum() * 5
            };
            self.home = self.dice.weighed(&HOMES.map(|home| (home, 1.0)));
        }
        self.phrases_left -= 1;
        self.beat = (self.beat + 0.05 * self.dice.swing()).clamp(0.66, 0.98);

        let mut notes = Vec::new();
        let mut at = 0.0_f32;
        let many = self.dice.weighed(&[(3, 1.0), (4, 1.5), (5, 2.0), (6, 1.5), (8, 1.0)]);
        self.step = self.steady(self.step, LOWEST);
        let bass = self.steady(5, 3);
        notes.push((0.0, self.pitch(bass), 0.55));
        if self.dice.part() < 0.5 {
            notes.push((2.0 * self.beat, self.pitch(bass + 3), 0.35));
        }
        for index in 0..many {
            let last = index + 1 == many;
            let long =
                if last { 2.0 } else { self.dice.weighed(&[(0.5, 2.5), (1.0, 3.0), (1.5, 1.2), (2.0, 0.6)]) };
            let strength =
                0.5 + 0.25 * (PI * (index as f32 + 0.5) / many as f32).sin() + 0.08 * self.dice.swing();
            let late = 0.012 * self.dice.part();
            let here = at + late;
            match self.dice.weighed(&[(0, 8.0), (1, 1.0), (2, 0.8), (3, 0.8)]) {
                // Grace note from above or below.
                1 if index > 0 => {
                    let from = self.step + if self.dice.part() < 0.5 { 1 } else { -1 };
                    notes.push((here, self.pitch(from), strength * 0.6));
                    notes.push((here + 0.11, self.pitch(self.step), strength));
                }
                // Octave doubling.
                2 => {
                    notes.push((here, self.pitch(self.step), strength));
                    notes.push((here + 0.02, self.pitch(self.step - 5), strength * 0.5));
                }
                // Tremolo, accelerating and softer.
                3 if long >= 1.5 => {
                    for shake in 0..5 {
                        let shake = shake as f32;
                        notes.push((
                            here + 0.17 * shake - 0.008 * shake * shake,
                            self.pitch(self.step),
                            strength * (1.0 - 0.13 * shake),
                        ));
                    }
                }
                _ => notes.push((here, self.pitch(self.step), strength)),
            }
            at += long * self.beat;
            if !last {
                // The further the melody is from the middle, the more likely it moves back.
                let drawn = (13 - self.step) as f32 * 0.12;
                let walk = self.dice.weighed(&[
                    (-3, 0.5),
                    (-2, 1.2),
                    (-1, 2.5 - drawn.min(2.0)),
                    (0, 0.4),
                    (1, 2.5 + drawn.max(-2.0)),
                    (2, 1.2),
                    (3, 0.5),
                ]);
                self.step = (self.step + walk).clamp(LOWEST, HIGHEST);
                if index + 2 == many {
                    self.step = self.steady(self.step, LOWEST);
                }
            }
        }
        let breath = self.dice.weighed(&[(0.5, 1.0), (1.0, 2.0), (2.0, 1.0)]) * self.beat;
        notes.sort_by(|one, other| other.0.total_cmp(&one.0));
        self.ready = notes
            .into_iter()
            .map(|(seconds, pitch, strength)| Note {
                start: self.now + (seconds.max(0.0) * RATE as f32) as u64,
                pitch,
                strength: strength.clamp(0.1, 0.9),
            })
            .collect();
        self.now += ((at + breath) * RATE as f32) as u64;
    }
}

impl Iterator for Composer {
    type Item = Note;

    /// Never `None`.
    fn next(&mut self) -> Option<Note> {
        if self.ready.is_empty() {
            self.phrase();
        }
        self.ready.pop()
    }
}

/// Polyphony: with one more string the oldest is dropped.
const STRINGS: usize = 14;

/// The piece as samples from -1 to 1, [`RATE`] a second, for ever.
pub struct Music {
    composer: Composer,
    next: Option<Note>,
    at: u64,
    strings: Vec<Pluck>,
    /// Two delay lines, as the reverberation of a quiet room.
    rooms: [(Vec<f32>, usize); 2],
}

impl Music {
    /// The piece of this seed from its beginning.
    pub fn new(seed: u64) -> Self {
        let mut composer = Composer::new(seed);
        let next = composer.next();
        let room = |seconds: f32| (vec![0.0; (seconds * RATE as f32) as usize], 0);
        Self { composer, next, at: 0, strings: Vec::new(), rooms: [room(0.0971), room(0.1433)] }
    }
}

impl Iterator for Music {
    type Item = f32;

    /// Never `None`.
    fn next(&mut self) -> Option<f32> {
        while let Some(note) = self.next.filter(|note| note.start <= self.at) {
            if self.strings.len() == STRINGS {
                self.strings.remove(0);
            }
            self.strings.push(Pluck::new(note.hertz(), note.strength, note.start));
            self.next = self.composer.next();
        }
        self.at += 1;
        let dry: f32 = self.strings.iter_mut().map(Pluck::sample).sum();
        if self.at.is_multiple_of(4_096) {
            self.strings.retain(|string| !string.is_over());
        }
        let mut wet = 0.0;
        for (line, at) in &mut self.rooms {
            let back = line[*at];
            wet += back;
            line[*at] = dry + 0.42 * back;
            *at = (*at + 1) % line.len();
        }
        // Soft clipping: loud chords are compressed.
        Some((0.42 * (dry + 0.22 * wet)).tanh() * 0.9)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const TEN_MINUTES: u64 = 600 * RATE as u64;

    fn ten_minutes(seed: u64) -> Vec<Note> {
        Composer::new(seed).take_while(|note| note.start < TEN_MINUTES).collect()
    }

    #[test]
    fn the_same_seed_is_the_same_piece_and_another_seed_another() {
        assert_eq!(ten_minutes(3), ten_minutes(3));
        assert_ne!(ten_minutes(3)[..40], ten_minutes(4)[..40]);
        let first: Vec<f32> = Music::new(9).take(RATE as usize).collect();
        assert_eq!(first, Music::new(9).take(RATE as usize).collect::<Vec<f32>>());
    }

    #[test]
    fn no_run_of_eight_notes_comes_again_in_ten_minutes() {
        for seed in 0..20 {
            let notes = ten_minutes(seed);
            assert!((500..2_000).contains(&notes.len()), "{} notes", notes.len());
            assert!(notes.is_sorted_by_key(|note| note.start), "in order");
            let mut seen = HashMap::new();
            for (index, run) in notes.windows(8).enumerate() {
                // The audible result: pitches, and start times to a twentieth of a second.
                let heard: Vec<(i32, u64)> = run
                    .iter()
                    .map(|note| (note.pitch, (note.start - run[0].start) * 20 / u64::from(RATE)))
                    .collect();
                if let Some(before) = seen.insert(heard, index) {
                    panic!("seed {seed}: notes {before} and {index} begin the same run");
                }
            }
        }
    }

    #[test]
    fn only_five_notes_are_used_until_the_key_changes_and_all_can_be_heard() {
        for seed in 0..20 {
            let notes = ten_minutes(seed);
            let first: Vec<i32> = notes.iter().take(20).map(|note| note.pitch.rem_euclid(12)).collect();
            assert!(first.iter().all(|pitch| SCALE.contains(pitch)), "{first:?}");
            let beyond = notes.iter().find(|note| !(50.0..1_400.0).contains(&note.hertz()));
            assert!(beyond.is_none(), "seed {seed}: {beyond:?}");
            let keys: std::collections::BTreeSet<i32> =
                notes.iter().map(|note| note.pitch.rem_euclid(12)).collect();
            assert!(keys.len() > 5, "it never leaves its key");
        }
    }

    #[test]
    fn it_neither_clips_nor_falls_silent() {
        let window = RATE as usize * 4;
        let mut music = Music::new(1);
        for part in 0..30 {
            let heard: Vec<f32> = music.by_ref().take(window).collect();
            let loudest = heard.iter().fold(0.0_f32, |loudest, one| loudest.max(one.abs()));
            let strength = (heard.iter().map(|one| one * one).sum::<f32>() / window as f32).sqrt();
            assert!(loudest < 0.95, "part {part}: {loudest}");
            assert!(strength > 0.005, "part {part} is silent: {strength}");
            assert!(heard.iter().all(|one| one.is_finite()));
        }
    }
}
