//! The app without a display, for tests and for pictures of every page.
//!
//! [`Stage`] is a Slint platform for the calling thread: windows draw into memory, time advances only on request, and input
//! comes from the caller. There is one per thread, because a Slint platform belongs to its thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use slint::platform::software_renderer::{MinimalSoftwareWindow, RepaintBufferType};
use slint::platform::{Clipboard, EventLoopProxy, Platform, PointerEventButton, WindowAdapter, WindowEvent};
use slint::{EventLoopError, LogicalPosition, PhysicalSize, PlatformError, Rgb8Pixel};

/// Timeout of [`Stage::until`]. Long enough for a loaded machine; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_mins(2);

/// Closures queued from other threads: wake-ups of local tasks.
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
    copied: RefCell<Option<String>>,
    /// Slint keeps the first event loop proxy for the whole process, but a test process has one platform per thread. So no
    /// proxy is returned before the platform is set; afterwards each task uses the one of its own thread.
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

    fn set_clipboard_text(&self, text: &str, clipboard: Clipboard) {
        if clipboard == Clipboard::DefaultClipboard {
            *self.shared.copied.borrow_mut() = Some(text.to_owned());
        }
    }
}

/// Shares drawn sprites between all apps of this process. Tests start about a thousand apps, which would spend most of their
/// time on the same sprites.
pub fn share_pictures() {
    crate::art::share();
}

/// The windows, clock and input of a thread.
pub struct Stage {
    shared: Rc<Shared>,
    queue: Arc<Queue>,
}

/// A screenshot.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// Width in device pixels.
    pub width: u32,
    /// Height in device pixels.
    pub height: u32,
    /// Pixels as red, green, blue; rows from the top.
    pub pixels: Vec<Rgb8Pixel>,
}

impl Picture {
    /// The pixels as bytes, three per pixel, as in PNG files.
    pub fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flat_map(|pixel| [pixel.r, pixel.g, pixel.b]).collect()
    }
}

/// A window on the stage.
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
    /// If the thread has a Slint platform already.
    pub fn new() -> Self {
        let shared = Rc::new(Shared::default());
        let queue = Arc::new(Queue::default());
        let platform = Headless { shared: shared.clone(), queue: queue.clone() };
        slint::platform::set_platform(Box::new(platform)).expect("one stage a thread");
        shared.set.set(true);
        Self { shared, queue }
    }

    /// The window created last, at this size in device pixels.
    ///
    /// # Panics
    /// If no window was created yet.
    pub fn scene(&self, width: u32, height: u32, scale: f32) -> Scene {
        let window = self.shared.windows.borrow().last().expect("a window was made").clone();
        let scene =
            Scene { window, shown: RefCell::default(), size: Cell::default(), repainted: Cell::new(0) };
        scene.resize(width, height, scale);
        scene
    }

    /// Advances the time; runs local tasks, change handlers and timers.
    pub fn pass(&self, time: Duration) {
        self.shared.now.set(self.shared.now.get() + time);
        loop {
            let next = self.queue.waiting.lock().expect("no holder panics").pop_front();
            let Some(event) = next else { break };
            event();
        }
        slint::platform::update_timers_and_animations();
    }

    /// Advances the time in small steps until the condition holds. Returns false if it does not within two minutes.
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

    /// Takes the text that was copied last, since the call before.
    pub fn take_copied(&self) -> Option<String> {
        self.shared.copied.take()
    }

    /// Advances the time until all animations and change handlers have ended.
    pub fn settle(&self, scene: &Scene) {
        // Change handlers may cause further changes, whose layout happens when drawing.
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
    /// Resizes the window, as when a device is rotated.
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

    /// Number of device pixels painted since the last call: the cost of a change.
    pub fn take_repainted(&self) -> u32 {
        self.repainted.replace(0)
    }

    /// The present content of the window.
    pub fn picture(&self) -> Picture {
        let size = self.size.get();
        Picture { width: size.width, height: size.height, pixels: self.shown.borrow().clone() }
    }

    /// The content if everything were redrawn: it differs from [`Scene::picture`] if a change was not drawn.
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

    /// A tap at this place, in logical pixels.
    pub fn tap(&self, x: f32, y: f32) {
        let position = LogicalPosition::new(x, y);
        let button = PointerEventButton::Left;
        self.window.dispatch_event(WindowEvent::PointerMoved { position });
        self.window.dispatch_event(WindowEvent::PointerPressed { position, button });
        self.window.dispatch_event(WindowEvent::PointerReleased { position, button });
        self.window.dispatch_event(WindowEvent::PointerExited);
    }

    /// A touch that goes down at one place and up at another, in logical pixels.
    pub fn slide(&self, from: (f32, f32), to: (f32, f32)) {
        let button = PointerEventButton::Left;
        let (start, end) = (LogicalPosition::new(from.0, from.1), LogicalPosition::new(to.0, to.1));
        self.window.dispatch_event(WindowEvent::PointerMoved { position: start });
        self.window.dispatch_event(WindowEvent::PointerPressed { position: start, button });
        self.window.dispatch_event(WindowEvent::PointerMoved { position: end });
        self.window.dispatch_event(WindowEvent::PointerReleased { position: end, button });
        self.window.dispatch_event(WindowEvent::PointerExited);
    }

    /// A key press and release: a special key, or the text it types.
    pub fn key(&self, key: impl Into<slint::SharedString>) {
        let text = key.into();
        self.window.dispatch_event(WindowEvent::KeyPressed { text: text.clone() });
        self.window.dispatch_event(WindowEvent::KeyReleased { text });
    }
}
