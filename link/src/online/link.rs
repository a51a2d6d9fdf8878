//! One link over XMPP messages: a [`Pipe`] with its timers, between a byte stream on this device and stanzas to one peer.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_xmpp::jid::FullJid;
use tokio_xmpp::minidom::Element;
use tokio_xmpp::minidom::rxml::NcName;

use super::pipe::{CHUNK, Pipe, Segment};
use super::versions::Layer;
use crate::Outdated;
use crate::secure::Versions;

/// Namespace of a link message's payload; the number is the layout's version.
const NAMESPACE: &str = "urn:qiyou:link:1";
const ELEMENT: &str = "q";

/// Versions of the layout that this device speaks.
pub(super) const VERSIONS: Versions = Versions { lowest: 1, highest: 1 };

const LAYER: Layer = Layer { word: "link", element: ELEMENT, spoken: VERSIONS };

/// Bytes between the pipe and its reader on this device: more than a window, so that the pipe rarely waits.
const BUFFER: usize = 256 << 10;

/// Until the peer is heard, the opener asks again after this time.
const OPEN_AGAIN: Duration = Duration::from_secs(3);

/// Time for the acknowledgement of the stream's end.
const LINGER: Duration = Duration::from_secs(5);

/// Name of a link between two devices: 64 random bits, drawn by the opener.
pub(super) type LinkName = String;

/// The content of a link message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A segment of a link; `opens` until the opener has received an answer.
    Segment { opens: bool, segment: Segment },
    /// There is no such link.
    Reset,
    /// The answer to a version that is not spoken: these are.
    Speaks(Versions),
}

/// Encodes the payload of a message.
pub(super) fn element(link: &str, said: &Said) -> Element {
    let builder = Element::builder(ELEMENT, NAMESPACE).attr(letter("l"), link);
    match said {
        Said::Speaks(versions) => LAYER.answer(link, *versions),
        Said::Reset => builder.attr(letter("r"), "1").build(),
        Said::Segment { opens, segment } => {
            let mut builder = builder.attr(letter("a"), segment.acknowledged.to_string());
            if *opens {
                builder = builder.attr(letter("o"), "1");
            }
            if let Some(number) = segment.number {
                builder = builder.attr(letter("n"), number.to_string());
            }
            builder.append(BASE64_STANDARD.encode(&segment.chunk)).build()
        }
    }
}

fn letter(name: &str) -> NcName {
    NcName::try_from(name).expect("a letter is a name in XML")
}

/// Decodes a payload; `None` if it is invalid or not ours.
pub(super) fn read(element: &Element) -> Option<(LinkName, Said)> {
    if let Some((link, versions)) = LAYER.read_answer(element) {
        return is_name(link).then(|| (link.to_owned(), Said::Speaks(versions)));
    }
    if !element.is(ELEMENT, NAMESPACE) {
        return None;
    }
    let link = name(element)?;
    if element.attr("r").is_some() {
        return Some((link, Said::Reset));
    }
    let number = match element.attr("n") {
        Some(text) => Some(text.parse().ok().filter(|number| *number > 0)?),
        None => None,
    };
    let text = element.text();
    if text.len() > CHUNK.div_ceil(3) * 4 {
        return None;
    }
    let segment = Segment {
        number,
        acknowledged: element.attr("a")?.parse().ok()?,
        chunk: BASE64_STANDARD.decode(text).ok()?.into(),
    };
    Some((link, Said::Segment { opens: element.attr("o").is_some(), segment }))
}

/// The name of the link in a payload of a version that this device does not speak; `None` if it is none.
pub(super) fn name_in_other_version(element: &Element) -> Option<LinkName> {
    LAYER.other_version(element)?;
    name(element)
}

/// The name of the link: in every version it stands here.
fn name(element: &Element) -> Option<LinkName> {
    element.attr("l").filter(|name| is_name(name)).map(str::to_owned)
}

fn is_name(name: &str) -> bool {
    /// Longest accepted name: ours have 16 letters.
    const LONGEST_NAME: usize = 32;
    !name.is_empty() && name.len() <= LONGEST_NAME
}

