//! A guest's page without a browser: written from `docs/guest.md`, without the host's types.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A local host answers in milliseconds; a busy machine takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A code, parsed from its URL.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) authority: String,
    pub(crate) token: String,
}

impl Code {
    pub(crate) fn read(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a URL");
        let (authority, token) = rest.split_once("/#").expect("a token in the fragment");
        Self { authority: authority.into(), token: token.into() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.authority.parse().expect("an address and a port")
    }
}

/// One connection of a page.
pub(crate) struct Page {
    socket: WebSocketStream<TcpStream>,
    id: u64,
    /// The latest room.
    pub(crate) room: Value,
    /// Everything received, oldest first.
    pub(crate) heard: Vec<Value>,
    /// The reason in the host's close frame.
    reason: Option<String>,
}

impl Page {
    /// Connects; `None` if the host refuses the handshake.
    pub(crate) async fn connect(code: &Code, host: &str, origin: &str) -> Option<Self> {
        Self::connect_by(TcpStream::connect(code.address()).await.ok()?, code, host, origin).await
    }

    /// The same over this connection.
    pub(crate) async fn connect_by(stream: TcpStream, code: &Code, host: &str, origin: &str) -> Option<Self> {
        let mut request = format!("ws://{}/play", code.authority).into_client_request().expect("a URL");
        let headers = request.headers_mut();
        headers.insert("host", host.parse().expect("a header"));
        headers.insert("origin", origin.parse().expect("a header"));
        let (socket, _) = timeout(PATIENCE, client_async(request, stream)).await.ok()?.ok()?;
        Some(Self { socket, id: 0, room: Value::Null, heard: Vec::new(), reason: None })
    }

    /// Connects as a browser does, and says hello. `first_id`: ids of messages grow from there.
    pub(crate) async fn come(code: &Code, tab: &str, first_id: u64) -> Self {
        let stream = TcpStream::connect(code.address()).await.expect("the port is open");
        let mut page = Self::come_by(stream, code, tab).await;
        page.id = first_id;
        page
    }

    /// The same over this connection.
    pub(crate) async fn come_by(stream: TcpStream, code: &Code, tab: &str) -> Self {
        let origin = format!("http://{}", code.authority);
        let page = Self::connect_by(stream, code, &code.authority, &origin).await;
        let mut page = page.expect("the host lets pages in");
        page.say(&json!({"hello": {"version": 1, "token": code.token, "tab": tab, "name": "Ben"}})).await;
        page
    }

    /// Whether the connection ends without a last message and without a close frame.
    pub(crate) async fn is_cut(&mut self) -> bool {
        while self.next().await.is_some() {}
        self.reason.is_none() && self.heard.iter().all(|message| message.get("closed").is_none())
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.send(&message.to_string()).await;
    }

    pub(crate) async fn send(&mut self, text: &str) {
        // A host that has closed the connection states the reason before.
        let _ = timeout(PATIENCE, self.socket.send(Frame::text(text))).await;
    }

    /// Sends a message with a new id; returns its reply.
    pub(crate) async fn ask(&mut self, kind: &str, fields: Value) -> Value {
        self.tell(kind, fields).await;
        self.answer().await
    }

    /// Sends a message with a new id, and reads no reply.
    pub(crate) async fn tell(&mut self, kind: &str, mut fields: Value) {
        self.id += 1;
        fields["id"] = self.id.into();
        self.say(&json!({ (kind): fields })).await;
    }

    /// The reply to the last message: its kind's content.
    pub(crate) async fn answer(&mut self) -> Value {
        let id = self.id;
        loop {
            let message = self.next().await.expect("the connection stands");
            let (_, content) = only(&message);
            if content["id"] == json!(id) {
                return content.clone();
            }
        }
    }

    /// Plays in the room as shown; returns the reply.
    pub(crate) async fn act(&mut self, action: &Value) -> Value {
        let mut fields = self.position();
        fields["action"] = action.clone();
        self.ask("act", fields).await
    }

