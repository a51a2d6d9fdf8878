//! Signing in at a server: TCP, TLS with a verified certificate, SASL, and the meaning of each failure.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use sasl::common::{ChannelBinding, Credentials};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use tokio_xmpp::connect::DnsConfig;
use tokio_xmpp::error::{AuthError, ProtocolError};
use tokio_xmpp::jid::{BareJid, FullJid};
use tokio_xmpp::parsers::{ibr, iq::Iq, ns, sasl::DefinedCondition, starttls};
use tokio_xmpp::stanzastream::Connection;
use tokio_xmpp::xmlstream::{
    PendingFeaturesRecv, ReadError, StreamHeader, Timeouts, XmppStream, XmppStreamElement, initiate_stream,
};
use tokio_xmpp::{Error, Stanza};

use super::{Account, AccountState, RefusedStanza, View};
use crate::prune::Pruner;

/// Limit from the first packet to the end of SASL. A distant server on a bad network takes three seconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// A silent server is pinged after the first, and given up after the second: the device should notice a change of networks
/// before its player does. (The crate's defaults are five minutes each.)
const TIMEOUTS: Timeouts =
    Timeouts { read_timeout: Duration::from_secs(20), response_timeout: Duration::from_secs(8) };

/// Why there is no connection.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) state: AccountState,
    pub(super) detail: String,
    /// The reason in the server operator's words, if any.
    pub(super) said: String,
}

impl Failed {
    pub(super) fn new(state: AccountState, detail: impl ToString) -> Self {
        Self { state, detail: detail.to_string(), said: String::new() }
    }

    /// Whether a retry may succeed without a person acting.
    pub(super) fn may_pass(&self) -> bool {
        self.state == AccountState::ServerGone
    }
}

/// A failure without further detail.
impl From<AccountState> for Failed {
    fn from(state: AccountState) -> Self {
        Self::new(state, "")
    }
}

/// Certificate authorities to trust beside the system's: a private CA, or a test's.
#[derive(Clone, Debug, Default)]
pub struct OnlineConfig {
    /// A PEM file with certificates of authorities.
    pub authorities: Option<PathBuf>,
}

