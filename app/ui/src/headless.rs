//! The app with no display: for tests, and for pictures of every page.
//!
//! [`Stage`] is a Slint platform for the calling thread. Windows draw into memory, time passes only when it is told to, and
//! taps and keys come from the caller. One per thread, since a Slint platform belongs to its thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use slint::platform::software_renderer::{MinimalSoftwareWindow, RepaintBufferType};
use slint::platform::{EventLoopProxy, Platform, PointerEventButton, WindowAdapter, WindowEvent};
use slint::{EventLoopError, LogicalPosition, PhysicalSize, PlatformError, Rgb8Pixel};

/// How long [`Stage::until`] waits for what must come. Long enough for a loaded machine; a test that meets it has failed.
const PATIENCE: Duration = Duration::from_mins(2);

/// What is put on the event loop from other threads: the wake-ups of local tasks.
#[derive(Default)]
struct Queue {
    waiting: Mutex<VecDeque<Box<dyn FnOnce() + Send>>>,
    filled: Condvar,
}

struct Proxy(Arc<Queue>);

impl EventLoopProxy for Proxy {
    fn quit_event_loop(&self) -> Result<(), EventLoopError> {
        Ok(())
    }

    fn invoke_from_event_loop(&self, event: Box<dyn FnOnce() + Send>) -> Result<(), EventLoopError> {
        self.0.waiting.lock().map_err(|_| EventLoopError::EventLoopTerminated)?.push_back(event);
        self.0.filled.notify_one();
        Ok(())
    }
}

#[derive(Default)]
struct Shared {
    windows: RefCell<Vec<Rc<MinimalSoftwareWindow>>>,
    now: Cell<Duration>,
    /// Slint keeps the first proxy it is given for the whole process, but a test process has a platform per thread: none is
    /// given until the platform is set, after which each task takes its own thread's.
    set: Cell<bool>,
}

struct Headless {
    shared: Rc<Shared>,
    queue: Arc<Queue>,
}

impl Platform for Headless {
    fn create_window_adapter(&self) -> Result<Rc<dyn WindowAdapter>, PlatformError> {
        let window = MinimalSoftwareWindow::new(RepaintBufferType::ReusedBuffer);
        self.shared.windows.borrow_mut().push(window.clone());
        Ok(window)
    }

    fn duration_since_start(&self) -> Duration {
        self.shared.now.get()
    }

    fn new_event_loop_proxy(&self) -> Option<Box<dyn EventLoopProxy>> {
        self.shared.set.get().then(|| Box::new(Proxy(self.queue.clone())) as Box<dyn EventLoopProxy>)
    }
}

/// Lets all apps of this process share the pictures that they draw. Tests start some thousand apps, and most of their time would
/// go into the same stones, boards and icons.
pub fn share_pictures() {
    crate::art::share();
}

/// A thread's windows, its clock and its fingers.
pub struct Stage {
    shared: Rc<Shared>,
    queue: Arc<Queue>,
}

/// What a window shows, three bytes a pixel, row by row.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// In device pixels.
    pub width: u32,
    /// In device pixels.
    pub height: u32,
    /// Red, green, blue.
    pub pixels: Vec<Rgb8Pixel>,
}

impl Picture {
    /// The pixels as bytes, three each, as PNG files hold them.
    pub fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flat_map(|pixel| [pixel.r, pixel.g, pixel.b]).collect()
    }
}

/// One window on the stage.
pub struct Scene {
    window: Rc<MinimalSoftwareWindow>,
    shown: RefCell<Vec<Rgb8Pixel>>,
    size: Cell<PhysicalSize>,
    repainted: Cell<u32>,
}

impl Stage {
    /// Makes this thread headless.
    ///
    /// # Panics
    /// When the thread has a Slint platform already.
    pub fn new() -> Self {
        let shared = Rc::new(Shared::default());
        let queue = Arc::new(Queue::default());
        let platform = Headless { shared: shared.clone(), queue: queue.clone() };
        slint::platform::set_platform(Box::new(platform)).expect("one stage a thread");
        shared.set.set(true);
        Self { shared, queue }
    }

    /// The window that was made last, at this size in device pixels.
    ///
    /// # Panics
    /// When no window was made yet.
    pub fn scene(&self, width: u32, height: u32, scale: f32) -> Scene {
        let window = self.shared.windows.borrow().last().expect("a window was made").clone();
        let scene =
            Scene { window, shown: RefCell::default(), size: Cell::default(), repainted: Cell::new(0) };
        scene.resize(width, height, scale);
        scene
    }

