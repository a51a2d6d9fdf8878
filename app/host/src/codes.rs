//! Friend codes and addresses on the local network: this device's own, and those that the user scans, pastes or types.

use std::net::{IpAddr, SocketAddr};

use link::friend_code::{FriendCode, PLACES};
use link::{Address, CarrierKind, Epoch, Tag};
use proto::control::{self, RefusalCode, Visibility};
use proto::limits;

use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::room::PlayerId;

/// The friend code of this device with these addresses.
pub(crate) fn own(profile: &Profile, epoch: Epoch, places: impl Iterator<Item = Address>) -> FriendCode {
    let tag = Tag::of(profile.advert_key(), epoch);
    FriendCode {
        key: profile.identity().public_key(),
        name: profile.name().to_owned(),
        // An invisible device tells no tag that could be looked for.
        tag: (profile.visibility() != Visibility::Nobody).then_some(tag),
        places: places.take(PLACES).collect(),
    }
}

/// A friend code as clients show it.
pub(crate) fn shown(code: &FriendCode) -> control::FriendCode {
    let qr = code.qr();
    control::FriendCode { text: code.to_string(), side: qr.side as u32, dark: qr.packed().into() }
}

/// Reads the friend code of somebody who may become a friend.
pub(crate) fn read(
    text: &str,
    own_key: [u8; 32],
    is_blocked: impl Fn(PlayerId) -> bool,
) -> Result<FriendCode, Refusal> {
    let bad = |why: String| Refusal::new(RefusalCode::RefusalBadRequest, why);
    let code = FriendCode::read(text).map_err(|why| bad(why.to_string()))?;
    if code.key == own_key {
        return Err(bad("this is the code of this device".into()));
    }
    if is_blocked(PlayerId(code.key)) {
        return Err(bad("this player is blocked here: unblock first".into()));
    }
    Ok(code)
}

/// Where a person may be whom no advert has shown: nearby with the tag of the friend code, otherwise at the addresses in the
/// code on carriers that are in use, and at an address that the user typed.
pub(crate) fn ways(
    code: Option<&FriendCode>,
    met_at: Option<&Address>,
    with_tag: impl Fn(Tag) -> Vec<Address>,
    in_use: &[CarrierKind],
) -> Vec<Address> {
    let mut ways = Vec::new();
    if let Some(code) = code {
        ways.extend(code.tag.into_iter().flat_map(with_tag));
        ways.extend(code.places.iter().filter(|place| in_use.contains(&place.kind)).cloned());
    }
    // An address that was typed is not announced again after the link is lost.
    let typed = |at: &&Address| at.kind == CarrierKind::Lan && at.text.parse::<SocketAddr>().is_ok();
    if let Some(typed) = met_at.filter(typed)
        && !ways.contains(typed)
    {
        ways.push(typed.clone());
    }
    ways
}

/// The address of another device that the user has typed. `own`: this device's addresses; `None`: the local network is not in
/// use.
pub(crate) fn typed(text: &str, own: Option<&[Address]>) -> Result<Address, Refusal> {
    let at = typed_address(text)?;
    let own =
        own.ok_or_else(|| Refusal::new(RefusalCode::RefusalRadio, "the local network is not in use"))?;
    let address = Address { kind: CarrierKind::Lan, text: at.to_string() };
    if own.contains(&address) {
        return Err(bad_address("这是这台设备的地址", "This is the address of this device"));
    }
    Ok(address)
}

/// Addresses of this device that another person can type, of those on the local network.
pub(crate) fn places(lan: impl Iterator<Item = Address>) -> control::Places {
    control::Places { addresses: lan.map(|place| place.text).take(limits::PLACES).collect() }
}

fn bad_address(zh: &str, en: &str) -> Refusal {
    let reason = Some(control::Words { zh: zh.into(), en: en.into() });
    Refusal { reason, ..Refusal::new(RefusalCode::RefusalBadRequest, en) }
}

