//! One link over XMPP messages: a [`Pipe`] with its timers, between a byte stream on this device and stanzas to one peer.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_xmpp::jid::FullJid;
use tokio_xmpp::minidom::Element;
use tokio_xmpp::minidom::rxml::NcName;

use super::pipe::{CHUNK, Pipe, Segment};

/// Namespace of a link message's payload; the number is the layout's version.
pub(super) const NAMESPACE: &str = "urn:qiyou:link:1";
const ELEMENT: &str = "q";

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
}

/// Encodes the payload of a message.
pub(super) fn element(link: &str, said: &Said) -> Element {
    let builder = Element::builder(ELEMENT, NAMESPACE).attr(letter("l"), link);
    match said {
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
    /// Longest accepted name: ours have 16 letters.
    const LONGEST_NAME: usize = 32;
    if !element.is(ELEMENT, NAMESPACE) {
        return None;
    }
    let link = element.attr("l").filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME)?.to_owned();
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

/// Events from the actor to a link.
pub(super) enum Told {
    Segment(Segment),
    /// Retransmit: segments in flight may be lost.
    SendAgain,
}

/// A message that a link asks the actor to send.
pub(super) struct ToSend {
    pub(super) to: FullJid,
    pub(super) link: LinkName,
    /// `None`: the link has ended.
    pub(super) said: Option<Said>,
}

/// Returns the stream of this device, and the sender of the actor, which ends the link by dropping it.
pub(super) fn new(
    to: FullJid,
    link: LinkName,
    opened_here: bool,
    outgoing: mpsc::UnboundedSender<ToSend>,
) -> (DuplexStream, mpsc::Sender<Told>) {
    /// Queued segments for the link; a segment beyond a window is retransmitted anyway.
    const QUEUE: usize = 64;
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    let (tell, told) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let send = |said: Option<Said>| {
            // If the actor has ended, this task ends too.
            let _ = outgoing.send(ToSend { to: to.clone(), link: link.clone(), said });
        };
        run(ours, told, opened_here, &send).await;
        send(None);
    });
    (theirs, tell)
}

async fn run(
    stream: DuplexStream,
    mut told: mpsc::Receiver<Told>,
    opened_here: bool,
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