impl OnlineConfig {
    /// The system's authorities and ours.
    pub(super) fn tls(&self) -> Result<Arc<ClientConfig>, Failed> {
        let broken = |error: &dyn std::fmt::Display| Failed::new(AccountState::Certificate, error);
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = &self.authorities {
            for one in CertificateDer::pem_file_iter(path).map_err(|error| broken(&error))? {
                roots.add(one.map_err(|error| broken(&error))?).map_err(|error| broken(&error))?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| broken(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }
}

/// Shared with the [`Watched`] connection: what the crate only logs, which is the server's last stream error and stanzas beyond the
/// limits, and that a new stream begins on the connection.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    stream_error: Option<String>,
    overtime: bool,
    /// The next bytes are those of a new stream.
    new_stream: bool,
    /// Where a pruned stanza is shown.
    shown: Option<watch::Sender<View>>,
}

impl LastWords {
    /// Shows pruned stanzas of an established connection in this view.
    pub(super) fn new(shown: watch::Sender<View>) -> Self {
        Self(Arc::new(Mutex::new(Heard { shown: Some(shown), ..Heard::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, text: String) {
        self.lock().stream_error = Some(text);
    }

    /// To be called before the header of a new stream on the same connection is sent, as after authentication (RFC 6120,
    /// section 4.3.3): the server answers with a header of its own, which is no stanza of the stream before.
    fn stream_begins(&self) {
        self.lock().new_stream = true;
    }

    fn pruned(&self) {
        if let Some(shown) = &self.lock().shown {
            shown.send_if_modified(|view| {
                let refused = Some(RefusedStanza::Pruned);
                let news = view.state == AccountState::Online && view.refused != refused;
                if news {
                    view.refused = refused;
                }
                news
            });
        }
    }

    /// The failure for the last stream error, if there was one since the last call.
    pub(super) fn take(&self) -> Option<Failed> {
        let text = self.lock().stream_error.take()?;
        Some(Failed { state: meaning(&text), said: words(&text), detail: text })
    }

    /// Whether a stanza has taken too long since the last call.
    pub(super) fn take_overtime(&self) -> bool {
        std::mem::take(&mut self.lock().overtime)
    }
}

/// The human-readable text of a stream error, given its XML. The standard text of a conflict adds nothing and is dropped.
fn words(text: &str) -> String {
    const OF_EVERY_CONFLICT: &str = "Replaced by new connection";
    let inner = text.split_once("<text").and_then(|(_, rest)| rest.split_once('>'));
    let said = inner.and_then(|(_, rest)| rest.split_once("</text>")).map_or("", |(said, _)| said.trim());
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let said = plain.iter().fold(said.to_owned(), |said, (entity, sign)| said.replace(entity, sign));
    if said == OF_EVERY_CONFLICT { String::new() } else { said }
}

/// The state for a stream error (RFC 6120, section 4.9.3), given its XML.
fn meaning(text: &str) -> AccountState {
    let says = |word: &str| text.contains(word);
    if says("deleted") || says("removed") || says("disabled") || says("<not-authorized") {
        // Prosody and ejabberd both end the streams of a deleted account, each with its own text.
        AccountState::Gone
    } else if says("<conflict") {
        AccountState::Elsewhere
    } else if says("<policy-violation") {
        AccountState::Policy
    } else {
        AccountState::ServerGone
    }
}

/// Registers a new account, where the server allows it (XEP-0077).
pub(super) async fn make_account(account: &Account, config: &OnlineConfig) -> Result<(), Failed> {
    let within = tokio::time::timeout(DEADLINE, async {
        let (features, mut stream) = receive(open(account, config, &LastWords::default()).await?).await?;
        if !features.in_band_registration {
            // Some versions of Prosody allow registration without advertising it; asking does no harm.
            tracing::debug!("the server does not say that it makes accounts");
        }
        let id = "make-account".to_owned();
        let query = ibr::LegacyQuery {
            username: Some(account.name().to_owned()),
            password: Some(account.password.clone()),
            ..ibr::LegacyQuery::default()
        };
        let ask = Iq::Set { from: None, to: None, id: id.clone(), payload: query.into() };
        stream.send(&XmppStreamElement::Stanza(Stanza::Iq(ask))).await.map_err(io_failed)?;
        loop {
            match next(&mut stream).await? {
                XmppStreamElement::Stanza(Stanza::Iq(Iq::Result { id: answered, .. })) if answered == id => {
                    return Ok(());
                }
                XmppStreamElement::Stanza(Stanza::Iq(Iq::Error { id: answered, error, .. }))
                    if answered == id =>
                {
                    use tokio_xmpp::parsers::stanza_error::DefinedCondition as Condition;
                    let state = match error.defined_condition {
                        Condition::Conflict => AccountState::Taken,
                        _ => AccountState::NotMade,
                    };
                    return Err(Failed::new(state, format!("{:?}", error.defined_condition)));
                }
                _ => {}
            }
        }
    });
    within.await.map_err(|_| Failed::new(AccountState::ServerGone, "no answer in time"))?
}

/// Returns an authenticated stream, on which the stanza stream binds our resource.
pub(super) async fn sign_in(
    account: &Account,
    config: &OnlineConfig,
    last_words: &LastWords,
) -> Result<Connection, Failed> {
    let within = tokio::time::timeout(DEADLINE, async {
        let (features, stream) = receive(open(account, config, last_words).await?).await?;
        // No channel binding: the two servers tried support none, or another than the crate's. And no mechanism that reveals
        // the password to the certificate's owner.
        let mechanisms = features
            .sasl_mechanisms
            .into_iter()
            .filter(|name| name != "PLAIN" && name != "ANONYMOUS")
            .collect();
        let credentials = Credentials::default()
            .with_username(account.name())
            .with_password(account.password.clone())
            .with_channel_binding(ChannelBinding::None);
        let stream = tokio_xmpp::client_login(stream, mechanisms, credentials).await.map_err(failed)?;
        last_words.stream_begins();
        let stream = stream.send_header(header(&account.jid)).await.map_err(io_failed)?;
        let (features, stream) = receive(stream).await?;
        let identity: FullJid = account.jid.with_resource(super::resource());
        Ok(Connection { stream: stream.box_stream(), features, identity: identity.into() })
    });
    within.await.map_err(|_| Failed::new(AccountState::ServerGone, "no answer in time"))?
}

type Tls = Watched<TlsStream<TcpStream>>;

/// Connects, up to the stream header over TLS.
async fn open(
    account: &Account,
    config: &OnlineConfig,
    last_words: &LastWords,
) -> Result<PendingFeaturesRecv<Tls>, Failed> {
    let domain = account.jid.domain().as_str().to_owned();
    let tcp = match &account.server {
        Some(server) => TcpStream::connect(server).await.map_err(io_failed)?,
        None => DnsConfig::srv_default_client(&domain).resolve().await.map_err(failed)?,
    };
    tcp.set_nodelay(true).map_err(io_failed)?;
    // Nobody has shown a certificate yet, so that what is said here is not the server's last words.
    let watched = Watched::new(tcp, LastWords::default());
    let stream = initiate_stream(watched, ns::JABBER_CLIENT, header(&account.jid), TIMEOUTS);
    let (features, mut stream) = receive(stream.await.map_err(io_failed)?).await?;
    if !features.can_starttls() {
        return Err(Failed::new(AccountState::Policy, "the server offers no encryption"));
    }
    let ask = XmppStreamElement::Starttls(starttls::Nonza::Request(starttls::Request));
    stream.send(&ask).await.map_err(io_failed)?;
    while !matches!(next(&mut stream).await?, XmppStreamElement::Starttls(starttls::Nonza::Proceed(_))) {}
    let tcp = stream.into_inner().into_inner();
    let name = ServerName::try_from(domain)
        .map_err(|_| Failed::new(AccountState::ServerGone, "not the name of a server"))?;
    let tls = TlsConnector::from(config.tls()?).connect(name, tcp).await.map_err(io_failed)?;
    let watched = Watched::new(tls, last_words.clone());
    initiate_stream(watched, ns::JABBER_CLIENT, header(&account.jid), TIMEOUTS).await.map_err(io_failed)
}

fn header(jid: &BareJid) -> StreamHeader<'_> {
    StreamHeader { to: Some(Cow::Borrowed(jid.domain().as_str())), from: None, id: None }
}

type Features = tokio_xmpp::parsers::stream_features::StreamFeatures;

async fn receive<S: AsyncBufRead + AsyncWrite + Unpin>(
    stream: PendingFeaturesRecv<S>,
) -> Result<(Features, XmppStream<S>), Failed> {
    stream.recv_features().await.map_err(|error| failed(error.into()))
}

async fn next<S: AsyncBufRead + AsyncWrite + Unpin>(
    stream: &mut XmppStream<S>,
) -> Result<XmppStreamElement, Failed> {
    let gone = |what: &dyn std::fmt::Display| Failed::new(AccountState::ServerGone, what);
    loop {
        match stream
            .next()
            .await
            .map(|read| read.and_then(tokio_xmpp::xmlstream::FallibleStreamElement::into_read_error))
        {
            Some(Ok(element)) => return Ok(element),
            Some(Err(ReadError::SoftTimeout)) => {}
            Some(Err(ReadError::HardError(error))) => return Err(io_failed(error)),
            Some(Err(error)) => return Err(gone(&error)),
            None => return Err(gone(&"the server closed the stream")),
        }
    }
}

fn failed(error: Error) -> Failed {
    let detail = error.to_string();
    let state = match error {
        Error::Io(error) => return io_failed(error),
        Error::Auth(AuthError::Fail(condition)) => match condition {
            DefinedCondition::NotAuthorized
            | DefinedCondition::CredentialsExpired
            | DefinedCondition::InvalidAuthzid
            | DefinedCondition::MalformedRequest => AccountState::WrongPassword,
            DefinedCondition::AccountDisabled => AccountState::Gone,
            DefinedCondition::TemporaryAuthFailure | DefinedCondition::Aborted => AccountState::ServerGone,
            DefinedCondition::EncryptionRequired
            | DefinedCondition::IncorrectEncoding
            | DefinedCondition::InvalidMechanism
            | DefinedCondition::MechanismTooWeak => AccountState::Policy,
        },
        Error::Auth(AuthError::NoMechanism) | Error::Protocol(ProtocolError::NoTls) => AccountState::Policy,
        // A server that fails the proof of the password (SCRAM) may be an impostor.
        Error::Auth(_) => AccountState::WrongPassword,
        Error::StreamError(said) => {
            return Failed::new(meaning(&format!("<{detail}")), format!("{said}"));
        }
        _ => AccountState::ServerGone,
    };
    Failed::new(state, detail)
}

fn io_failed(error: io::Error) -> Failed {
    let certificate =
        error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some_and(|error| {
            matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
        });
    Failed::new(if certificate { AccountState::Certificate } else { AccountState::ServerGone }, error)
}

/// Limit for one stanza: a slow network carries the longest within this time, so an honest server never exceeds it.
const STANZA_WITHIN: Duration = Duration::from_mins(2);

/// The answer to a stanza that exceeds [`STANZA_WITHIN`] (RFC 6120, section 4.9.3.14).
const OVERTIME: &[u8] = b"<stream:error><policy-violation xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>\
<text xmlns='urn:ietf:params:xml:ns:xmpp-streams' xml:lang='en'>A stanza took longer than two minutes.</text>\
</stream:error></stream:stream>";

/// Reads through a buffer, prunes for the parser, and detects a stream error on the way. The stream before TLS has one of its own.
struct Watched<S> {
    inner: S,
    raw: Box<[u8]>,
    pruner: Pruner,
    /// When the present stanza began.
    begun: Option<Instant>,
    /// The pruned part of `raw`, for the parser.
    buffer: Vec<u8>,
    taken: usize,
    /// The last bytes read, since a stream error may be split between two reads.
    tail: Vec<u8>,
    last_words: LastWords,
}

const BEGINS: &[u8] = b"<stream:error";
/// Bytes of a stream error's text that are kept: its conditions and a sentence.
const KEPT: usize = 600;

impl<S> Watched<S> {
    fn new(inner: S, last_words: LastWords) -> Self {
        Self {
            inner,
            raw: vec![0; 8 << 10].into(),
            pruner: Pruner::default(),
            begun: None,
            buffer: Vec::new(),
            taken: 0,
            tail: Vec::new(),
            last_words,
        }
    }

    /// Prunes the first `count` bytes of `raw`.
    fn take_in(&mut self, count: usize) -> io::Result<()> {
        self.taken = 0;
        self.buffer.clear();
        if std::mem::take(&mut self.last_words.lock().new_stream) {
            (self.pruner, self.begun) = (Pruner::default(), None);
        }
        if self.pruner.pass(&self.raw[..count], &mut self.buffer) {
            tracing::info!("a stanza too deep or too long was cut short");
            self.last_words.pruned();
        }
        if self.pruner.is_within_endless_tag() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a tag of the server's never ends"));
        }
        let begun = self.pruner.within_stanza().then(|| self.begun.unwrap_or_else(Instant::now));
        self.begun = begun;
        self.look();
        if begun.is_some_and(|begun| begun.elapsed() > STANZA_WITHIN) {
            tracing::info!("a stanza took too long: the connection is closed");
            self.last_words.lock().overtime = true;
            return Err(io::Error::new(io::ErrorKind::TimedOut, "a stanza of the server's never ends"));
        }
        Ok(())
    }

    /// The connection, without what was read ahead: what comes after `<proceed/>` and before TLS is from anybody.
    fn into_inner(self) -> S {
        self.inner
    }

    fn look(&mut self) {
        self.tail.extend_from_slice(&self.buffer);
        if let Some(at) = self.tail.windows(BEGINS.len()).position(|window| window == BEGINS) {
            self.tail.drain(..at);
            self.tail.truncate(KEPT);
            self.last_words.hear(String::from_utf8_lossy(&self.tail).into_owned());
        } else {
            let seen = self.tail.len().saturating_sub(BEGINS.len());
            self.tail.drain(..seen);
        }
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Sends [`OVERTIME`] as far as the connection takes it at once: a server that reads nothing must not delay the end.
    fn send_overtime(&mut self, cx: &mut Context<'_>) {
        let mut inner = Pin::new(&mut self.inner);
        let mut rest = OVERTIME;
        while let Poll::Ready(Ok(sent @ 1..)) = inner.as_mut().poll_write(cx, rest) {
            rest = &rest[sent..];
        }
        let _ = inner.poll_flush(cx);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncBufRead for Watched<S> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        // Pruning may leave nothing, and an empty read would mean the end of the stream.
        while this.taken == this.buffer.len() {
            let mut room = ReadBuf::new(&mut this.raw);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut room))?;
            let count = room.filled().len();
            if count == 0 {
                return Poll::Ready(Ok(&[]));
            }
            if let Err(ended) = this.take_in(count) {
                if ended.kind() == io::ErrorKind::TimedOut {
                    this.send_overtime(cx);
                }
                return Poll::Ready(Err(ended));
            }
        }
        Poll::Ready(Ok(&this.buffer[this.taken..]))
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        let this = self.get_mut();
        this.taken = (this.taken + count).min(this.buffer.len());
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = bytes.len().min(into.remaining());
        into.put_slice(&bytes[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::prune;

    #[tokio::test]
    async fn a_stream_error_is_noticed_wherever_it_is_cut() {
        let xml =
            b"<message/><stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>";
        for cut in 0..xml.len() {
            let last_words = LastWords::default();
            let parts = tokio_test_reader(&xml[..cut], &xml[cut..]);
            let mut watched = Watched::new(parts, last_words.clone());
            let mut read = Vec::new();
            watched.read_to_end(&mut read).await.expect("all of it");
            assert_eq!(read, xml);
            let said = last_words.take().expect("noticed");
            // If the cut is within the condition, the next read completes it.
            assert_eq!(said.state, AccountState::Elsewhere, "cut at {cut}: {}", said.detail);
        }
    }

    #[tokio::test]
    async fn of_what_is_too_deep_for_the_parser_only_that_is_left_out() {
        let deep = format!("{}{}", "<a>".repeat(5_000), "</a>".repeat(5_000));
        let all = format!("<stream:stream><message>{deep}</message><presence/>");
        let mut watched = Watched::new(read_only(all.as_bytes()), LastWords::default());
        let mut read = String::new();
        watched.read_to_string(&mut read).await.expect("all of it");
        let kept = prune::DEEPEST as usize - 2;
        let (begins, ends) = ("<a>".repeat(kept), "</a>".repeat(kept));
        assert_eq!(read, format!("<stream:stream><message>{begins}{ends}</message><presence/>"));
    }

    const STREAM: &str = "<?xml version='1.0'?><stream:stream xmlns='jabber:client' \
        xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='1' version='1.0'>";

    fn account(server: &str) -> Account {
        Account::new("anna@example.org", "secret", Some(server)).expect("an account")
    }

    /// How [`open`] fails when somebody gives these answers in place of the server, each as soon as the client has sent the text
    /// before it, and then says nothing more.
    async fn opened(answers: &[(&str, String)]) -> Failed {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let account = account(&listener.local_addr().expect("an address").to_string());
        let server = async {
            let (mut tcp, _) = listener.accept().await.expect("a client");
            let mut heard = Vec::new();
            for (asked, answer) in answers {
                while !String::from_utf8_lossy(&heard).contains(asked) {
                    let count = tcp.read_buf(&mut heard).await.expect("the client stays");
                    assert!(count > 0, "the client is gone before it has sent {asked}");
                }
                // The client may have heard enough.
                let _ = tcp.write_all(answer.as_bytes()).await;
            }
            let _ = tcp.shutdown().await;
            let _ = tcp.read_to_end(&mut heard).await;
        };
        let (config, last_words) = (OnlineConfig::default(), LastWords::default());
        let (opened, ()) = tokio::join!(open(&account, &config, &last_words), server);
        opened.err().expect("no stream without TLS")
    }

    #[tokio::test]
    async fn before_tls_nesting_is_cut_as_it_is_within() {
        // So many levels overflow the stack of a parser that is given all.
        let deep = format!("{}{}", "<a>".repeat(20_000), "</a>".repeat(20_000));
        let features = format!("{STREAM}<stream:features>{deep}</stream:features>");
        let failed = opened(&[("<stream:stream", features)]).await;
        assert_eq!(failed.state, AccountState::Policy, "{}", failed.detail);

        let offered = format!(
            "{STREAM}<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"
        );
        let message = format!("<message>{deep}</message>");
        let failed =
            opened(&[("<stream:stream", offered), ("urn:ietf:params:xml:ns:xmpp-tls", message)]).await;
        assert_eq!(failed.state, AccountState::ServerGone, "{}", failed.detail);
    }

    #[tokio::test]
    async fn a_tag_that_never_ends_ends_the_stream() {
        let (ours, mut server) = tokio::io::duplex(4 << 10);
        let account = account("");
        let client = async {
            let watched = Watched::new(ours, LastWords::default());
            initiate_stream(watched, ns::JABBER_CLIENT, header(&account.jid), TIMEOUTS).await.is_err()
        };
        let attribute = format!(" a='{}'", "x".repeat(1_000));
        let server = async move {
            let mut sent = 0;
            server.write_all(b"<stream:stream").await.expect("room");
            while sent < prune::LONGEST * 8 && server.write_all(attribute.as_bytes()).await.is_ok() {
                sent += attribute.len();
            }
            sent
        };
        let (failed, sent) = tokio::join!(client, server);
        assert!(failed);
        assert!(sent < prune::LONGEST * 3, "{sent} bytes were taken");
    }

    #[tokio::test]
    async fn what_is_said_before_tls_is_not_read_within_it() {
        const PROCEED: &[u8] = b"<proceed/>";
        let (ours, mut server) = tokio::io::duplex(4 << 10);
        let mut watched = Watched::new(ours, LastWords::default());
        server.write_all(&[PROCEED, b"<smuggled/>"].concat()).await.expect("room");
        let mut read = vec![0; PROCEED.len()];
        watched.read_exact(&mut read).await.expect("there");
        assert_eq!(read, PROCEED);
        let mut tcp = watched.into_inner();
        server.write_all(b"TLS").await.expect("room");
        drop(server);
        let mut read = String::new();
        tcp.read_to_string(&mut read).await.expect("all of it");
        assert_eq!(read, "TLS");
    }

    fn tokio_test_reader(first: &'static [u8], second: &'static [u8]) -> impl AsyncRead + AsyncWrite + Unpin {
        read_only(first.chain(second))
    }

    fn read_only<R: AsyncRead>(reader: R) -> tokio::io::Join<R, tokio::io::Sink> {
        tokio::io::join(reader, tokio::io::sink())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stanza_that_takes_too_long_ends_the_connection_and_the_server_reads_why() {
        let (ours, mut server) = tokio::io::duplex(4 << 10);
        let last_words = LastWords::default();
        let mut watched = Watched::new(ours, last_words.clone());
        // Complete stanzas may take any time together.
        for part in ["<stream:stream>", "<presence/>", "<message>"] {
            server.write_all(part.as_bytes()).await.expect("room");
            let mut read = vec![0; part.len()];
            watched.read_exact(&mut read).await.expect("within the limit");
            assert!(!last_words.take_overtime());
            if part != "<message>" {
                tokio::time::advance(STANZA_WITHIN * 2).await;
            }
        }
        for _ in 0..2 {
            tokio::time::advance(STANZA_WITHIN * 2 / 3).await;
            server.write_all(b"drip").await.expect("room");
            if watched.read_exact(&mut [0; 4]).await.is_err() {
                assert!(last_words.take_overtime() && !last_words.take_overtime());
                drop(watched);
                let mut read = String::new();
                server.read_to_string(&mut read).await.expect("closed");
                assert_eq!(read.as_bytes(), OVERTIME);
                return;
            }
        }
        panic!("the stanza is still read");
    }

    #[tokio::test(start_paused = true)]
    async fn the_stream_after_authentication_has_the_limits_of_the_first() {
        const HEADER: &str = "<?xml version='1.0'?><stream:stream>";
        let (ours, mut server) = tokio::io::duplex(4 << 20);
        let last_words = LastWords::default();
        let mut watched = Watched::new(ours, last_words.clone());
        let mut hears = async |text: &str, expected: &str| {
            server.write_all(text.as_bytes()).await.expect("room");
            let mut read = vec![0; expected.len()];
            watched.read_exact(&mut read).await.expect("the connection stays");
            assert!(read == expected.as_bytes(), "{} bytes", read.len());
        };
        for text in [HEADER, "<success/>"] {
            hears(text, text).await;
        }
        last_words.stream_begins();
        hears(HEADER, HEADER).await;
        // Each stanza by itself is within the limit of bytes, and nobody says anything for an hour in between.
        let long = format!("<message>{}</message>", "x".repeat(prune::LONGEST * 2 / 3));
        for _ in 0..4 {
            tokio::time::advance(STANZA_WITHIN * 30).await;
            hears(&long, &long).await;
        }
        let nested = |levels| format!("<a>{}{}</a>", "<b>".repeat(levels), "</b>".repeat(levels));
        hears(&nested(5_000), &nested(prune::DEEPEST as usize - 2)).await;
        assert!(!last_words.take_overtime());
    }

    #[tokio::test]
    async fn a_pruned_stanza_is_shown_with_the_account() {
        let (shown, mut view) = watch::channel(View { state: AccountState::Online, ..View::default() });
        let deep = format!("<message>{}{}</message>", "<a>".repeat(100), "</a>".repeat(100));
        let all = format!("<stream:stream><message/>{deep}{deep}");
        let mut watched = Watched::new(read_only(all.as_bytes()), LastWords::new(shown));
        view.mark_unchanged();
        watched.read_to_end(&mut Vec::new()).await.expect("all of it");
        assert!(view.has_changed().expect("still there"));
        assert_eq!(view.borrow_and_update().refused, Some(RefusedStanza::Pruned));
    }

    #[test]
    fn what_a_server_says_of_the_password_means_this() {
        for (condition, means) in [
            (DefinedCondition::NotAuthorized, AccountState::WrongPassword),
            (DefinedCondition::AccountDisabled, AccountState::Gone),
            (DefinedCondition::TemporaryAuthFailure, AccountState::ServerGone),
            (DefinedCondition::MechanismTooWeak, AccountState::Policy),
        ] {
            let name = format!("{condition:?}");
            assert_eq!(failed(Error::Auth(AuthError::Fail(condition))).state, means, "{name}");
        }
        assert_eq!(failed(Error::Auth(AuthError::NoMechanism)).state, AccountState::Policy);
    }

    #[test]
    fn what_servers_say_at_the_end_means_this() {
        for (text, means) in [
            ("<stream:error><conflict/><text>Replaced by new connection</text>", AccountState::Elsewhere),
            ("<stream:error><conflict/><text>User removed</text>", AccountState::Gone),
            ("<stream:error><not-authorized/><text>Account deleted</text>", AccountState::Gone),
            ("<stream:error><policy-violation/>", AccountState::Policy),
            ("<stream:error><system-shutdown/>", AccountState::ServerGone),
            ("<stream:error><connection-timeout/>", AccountState::ServerGone),
        ] {
            assert_eq!(meaning(text), means, "{text}");
        }
    }

    #[test]
    fn what_servers_say_to_people_is_passed_on() {
        for (text, said) in [
            (
                "<policy-violation xmlns='x'/><text xml:lang='en' xmlns='x'>Not &lt;today&gt;</text>",
                "Not <today>",
            ),
            ("<conflict/><text>Replaced by new connection</text>", ""),
            ("<conflict/><text>Not today</text>", "Not today"),
            ("<conflict/><text/>", ""),
            ("<conflict/><text>cut", ""),
            ("<conflict/>", ""),
        ] {
            assert_eq!(words(text), said, "{text}");
        }
    }
}
