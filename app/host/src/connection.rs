//! Connections of clients: request frames in, reply and event frames out.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use link::Duplex;
use proto::control::{self, Message};
use proto::frame::{Arrival, FrameCodec, FrameLimit, Outgoing};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::codec::{Decoder, Encoder};
use tracing::{debug, warn};

/// Maximum number of messages queued for a client. The initial state takes about 100, a change one or two; a client that is
/// this far behind has stopped reading and is dropped. When it reconnects it gets the initial state again.
pub(crate) const QUEUE: usize = 1024;

/// Maximum number of unprocessed requests of a client; further ones stay in its socket.
const REQUESTS: usize = 16;

/// Identifies a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) u64);

/// A message from a connection to the actor.
pub(crate) enum ClientNews {
    /// A request. Drop the permit when the request has been processed.
    Asked(Box<control::Request>, OwnedSemaphorePermit),
    /// The connection is over.
    Gone,
}

/// Encodes a message without its sequence number, so that one encoding serves all clients.
pub(crate) fn encode(message: &Message) -> Outgoing {
    Outgoing::from(message)
}

/// Serves a connection until the client disconnects or violates the protocol, or the actor closes `queue`. The end is always
/// reported, also if the task is aborted.
pub(crate) fn run(
    stream: Box<dyn Duplex>,
    queue: mpsc::Receiver<Outgoing>,
    tell: impl Fn(ClientNews) + Send + Sync,
) -> impl Future<Output = ()> + Send {
    // Created before the future, because a task may be aborted before its first poll.
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

/// Reports the end of a connection when dropped.
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
        // Messages that are already queued go into the same write.
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
