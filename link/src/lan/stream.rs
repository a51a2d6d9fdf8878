//! A TCP connection that ends when the network that carried it is gone from this device.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// TCP alone would wait for the network to return, and delay a match that could continue over another carrier.
pub(super) struct LanStream {
    tcp: TcpStream,
    /// `None`: the network is already gone, or cannot go.
    gone: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_gone: bool,
}

impl LanStream {
    /// `own` holds this device's addresses, updated with each poll.
    pub(super) fn new(tcp: TcpStream, mut own: watch::Receiver<Vec<IpAddr>>) -> io::Result<Self> {
        // Disables Nagle's algorithm (RFC 896): a move is one small packet and must not wait for the previous
        // acknowledgement.
        tcp.set_nodelay(true)?;
        let address = tcp.local_addr()?.ip().to_canonical();
        let gone = async move {
            // An address that was never in the list, such as the loopback interface's, cannot disappear from it.
            let there = own.wait_for(|own| own.contains(&address)).await.is_ok();
            if !there || own.wait_for(|own| !own.contains(&address)).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        Ok(Self { tcp, gone: Some(Box::pin(gone)), is_gone: false })
    }

    fn look(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.gone.as_mut().is_some_and(|gone| gone.as_mut().poll(cx).is_ready()) {
            self.gone = None;
            self.is_gone = true;
        }
        if self.is_gone { Err(io::ErrorKind::NetworkDown.into()) } else { Ok(()) }
    }
}

impl AsyncRead for LanStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.look(cx)?;
        Pin::new(&mut self.tcp).poll_read(cx, buffer)
    }
}

/// Whoever writes also reads, and reading reports the loss of the network.
impl AsyncWrite for LanStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair(own: &watch::Sender<Vec<IpAddr>>) -> (LanStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let there = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("connected");
        let (here, _) = listener.accept().await.expect("accepted");
        (LanStream::new(here, own.subscribe()).expect("a stream"), there)
    }

    #[tokio::test]
    async fn a_link_ends_when_its_own_address_goes_and_not_with_another() {
        let (one, other): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [10, 0, 0, 1].into());
        let (own, _) = watch::channel(vec![one, other]);
        let (mut here, mut there) = pair(&own).await;
        own.send_replace(vec![one]);
        there.write_all(b"e4").await.expect("written");
        let mut read = [0; 2];
        here.read_exact(&mut read).await.expect("the link is there");
        let (ended, ()) = tokio::join!(here.read(&mut read), async {
            drop(own.send_replace(vec![other]));
        });
        assert_eq!(ended.expect_err("the link is over").kind(), io::ErrorKind::NetworkDown);
        assert_eq!(
            here.read(&mut read).await.expect_err("and stays over").kind(),
            io::ErrorKind::NetworkDown
        );
    }

    #[tokio::test]
    async fn an_address_that_is_not_looked_for_does_not_go() {
        let (own, _) = watch::channel(vec![[10, 0, 0, 1].into()]);
        let (mut here, mut there) = pair(&own).await;
        own.send_replace(Vec::new());
        drop(own);
        there.write_all(b"e4").await.expect("written");
        let mut read = [0; 2];
        here.read_exact(&mut read).await.expect("the link is there");
        assert_eq!(&read, b"e4");
    }
}
