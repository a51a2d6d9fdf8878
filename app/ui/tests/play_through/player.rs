//! A person at the app: looks, touches what is seen, and notices what is wrong with what comes of it.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::Rng;
use host::{Host, HostConfig};
use i_slint_backend_testing::AccessibleRole;
use qiyou::headless::{Scene, Stage, share_pictures};
use qiyou::screens::{BoardAdapter, Dialog, Navigation, Opponent, Page, Remark};
use qiyou::{App, Language, Preferences, Store, connect, press};
use slint::LogicalPosition;
use slint::platform::{Key, PointerEventButton, WindowEvent};
use slint::{ComponentHandle, Model};
use tokio::runtime::Runtime;

use crate::eyes::{Area, STYLES, Sight, Thing};
use crate::log;
use crate::notes::{Fault, Notes};
use crate::ruler::Tape;

/// How a device is held: device pixels and scale.
pub(crate) const UPRIGHT: (u32, u32, f32) = (720, 1440, 2.0);
pub(crate) const LYING: (u32, u32, f32) = (1280, 800, 1.0);

/// What a finger needs, in logical pixels, less what rounding takes.
const FINGER: f32 = 43.0;

/// How long anything may take that the app has begun. Who waits so long has found a fault.
const PATIENCE: Duration = Duration::from_mins(1);

/// A sentence so long that it is no name that stands in two places.
const SENTENCE: usize = 21;

/// One player at a time in this process: what is logged is then about its app.
static CHAIR: Mutex<()> = Mutex::new(());

pub(crate) fn take_the_chair() -> MutexGuard<'static, ()> {
    CHAIR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the app is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) size: (u32, u32, f32),
    pub(crate) chinese: bool,
}

impl Held {
    pub(crate) fn preferences(self) -> Preferences {
        Preferences {
            language: if self.chinese { Language::Chinese } else { Language::English },
            reduced_motion: true,
            unhurried: false,
            ..Preferences::default()
        }
    }
}

pub(crate) struct Player<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) scene: Scene,
    pub(crate) app: App,
    pub(crate) runtime: Runtime,
    pub(crate) host: Option<Host>,
    pub(crate) held: Held,
    pub(crate) rng: Rng,
    pub(crate) notes: Notes,
    /// Texts and controls that were measured.
    pub(crate) measured: usize,
    /// Touches so far.
    pub(crate) touches: usize,
    /// The last touches, for whoever has to do them again.
    trail: VecDeque<String>,
    tape: Tape,
    folder: tempfile::TempDir,
}

impl<'a> Player<'a> {
    pub(crate) fn new(stage: &'a Stage, held: Held, seed: u64) -> Self {
        Self::with(stage, held, seed, |config| config)
    }

    pub(crate) fn with(
        stage: &'a Stage,
        held: Held,
        seed: u64,
        configured: impl FnOnce(HostConfig) -> HostConfig,
    ) -> Self {
        log::listen();
        share_pictures();
        let folder = tempfile::tempdir().expect("a folder for the test");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread");
        let (host, (client, from_host)) = {
            let _inside = runtime.enter();
            let config = configured(HostConfig::new(folder.path().join("saves")));
            let host = Host::start(config).expect("a host in an empty folder");
            let stream = host.client();
            (host, connect(async { Ok(stream) }))
        };
        let app = App::new(client, from_host, Store::nowhere(), "en_GB.UTF-8").expect("a window in memory");
        app.window().show().expect("shown in memory");
        app.keep_files_in(&folder.path().join("files"));
        app.prefer(held.preferences());
        let scene = stage.scene(held.size.0, held.size.1, held.size.2);
        let player = Self {
            stage,
            scene,
            app,
            runtime,
            host: Some(host),
            held,
            rng: Rng::new(seed),
            notes: Notes::default(),
            measured: 0,
            touches: 0,
            trail: VecDeque::new(),
            tape: Tape::new(),
            folder,
        };
        player.rest();
        player
    }

    /// Where this person's files are.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// The app is closed. What was noticed.
    pub(crate) fn leave(mut self) -> Notes {
        self.hear_the_log();
        let host = self.host.take().expect("still there");
        drop(self.app);
        self.runtime.block_on(host.stop());
        for line in log::take() {
            self.notes.take(Fault::Logged, line);
        }
        self.notes
    }

