//! The HTTP and WebSocket server in the local network, between pages and the host.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use link::lan;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tracing::{debug, info};

use crate::admission::{Admission, Admitted};
use crate::outbox::{self, Next, Outbox, Waiting};
use crate::{ConnectionId, Hello, MESSAGE_BYTES, Message, Rate, Why, files, form, gate};

/// Maximum number of TCP connections, in total and (below) per address: a browser loads the page's files over up to six, and
/// a page keeps one. Those without a hello give way to new ones; how many may stay after it is up to [`Codes`](crate::Codes).
const SOCKETS: usize = 128;
const SOCKETS_OF_ONE: usize = 24;

/// Maximum size of a request's line and headers, in bytes; hyper accepts no smaller limit.
const HEADER_BYTES: usize = 8_192;

/// Rate limit per page: this many messages at once, then (below) per second.
const AT_ONCE: u32 = 20;
const A_SECOND: f64 = 10.0;

/// Maximum number of messages of one page that the host is processing.
const UNDER_WAY: usize = 8;

/// Maximum number of bytes buffered for one page: the longest message is a file.
const WRITE_BYTES: usize = 2 << 20;

/// Size of the kernel's send buffer of a connection, in bytes: a page that does not read takes no more of the system's memory, and is
/// found to be slow soon. Without a limit it is up to 4 MiB (`tcp_wmem`). The page's files are 120 KB together.
const SEND_BUFFER: usize = 64 << 10;

/// Where and for whom a server listens. The default: any free port, without browsers of this device.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerConfig {
    /// TCP port; 0: any free port.
    pub port: u16,
    /// Whether browsers of this device are accepted too.
    pub loopback: bool,
    /// Time limits.
    pub times: Times,
}

/// Time limits for connections, each of which holds a place until then. The default is what `docs/guest.md` specifies; tests
/// have shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// For the headers of a request, from when the connection is ready for it.
    pub headers: Duration,
    /// For a TCP connection to become a WebSocket, however many files it fetches: a browser loads the page within a second.
    pub fetch: Duration,
    /// For the hello, from the upgrade.
    pub hello: Duration,
    /// A page that sends nothing for this time is gone: pages ping every ten seconds.
    pub silence: Duration,
    /// For a page to take a message; then the connection is closed.
    pub send: Duration,
    /// For a page to take the last messages before the connection is closed.
    pub farewell: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            headers: Duration::from_secs(5),
            fetch: Duration::from_secs(30),
            hello: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            send: Duration::from_secs(20),
            farewell: Duration::from_secs(2),
        }
    }
}

/// What the server reports to the host.
pub enum News {
    /// A page has sent its hello.
    Hello {
        /// Its connection.
        connection: ConnectionId,
        /// Its address.
        from: IpAddr,
        /// The hello.
        hello: Hello,
        /// The page's send queue. Dropping it closes the connection.
        outbox: Outbox,
    },
    /// A page has sent a message after its hello.
    Asked {
        /// Its connection.
        connection: ConnectionId,
        /// The message.
        message: Message,
        /// Keep it until the message is processed: the number of messages in processing is limited.
        permit: Permit,
    },
    /// A page's connection has ended. Reported once, and only after a hello.
    Gone {
        /// Its connection.
        connection: ConnectionId,
    },
}

/// Counts one message as in processing until dropped.
pub struct Permit(#[expect(dead_code, reason = "dropped at the end")] OwnedSemaphorePermit);

/// Callback for [`News`].
type Tell = Arc<dyn Fn(News) + Send + Sync>;

/// A server, which listens until it is dropped.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
    /// Dropping it stops the server.
    _stop: watch::Sender<()>,
}

struct Shared {
    /// `ADDRESS:PORT` of every URL that was shown as a code.
    authorities: Mutex<Vec<String>>,
    last_connection: AtomicU64,
    sockets: Admission,
    loopback: bool,
    times: Times,
    tell: Tell,
}

impl Server {
    /// Listens. Runs on `tasks` until the server is dropped, and a moment longer for the last messages.
    pub fn start(config: ServerConfig, tasks: &mut JoinSet<()>, tell: Tell) -> std::io::Result<Self> {
        let ServerConfig { port, loopback, times } = config;
        let listener = lan::bind(port)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            authorities: Mutex::default(),
            last_connection: AtomicU64::new(0),
            sockets: Admission::new(SOCKETS, SOCKETS_OF_ONE),
            loopback,
            times,
            tell,
        });
        let (stop, stopped) = watch::channel(());
        info!(port, "guests may come");
        tasks.spawn(listen(listener, shared.clone(), stopped));
        Ok(Self { port, shared, _stop: stop })
    }

    /// The port on which the server listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The addresses of this device now, best first, in the form of a URL's authority: `192.168.1.5:41234`. From now on
    /// requests with one of them as `Host` are answered.
    pub fn authorities(&self) -> Vec<String> {
        let now: Vec<String> = lan::own_addresses(self.shared.loopback)
            .into_iter()
            .map(|ip| SocketAddr::new(ip, self.port).to_string())
            .collect();
        let mut known = self.shared.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        // Addresses change; an open page keeps using the one that its code had.
        const KNOWN: usize = 64;
        for one in &now {
            if !known.contains(one) {
                if known.len() == KNOWN {
                    known.remove(0);
                }
                known.push(one.clone());
            }
        }
        now
    }
}

