//! Short sounds by modal synthesis of struck stone and wood, and plucked strings.

use crate::Dice;

/// Sample rate in hertz, one channel.
pub const RATE: u32 = 44_100;

/// Peak of a cue at full level, so that several cues mix without clipping.
const PEAK: f32 = 0.6;

/// The sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cue {
    /// A stone or piece is placed; a lamp is pressed.
    Stone,
    /// Something is captured.
    Capture,
    /// A general is in check.
    Check,
    /// One of the last seconds of a clock.
    Tick,
    /// This player has won, or a puzzle is solved.
    Win,
    /// This player has lost.
    Loss,
    /// A match has ended in a draw, or both sides are on this device.
    End,
    /// The opponent has moved, and the player may be looking elsewhere.
    YourTurn,
    /// One of a row of soft notes, each higher than the one before: see [`Cue::NOTES`].
    Note(u8),
}

impl Cue {
    /// How many notes there are; a higher number sounds as the highest.
    pub const NOTES: u8 = 8;

    /// Every one of them.
    pub const ALL: [Self; 16] = [
        Self::Stone,
        Self::Capture,
        Self::Check,
        Self::Tick,
        Self::Win,
        Self::Loss,
        Self::End,
        Self::YourTurn,
        Self::Note(0),
        Self::Note(1),
        Self::Note(2),
        Self::Note(3),
        Self::Note(4),
        Self::Note(5),
        Self::Note(6),
        Self::Note(7),
    ];
}

/// The cue's samples from -1 to 1, at [`RATE`], always the same.
pub fn samples(cue: Cue) -> Vec<f32> {
    let mut sound = Sound::default();
    match cue {
        Cue::Stone => sound.click(0.0, 1.0, 1.0),
        // Three stones are put into a bowl, each a little lighter.
        Cue::Capture => {
            sound.click(0.0, 0.9, 1.12);
            sound.click(0.07, 0.6, 1.31);
            sound.click(0.125, 0.45, 1.47);
        }
        Cue::Check => {
            sound.click(0.0, 0.7, 0.9);
            sound.string(0.05, 440.0, 0.8, 0.5);
            sound.string(0.17, 587.33, 1.0, 0.7);
        }
        Cue::Tick => sound.tick(),
        Cue::Win => {
            for (index, hertz) in [392.0, 440.0, 523.25, 659.25, 783.99].into_iter().enumerate() {
                sound.string(0.11 * index as f32, hertz, 0.7 + 0.08 * index as f32, 1.4);
            }
        }
        Cue::Loss => {
            for (index, hertz) in [392.0, 329.63, 261.63].into_iter().enumerate() {
                sound.string(0.2 * index as f32, hertz, 0.8 - 0.15 * index as f32, 1.2);
            }
        }
        Cue::End => {
            sound.string(0.0, 293.66, 0.8, 1.2);
            sound.string(0.02, 440.0, 0.6, 1.2);
        }
        Cue::YourTurn => {
            sound.click(0.0, 1.0, 1.0);
            sound.string(0.09, 523.25, 0.35, 0.6);
        }
        Cue::Note(number) => {
            // The pentatonic scale on C, which the music is in too.
            const HERTZ: [f32; Cue::NOTES as usize] =
                [261.63, 293.66, 329.63, 392.0, 440.0, 523.25, 587.33, 659.25];
            sound.string(0.0, HERTZ[usize::from(number.min(Cue::NOTES - 1))], 0.5, 0.9);
        }
    }
    sound.finished()
}

/// A sound under construction.
#[derive(Default)]
struct Sound {
    made: Vec<f32>,
}

impl Sound {
    /// Mixes in `seconds` of `wave` from a time on; `wave` gets the seconds since then.
    fn add(&mut self, from: f32, seconds: f32, mut wave: impl FnMut(f32) -> f32) {
        let (from, many) = ((from * RATE as f32) as usize, (seconds * RATE as f32) as usize);
        if self.made.len() < from + many {
            self.made.resize(from + many, 0.0);
        }
        for (index, sample) in self.made[from..from + many].iter_mut().enumerate() {
            *sample += wave(index as f32 / RATE as f32);
        }
    }

