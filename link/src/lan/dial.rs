//! Connecting to a device with several addresses, some of which may be unreachable (Happy Eyeballs, RFC 8305).

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::net::TcpStream;

/// Delay before the next address is tried in parallel (RFC 8305, section 5, advises 250 ms).
const HEAD_START: Duration = Duration::from_millis(250);

/// Enough in any local network: it covers two lost packets, retransmitted after 1 and 2 s.
const DEADLINE: Duration = Duration::from_secs(4);

/// Most addresses to try: a device with more has several of them on the same network.
const MAX_ADDRESSES: usize = 8;

/// The first connection that succeeds; the others are cancelled. `None` if none succeeds in time.
pub(super) async fn first_of(mut addresses: Vec<SocketAddr>) -> Option<TcpStream> {
    addresses.sort_by_key(preference);
    addresses.truncate(MAX_ADDRESSES);
    let attempts = (0..).zip(addresses).map(|(place, address)| async move {
        tokio::time::sleep(HEAD_START * place).await;
        TcpStream::connect(address).await
    });
    let mut attempts: FuturesUnordered<_> = attempts.collect();
    let first = async {
        while let Some(ended) = attempts.next().await {
            if let Ok(stream) = ended {
                return Some(stream);
            }
        }
        None
    };
    tokio::time::timeout(DEADLINE, first).await.ok().flatten()
}

/// Addresses of wider scope first: a link-local address needs an interface number and may have been heard through
/// another interface.
fn preference(address: &SocketAddr) -> u8 {
    match address.ip() {
        IpAddr::V4(ip) if !ip.is_link_local() => 0,
        IpAddr::V6(ip) if !ip.is_unicast_link_local() => 1,
        IpAddr::V6(_) => 2,
        IpAddr::V4(_) => 3,
    }
}

pub(super) fn is_link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_address_that_leads_nowhere_does_not_keep_from_the_one_that_does() {
        let there = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (good, nobody) = (there.local_addr().expect("bound"), closed.local_addr().expect("bound"));
        drop(closed);
        let stream = first_of(vec![nobody, good]).await.expect("the second answers");
        assert_eq!(stream.peer_addr().expect("connected"), good);
        assert!(first_of(vec![nobody]).await.is_none());
        assert!(first_of(Vec::new()).await.is_none());
    }

    #[test]
    fn addresses_of_wide_reach_come_first() {
        let mut addresses: Vec<SocketAddr> = ["169.254.0.9:1", "[fe80::1%3]:1", "[fd00::1]:1", "10.0.0.1:1"]
            .map(|text| text.parse().expect("an address"))
            .into();
        addresses.sort_by_key(preference);
        let order: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        assert_eq!(order, ["10.0.0.1:1", "[fd00::1]:1", "[fe80::1%3]:1", "169.254.0.9:1"]);
    }
}
