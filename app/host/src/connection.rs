//! Connections of clients: frames of requests in, frames of replies and events out.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use link::Duplex;
use proto::control::{self, Message};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::codec::{Decoder, Encoder};
use tracing::{debug, warn};

/// Messages that wait for a client which does not read. A whole state is about 100, a change one or two; who is a thousand
/// behind has stopped reading and is dropped, since it gets the whole state again when it comes back.
pub(crate) const QUEUE: usize = 1024;

/// Requests of one client that the host has not looked at yet; more wait in the client's socket.
const REQUESTS: usize = 16;

/// Names a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) u64);

/// What a connection tells the actor.
pub(crate) enum ClientNews {
    /// A request; the permit is dropped when it has been dealt with.
    Asked(Box<control::Request>, OwnedSemaphorePermit),
    /// The connection is over.
    Gone,
}

/// Encodes what will be written to a client, without the sequence number, so that one event is encoded once for all.
pub(crate) fn encode(message: &Message) -> Outgoing {
    Outgoing::from(message)
}

/// Serves one connection until the client goes, breaks the protocol, or `queue` is closed by the actor. The last that it tells
/// is that it is over, also when its task is aborted.
pub(crate) fn run(
    stream: Box<dyn Duplex>,
    queue: mpsc::Receiver<Outgoing>,
    tell: impl Fn(ClientNews) + Send + Sync,
) -> impl Future<Output = ()> + Send {
    // Made here rather than in the future: a task may be aborted before it has run at all.
    let tell = TellsEnd(tell);
    async move {
        let (reader, writer) = tokio::io::split(stream);
        tokio::select! {
            () = read(reader, &tell.0) => {}
            written = write(writer, queue) => {
                if let Err(error) = written {
                    debug!(%error, "a client went away");
                }
            }
        }
    }
}

/// Tells the end of a connection when it is dropped.
struct TellsEnd<F: Fn(ClientNews)>(F);

impl<F: Fn(ClientNews)> Drop for TellsEnd<F> {
    fn drop(&mut self) {
        (self.0)(ClientNews::Gone);
    }
}

async fn read(mut reader: ReadHalf<Box<dyn Duplex>>, tell: &impl Fn(ClientNews)) {
    let requests = Arc::new(Semaphore::new(REQUESTS));
    let mut codec = FrameCodec::new(FrameLimit::Local);
    let mut bytes = BytesMut::new();
    loop {
        loop {
            let request = match codec.decode(&mut bytes) {
                Ok(None) => break,
                Ok(Some(Arrival::Next(frame))) => match Message::decode(frame.msgid, &frame.payload) {
                    Ok(Message::Request(request)) => request,
                    Ok(Message::Reply(_) | Message::Event(_)) => {
                        return warn!("a client sent what only a host may send: it is dropped");
                    }
                    Err(error) => return warn!(%error, "a client sent no request: it is dropped"),
                },
                Ok(Some(Arrival::Old(_) | Arrival::Gap { .. })) => {
                    return warn!("a client counts its frames wrongly: it is dropped");
                }
                Err(error) => return warn!(%error, "a client sent no frame: it is dropped"),
            };
            let Ok(permit) = requests.clone().acquire_owned().await else { return };
            tell(ClientNews::Asked(Box::new(request), permit));
        }
        match reader.read_buf(&mut bytes).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return debug!(%error, "a client went away"),
        }
    }
}

async fn write(
    mut writer: WriteHalf<Box<dyn Duplex>>,
    mut queue: mpsc::Receiver<Outgoing>,
) -> Result<(), proto::frame::FrameError> {
    let mut codec = FrameCodec::new(FrameLimit::Local);
    let mut bytes = BytesMut::new();
    while let Some(message) = queue.recv().await {
        codec.encode(message, &mut bytes)?;
        // What waits already goes out in the same write.
        while let Ok(message) = queue.try_recv() {
            codec.encode(message, &mut bytes)?;
        }
        let written: Bytes = bytes.split().freeze();
        writer.write_all(&written).await?;
        writer.flush().await?;
    }
    writer.shutdown().await?;
    Ok(())
}