    pub(crate) fn board(&self) -> BoardAdapter<'_> {
        self.app.window().global::<BoardAdapter<'_>>()
    }

    // Eyes.

    pub(crate) fn look(&self) -> Sight {
        let (width, height, scale) = self.held.size;
        Sight::of(&self.app, width as f32 / scale, height as f32 / scale)
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        self.look().says(words)
    }

    // Time.

    /// Until the app has its answers and what it shows stands still.
    pub(crate) fn rest(&self) {
        let began = Instant::now();
        let mut quiet = 0;
        while quiet < 3 {
            let taken = self.app.work().taken;
            self.stage.pass(Duration::from_millis(16));
            self.scene.draw();
            std::thread::sleep(Duration::from_millis(1));
            let waits = self.app.waits_for() > 0 && began.elapsed() < Duration::from_secs(1);
            quiet = if waits || self.app.work().taken != taken { 0 } else { quiet + 1 };
        }
        self.stage.settle(&self.scene);
    }

    pub(crate) fn until(&self, what: &str, condition: impl FnMut() -> bool) {
        self.until_with(&[], what, condition);
    }

    /// The same while others' windows go on too.
    pub(crate) fn until_with(&self, others: &[&Scene], what: &str, mut condition: impl FnMut() -> bool) {
        let mut scenes = vec![&self.scene];
        scenes.extend(others);
        let began = Instant::now();
        while !condition() {
            self.stage.pass(Duration::from_millis(16));
            for scene in &scenes {
                scene.draw();
            }
            std::thread::sleep(Duration::from_millis(1));
            assert!(
                began.elapsed() < PATIENCE,
                "waited in vain: {what}\n{}\nafter {:?}",
                self.look().told(),
                self.trail
            );
        }
        self.stage.settle(&self.scene);
    }

    // Fingers and keys.

    /// Touches the middle of what is seen of it.
    pub(crate) fn tap(&mut self, thing: &Thing, sight: &Sight) {
        self.touches += 1;
        self.trail.push_back(format!("{:?} {:?} {}", sight.page, sight.dialog, thing.name));
        if self.trail.len() > 12 {
            self.trail.pop_front();
        }
        let (x, y) = sight.seen(thing).middle();
        self.scene.tap(x, y);
    }

    /// Finds the control of this name, brings it into sight, and touches it.
    pub(crate) fn touch(&mut self, name: &str) {
        assert!(self.try_touch(name), "nothing is called {name}\n{}", self.look().told());
    }

    pub(crate) fn try_touch(&mut self, name: &str) -> bool {
        let Some((thing, sight)) = self.bring(|one| one.name == name) else { return false };
        self.tap(&thing, &sight);
        self.rest();
        self.check();
        true
    }

    /// Scrolls until a control of this kind is in sight.
    pub(crate) fn bring(&self, wanted: impl Fn(&Thing) -> bool) -> Option<(Thing, Sight)> {
        let within = |sight: &Sight| {
            let all: Vec<&Thing> = sight.controls().filter(|one| wanted(one)).collect();
            all.into_iter().max_by_key(|one| sight.seen(one).height as i32).cloned()
        };
        let enough = |thing: &Thing, sight: &Sight| {
            let seen = sight.seen(thing);
            seen.height >= thing.area.height.min(24.0) && seen.width >= thing.area.width.min(24.0)
        };
        let sight = self.look();
        if let Some(found) = within(&sight)
            && enough(&found, &sight)
        {
            return Some((found, sight));
        }
        for index in 0..sight.scrolls.len() {
            for by in [-1.0, 1.0] {
                // To the beginning, then to the end.
                loop {
                    let sight = self.look();
                    if let Some(found) = within(&sight)
                        && enough(&found, &sight)
                    {
                        return Some((found, sight));
                    }
                    if sight.scrolls.len() <= index || !self.scroll(sight.scrolls[index], by) {
                        break;
                    }
                }
            }
        }
        None
    }

    /// Pushes what scrolls by two thirds of its height, at its edge where nothing else takes the finger: 1 to see what is below. False
    /// where nothing moved.
    pub(crate) fn scroll(&self, area: Area, by: f32) -> bool {
        let before = self.scene.picture();
        let seen = area.common(self.look().window);
        let (x, y) = (seen.left + 5.0, seen.middle().1);
        let far = seen.height * 0.33 * by;
        self.drag((x, y + far), (x, y - far));
        self.scene.picture() != before
    }

    /// A finger that goes along and rests before it is lifted.
    fn drag(&self, from: (f32, f32), to: (f32, f32)) {
        let window = self.app.window().window();
        let send = |event| window.dispatch_event(event);
        let button = PointerEventButton::Left;
        let at = |part: f32| {
            LogicalPosition::new(from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
        };
        send(WindowEvent::PointerMoved { position: at(0.0) });
        send(WindowEvent::PointerPressed { position: at(0.0), button });
        for step in 1..=12 {
            self.stage.pass(Duration::from_millis(16));
            send(WindowEvent::PointerMoved { position: at(step as f32 / 12.0) });
        }
        self.stage.pass(Duration::from_millis(400));
        send(WindowEvent::PointerMoved { position: at(1.0) });
        send(WindowEvent::PointerReleased { position: at(1.0), button });
        send(WindowEvent::PointerExited);
        self.stage.settle(&self.scene);
    }

    /// The device is held the other way.
    pub(crate) fn turn(&mut self) {
        let (width, height, scale) = self.held.size;
        self.held.size = (height, width, scale);
        self.scene.resize(height, width, scale);
        self.rest();
    }

    /// The way back, by whichever means.
    pub(crate) fn back(&mut self) {
        let button = self.look().controls().find(|one| one.name == "Back" || one.name == "返回").cloned();
        match (self.rng.below(3), button) {
            (0, Some(button)) => {
                let sight = self.look();
                self.tap(&button, &sight);
            }
            (1, _) => press(self.app.window(), senses::Press::Back),
            _ => self.scene.key(Key::Escape),
        }
        self.rest();
    }

    /// Home from wherever this is. Back leads there; what asks on the way is answered.
    pub(crate) fn go_home(&mut self) -> bool {
        let mut before = None;
        for _ in 0..24 {
            let sight = self.look();
            let here = (sight.page, sight.dialog);
            if here == (Page::Home, Dialog::None) {
                return true;
            }
            if sight.dialog == Dialog::ConfirmLeave {
                // The first button leaves.
                let leave = sight.controls().find(|one| one.role == AccessibleRole::Button).cloned();
                let leave = leave.expect("a dialog has a button");
                self.tap(&leave, &sight);
                self.rest();
            } else if before == Some(here) && sight.dialog != Dialog::None {
                // What a person asks wants an answer: the last button puts it off.
                let no = sight.controls().filter(|one| one.role == AccessibleRole::Button).last().cloned();
                self.tap(&no.expect("a dialog has a button"), &sight);
                self.rest();
            } else {
                self.back();
            }
            before = Some(here);
        }
        let told = self.look();
        self.note(Fault::NoWayBack, format!("{:?}, {:?}", told.page, told.dialog));
        false
    }

    // What is noticed.

    /// Touches this, and waits until something comes of it.
    pub(crate) fn touch_and_see(&mut self, thing: &Thing, sight: &Sight) {
        let (was, words) = (self.scene.picture(), sight.things.clone());
        let taken = self.app.work().taken;
        self.tap(thing, sight);
        let chosen = thing.on == Some(true) && thing.role == AccessibleRole::RadioButton;
        if !thing.enabled || chosen || thing.role == AccessibleRole::Slider {
            self.rest();
            self.check();
            return;
        }
        let mut idle = 0;
        let mut happened = false;
        while !happened && idle < 60 {
            self.stage.pass(Duration::from_millis(16));
            self.scene.draw();
            happened = self.scene.picture() != was;
            if self.app.waits_for() == 0 {
                idle += 1;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.rest();
        let now = self.look();
        happened |= now.things != words || self.scene.picture() != was || self.app.work().taken != taken;
        // What is said already is said for longer.
        happened |= self.app.window().global::<Navigation<'_>>().get_remark() != Remark::None;
        if !happened {
            self.notes
                .take(Fault::NoEffect, format!("{} on {:?} {:?}", thing.plain(), sight.page, sight.dialog));
        }
        self.check();
    }

    /// What must be so of whatever is seen.
    pub(crate) fn check(&mut self) {
        let sight = self.look();
        self.hear_the_log();
        self.check_controls(&sight);
        self.check_sentences(&sight);
        for words in self.cut(&sight, 0) {
            self.note(Fault::Cut, words);
        }
        self.check_stuck(&sight);
    }

    pub(crate) fn hear_the_log(&mut self) {
        for line in log::take() {
            self.note(Fault::Logged, line);
        }
    }

    fn check_controls(&mut self, sight: &Sight) {
        let place = (sight.page, sight.dialog);
        for one in sight.controls() {
            self.measured += 1;
            if one.name.is_empty() {
                self.note(Fault::Nameless, format!("{} {:?} on {place:?}", one.kind, one.role));
            }
            if !one.is_point() && (one.area.width < FINGER || one.area.height < FINGER) {
                let (width, height) = (one.area.width, one.area.height);
                self.note(
                    Fault::Small,
                    format!("{} {} on {place:?}: {width} x {height}", one.kind, one.plain()),
                );
            }
        }
    }

    /// Rows of a list may say the same, each of its own.
    fn check_sentences(&mut self, sight: &Sight) {
        let texts: Vec<&Thing> = sight.texts().collect();
        let mut told = BTreeSet::new();
        for (index, one) in texts.iter().enumerate() {
            let chinese = one.name.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter));
            let long = if chinese { SENTENCE / 3 } else { SENTENCE };
            if one.name.chars().filter(|letter| letter.is_alphabetic()).count() < long {
                continue;
            }
            let again = texts[..index].iter().find(|other| {
                let same = |a: f32, b: f32| (a - b).abs() < 0.5;
                let (left, top) = (same(other.area.left, one.area.left), same(other.area.top, one.area.top));
                let row = other.kind == one.kind && left != top;
                other.name == one.name && !row
            });
            if again.is_some() && told.insert(one.name.clone()) {
                self.notes
                    .take(Fault::Twice, format!("{} on {:?} {:?}", one.plain(), sight.page, sight.dialog));
            }
        }
    }

    /// The texts that have less room than they need, or stand beyond the window's side.
    pub(crate) fn cut(&mut self, sight: &Sight, text_size: usize) -> Vec<String> {
        let scale = Preferences::TEXT_SCALES[text_size];
        let mut cut = Vec::new();
        let lines: Vec<String> = self.board().get_advice().iter().map(|advice| advice.line.into()).collect();
        // How a hint goes on is shortened, and seen to be.
        for one in sight.texts().filter(|one| !lines.contains(&one.name)) {
            let style = one.style().expect("it is a text");
            let (_, family, size) = STYLES[style];
            self.measured += 1;
            let (left, right) = (one.area.left, one.area.left + one.area.width);
            // Matches to go on with stand beside each other and are pushed to the side.
            let strip =
                |other: &&Thing| other.kind == "UnfinishedCard" && other.area.common(one.area) == one.area;
            if sight.things.iter().find(strip).is_some_and(|card| sight.seen(card).width < card.area.width) {
                continue;
            }
            if !self.tape.fits(&one.name, family, size * scale, one.area.width, one.area.height)
                || left < -1.0
                || right > sight.window.width + 1.0
            {
                let place = (sight.page, sight.dialog);
                cut.push(format!("{} ({}) on {place:?}", one.plain(), one.kind));
            }
        }
        cut
    }

    /// Something can be done here, or somebody thinks.
    fn check_stuck(&mut self, sight: &Sight) {
        let place = (sight.page, sight.dialog);
        if !sight.controls().any(|one| one.enabled) {
            self.note(Fault::Stuck, format!("{place:?}: nothing can be touched"));
        }
        if place != (Page::Board, Dialog::None) {
            return;
        }
        // What was touched may be on its way to the host and back.
        let began = Instant::now();
        while !self.goes_on() && began.elapsed() < Duration::from_secs(3) {
            self.rest();
        }
        if !self.goes_on() {
            let told = self.look().told();
            self.note(Fault::Stuck, format!("{place:?}: nobody is to move in {}: {told}", sight.title()));
        }
    }

    fn goes_on(&self) -> bool {
        let board = self.board();
        board.get_live()
            || board.get_over()
            || board.get_paused()
            || board.get_solving()
            || board.get_differs()
            || board.get_thought().on
            || board.get_theirs().to_move
            || board.get_puzzle()
            // A guest is waited for.
            || board.get_theirs().who == Opponent::Peer && board.get_theirs().name.is_empty()
    }

    /// With QIYOU_PICTURES=folder, what is seen is kept there as a picture when a fault is first met.
    pub(crate) fn note(&mut self, fault: Fault, what: String) {
        let number = self.notes.take(fault, what.clone());
        if let (Some(number), Ok(folder)) = (number, std::env::var("QIYOU_PICTURES")) {
            let picture = self.scene.picture();
            let test = std::thread::current()
                .name()
                .unwrap_or_default()
                .rsplit("::")
                .next()
                .unwrap_or_default()
                .to_owned();
            let path = PathBuf::from(folder).join(format!("{test}-{number:03}-{fault:?}.png"));
            println!("{}: {what}\n  after {:?}", path.display(), self.trail);
            let file = std::fs::File::create(path).expect("the folder is there");
            let mut encoder = png::Encoder::new(file, picture.width, picture.height);
            encoder.set_color(png::ColorType::Rgb);
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(&picture.bytes()).expect("pixels");
        }
    }

    /// What is cut off where letters are twice as large.
    pub(crate) fn check_large(&mut self) {
        let large = Preferences::TEXT_SCALES.len() - 1;
        self.app.prefer(Preferences { text_size: large, ..self.held.preferences() });
        self.rest();
        let sight = self.look();
        for words in self.cut(&sight, large) {
            self.note(Fault::CutLarge, words);
        }
        self.app.prefer(self.held.preferences());
        self.rest();
    }
}