impl Shared {
    fn is_known(&self, authority: &str) -> bool {
        self.authorities.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|one| one == authority)
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    /// Pause after a temporary error, such as too many open files: accepting again at once would be a busy loop.
    const PAUSE: Duration = Duration::from_millis(200);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    let from = from.ip().to_canonical();
                    if !lan::is_neighbour(from) {
                        debug!(%from, "somebody outside the local network was refused");
                        continue;
                    }
                    let Some(admitted) = shared.sockets.admit(from) else { continue };
                    connections.spawn(serve(stream, from, shared.clone(), admitted));
                }
                Err(error) => {
                    debug!(%error, "a guest could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    info!("no guest is expected any more");
    let last_words = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(shared.times.farewell, last_words).await;
}

/// Serves one TCP connection until it ends, or gives way to another before its hello.
async fn serve(stream: TcpStream, from: IpAddr, shared: Arc<Shared>, admitted: Admitted) {
    tokio::select! {
        () = admitted.gives_way() => debug!(%from, "a connection without a hello gives way"),
        () = converse(stream, from, &shared, &admitted) => {}
    }
}

/// Requests, possibly followed by a WebSocket.
async fn converse(stream: TcpStream, from: IpAddr, shared: &Shared, admitted: &Admitted) {
    // Messages are small, and a person waits for each.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
    let upgrade: Arc<Mutex<Option<OnUpgrade>>> = Arc::default();
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(request, shared, &upgrade);
        async move { Ok::<_, Infallible>(response) }
    });
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.times.headers)
        .max_buf_size(HEADER_BYTES)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    match timeout(shared.times.fetch, http).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return debug!(%from, %error, "a request failed"),
        Err(_) => return,
    }
    let taken = upgrade.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(upgrade) = taken else { return };
    let upgraded = match upgrade.await {
        Ok(upgraded) => upgraded,
        Err(error) => return debug!(%from, %error, "a WebSocket did not come to be"),
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES))
        .read_buffer_size(MESSAGE_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BYTES);
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    let page = Page {
        socket,
        from,
        connection: shared.last_connection.fetch_add(1, Ordering::Relaxed) + 1,
        rate: Rate::new(AT_ONCE, A_SECOND),
        times: shared.times,
        tell: shared.tell.clone(),
    };
    page.talk(admitted).await;
}

/// The response to one request.
fn answer(
    mut request: Request<Incoming>,
    shared: &Shared,
    upgrade: &Mutex<Option<OnUpgrade>>,
) -> Response<Full<Bytes>> {
    let headers = request.headers();
    let Some(host) = only(headers, header::HOST).filter(|host| shared.is_known(host)) else {
        return empty(StatusCode::FORBIDDEN);
    };
    if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
        return empty(StatusCode::FORBIDDEN);
    }
    if request.method() != Method::GET {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    let policy = format!(
        "default-src 'self'; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = match request.uri().path() {
        "/play" => {
            let origin = only(headers, header::ORIGIN);
            if origin.is_none_or(|origin| origin.strip_prefix("http://") != Some(host)) {
                return empty(StatusCode::FORBIDDEN);
            }
            let Some(accept) = accept_key(headers) else { return empty(StatusCode::UPGRADE_REQUIRED) };
            let on_upgrade = hyper::upgrade::on(&mut request);
            *upgrade.lock().unwrap_or_else(PoisonError::into_inner) = Some(on_upgrade);
            let mut response = empty(StatusCode::SWITCHING_PROTOCOLS);
            let headers = response.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
            return response;
        }
        "/" => file("index.html", headers),
        path => file(&path[1..], headers),
    };
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

/// The value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).into_iter();
    let (value, more) = (all.next()?, all.next());
    if more.is_some() { None } else { value.to_str().ok() }
}

