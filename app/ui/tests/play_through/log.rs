//! What the app and its host log as an error or a warning, and the panics of their threads: nothing of it should come while the app
//! is played with.

use std::fmt::Write as _;
use std::sync::{Mutex, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listener;

struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("a string grows");
    }
}

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let level = *event.metadata().level();
        if level == Level::ERROR || level == Level::WARN {
            let mut words = Words(format!("{level} {}:", event.metadata().target()));
            event.record(&mut words);
            say(words.0);
        }
    }
}

fn say(line: String) {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

/// From now on all of this process is listened to. `QIYOU_LOG=debug` prints what is logged as well.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let printed = std::env::var("QIYOU_LOG").ok().map(|filter| {
            tracing_subscriber::fmt::layer()
                .with_test_writer()
                .with_filter(tracing_subscriber::EnvFilter::new(filter))
        });
        let all = tracing_subscriber::registry().with(Listener).with(printed);
        tracing::subscriber::set_global_default(all).expect("nobody else listens");
        let otherwise = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A test that fails is no fault of the app's.
            if panic.location().is_none_or(|at| !at.file().contains("tests/play_through")) {
                say(format!("PANIC {panic}"));
            }
            otherwise(panic);
        }));
    });
}

/// What was said since the last call.
pub(crate) fn take() -> Vec<String> {
    std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner))
}
