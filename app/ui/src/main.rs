//! qiyou: the touch app, with the host of a running daemon or one in its own process.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{CommandFactory, Parser};
use host::{Host, HostConfig};
use qiyou::screens::{Game, Page};
use qiyou::{App, AppError, DesktopClipboard, Devices, MOST_PIXELS, Store, connect};
use slint::ComponentHandle;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;

/// Play board games with someone nearby, online, or against the computer.
///
/// Writes logs to standard error; set QIYOU_LOG=debug for more.
#[derive(Parser)]
#[command(name = "qiyou", version)]
struct Arguments {
    /// Directory of identity, friends and matches if no daemon is running [default: the user's data directory]
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Path of a daemon's control socket [default: $XDG_RUNTIME_DIR/qiyou/control.sock if a daemon listens there]
    #[arg(long)]
    socket: Option<PathBuf>,
    /// Bluetooth adapter, such as hci1, if no daemon is running [default: the first]
    #[arg(long)]
    adapter: Option<String>,
    /// Leave Bluetooth off if no daemon is running
    #[arg(long, conflicts_with = "adapter")]
    no_bluetooth: bool,
    /// Do not advertise or discover devices in the local network if no daemon is running
    #[arg(long)]
    no_lan: bool,
    /// The TCP port on the local network if no daemon is running, for a firewall [default: any free port]
    #[arg(long, conflicts_with = "no_lan")]
    lan_port: Option<u16>,
    /// Do not serve guests with a browser if no daemon is running
    #[cfg(feature = "guest")]
    #[arg(long)]
    no_guests: bool,
    /// TCP port for guests if no daemon is running, for a firewall rule [default: any free port]
    #[cfg(feature = "guest")]
    #[arg(long, conflicts_with = "no_guests")]
    guest_port: Option<u16>,
    /// Do not sign in to the account if no daemon is running
    #[cfg(feature = "online")]
    #[arg(long)]
    no_online: bool,
    /// Open the page for a new match of this game
    #[arg(long, value_name = "GAME", value_enum)]
    new_game: Option<Opened>,
    /// Open the page of people nearby
    #[arg(long, conflicts_with = "new_game")]
    nearby: bool,
    /// Import this file and open it for review: .sgf, .pgn, .psq, .qiyou, .lights or .fen
    #[arg(conflicts_with_all = ["new_game", "nearby"])]
    file: Option<PathBuf>,
    /// Draw the last position of the file as this PNG file, and exit: for file managers
    #[arg(long, value_name = "PNG", requires = "file")]
    thumbnail: Option<PathBuf>,
    /// Longer edge of the thumbnail, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 256, requires = "thumbnail",
        value_parser = clap::value_parser!(u32).range(16..=i64::from(MOST_PIXELS)))]
    thumbnail_size: u32,
    /// Print the time to the first frame and the memory in use, and exit
    #[arg(long)]
    bench_start: bool,
    /// Play GAME (gomoku, go, xiangqi or liuzhou) against level 10 on a fresh host for 20 seconds, print the peak memory
    /// use, and exit
    #[arg(long, value_name = "GAME", conflicts_with = "bench_start")]
    bench_think: Option<String>,
}

/// Games, by the names that qiyouctl uses.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Opened {
    Gomoku,
    Liuzhou,
    Go,
    Xiangqi,
    LightsOut,
}

impl Opened {
    fn game(self) -> Game {
        match self {
            Self::Gomoku => Game::Gomoku,
            Self::Liuzhou => Game::Liuzhou,
            Self::Go => Game::Go,
            Self::Xiangqi => Game::Xiangqi,
            Self::LightsOut => Game::LightsOut,
        }
    }
}

/// The id by which the desktop knows the app: the name of its desktop entry without the extension.
const DESKTOP_ID: &str = "qiyou";

