//! qiyoud: the host as a daemon of one user, behind a Unix socket.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use host::{Bus, Host, HostConfig};
use link::lan::LanConfig;
use listenfd::ListenFd;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};
use tracing_subscriber::EnvFilter;

/// Run the host that plays board games with nearby devices and keeps the matches. Control it with qiyouctl or the app.
///
/// Writes logs to standard error; set QIYOU_LOG=debug for more. Exits with 0 after an orderly stop, and with 1 if it could
/// not start.
#[derive(Parser)]
#[command(name = "qiyoud", version)]
struct Arguments {
    /// Directory of identity, friends and matches [default: the user's data directory]
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Path of the control socket [default: $XDG_RUNTIME_DIR/qiyou/control.sock]
    #[arg(long)]
    socket: Option<PathBuf>,
    /// Set the name that others see; it is kept
    #[arg(long)]
    name: Option<String>,
    /// Bluetooth adapter, such as hci1 [default: as set by `qiyouctl adapter`, or the first]
    #[arg(long)]
    adapter: Option<String>,
    /// Do not use Bluetooth
    #[arg(long, conflicts_with = "adapter")]
    no_bluetooth: bool,
    /// Do not send desktop notifications
    #[arg(long)]
    no_notifications: bool,
    /// Neither be found nor look for others on the local network
    #[arg(long)]
    no_lan: bool,
    /// The TCP port on the local network, for a firewall [default: any free port]
    #[arg(long, conflicts_with = "no_lan")]
    lan_port: Option<u16>,
    /// Do not serve guests with a browser
    #[cfg(feature = "guest")]
    #[arg(long)]
    no_guests: bool,
    /// TCP port for guests while a code is active, for a firewall rule [default: any free port]
    #[cfg(feature = "guest")]
    #[arg(long, conflicts_with = "no_guests")]
    guest_port: Option<u16>,
    /// Accept guests from browsers on this device over loopback, for tests
    #[cfg(feature = "guest")]
    #[arg(long, conflicts_with = "no_guests", hide = true)]
    guest_loopback: bool,
    /// Do not sign in to the account; no online play
    #[cfg(feature = "online")]
    #[arg(long)]
    no_online: bool,
    /// PEM file of certificate authorities to trust in addition to the system's, for a private server
    #[cfg(feature = "online")]
    #[arg(long, conflicts_with = "no_online")]
    online_authorities: Option<PathBuf>,
    /// Maximum thinking time of a bot per move, in milliseconds
    #[arg(long)]
    bot_time_ms: Option<u64>,
    /// Let bots play for people against others, who are not told, for tests
    #[arg(long, hide = true)]
    stand_ins: bool,
}

fn main() -> ExitCode {
    if let Some(ended) = pages::written(Arguments::command) {
        return ended;
    }
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_env("QIYOU_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    // One worker thread: every further one is woken for each event without finding work. Long computations have threads of
    // their own.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(error) => Err(format!("no threads: {error}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), String> {
    let data_dir = match arguments.data_dir {
        Some(given) => given,
        None => directories::ProjectDirs::from("", "", "qiyou")
            .ok_or("no home directory: say --data-dir")?
            .data_dir()
            .to_owned(),
    };
    // The socket is bound before the data directory is opened, so that a second daemon reports the running one, not the
    // locked directory.
    let (listener, socket) = if let Some(listener) = given_socket()? {
        (listener, None)
    } else {
        let socket = arguments.socket.or_else(link::control_socket);
        let socket = socket.ok_or("XDG_RUNTIME_DIR is not set: say --socket")?;
        (listen(&socket).await?, Some(socket))
    };

    let mut config = HostConfig::new(data_dir);
    config.name = arguments.name;
    if let Some(milliseconds) = arguments.bot_time_ms {
        config.bot_time = Duration::from_millis(milliseconds);
    }
    config.stand_ins = arguments.stand_ins;
    config.notifications = (!arguments.no_notifications).then_some(Bus::Usual);
    config.app = Some("qiyou".into());
    config.sleep = Some(Bus::Usual);
    config.power = Some(Bus::Usual);
    config.kernel_timer = true;
    if !arguments.no_bluetooth {
        config = config.with_bluetooth(arguments.adapter);
    }
    if !arguments.no_lan {
        config = config.with_lan(LanConfig { port: arguments.lan_port.unwrap_or(0), ..LanConfig::default() });
    }
    #[cfg(feature = "guest")]
    if !arguments.no_guests {
        let port = arguments.guest_port.unwrap_or(0);
        config = config.with_guests(host::GuestConfig {
            port,
            loopback: arguments.guest_loopback,
            network_manager: Some(host::Bus::Usual),
            ..host::GuestConfig::default()
        });
    }
    #[cfg(feature = "online")]
    if !arguments.no_online {
        config.secrets = Some(Bus::Usual);
        config = config.with_online(link::online::OnlineConfig { authorities: arguments.online_authorities });
    }
    let failed = |error: std::io::Error| format!("signals cannot be received: {error}");
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).map_err(failed)?, signal(SignalKind::interrupt()).map_err(failed)?);
    let mut host = Host::start(config).map_err(|error| error.to_string())?;
    tokio::spawn(host.connector().serve(listener));
    info!(?socket, "clients are welcome");
    tokio::select! {
        _ = terminate.recv() => host.stop().await,
        _ = interrupt.recv() => host.stop().await,
        () = host.ended() => {}
    }
    if let Some(socket) = socket {
        // The socket may already be gone, with its directory.
        let _ = fs::remove_file(&socket);
    }
    Ok(())
}

/// The socket that systemd passes for socket activation (sd_listen_fds(3)), or `None`. systemd keeps owning it.
fn given_socket() -> Result<Option<UnixListener>, String> {
    let failed = |error: std::io::Error| format!("the socket of systemd cannot be used: {error}");
    let Some(listener) = ListenFd::from_env().take_unix_listener(0).map_err(failed)? else { return Ok(None) };
    listener.set_nonblocking(true).map_err(failed)?;
    info!("clients come by the socket of systemd");
    UnixListener::from_std(listener).map(Some).map_err(failed)
}

/// Binds the socket for this user only. Replaces the stale socket of a killed daemon; fails if a daemon answers on it.
async fn listen(path: &Path) -> Result<UnixListener, String> {
    let said = |what: &str| {
        let what = what.to_owned();
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {what}: {error}")
    };
    if let Some(directory) = path.parent().filter(|parent| *parent != Path::new("")) {
        if !directory.exists() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)
                .map_err(said("its directory cannot be made"))?;
        }
        if directory.file_name().is_some_and(|name| name == link::CONTROL_DIRECTORY) {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
                .map_err(said("its directory cannot be closed to others"))?;
        }
    }
    if path.exists() {
        match UnixStream::connect(path).await {
            Ok(_) => return Err(format!("qiyoud runs already at {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                fs::remove_file(path).map_err(said("the socket of an earlier daemon cannot be removed"))?;
            }
            Err(error) => return Err(said("something else is in the place of the socket")(error)),
        }
    }
    let listener = UnixListener::bind(path).map_err(said("cannot listen"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(said("cannot be closed to others"))?;
    Ok(listener)
}