    /// Lets local tasks go on and time pass; handlers of changes and timers run.
    pub fn pass(&self, time: Duration) {
        self.shared.now.set(self.shared.now.get() + time);
        loop {
            let next = self.queue.waiting.lock().expect("no holder panics").pop_front();
            let Some(event) = next else { break };
            event();
        }
        slint::platform::update_timers_and_animations();
    }

    /// Passes time in small steps until the condition holds. False when it did not within two minutes.
    pub fn until(&self, scenes: &[&Scene], mut condition: impl FnMut() -> bool) -> bool {
        let began = Instant::now();
        loop {
            self.pass(Duration::from_millis(16));
            for scene in scenes {
                scene.draw();
            }
            if condition() {
                return true;
            }
            if began.elapsed() > PATIENCE {
                return false;
            }
            let waiting = self.queue.waiting.lock().expect("no holder panics");
            if waiting.is_empty() {
                drop(self.queue.filled.wait_timeout(waiting, Duration::from_millis(2)));
            }
        }
    }

    /// Enough time for every animation and every change handler to end.
    pub fn settle(&self, scene: &Scene) {
        // Handlers of changes may change more, and what they show is laid out when it is drawn.
        for _ in 0..6 {
            self.pass(Duration::from_millis(100));
            scene.draw();
        }
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// Another size, as when a device is turned.
    pub fn resize(&self, width: u32, height: u32, scale: f32) {
        let size = PhysicalSize::new(width, height);
        self.size.set(size);
        *self.shown.borrow_mut() = vec![Rgb8Pixel::default(); (width * height) as usize];
        self.window.dispatch_event(WindowEvent::ScaleFactorChanged { scale_factor: scale });
        self.window.set_size(size);
        self.window.dispatch_event(WindowEvent::WindowActiveChanged(true));
        self.window.request_redraw();
    }

    /// Draws what has changed.
    pub fn draw(&self) {
        let width = self.size.get().width as usize;
        self.window.draw_if_needed(|renderer| {
            let region = renderer.render(&mut self.shown.borrow_mut(), width);
            let area: u32 = region.iter().map(|(_, size)| size.width * size.height).sum();
            self.repainted.set(self.repainted.get() + area);
        });
    }

    /// Device pixels painted since the last call: what a move costs.
    pub fn take_repainted(&self) -> u32 {
        self.repainted.replace(0)
    }

    /// What is seen now.
    pub fn picture(&self) -> Picture {
        let size = self.size.get();
        Picture { width: size.width, height: size.height, pixels: self.shown.borrow().clone() }
    }

    /// What would be seen if all of it were drawn anew: another picture than [`Scene::picture`] where a change was not drawn.
    pub fn anew(&self) -> Picture {
        let size = self.size.get();
        let mut pixels = vec![Rgb8Pixel::default(); (size.width * size.height) as usize];
        self.window.request_redraw();
        self.window.draw_if_needed(|renderer| {
            renderer.set_repaint_buffer_type(RepaintBufferType::NewBuffer);
            renderer.render(&mut pixels, size.width as usize);
            renderer.set_repaint_buffer_type(RepaintBufferType::ReusedBuffer);
        });
        Picture { width: size.width, height: size.height, pixels }
    }

    /// A finger down and up again at this place, in logical pixels.
    pub fn tap(&self, x: f32, y: f32) {
        let position = LogicalPosition::new(x, y);
        let button = PointerEventButton::Left;
        self.window.dispatch_event(WindowEvent::PointerMoved { position });
        self.window.dispatch_event(WindowEvent::PointerPressed { position, button });
        self.window.dispatch_event(WindowEvent::PointerReleased { position, button });
        self.window.dispatch_event(WindowEvent::PointerExited);
    }

    /// A finger put down at one place and lifted at another, in logical pixels.
    pub fn slide(&self, from: (f32, f32), to: (f32, f32)) {
        let button = PointerEventButton::Left;
        let (start, end) = (LogicalPosition::new(from.0, from.1), LogicalPosition::new(to.0, to.1));
        self.window.dispatch_event(WindowEvent::PointerMoved { position: start });
        self.window.dispatch_event(WindowEvent::PointerPressed { position: start, button });
        self.window.dispatch_event(WindowEvent::PointerMoved { position: end });
        self.window.dispatch_event(WindowEvent::PointerReleased { position: end, button });
        self.window.dispatch_event(WindowEvent::PointerExited);
    }

    /// A key, pressed and released. A special key or the text it types.
    pub fn key(&self, key: impl Into<slint::SharedString>) {
        let text = key.into();
        self.window.dispatch_event(WindowEvent::KeyPressed { text: text.clone() });
        self.window.dispatch_event(WindowEvent::KeyReleased { text });
    }
}