    /// The fields of a message that name the position it is about.
    pub(crate) fn position(&self) -> Value {
        let race = &self.room["race"];
        let ply = if race.is_null() { &self.room["ply"] } else { &race["my_presses"] };
        json!({"room": self.room["id"], "ply": ply, "revision": self.room["revision"]})
    }

    /// The next message; `None` once the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = timeout(PATIENCE, self.socket.next()).await.expect("the host says something in time");
            match frame {
                Some(Ok(Frame::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).expect("JSON");
                    if let Some(room) = message.get("room") {
                        self.room = room.clone();
                    }
                    self.heard.push(message.clone());
                    return Some(message);
                }
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Ok(Frame::Close(frame))) => {
                    self.reason = frame.map(|frame| frame.reason.to_string());
                    return None;
                }
                _ => return None,
            }
        }
    }

    /// Waits for a message of this kind for which the condition holds; returns its content.
    pub(crate) async fn until(&mut self, kind: &str, mut so: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let message = self
                .next()
                .await
                .unwrap_or_else(|| panic!("it ended before {kind}: {:?}", self.heard.last()));
            if let Some(content) = message.get(kind)
                && so(content)
            {
                return content.clone();
            }
        }
    }

    /// Waits until the room shows this.
    pub(crate) async fn until_room(&mut self, mut so: impl FnMut(&Value) -> bool) {
        while self.room.is_null() || !so(&self.room) {
            self.next().await.unwrap_or_else(|| panic!("it ended: {:?}", self.heard.last()));
        }
    }

    /// The reason why the connection was closed.
    pub(crate) async fn closed(&mut self) -> String {
        let closed = self.until("closed", |_| true).await;
        assert_eq!(self.next().await, None, "nothing comes after it");
        let why = closed["why"].as_str().expect("a word");
        assert_eq!(self.reason.as_deref(), Some(why), "the close frame says the same");
        why.into()
    }
}

/// The only key of a message, and its content.
pub(crate) fn only(message: &Value) -> (&str, &Value) {
    let fields = message.as_object().expect("an object");
    assert_eq!(fields.len(), 1, "{message}");
    let (kind, content) = fields.iter().next().expect("one");
    (kind, content)
}

/// What a host answers to one request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By their names in lower case. A header that occurs twice has both values.
    headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header's value; empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("headers end");
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let first = lines.next().expect("a status line");
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let mut headers = BTreeMap::<String, String>::new();
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            let value_so_far = headers.entry(name.to_lowercase()).or_default();
            value_so_far.push_str(value);
        }
        Self { status: status.expect(first), headers, body: bytes[end + 4..].to_vec() }
    }
}

/// One request as bytes, and the answer up to the end of the connection: the request says `Connection: close`, or is none.
pub(crate) async fn raw(code: &Code, request: &str) -> Answer {
    let mut stream = TcpStream::connect(code.address()).await.expect("the port is open");
    let _ = stream.write_all(request.as_bytes()).await;
    Answer::read(&until_closed(&mut stream).await)
}

/// A connection from this address of the loopback interface.
pub(crate) async fn connect_from(from: Ipv4Addr, port: u16) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((from, 0).into()).expect("an address of this device");
    socket.connect((Ipv4Addr::LOCALHOST, port).into()).await.expect("the port is open")
}

/// A connection whose page can take little before it reads.
pub(crate) async fn connect_narrow(code: &Code) -> TcpStream {
    let socket = if code.address().is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let socket = socket.expect("a socket");
    socket.set_recv_buffer_size(4_096).expect("a size");
    socket.connect(code.address()).await.expect("the port is open")
}

/// What the host still sends until it closes the connection.
pub(crate) async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut sent = Vec::new();
    // A reset ends it too.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut sent)).await.expect("the host closes it");
    sent
}