fn main() -> ExitCode {
    let began = Instant::now();
    if let Some(ended) = pages::written(Arguments::command) {
        return ended;
    }
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_env("QIYOU_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,gilrs=off,gilrs_core=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    explain_missing_library();
    let done = match &arguments {
        Arguments { thumbnail: Some(to), file: Some(file), thumbnail_size, .. } => {
            draw_thumbnail(file, to, *thumbnail_size)
        }
        _ => run(arguments, began),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("qiyou: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A file manager replaces a generic icon by the picture, and keeps the icon if this fails.
fn draw_thumbnail(file: &Path, to: &Path, pixels: u32) -> Result<(), String> {
    let png = qiyou::thumbnail(file, pixels).map_err(|error| format!("{}: {error}", file.display()))?;
    std::fs::write(to, png).map_err(|error| format!("{}: {error}", to.display()))
}

fn run(arguments: Arguments, began: Instant) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("no threads: {error}"))?;
    let bench = arguments.bench_start;
    let think = arguments.bench_think.clone();
    let (new_game, nearby, file) = (arguments.new_game, arguments.nearby, arguments.file.clone());
    // The window opens before the host is ready: requests are queued in the connection.
    let (goodbye, leaving) = oneshot::channel();
    let (left, gone) = oneshot::channel();
    let (client, from_host) = {
        let _inside = runtime.enter();
        connect(reach_host(arguments, leaving, left))
    };
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .unwrap_or_default();
    let app = App::new(client, from_host, Store::of_the_user(), &locale).map_err(explain)?;
    // The desktop groups the app's windows and notifications under this id.
    slint::set_xdg_app_id(DESKTOP_ID).map_err(|error| explain(error.into()))?;
    if let Some(opened) = new_game {
        app.new_game(opened.game());
    } else if nearby {
        app.go(Page::Nearby);
    } else if let Some(file) = file {
        app.look_at_file(&file);
    }
    app.give_senses(Devices::of_this_machine());
    app.give_clipboard(DesktopClipboard::new());
    if let Some(folder) = qiyou::manual_pictures() {
        app.show_manual_pictures(folder);
    }
    let window = app.window().as_weak();
    senses::pads::listen(move |press| {
        window.upgrade_in_event_loop(move |window| qiyou::press(&window, press)).is_ok()
    });
    if bench {
        measure_start(&app, began);
    }
    if let Some(game) = think {
        measure_thinking(&app, &game)?;
    }
    let ended = app.run().map_err(explain);
    drop(app);
    goodbye.send(()).ok();
    wait_for(&runtime, gone);
    ended
}

/// Time limit for the goodbye to peers, so that closing the window does not seem to hang.
const LONGEST_GOODBYE: Duration = Duration::from_secs(2);

fn wait_for(runtime: &Runtime, gone: oneshot::Receiver<()>) {
    runtime.block_on(async {
        // A timeout and a dropped sender both mean that there is nothing to wait for.
        let _ = tokio::time::timeout(LONGEST_GOODBYE, gone).await;
    });
}

/// A stream to a host, either a socket or in memory.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to a daemon's socket if one listens, otherwise to a host in this process. Such a host says goodbye when
/// `leaving` fires, and then drops `left`.
async fn reach_host(
    arguments: Arguments,
    leaving: oneshot::Receiver<()>,
    left: oneshot::Sender<()>,
) -> Result<Box<dyn Stream>, String> {
    let chosen = arguments.socket.is_some();
    if (arguments.bench_start || arguments.bench_think.is_some()) && !chosen {
        return fresh_host(leaving, left);
    }
    if let Some(socket) = arguments.socket.or_else(link::control_socket) {
        match UnixStream::connect(&socket).await {
            Ok(stream) => return Ok(Box::new(stream)),
            Err(error) if chosen => return Err(format!("{}: {error}", socket.display())),
            Err(_) => {}
        }
    }
    let data_dir = match arguments.data_dir {
        Some(given) => given,
        None => directories::ProjectDirs::from("", "", "qiyou")
            .ok_or("no home directory: say --data-dir")?
            .data_dir()
            .to_owned(),
    };
    let mut config = HostConfig::new(data_dir);
    config.ends_with_app = true;
    config.kernel_timer = true;
    config.power = Some(host::Bus::Usual);
    if !arguments.no_bluetooth {
        config = config.with_bluetooth(arguments.adapter);
    }
    if !arguments.no_lan {
        let port = arguments.lan_port.unwrap_or(0);
        config = config.with_lan(link::lan::LanConfig { port, ..Default::default() });
    }
    #[cfg(feature = "guest")]
    if !arguments.no_guests {
        config = config.with_guests(host::GuestConfig {
            port: arguments.guest_port.unwrap_or(0),
            network_manager: Some(host::Bus::Usual),
            ..host::GuestConfig::default()
        });
    }
    #[cfg(feature = "online")]
    if !arguments.no_online {
        config.secrets = Some(host::Bus::Usual);
        config = config.with_online(link::online::OnlineConfig::default());
    }
    let host = Host::start(config).map_err(|error| error.to_string())?;
    let stream = host.client();
    tokio::spawn(async move {
        let _ = leaving.await;
        host.stop().await;
        drop(left);
    });
    Ok(Box::new(stream))
}

/// A host without saves and radios, beside the user's own, so that measurements are comparable between machines.
fn fresh_host(leaving: oneshot::Receiver<()>, left: oneshot::Sender<()>) -> Result<Box<dyn Stream>, String> {
    let data_dir = std::env::temp_dir().join(format!("qiyou-bench-{}", std::process::id()));
    let host = Host::start(HostConfig::new(&data_dir)).map_err(|error| error.to_string())?;
    let stream = host.client();
    tokio::spawn(async move {
        let _ = leaving.await;
        host.stop().await;
        if let Err(error) = std::fs::remove_dir_all(&data_dir) {
            tracing::warn!(%error, folder = %data_dir.display(), "what was measured with is left over");
        }
        drop(left);
    });
    Ok(Box::new(stream))
}

/// Window system errors in words for users.
fn explain(error: AppError) -> String {
    let screen = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if screen {
        format!("the window could not be opened: {error}")
    } else {
        "there is no screen here: neither WAYLAND_DISPLAY nor DISPLAY is set. `make play` starts a virtual one.".into()
    }
}

/// On X11 winit loads libxkbcommon-x11 on demand, and panics if it is missing: prints a hint for users instead.
fn explain_missing_library() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.contains("xkbcommon") {
            eprintln!("qiyou: a library is missing: {text} On Debian: apt install libxkbcommon-x11-0");
            std::process::exit(1);
        }
        otherwise(panic);
    }));
}