/// Whether a comma-separated header contains this word.
fn names(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let all = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

/// The Sec-WebSocket-Accept value for an opening handshake (RFC 6455, section 4.2); `None` if it is not one.
fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = names(headers, header::CONNECTION, "upgrade")
        && names(headers, header::UPGRADE, "websocket")
        && only(headers, header::SEC_WEBSOCKET_VERSION) == Some("13");
    let key = only(headers, header::SEC_WEBSOCKET_KEY).filter(|key| asks && key.len() == 24)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn file(name: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
    let all = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let gzip = all.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';');
        let refused =
            |rest: &str| matches!(rest.trim().strip_prefix("q="), Some("0" | "0.0" | "0.00" | "0.000"));
        parts.next().is_some_and(|coding| coding.trim().eq_ignore_ascii_case("gzip")) && !parts.any(refused)
    });
    let Some(file) = files::find(name, gzip) else { return empty(StatusCode::NOT_FOUND) };
    let is_same = !file.tag.is_empty()
        && only(headers, header::IF_NONE_MATCH)
            .is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == file.tag));
    let mut response =
        if is_same { empty(StatusCode::NOT_MODIFIED) } else { Response::new(Full::new(file.content)) };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !file.tag.is_empty() {
        headers.insert(header::ETAG, HeaderValue::from_static(file.tag));
    }
    if file.is_gzip && !is_same {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// One page's WebSocket.
struct Page {
    socket: WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>,
    from: IpAddr,
    connection: ConnectionId,
    rate: Rate,
    times: Times,
    tell: Tell,
}

/// How a page's connection ends.
enum End {
    /// By the host, with a last message.
    Closed(Why, Duration),
    /// The connection is lost.
    Gone,
}

impl Page {
    async fn talk(mut self, admitted: &Admitted) {
        let hello = match timeout(self.times.hello, self.hear()).await {
            Ok(Ok(Message::Hello(hello))) => hello,
            Ok(Ok(_)) => return self.close(Why::BadMessage, Duration::ZERO).await,
            Ok(Err(End::Closed(why, wait))) => return self.close(why, wait).await,
            Ok(Err(End::Gone)) => return,
            Err(_) => return self.close(Why::NoHello, Duration::ZERO).await,
        };
        if !admitted.stay(true) {
            return;
        }
        let (outbox, waiting) = outbox::pair();
        let (connection, from) = (self.connection, self.from);
        (self.tell)(News::Hello { connection, from, hello, outbox });
        let end = self.converse(waiting).await;
        // Reported before the last messages are sent, so that the seat is free at once for the same browser.
        (self.tell)(News::Gone { connection });
        if let End::Closed(why, wait) = end {
            // Its last messages keep nobody out.
            admitted.stay(false);
            self.close(why, wait).await;
        }
    }

    async fn converse(&mut self, mut waiting: Waiting) -> End {
        let under_way = Arc::new(Semaphore::new(UNDER_WAY));
        let mut silent = Instant::now() + self.times.silence;
        loop {
            tokio::select! {
                next = waiting.next() => match next {
                    Next::Text(text) => {
                        if !self.send(&text).await {
                            return End::Gone;
                        }
                    }
                    Next::Close(why, wait) => return End::Closed(why, wait),
                },
                heard = self.hear() => {
                    silent = Instant::now() + self.times.silence;
                    match heard {
                        Err(end) => return end,
                        Ok(Message::Ping(id)) => {
                            if !self.send(&form::pong(id.number())).await {
                                return End::Gone;
                            }
                        }
                        Ok(message) => {
                            let Ok(permit) = under_way.clone().acquire_owned().await else { return End::Gone };
                            let connection = self.connection;
                            (self.tell)(News::Asked { connection, message, permit: Permit(permit) });
                        }
                    }
                }
                () = tokio::time::sleep_until(silent) => return End::Gone,
            }
        }
    }

    /// The next message. Cancel safe: dropping the future loses nothing.
    async fn hear(&mut self) -> Result<Message, End> {
        loop {
            let frame = match self.socket.next().await {
                None => return Err(End::Gone),
                Some(Ok(frame)) => frame,
                Some(Err(Error::Capacity(_) | Error::Utf8(_))) => {
                    return Err(End::Closed(Why::BadMessage, Duration::ZERO));
                }
                Some(Err(_)) => return Err(End::Gone),
            };
            if !self.rate.may(Instant::now().into_std()) {
                return Err(End::Closed(Why::TooFast, Duration::ZERO));
            }
            match frame {
                Frame::Text(text) => {
                    return gate::read(&text).map_err(|error| {
                        debug!(from = %self.from, %error, "a page says what it cannot");
                        End::Closed(Why::BadMessage, Duration::ZERO)
                    });
                }
                Frame::Close(_) => return Err(End::Gone),
                // The library answers these.
                Frame::Ping(_) | Frame::Pong(_) => {}
                Frame::Binary(_) | Frame::Frame(_) => {
                    return Err(End::Closed(Why::BadMessage, Duration::ZERO));
                }
            }
        }
    }

    /// Sends a message; false if the page does not read it in time.
    async fn send(&mut self, text: &str) -> bool {
        matches!(timeout(self.times.send, self.socket.send(Frame::text(text))).await, Ok(Ok(())))
    }

    async fn close(&mut self, why: Why, wait: Duration) {
        let farewell = async {
            let last = Frame::text(form::closed(why, wait));
            let frame = CloseFrame { code: CloseCode::Normal, reason: why.word().into() };
            if self.socket.send(last).await.is_err()
                || self.socket.send(Frame::Close(Some(frame))).await.is_err()
            {
                return;
            }
            // Unread input is drained first: closing a socket with unread bytes sends a reset, which would discard the last
            // messages.
            while let Some(Ok(_)) = self.socket.next().await {}
        };
        let _ = timeout(self.times.farewell, farewell).await;
    }
}
