//! Whether a packet passes the rules of nftables, as `nft -j list ruleset` prints them (libnftables-json(5)).

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

/// Whether packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    Open,
    Closed,
    /// It depends on a condition that is not understood here.
    Unknown,
}

/// A packet from a neighbour in one of this device's networks.
pub(super) struct Packet<'a> {
    /// `tcp` or `udp`.
    pub(super) protocol: &'a str,
    pub(super) port: u16,
    /// It is sent to the group of multicast DNS instead of this device.
    pub(super) multicast: bool,
    /// The interface by which it comes, and this device's address there, which is taken for the sender's too: both are in the
    /// same network.
    pub(super) interface: &'a str,
    pub(super) address: IpAddr,
}

/// `None`: the text is no ruleset.
pub(super) fn passage(ruleset: &str, packet: &Packet<'_>) -> Option<Passage> {
    let text: Value = serde_json::from_str(ruleset).ok()?;
    let objects = text.get("nftables")?.as_array()?;
    let mut rules = Rules::default();
    let of = |object: &Value, chain: &str| -> Option<Key> {
        let word = |name: &str| object.get(name)?.as_str().map(str::to_owned);
        Some((word("family")?, word("table")?, word(chain)?))
    };
    let mut hooks = Vec::new();
    for object in objects {
        if let Some(chain) = object.get("chain")
            && let Some(key) = of(chain, "name")
        {
            if chain.get("hook").and_then(Value::as_str) == Some("input") {
                let drops = chain.get("policy").and_then(Value::as_str) == Some("drop");
                hooks.push((key.clone(), drops));
            }
            rules.chains.entry(key).or_default();
        } else if let Some(rule) = object.get("rule")
            && let (Some(key), Some(statements)) =
                (of(rule, "chain"), rule.get("expr").and_then(Value::as_array))
        {
            rules.chains.entry(key).or_default().push(statements);
        } else if let Some(set) = object.get("set")
            && let (Some((family, table, name)), Some(elements)) = (of(set, "name"), set.get("elem"))
        {
            rules.sets.insert((family, table, format!("@{name}")), elements);
        }
    }
    let other_family = if packet.address.is_ipv4() { "ip6" } else { "ip" };
    let results = hooks
        .iter()
        .filter(|((family, ..), _)| family == "inet" || (family.starts_with("ip") && family != other_family))
        .map(|(key, drops)| rules.base(key, *drops, packet));
    // Every base chain must accept.
    Some(results.fold(Passage::Open, |all, one| match (all, one) {
        (Passage::Closed, _) | (_, Passage::Closed) => Passage::Closed,
        (Passage::Unknown, _) | (_, Passage::Unknown) => Passage::Unknown,
        _ => Passage::Open,
    }))
}

/// Family, table and name of the first chain that keeps incoming packets out by default, as commands of nft name it.
pub(super) fn closed_chain(ruleset: &str) -> Option<String> {
    let text: Value = serde_json::from_str(ruleset).ok()?;
    let is = |chain: &Value, name: &str, value: &str| chain.get(name).and_then(Value::as_str) == Some(value);
    let chains = text.get("nftables")?.as_array()?.iter().filter_map(|object| object.get("chain"));
    let chain = chains.into_iter().find(|chain| is(chain, "hook", "input") && is(chain, "policy", "drop"))?;
    let word = |name: &str| chain.get(name).and_then(Value::as_str);
    Some(format!("{} {} {}", word("family")?, word("table")?, word("name")?))
}

/// Family, table and name.
type Key = (String, String, String);

#[derive(Default)]
struct Rules<'a> {
    chains: BTreeMap<Key, Vec<&'a Vec<Value>>>,
    sets: BTreeMap<Key, &'a Value>,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    No,
    Maybe,
    Yes,
}

/// The walk through the chains of one base chain.
#[derive(Default)]
struct Walk {
    may_accept: bool,
    may_drop: bool,
    depth: u32,
}

/// The end of a chain.
enum End {
    Accept,
    Drop,
    /// The caller's chain goes on.
    Return,
}

/// Jumps in a row; the kernel allows 16.
const DEPTH: u32 = 16;