/// For `make bench`: prints the time from the program's start to the first frame, and the memory taken one second later, after
/// the host has replied too.
fn measure_start(app: &App, began: Instant) {
    app.after_first_frame(move || {
        println!("first frame: {} ms", began.elapsed().as_millis());
        slint::Timer::single_shot(Duration::from_secs(1), || {
            match resident_kib() {
                Some(kib) => println!("memory in use (RSS): {:.1} MiB", kib as f64 / 1024.0),
                None => println!("memory in use (RSS): unknown on this system"),
            }
            // Fails only without an event loop, but this runs in it.
            slint::quit_event_loop().ok();
        });
    });
}

/// For `make bench`: prints the peak memory while a bot of the highest level thinks, sampled ten times per second.
fn measure_thinking(app: &App, game: &str) -> Result<(), String> {
    let (game, options): (_, &[_]) = match game {
        // A board size without an opening book.
        "gomoku" => (Game::Gomoku, &[("size", "19")]),
        "go" => (Game::Go, &[]),
        "xiangqi" => (Game::Xiangqi, &[]),
        "liuzhou" => (Game::Liuzhou, &[]),
        other => return Err(format!("the device does not play {other}")),
    };
    app.challenge(game, 10, options);
    let most = std::rc::Rc::new(std::cell::Cell::new(0));
    let looking = slint::Timer::default();
    let seen = most.clone();
    looking.start(slint::TimerMode::Repeated, Duration::from_millis(100), move || {
        seen.set(seen.get().max(resident_kib().unwrap_or(0)));
    });
    slint::Timer::single_shot(Duration::from_secs(20), move || {
        looking.stop();
        println!("most memory in use (RSS) while level 10 thinks: {:.1} MiB", most.get() as f64 / 1024.0);
        // Fails only without an event loop, but this runs in it.
        slint::quit_event_loop().ok();
    });
    Ok(())
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