    /// A stone on a wooden board: the stone's bright modes decay faster than the board's low ones.
    fn click(&mut self, from: f32, strength: f32, pitch: f32) {
        // Frequency in hertz, amplitude, and the time constant of decay in seconds.
        const MODES: [(f32, f32, f32); 6] = [
            (187.0, 0.55, 0.030),
            (431.0, 0.50, 0.022),
            (1_130.0, 0.40, 0.012),
            (2_290.0, 0.60, 0.008),
            (3_870.0, 0.45, 0.005),
            (5_610.0, 0.25, 0.003),
        ];
        let mut dice = Dice::new((pitch * 1_000.0) as u64);
        self.add(from, 0.16, |at| {
            let modes: f32 = MODES
                .iter()
                .map(|(hertz, loud, fall)| {
                    loud * (-at / fall).exp() * (at * hertz * pitch * std::f32::consts::TAU).sin()
                })
                .sum();
            let touch = dice.swing() * 0.7 * (-at / 0.0009).exp();
            strength * (modes + touch)
        });
    }

    /// A small wooden block.
    fn tick(&mut self) {
        self.add(0.0, 0.06, |at| {
            let fall = (-at / 0.009).exp();
            fall * ((at * 1_760.0 * std::f32::consts::TAU).sin()
                + 0.4 * (at * 2_637.0 * std::f32::consts::TAU).sin())
        });
    }

    fn string(&mut self, from: f32, hertz: f32, strength: f32, seconds: f32) {
        let mut pluck = Pluck::new(hertz, strength, hertz as u64);
        self.add(from, seconds, |at| {
            // The end is faded out, so that the cut does not click.
            pluck.sample() * ((seconds - at) / 0.1).clamp(0.0, 1.0)
        });
    }

    /// Normalised to the common peak, with silence at both ends.
    fn finished(mut self) -> Vec<f32> {
        let loudest = self.made.iter().fold(0.0_f32, |loudest, sample| loudest.max(sample.abs()));
        let many = self.made.len();
        for (index, sample) in self.made.iter_mut().enumerate() {
            let ends = (index.min(many - 1 - index) as f32 / 40.0).min(1.0);
            *sample *= ends * PEAK / loudest.max(f32::EPSILON);
        }
        self.made
    }
}

/// A Karplus-Strong string: noise circulates in a delay line of one period and passes a low-pass each time. An all-pass
/// filter tunes the period between whole samples.
pub struct Pluck {
    line: Vec<f32>,
    at: usize,
    keep: f32,
    tune: f32,
    tuned_in: f32,
    tuned_out: f32,
    left: u32,
}

impl Pluck {
    /// A string from 30 to 4,000 Hz, plucked with this strength (0 to 1); `seed` varies the excitation.
    pub fn new(hertz: f32, strength: f32, seed: u64) -> Self {
        let hertz = hertz.clamp(30.0, 4_000.0);
        // The low-pass advances by half a sample; the all-pass adds 0.1 to 1.1 samples.
        let long = RATE as f32 / hertz + 0.5;
        let whole = (long - 0.1).floor().max(2.0);
        let rest = long - whole;
        let many = whole as usize;
        let mut dice = Dice::new(seed ^ u64::from(hertz.to_bits()));
        let mut dull = 0.0;
        let noise: Vec<f32> = (0..many)
            .map(|_| {
                dull += 0.55 * (dice.swing() - dull);
                dull
            })
            .collect();
        // A pluck at a fifth of the string suppresses every fifth overtone.
        let finger = (many / 5).max(1);
        let mut line: Vec<f32> =
            (0..many).map(|index| noise[index] - 0.9 * noise[(index + many - finger) % many]).collect();
        let mean = line.iter().sum::<f32>() / many as f32;
        let loudest = line.iter().fold(f32::EPSILON, |loudest, one| loudest.max((one - mean).abs()));
        for one in &mut line {
            *one = (*one - mean) / loudest * strength;
        }
        // A low string rings for about four seconds, a high string for less than two.
        let seconds = (700.0 / hertz).clamp(0.9, 4.5);
        let keep = 0.001_f32.powf(1.0 / (hertz * seconds));
        Self {
            line,
            at: 0,
            keep,
            tune: (1.0 - rest) / (1.0 + rest),
            tuned_in: 0.0,
            tuned_out: 0.0,
            left: (seconds * 1.2 * RATE as f32) as u32,
        }
    }