impl Rules<'_> {
    fn base(&self, key: &Key, drops: bool, packet: &Packet<'_>) -> Passage {
        let mut walk = Walk::default();
        let end = self.chain(key, packet, &mut walk);
        let accepted = match end {
            End::Accept => true,
            End::Drop => false,
            End::Return => !drops,
        };
        match accepted {
            true if walk.may_drop => Passage::Unknown,
            true => Passage::Open,
            false if walk.may_accept => Passage::Unknown,
            false => Passage::Closed,
        }
    }

    fn chain(&self, key: &Key, packet: &Packet<'_>, walk: &mut Walk) -> End {
        let Some(rules) = self.chains.get(key).filter(|_| walk.depth < DEPTH) else { return End::Return };
        for statements in rules {
            let mut holds = Holds::Yes;
            for statement in *statements {
                if let Some(condition) = statement.get("match") {
                    holds = holds.min(self.holds(condition, key, packet));
                } else if let Some(map) = statement.get("vmap") {
                    for (one, verdict) in self.chosen(map, key, packet) {
                        if let Some(end) = self.verdict(verdict, key, packet, holds.min(one), walk) {
                            return end;
                        }
                    }
                } else if statement.get("xt").is_some() {
                    // A match of iptables, which nft does not print.
                    holds = holds.min(Holds::Maybe);
                } else if let Some(end) = self.verdict(statement, key, packet, holds, walk) {
                    return end;
                }
                if holds == Holds::No {
                    break;
                }
            }
        }
        End::Return
    }

    /// Follows a verdict whose condition holds, or may hold; `None`: the chain goes on.
    fn verdict(
        &self,
        statement: &Value,
        key: &Key,
        packet: &Packet<'_>,
        holds: Holds,
        walk: &mut Walk,
    ) -> Option<End> {
        let is = |name: &str| statement.get(name).is_some();
        let end = if is("accept") {
            End::Accept
        } else if is("drop") || is("reject") {
            End::Drop
        } else if is("return") {
            return (holds == Holds::Yes).then_some(End::Return);
        } else if let Some(to) = ["jump", "goto"].iter().find_map(|name| statement.get(*name)) {
            let target = to.get("target")?.as_str()?;
            walk.depth += 1;
            let end = self.chain(&(key.0.clone(), key.1.clone(), target.to_owned()), packet, walk);
            walk.depth -= 1;
            match end {
                End::Return if is("goto") && holds == Holds::Yes => return Some(End::Return),
                End::Return => return None,
                end => end,
            }
        } else {
            // Counters, logs and the like.
            return None;
        };
        match (holds, end) {
            (Holds::Yes, end) => Some(end),
            (Holds::Maybe, End::Accept) => {
                walk.may_accept = true;
                None
            }
            (Holds::Maybe, _) => {
                walk.may_drop = true;
                None
            }
            (Holds::No, _) => None,
        }
    }

    /// The entries of a verdict map that hold or may hold.
    fn chosen<'a>(&self, map: &'a Value, key: &Key, packet: &Packet<'_>) -> Vec<(Holds, &'a Value)> {
        let entries = map.get("data").and_then(|data| data.get("set")).and_then(Value::as_array);
        let Some(left) = map.get("key") else { return Vec::new() };
        entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let holds = self.equals(left, entry.get(0)?, key, packet);
                (holds != Holds::No).then_some((holds, entry.get(1)?))
            })
            .collect()
    }

    fn holds(&self, condition: &Value, key: &Key, packet: &Packet<'_>) -> Holds {
        let (Some(left), Some(right)) = (condition.get("left"), condition.get("right")) else {
            return Holds::Maybe;
        };
        let equals = self.equals(left, right, key, packet);
        match (condition.get("op").and_then(Value::as_str), equals) {
            (Some("==" | "in"), equals) => equals,
            (Some("!="), Holds::Yes) => Holds::No,
            (Some("!="), Holds::No) => Holds::Yes,
            _ => Holds::Maybe,
        }
    }

    fn equals(&self, left: &Value, right: &Value, key: &Key, packet: &Packet<'_>) -> Holds {
        if let Some(name) = right.as_str().filter(|name| name.starts_with('@')) {
            let set = (key.0.clone(), key.1.clone(), name.to_owned());
            return match self.sets.get(&set) {
                Some(elements) => self.equals(left, elements, key, packet),
                // An empty set.
                None => Holds::No,
            };
        }
        let several = right.as_array().or_else(|| right.get("set").and_then(Value::as_array));
        if let Some(several) = several {
            let each = several.iter().map(|one| self.equals(left, one, key, packet));
            return each.max().unwrap_or(Holds::No);
        }
        let right = right.get("elem").and_then(|elem| elem.get("val")).unwrap_or(right);
        field(left).map_or(Holds::Maybe, |field| is_value(field, right, packet))
    }
}