/// Events from the actor to a link.
pub(super) enum Told {
    Segment(Segment),
    /// Retransmit: segments in flight may be lost.
    SendAgain,
    /// The peer does not speak this device's version of links, but these.
    Speaks(Versions),
}

/// A message that a link asks the actor to send.
pub(super) struct ToSend {
    pub(super) to: FullJid,
    pub(super) link: LinkName,
    /// `None`: the link has ended.
    pub(super) said: Option<Said>,
}

/// This device's end of a link. If the link ends for lack of a common version, a read fails with [`Outdated`].
#[derive(Debug)]
pub(super) struct LinkStream {
    stream: DuplexStream,
    /// Set before the stream ends.
    outdated: Arc<OnceLock<Outdated>>,
}

/// Returns the stream of this device, and the sender of the actor, which ends the link by dropping it.
pub(super) fn new(
    to: FullJid,
    link: LinkName,
    opened_here: bool,
    outgoing: mpsc::UnboundedSender<ToSend>,
) -> (LinkStream, mpsc::Sender<Told>) {
    /// Queued segments for the link; a segment beyond a window is retransmitted anyway.
    const QUEUE: usize = 64;
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    let (tell, told) = mpsc::channel(QUEUE);
    let outdated = Arc::<OnceLock<Outdated>>::default();
    let found_outdated = outdated.clone();
    tokio::spawn(async move {
        let send = |said: Option<Said>| {
            // If the actor has ended, this task ends too.
            let _ = outgoing.send(ToSend { to: to.clone(), link: link.clone(), said });
        };
        run(ours, told, opened_here, &found_outdated, &send).await;
        send(None);
    });
    (LinkStream { stream: theirs, outdated }, tell)
}

async fn run(
    stream: DuplexStream,
    mut told: mpsc::Receiver<Told>,
    opened_here: bool,
    outdated: &OnceLock<Outdated>,
    send: &(impl Fn(Option<Said>) + Sync),
) {
    let began = Instant::now();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut pipe = Pipe::default();
    let (mut heard, mut reading, mut ended_there) = (false, true, false);
    let mut buffer = vec![0; CHUNK];
    let mut linger: Option<Instant> = None;
    // The peer, which may be the first to speak, learns of the link by its first segment.
    let mut open_at = opened_here.then_some(began);
    loop {
        if open_at.is_some_and(|at| at <= Instant::now()) {
            let segment = Segment { number: None, acknowledged: 0, chunk: Bytes::new() };
            send(Some(Said::Segment { opens: true, segment }));
            open_at = Some(Instant::now() + OPEN_AGAIN);
        }
        while let Some(segment) = pipe.poll(began.elapsed()) {
            send(Some(Said::Segment { opens: opened_here && !heard, segment }));
        }
        if pipe.is_done() && ended_there || pipe.is_dead(began.elapsed()) {
            return;
        }
        let deadline = pipe.deadline().map(|deadline| began + deadline);
        let deadline = [deadline, linger, open_at].into_iter().flatten().min();
        tokio::select! {
            read = reader.read(&mut buffer), if reading && pipe.has_room() => match read {
                Ok(0) | Err(_) => {
                    reading = false;
                    open_at = None;
                    pipe.end(began.elapsed());
                    linger = Some(Instant::now() + LINGER);
                }
                Ok(count) => pipe.write(began.elapsed(), Bytes::copy_from_slice(&buffer[..count])),
            },
            next = told.recv() => match next {
                // The link is broken: this device reads an end.
                None => return,
                Some(Told::SendAgain) => pipe.send_again(),
                Some(Told::Speaks(theirs)) => {
                    // A peer that speaks this version and says that it does not has no link of this name.
                    if VERSIONS.common(theirs).is_none() {
                        let _ = outdated.set(LAYER.outdated(theirs.highest));
                    }
                    return;
                }
                Some(Told::Segment(segment)) => {
                    (heard, open_at) = (true, None);
                    let Some(arrived) = pipe.handle(began.elapsed(), segment) else {
                        send(Some(Said::Reset));
                        return;
                    };
                    for mut chunk in arrived.chunks {
                        // Back-pressure: a slow reader delays the peer. A reader that is gone, or that does not read for
                        // `LINGER`, resets the link.
                        while chunk.has_remaining() {
                            match timeout(LINGER, writer.write_buf(&mut chunk)).await {
                                Ok(Ok(count)) if count > 0 => {}
                                _ => return send(Some(Said::Reset)),
                            }
                        }
                    }
                    if arrived.end {
                        ended_there = true;
                        let _ = writer.shutdown().await;
                        // The peer has ended its direction: this side ends too.
                        pipe.end(began.elapsed());
                        reading = false;
                        linger = Some(Instant::now() + LINGER);
                    }
                }
            },
            () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                if linger.is_some_and(|until| until <= Instant::now()) {
                    return;
                }
            }
        }
    }
}