    /// The next sample, from -1 to 1.
    pub fn sample(&mut self) -> f32 {
        self.left = self.left.saturating_sub(1);
        let out = self.line[self.at];
        let after = if self.at + 1 == self.line.len() { 0 } else { self.at + 1 };
        let dulled = self.keep * 0.5 * (out + self.line[after]);
        self.tuned_out = self.tune * (dulled - self.tuned_out) + self.tuned_in;
        self.tuned_in = dulled;
        self.line[self.at] = self.tuned_out;
        self.at = after;
        out
    }

    /// Whether the string has become inaudible.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(samples: &[f32]) -> f32 {
        (samples.iter().map(|one| one * one).sum::<f32>() / samples.len() as f32).sqrt()
    }

    #[test]
    fn every_cue_is_heard_does_not_clip_and_is_short() {
        for cue in Cue::ALL {
            let made = samples(cue);
            let loudest = made.iter().fold(0.0_f32, |loudest, one| loudest.max(one.abs()));
            assert!(loudest > 0.3 && loudest <= PEAK + 0.001, "{cue:?}: {loudest}");
            assert!(made.iter().all(|one| one.is_finite()), "{cue:?}");
            let seconds = made.len() as f32 / RATE as f32;
            assert!((0.05..2.0).contains(&seconds), "{cue:?}: {seconds} s");
            assert!(made[0].abs() < 0.001 && made[made.len() - 1].abs() < 0.001, "{cue:?} cracks at an end");
            assert_eq!(made, samples(cue), "{cue:?} is the same each time");
        }
    }

    #[test]
    fn no_two_cues_sound_the_same() {
        for (index, one) in Cue::ALL.into_iter().enumerate() {
            for other in &Cue::ALL[index + 1..] {
                assert_ne!(samples(one), samples(*other), "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn a_stone_is_loud_at_once_and_gone_in_a_tenth_of_a_second() {
        let made = samples(Cue::Stone);
        let tenth = RATE as usize / 10;
        let first = strength(&made[..RATE as usize / 100]);
        let last = strength(&made[tenth..]);
        assert!(first > 0.1 && last < first / 30.0, "{first} and then {last}");
    }

    #[test]
    fn a_string_is_in_tune_and_fades() {
        for hertz in [98.0, 261.63, 440.0, 783.99] {
            let mut pluck = Pluck::new(hertz, 1.0, 5);
            let made: Vec<f32> = (0..RATE).map(|_| pluck.sample()).collect();
            // The period by autocorrelation: the best of a fine grid round the wanted period.
            let alike = |period: f32| -> f32 {
                (4_000..12_000)
                    .map(|at| {
                        let there = at as f32 + period;
                        let (low, part) = (there as usize, there.fract());
                        made[at] * (made[low] * (1.0 - part) + made[low + 1] * part)
                    })
                    .sum()
            };
            let wanted = RATE as f32 / hertz;
            let best = (-60..=60)
                .map(|step| wanted * (1.0 + step as f32 * 0.0005))
                .max_by(|one, other| alike(*one).total_cmp(&alike(*other)))
                .expect("a grid");
            let cents = 1_200.0 * (wanted / best).log2();
            assert!(cents.abs() < 8.0, "{hertz} Hz is {cents} cents off");
            let (early, late) = (strength(&made[..8_000]), strength(&made[36_000..]));
            assert!(late < early, "{hertz} Hz: {early} and then {late}");
        }
    }
}
