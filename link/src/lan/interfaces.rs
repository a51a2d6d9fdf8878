//! This device's network interfaces, and which addresses belong to its networks.

use std::net::{IpAddr, Ipv6Addr};

use if_addrs::{IfAddr, Interface};

use super::dial::is_link_local;

/// Interfaces that are up and have an address; the loopback interface only if wanted.
pub(super) fn usable(loopback: bool) -> Vec<Interface> {
    // An error counts as a device without a network.
    let mut all = if_addrs::get_if_addrs().unwrap_or_default();
    all.retain(|interface| interface.is_oper_up() && (loopback || !interface.is_loopback()));
    all
}

/// Whether this address belongs to a network of this device, so that it can be reached without a router.
pub fn is_neighbour(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    is_link_local(&ip)
        || if_addrs::get_if_addrs().unwrap_or_default().iter().any(|own| shares_network(&own.addr, ip))
}

/// Whether this address is local: in a network of this device, or a private address behind a router of the same house. An advert
/// or a friend code may name no other address: its author could make this device connect to any host.
pub fn is_local(ip: IpAddr) -> bool {
    is_private(ip) || is_neighbour(ip)
}

/// Whether an address of a friend code or an advert is dialed: a local one, but no service of this device itself (unless
/// `loopback`, for tests on one device), nor the address at which clouds keep the secrets of a virtual machine.
pub(super) fn may_dial(ip: IpAddr, loopback: bool) -> bool {
    const CLOUD_METADATA: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(169, 254, 169, 254));
    let ip = ip.to_canonical();
    ip != CLOUD_METADATA && !ip.is_unspecified() && (loopback || !ip.is_loopback()) && is_local(ip)
}

/// Whether an address is private, so that no router forwards it to the internet (RFC 1918, RFC 4193).
fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private(),
        IpAddr::V6(ip) => ip.is_unique_local(),
    }
}

fn shares_network(own: &IfAddr, ip: IpAddr) -> bool {
    match (own, ip) {
        (IfAddr::V4(own), IpAddr::V4(ip)) => {
            let mask = u32::from(own.netmask);
            u32::from(own.ip) & mask == u32::from(ip) & mask
        }
        (IfAddr::V6(own), IpAddr::V6(ip)) => same_prefix(own.ip, ip, own.netmask),
        _ => false,
    }
}

fn same_prefix(one: Ipv6Addr, other: Ipv6Addr, mask: Ipv6Addr) -> bool {
    let mask = u128::from(mask);
    u128::from(one) & mask == u128::from(other) & mask
}

#[cfg(test)]
mod tests {
    use if_addrs::{Ifv4Addr, Ifv6Addr};

    use super::*;

    fn v4(ip: [u8; 4], mask: [u8; 4]) -> IfAddr {
        IfAddr::V4(Ifv4Addr { ip: ip.into(), netmask: mask.into(), prefixlen: 0, broadcast: None })
    }

    #[test]
    fn a_neighbour_shares_the_network_part_of_an_address() {
        let home = v4([192, 168, 1, 7], [255, 255, 255, 0]);
        for (ip, is) in [([192, 168, 1, 200], true), ([192, 168, 2, 7], false), ([8, 8, 8, 8], false)] {
            assert_eq!(shares_network(&home, IpAddr::from(ip)), is, "{ip:?}");
        }
        assert!(!shares_network(&home, "fd00::1".parse().expect("an address")));
        let six = IfAddr::V6(Ifv6Addr {
            ip: "fd00:1::7".parse().expect("an address"),
            netmask: "ffff:ffff:ffff:ffff::".parse().expect("a mask"),
            prefixlen: 64,
            broadcast: None,
        });
        assert!(shares_network(&six, "fd00:1::9".parse().expect("an address")));
        assert!(!shares_network(&six, "fd00:2::9".parse().expect("an address")));
    }

    #[test]
    fn the_internet_is_not_private() {
        for ip in ["10.1.2.3", "172.16.0.1", "192.168.7.7", "::ffff:10.0.0.1", "fd77::7"] {
            assert!(is_private(ip.parse().expect("an address")), "{ip}");
        }
        for ip in ["8.8.8.8", "198.51.100.7", "172.32.0.1", "192.169.0.1", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!is_private(ip.parse().expect("an address")), "{ip}");
        }
    }

    #[test]
    fn a_code_leads_to_no_service_of_this_device_nor_of_a_cloud() {
        let dials = |ip: &str, loopback| may_dial(ip.parse().expect("an address"), loopback);
        for ip in ["10.1.2.3", "192.168.7.7", "fd77::7", "169.254.3.4", "fe80::1"] {
            assert!(dials(ip, false), "{ip}");
        }
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(!dials(ip, false) && dials(ip, true), "{ip}");
        }
        for ip in ["169.254.169.254", "::ffff:169.254.169.254", "0.0.0.0", "::", "8.8.8.8"] {
            assert!(!dials(ip, true), "{ip}");
        }
    }

    #[test]
    fn loopback_and_link_local_are_near() {
        for ip in ["127.0.0.1", "::ffff:127.0.0.1", "::1", "fe80::1", "169.254.3.4"] {
            assert!(is_neighbour(ip.parse().expect("an address")), "{ip}");
        }
    }
}