impl AsyncRead for LinkStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        let is_end = into.filled().len() == before && into.remaining() > 0;
        match self.outdated.get() {
            Some(outdated) if is_end => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, *outdated)))
            }
            _ => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: Said) {
        let element = element("0123456789abcdef", &said);
        assert_eq!(read(&element), Some(("0123456789abcdef".to_owned(), said)));
    }

    #[test]
    fn what_is_said_comes_back_from_xml() {
        check(Said::Reset);
        check(Said::Speaks(Versions { lowest: 2, highest: 7 }));
        for (number, chunk) in
            [(None, &b""[..]), (Some(1), b"h8"), (Some(u32::MAX), b""), (Some(7), &[0xFF; CHUNK])]
        {
            for opens in [true, false] {
                let segment = Segment { number, acknowledged: 9, chunk: Bytes::copy_from_slice(chunk) };
                check(Said::Segment { opens, segment });
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_not_heard() {
        for xml in [
            "<q xmlns='urn:qiyou:link:2' l='1' a='0'/>",
            "<p xmlns='urn:qiyou:link:1' l='1' a='0'/>",
            "<q xmlns='urn:qiyou:link:1' a='0'/>",
            "<q xmlns='urn:qiyou:link:1' l='' a='0'/>",
            "<q xmlns='urn:qiyou:link:1' l='1'/>",
            "<q xmlns='urn:qiyou:link:1' l='1' a='-1'/>",
            "<q xmlns='urn:qiyou:link:1' l='1' a='0' n='0'/>",
            "<q xmlns='urn:qiyou:link:1' l='1' a='0' n='4294967296'/>",
            "<q xmlns='urn:qiyou:link:1' l='1' a='0' n='1'>not base64!</q>",
            "<q xmlns='urn:qiyou:link:1' l='123456789012345678901234567890123' a='0'/>",
        ] {
            assert_eq!(read(&xml.parse().expect("XML")), None, "{xml}");
        }
        let long = format!("<q xmlns='urn:qiyou:link:1' l='1' a='0' n='1'>{}</q>", "AAAA".repeat(CHUNK));
        assert_eq!(read(&long.parse().expect("XML")), None);
    }

    #[test]
    fn a_link_of_another_version_is_known_by_its_name_and_nothing_else_of_it_is_read() {
        let name = |xml: &str| name_in_other_version(&xml.parse().expect("XML"));
        for other in
            ["<q xmlns='urn:qiyou:link:2' l='7'/>", "<q xmlns='urn:qiyou:link:0' l='7' z='?'>!<p/></q>"]
        {
            assert_eq!(name(other).as_deref(), Some("7"), "{other}");
        }
        for nothing in [
            "<q xmlns='urn:qiyou:link:1' l='7' a='0'/>",
            "<q xmlns='urn:qiyou:link:2'/>",
            "<q xmlns='urn:qiyou:link:2' l=''/>",
            "<q xmlns='urn:qiyou:link:2' l='123456789012345678901234567890123'/>",
            "<p xmlns='urn:qiyou:link:2' l='7'/>",
        ] {
            assert_eq!(name(nothing), None, "{nothing}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dialer_learns_which_of_the_two_devices_needs_an_update() {
        use crate::CarrierKind;
        use crate::identity::Identity;
        use crate::secure::{self, ExpectedPeer, SecureError};
        let anna = Identity::generate().expect("randomness");
        let to: FullJid = "ben@chess.test/qiyou".parse().expect("an address");
        for (lowest, highest, outdated) in
            [(2, 3, Some(Outdated::Here)), (0, 0, Some(Outdated::There)), (1, 4, None)]
        {
            let (out, mut sent) = mpsc::unbounded_channel();
            let (stream, tell) = new(to.clone(), "0123456789abcdef".to_owned(), true, out);
            let dial = secure::dial(stream, &anna, CarrierKind::Online, ExpectedPeer::Anybody);
            let answer = async {
                sent.recv().await.expect("it opens");
                assert!(tell.send(Told::Speaks(Versions { lowest, highest })).await.is_ok());
            };
            let (dialed, ()) = tokio::join!(dial, answer);
            let error = dialed.expect_err("no link");
            assert_eq!(error.outdated(), outdated, "{lowest} to {highest}: {error}");
            // A range that contains this device's version says no more than that there is no such link.
            assert_eq!(matches!(error, SecureError::Truncated), outdated.is_none(), "{error}");
        }
    }

    /// Carries the segments of a side to the other one.
    async fn carry(mut from: mpsc::UnboundedReceiver<ToSend>, to: mpsc::Sender<Told>) {
        while let Some(ToSend { said: Some(Said::Segment { segment, .. }), .. }) = from.recv().await {
            if to.send(Told::Segment(segment)).await.is_err() {
                return;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_that_speaks_first_is_heard_also_if_the_opening_is_lost() {
        let name = "0123456789abcdef".to_owned();
        let to: FullJid = "ben@chess.test/qiyou".parse().expect("an address");
        for lost in 0..3 {
            let (out, mut sent) = mpsc::unbounded_channel();
            let (mut opener, to_opener) = new(to.clone(), name.clone(), true, out);
            // The listener's end is made at the first segment that arrives.
            let mut opening = sent.recv().await.expect("it opens");
            for _ in 0..lost {
                opening = sent.recv().await.expect("it opens again");
            }
            assert!(matches!(opening.said, Some(Said::Segment { opens: true, .. })), "lost {lost}");
            let (out, answers) = mpsc::unbounded_channel();
            let (mut listener, to_listener) = new(to.clone(), name.clone(), false, out);
            tokio::spawn(carry(sent, to_listener));
            tokio::spawn(carry(answers, to_opener));
            listener.write_all(b"who is there?").await.expect("written");
            let mut heard = [0; 13];
            opener.read_exact(&mut heard).await.expect("read");
            assert_eq!(&heard, b"who is there?");
            opener.write_all(b"me").await.expect("written");
            let mut heard = [0; 2];
            listener.read_exact(&mut heard).await.expect("read");
            assert_eq!(&heard, b"me");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn two_devices_shake_hands_over_it() {
        use crate::CarrierKind;
        use crate::identity::Identity;
        use crate::secure::{self, AcceptedPeers, ExpectedPeer};
        let [anna, ben] = [(); 2].map(|()| Identity::generate().expect("randomness"));
        let name = "0123456789abcdef".to_owned();
        let to: FullJid = "ben@chess.test/qiyou".parse().expect("an address");
        let (out, mut sent) = mpsc::unbounded_channel();
        let (opener, to_opener) = new(to.clone(), name.clone(), true, out);
        let listen = async {
            sent.recv().await.expect("it opens");
            let (out, answers) = mpsc::unbounded_channel();
            let (listener, to_listener) = new(to, name, false, out);
            tokio::spawn(carry(sent, to_listener));
            tokio::spawn(carry(answers, to_opener));
            secure::accept(listener, &ben, CarrierKind::Online, &AcceptedPeers::all()).await
        };
        let dial = secure::dial(opener, &anna, CarrierKind::Online, ExpectedPeer::Anybody);
        let (dialed, accepted) = tokio::join!(dial, listen);
        assert_eq!(dialed.expect("let in").peer_key(), ben.public_key());
        assert_eq!(accepted.expect("let in").peer_key(), anna.public_key());
    }
}
