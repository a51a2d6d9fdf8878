//! The loudspeaker and its thread: opened for a sound, closed after silence, so that a player who thinks costs no power.

/// Plays cues and music. Dropping it stops both. Silent without the feature `sound` and without a loudspeaker.
#[derive(Debug)]
pub struct Player {
    #[cfg(feature = "sound")]
    orders: std::sync::mpsc::Sender<speaker::Order>,
}

impl Player {
    /// Starts the thread; opens no device yet. `seed` selects the piece.
    pub fn new(seed: u64) -> Self {
        #[cfg(not(feature = "sound"))]
        let _ = seed;
        Self {
            #[cfg(feature = "sound")]
            orders: speaker::start(seed),
        }
    }

    /// Plays this cue at a level from 0 (silent) to [`crate::LOUDEST`].
    pub fn play(&self, cue: crate::Cue, level: u8) {
        #[cfg(feature = "sound")]
        if level > 0 {
            // The thread is missing only if it could not be started.
            self.orders.send(speaker::Order::Play(cue, level)).ok();
        }
        #[cfg(not(feature = "sound"))]
        let _ = (cue, level);
    }

    /// Plays music from now on, at a level from 0 (stops) to [`crate::LOUDEST`].
    pub fn music(&self, level: u8) {
        #[cfg(feature = "sound")]
        self.orders.send(speaker::Order::Music(level)).ok();
        #[cfg(not(feature = "sound"))]
        let _ = level;
    }
}

#[cfg(feature = "sound")]
mod speaker {
    use std::collections::HashMap;
    use std::num::NonZero;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::{Duration, Instant};

    use rodio::buffer::SamplesBuffer;
    use rodio::{ChannelCount, DeviceSinkBuilder, MixerDeviceSink, SampleRate, Source};

    use crate::music::Music;
    use crate::synth::{self, Cue, RATE};

    const MONO: ChannelCount = NonZero::<u16>::MIN;
    const RATE_OF_ALL: SampleRate = match NonZero::new(RATE) {
        Some(rate) => rate,
        None => panic!("the rate is not 0"),
    };

    /// About 46 ms: a click seems immediate, and a slow device still fills the buffer in time.
    const BUFFER: u32 = 2_048;
    /// Longer than the longest cue.
    const OPEN_AFTER_LAST: Duration = Duration::from_secs(4);
    /// A device may be plugged in later; searching for one at each stone would cost more than the sound.
    const TRIES_AGAIN_AFTER: Duration = Duration::from_secs(20);

    #[derive(Debug)]
    pub(super) enum Order {
        Play(Cue, u8),
        Music(u8),
    }

    pub(super) fn start(seed: u64) -> Sender<Order> {
        let (orders, received) = channel();
        let started = std::thread::Builder::new().name("sound".into()).spawn(move || serve(&received, seed));
        if let Err(error) = started {
            tracing::debug!(%error, "no thread for sounds");
        }
        orders
    }

    /// Music with a gliding level, so that it fades in and out. Ends once it has faded out.
    struct Faded {
        music: Music,
        level: Arc<AtomicU8>,
        gain: f32,
    }

    impl Iterator for Faded {
        type Item = f32;

        fn next(&mut self) -> Option<f32> {
            let wanted = crate::gain(self.level.load(Ordering::Relaxed));
            self.gain += (wanted - self.gain) * 0.00005;
            if wanted == 0.0 && self.gain < 0.0005 {
                None
            } else {
                self.music.next().map(|one| one * self.gain)
            }
        }
    }

    impl Source for Faded {
        fn current_span_len(&self) -> Option<usize> {
            None
        }

        fn channels(&self) -> ChannelCount {
            MONO
        }

        fn sample_rate(&self) -> SampleRate {
            RATE_OF_ALL
        }

        fn total_duration(&self) -> Option<Duration> {
            None
        }
    }

    fn open() -> Option<MixerDeviceSink> {
        let opened = DeviceSinkBuilder::from_default_device().and_then(|builder| {
            builder
                .with_buffer_size(rodio::cpal::BufferSize::Fixed(BUFFER))
                .with_error_callback(|error| tracing::debug!(%error, "the loudspeaker"))
                .open_sink_or_fallback()
        });
        match opened {
            Ok(mut sink) => {
                sink.log_on_drop(false);
                Some(sink)
            }
            Err(error) => {
                tracing::debug!(%error, "no loudspeaker");
                None
            }
        }
    }

    fn serve(received: &Receiver<Order>, seed: u64) {
        // Silences ALSA's error output on a machine without a sound card.
        let _quiet = alsa::Output::local_error_handler();
        let mut made: HashMap<Cue, Vec<f32>> = HashMap::new();
        let mut sink: Option<MixerDeviceSink> = None;
        let mut failed: Option<Instant> = None;
        let mut pieces = 0;
        // The level of the music, shared with the playing source.
        let mut music = Arc::new(AtomicU8::new(0));
        loop {
            let playing = music.load(Ordering::Relaxed) > 0;
            let order = if sink.is_some() && !playing {
                received.recv_timeout(OPEN_AFTER_LAST)
            } else {
                received.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match order {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => sink = None,
                // No music plays: nothing to stop.
                Ok(Order::Music(0)) if !playing => {}
                Ok(order) => {
                    let try_now = failed.is_none_or(|when| when.elapsed() > TRIES_AGAIN_AFTER);
                    if sink.is_none() && try_now {
                        sink = open();
                        failed = sink.is_none().then(Instant::now);
                    }
                    let Some(sink) = &sink else { continue };
                    match order {
                        Order::Play(cue, level) => {
                            let gain = crate::gain(level);
                            let samples = made.entry(cue).or_insert_with(|| synth::samples(cue));
                            let heard: Vec<f32> = samples.iter().map(|one| one * gain).collect();
                            sink.mixer().add(SamplesBuffer::new(MONO, RATE_OF_ALL, heard));
                        }
                        Order::Music(level) if playing => music.store(level, Ordering::Relaxed),
                        Order::Music(level) => {
                            // The previous piece may still fade out, with a level of its own.
                            music = Arc::new(AtomicU8::new(level));
                            pieces += 1;
                            let piece = Music::new(seed.wrapping_add(pieces));
                            sink.mixer().add(Faded { music: piece, level: music.clone(), gain: 0.0 });
                        }
                    }
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn music_begins_softly_follows_its_level_and_ends() {
            let level = Arc::new(AtomicU8::new(crate::LOUDEST));
            let mut faded = Faded { music: Music::new(2), level: level.clone(), gain: 0.0 };
            let second = RATE as usize;
            assert_eq!(faded.by_ref().take(4 * second).count(), 4 * second);
            assert!(faded.gain > 0.9);
            level.store(0, Ordering::Relaxed);
            let rest = faded.by_ref().take(20 * second).count();
            assert!(rest > second && rest < 10 * second, "{rest} samples until it is gone");
        }
    }
}