/// Protocol and field of a payload, or `meta` or `ct` and its key.
fn field(left: &Value) -> Option<(&str, &str)> {
    if let Some(payload) = left.get("payload") {
        return Some((payload.get("protocol")?.as_str()?, payload.get("field")?.as_str()?));
    }
    ["meta", "ct"].iter().find_map(|kind| Some((*kind, left.get(*kind)?.get("key")?.as_str()?)))
}

fn is_value(field: (&str, &str), value: &Value, packet: &Packet<'_>) -> Holds {
    let when = |so: bool| if so { Holds::Yes } else { Holds::No };
    let word = value.as_str().unwrap_or_default();
    match field {
        ("meta", "l4proto") | ("ip", "protocol") | ("ip6", "nexthdr") => when(word == packet.protocol),
        (protocol @ ("tcp" | "udp" | "th"), "dport") => {
            when((protocol == packet.protocol || protocol == "th") && is_port(value, packet.port))
        }
        // A packet of another protocol has no such field.
        (protocol @ ("tcp" | "udp" | "icmp" | "icmpv6"), _) if protocol != packet.protocol => Holds::No,
        ("ct", "state") => when(word == "new"),
        ("meta", "iif" | "iifname") => match word.strip_suffix('*') {
            Some(begin) => when(packet.interface.starts_with(begin)),
            None => when(word == packet.interface),
        },
        ("meta", "nfproto") => when(word == if packet.address.is_ipv4() { "ipv4" } else { "ipv6" }),
        ("meta", "pkttype") => when(packet.multicast == (word == "multicast")),
        ("fib", _) => Holds::Maybe,
        ("ip" | "ip6", "daddr") if packet.multicast => match value.get("prefix") {
            Some(prefix) => when(prefix.get("addr").and_then(Value::as_str).is_some_and(is_multicast)),
            None => when(word == "224.0.0.251" || word == "ff02::fb"),
        },
        ("ip" | "ip6", "saddr" | "daddr") => is_in(value, packet.address),
        _ => Holds::Maybe,
    }
}

fn is_multicast(address: &str) -> bool {
    address.parse().is_ok_and(|address: IpAddr| address.is_multicast())
}

fn is_port(value: &Value, port: u16) -> bool {
    let port = u64::from(port);
    match value.get("range").and_then(Value::as_array).map(Vec::as_slice) {
        Some([from, until]) => {
            from.as_u64().is_some_and(|from| from <= port)
                && until.as_u64().is_some_and(|until| port <= until)
        }
        _ => value.as_u64() == Some(port),
    }
}