/// An address of a device in a network of this one. Names are not looked up: where multicast is missing, local names are too.
fn typed_address(text: &str) -> Result<SocketAddr, Refusal> {
    let text = text.trim();
    if text.parse::<IpAddr>().is_ok() {
        let en = "The port is missing: the address ends in a colon and a number, such as 192.168.1.20:47415";
        return Err(bad_address("还缺端口：地址末尾是冒号和数字，比如 192.168.1.20:47415", en));
    }
    let at: SocketAddr = text.parse().map_err(|_| {
        let en = "This is no address. It looks like 192.168.1.20:47415";
        bad_address("这不是地址。地址的样子是 192.168.1.20:47415", en)
    })?;
    if at.port() == 0 || !link::lan::is_local(at.ip()) {
        return Err(bad_address("这个地址不在局域网里", "This address is not on the local network"));
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_and_port_of_the_local_network_is_dialed() {
        for good in ["192.168.1.20:47415", " 10.0.0.7:1 ", "[fd00::7]:47415", "127.0.0.1:9"] {
            assert!(typed_address(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("192.168.1.20", "port is missing"),
            ("fd00::7", "port is missing"),
            ("8.8.8.8:47415", "not on the local network"),
            ("[2001:db8::1]:47415", "not on the local network"),
            ("192.168.1.20:0", "not on the local network"),
            ("ben.local:47415", "no address"),
            ("192.168.1.20:99999", "no address"),
            ("", "no address"),
        ] {
            let refusal = typed_address(bad).expect_err(bad);
            let words = refusal.reason.expect("a reason for the person");
            assert!(words.en.contains(why), "{bad}: {}", words.en);
            assert!(!words.zh.is_empty());
        }
    }

    fn lan(text: &str) -> Address {
        Address { kind: CarrierKind::Lan, text: text.into() }
    }

    fn code() -> FriendCode {
        let tag = Tag::of(&[7; 32], Epoch::at(std::time::Duration::ZERO));
        let bluetooth = Address { kind: CarrierKind::Bluetooth, text: "00:11:22:33:44:55".into() };
        FriendCode {
            key: [2; 32],
            name: "Ben".into(),
            tag: Some(tag),
            places: vec![bluetooth, lan("10.0.0.7:5")],
        }
    }

    #[test]
    fn the_address_of_this_device_is_not_dialed_and_none_without_the_local_network() {
        let own = [lan("192.168.1.20:47415")];
        let refused = |text: &str, own| typed(text, own).expect_err("refused").code;
        assert_eq!(refused("192.168.1.20:47415", Some(&own[..])), RefusalCode::RefusalBadRequest);
        assert_eq!(refused("192.168.1.21:47415", None), RefusalCode::RefusalRadio);
        assert_eq!(refused("nonsense", None), RefusalCode::RefusalBadRequest, "what can be mended first");
        let other = typed(" 192.168.1.21:47415", Some(&own[..]));
        assert_eq!(other.ok(), Some(lan("192.168.1.21:47415")));
    }

    #[test]
    fn a_code_of_oneself_or_of_a_blocked_player_is_refused() {
        let text = code().to_string();
        assert_eq!(read(&text, [1; 32], |_| false).ok().map(|code| code.name), Some("Ben".into()));
        assert!(read(&text, [2; 32], |_| false).is_err(), "one's own");
        assert!(read(&text, [1; 32], |key| key == PlayerId([2; 32])).is_err(), "blocked");
        assert!(read("no code", [1; 32], |_| false).is_err());
    }

    #[test]
    fn a_person_is_looked_for_at_the_tag_then_at_addresses_of_carriers_in_use_then_where_it_was_met() {
        let (code, near) = (code(), Address { kind: CarrierKind::Memory, text: "near".into() });
        let with_tag = |tag| if Some(tag) == code.tag { vec![near.clone()] } else { Vec::new() };
        let met = lan("10.0.0.9:5");
        let lan_only = [CarrierKind::Lan];
        let all = ways(Some(&code), Some(&met), with_tag, &lan_only);
        assert_eq!(all, [near.clone(), lan("10.0.0.7:5"), met.clone()]);
        assert_eq!(ways(Some(&code), None, |_| Vec::new(), &[]), [], "no carrier reaches it");
        assert_eq!(ways(None, Some(&met), with_tag, &lan_only), std::slice::from_ref(&met));
        let code = FriendCode { places: vec![met.clone()], tag: None, ..code.clone() };
        assert_eq!(ways(Some(&code), Some(&met), |_| Vec::new(), &lan_only), [met], "once");
        let named = lan("ben.local");
        assert_eq!(ways(None, Some(&named), |_| Vec::new(), &lan_only), [], "it was not typed");
    }
}