fn is_in(value: &Value, address: IpAddr) -> Holds {
    let (text, bits) = match value.get("prefix") {
        Some(prefix) => {
            (prefix.get("addr").and_then(Value::as_str), prefix.get("len").and_then(Value::as_u64))
        }
        None => (value.as_str(), None),
    };
    let Some(Ok(network)) = text.map(str::parse::<IpAddr>) else { return Holds::Maybe };
    let (of, width) = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (u128::from(u32::from(one) ^ u32::from(other)), 32),
        (IpAddr::V6(one), IpAddr::V6(other)) => (u128::from(one) ^ u128::from(other), 128),
        _ => return Holds::No,
    };
    match bits {
        // A single address: another device's.
        None => Holds::Maybe,
        Some(bits) if bits <= width && of.checked_shr((width - bits) as u32).unwrap_or(0) == 0 => Holds::Yes,
        Some(_) => Holds::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nft 1.0.6 printed it for rules that were loaded into a network namespace.
    const RULESET: &str = include_str!("ruleset.json");

    fn through(ruleset: &str, protocol: &str, port: u16, interface: &str, address: &str) -> Passage {
        let multicast = protocol == "udp" && port == 5353;
        let address = address.parse().expect("an address");
        passage(ruleset, &Packet { protocol, port, multicast, interface, address }).expect("a ruleset")
    }

    #[test]
    fn ports_pass_as_the_rules_of_a_real_chain_say() {
        let tcp = |port| through(RULESET, "tcp", port, "eth0", "192.168.1.5");
        for open in [22, 80, 443, 8_000, 8_100, 47_415, 47_420] {
            assert_eq!(tcp(open), Passage::Open, "{open}");
        }
        for closed in [23, 7_999, 47_414, 47_421, 1_500] {
            assert_eq!(tcp(closed), Passage::Closed, "{closed}");
        }
        assert_eq!(through(RULESET, "udp", 80, "eth0", "192.168.1.5"), Passage::Closed, "TCP only");
        assert_eq!(
            through(RULESET, "tcp", 1_500, "wlan0", "192.168.1.5"),
            Passage::Open,
            "by the chain it jumps to"
        );
        assert_eq!(through(RULESET, "tcp", 2_500, "wlan0", "192.168.1.5"), Passage::Closed, "which returns");
        assert_eq!(through(RULESET, "udp", 5_353, "eth0", "192.168.1.5"), Passage::Open, "to the group");
        assert_eq!(through(RULESET, "udp", 5_353, "lo", "127.0.0.1"), Passage::Open);
    }

    #[test]
    fn a_condition_that_is_not_understood_makes_the_answer_unknown_only_where_it_matters() {
        let rules = |rules: &str| {
            let chain = r#"{"chain": {"family": "ip", "table": "f", "name": "in", "hook": "input", "policy": "drop"}}"#;
            format!(r#"{{"nftables": [{chain}, {rules}]}}"#)
        };
        let rule = |expr: &str| {
            format!(r#"{{"rule": {{"family": "ip", "table": "f", "chain": "in", "expr": [{expr}]}}}}"#)
        };
        let tcp = |ruleset: &str| through(ruleset, "tcp", 47_415, "wlan0", "192.168.1.5");
        let odd = r#"{"match": {"op": "==", "left": {"socket": {"key": "mark"}}, "right": 1}}"#;
        let accept = r#"{"accept": null}"#;
        assert_eq!(tcp(&rules(&rule(&format!("{odd}, {accept}")))), Passage::Unknown);
        assert_eq!(tcp(&rules(&rule(&format!(r#"{{"xt": null}}, {accept}"#)))), Passage::Unknown);
        let both = [rule(&format!("{odd}, {accept}")), rule(accept)].join(", ");
        assert_eq!(tcp(&rules(&both)), Passage::Open);
        let saddr = |addr: &str, len: u32| {
            let left = r#"{"payload": {"protocol": "ip", "field": "saddr"}}"#;
            let right = format!(r#"{{"prefix": {{"addr": "{addr}", "len": {len}}}}}"#);
            rules(&rule(&format!(
                r#"{{"match": {{"op": "==", "left": {left}, "right": {right}}}}}, {accept}"#
            )))
        };
        assert_eq!(tcp(&saddr("192.168.1.0", 24)), Passage::Open, "neighbours are in the same network");
        assert_eq!(tcp(&saddr("10.0.0.0", 8)), Passage::Closed);
        assert_eq!(tcp(&saddr("0.0.0.0", 0)), Passage::Open);
        let states = r#"{"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["established", {"accept": null}], ["new", {"accept": null}]]}}}"#;
        assert_eq!(tcp(&rules(&rule(states))), Passage::Open, "by a verdict map");
        let only_old = r#"{"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["established", {"accept": null}]]}}}"#;
        assert_eq!(tcp(&rules(&rule(only_old))), Passage::Closed);
    }

    #[test]
    fn without_a_chain_for_incoming_packets_all_pass_and_what_is_no_ruleset_says_nothing() {
        assert_eq!(through(r#"{"nftables": []}"#, "tcp", 1, "wlan0", "192.168.1.5"), Passage::Open);
        let address = "192.168.1.5".parse().expect("an address");
        let packet = Packet { protocol: "tcp", port: 1, multicast: false, interface: "wlan0", address };
        for text in ["", "{}", "[]", r#"{"nftables": 1}"#, "Operation not permitted"] {
            assert_eq!(passage(text, &packet), None, "{text}");
        }
    }

    #[test]
    fn chains_that_jump_in_a_circle_end() {
        let ruleset = r#"{"nftables": [
            {"chain": {"family": "inet", "table": "f", "name": "in", "hook": "input", "policy": "accept"}},
            {"rule": {"family": "inet", "table": "f", "chain": "in", "expr": [{"jump": {"target": "in"}}]}}]}"#;
        assert_eq!(through(ruleset, "tcp", 1, "wlan0", "192.168.1.5"), Passage::Open);
    }
}
