//! The hellos, and at a first meeting the short string that two people compare.
//!
//! The string is agreed by commit and reveal after the handshake: the dialer (A) commits to a nonce, the listener (B) sends
//! its nonce, A reveals. A man in the middle must choose B's nonce before seeing A's, and so has one try in a million to make
//! both screens equal. Derived from the handshake hash alone, the string could be searched by brute force.

use std::time::Duration;

use bytes::Bytes;
use proto::limits;
use proto::peer::{self, pair};
use sha2::{Digest, Sha256};

use crate::comparison::{Comparison, Stage};
use crate::liveness::Liveness;
use crate::session::{Link, Session};
use crate::{Capabilities, Entry, Event, Instant, MAX_MATCHES, Refused, Role, Violation, resume, wire};

/// Limit from a link with a stranger to the string on the screen: five messages, which the slowest radio carries in half of
/// this time.
const STRING_WITHIN: Duration = Duration::from_secs(10);

/// Limit for the two people to find each other and compare. The limit also bounds how long an unanswered stranger occupies a
/// place.
const VERDICT_WITHIN: Duration = Duration::from_mins(2);

impl Session {
    /// Sends the hello on a new link.
    pub(crate) fn greet(&mut self, role: Role, handshake_hash: [u8; 32]) {
        self.link = Link::Greeting { role, handshake_hash, string_by: self.now + STRING_WITHIN };
        self.liveness = Liveness::start(self.now, role);
        // A stranger gets neither the advert key nor any match.
        let (advert_key, matches) = if self.known {
            let unsettled = self.matches.iter().rev().filter(|state| !state.is_settled());
            (
                Bytes::copy_from_slice(&self.advert_key),
                unsettled.take(MAX_MATCHES).map(|state| resume::point(state, self.now)).collect(),
            )
        } else {
            (Bytes::new(), Vec::new())
        };
        self.send_awaited(peer::Hello {
            lowest_version: *self.versions.start(),
            highest_version: *self.versions.end(),
            name: self.name.clone(),
            games: engine::GameKind::ALL.iter().map(|kind| wire::game(*kind).into()).collect(),
            advert_key,
            matches,
            wants_comparison: !self.known,
            wish: self.wish.map_or(0, |kind| wire::game(kind).into()),
            knows_hints: Capabilities::ALL.hints,
            knows_starts: Capabilities::ALL.starts,
            knows_openings: Capabilities::ALL.openings,
            knows_chinese_repetition: Capabilities::ALL.chinese_repetition,
        });
    }

    pub(crate) fn received_hello(&mut self, hello: peer::Hello) -> Result<(), Violation> {
        let Link::Greeting { role, handshake_hash, string_by } = self.link else {
            return Err(Violation::OutOfOrder("hello"));
        };
        if hello.lowest_version > hello.highest_version {
            return Err(Violation::OutOfBounds("version"));
        }
        let peer_is_older = hello.highest_version < *self.versions.start();
        if peer_is_older || hello.lowest_version > *self.versions.end() {
            self.tell(Event::NoCommonVersion { peer_is_older });
            self.goodbye(peer::ByeReason::ByeVersion);
            return Ok(());
        }
        if !limits::is_name(&hello.name) {
            return Err(Violation::OutOfBounds("name"));
        }
        let told = resume::read_points(&hello)?;
        let name = limits::fit_name(&hello.name);
        self.peer_name = Some(name.clone());
        self.peer_capabilities = Capabilities::of(&hello);
        self.peer_games = hello.games.iter().filter_map(|number| wire::read_game(*number)).collect();
        self.tell(Event::Greeted { name: name.clone(), wish: wire::read_game(hello.wish) });
        if self.known && !hello.wants_comparison {
            if let Ok(advert_key) = <[u8; 32]>::try_from(&hello.advert_key[..]) {
                self.befriend(name, advert_key);
            }
            self.link = Link::Up;
            self.resume(&told);
            return Ok(());
        }
        let nonce = self.nonces.draw();
        let (comparison, first) = Comparison::new(role, handshake_hash, nonce, string_by);
        self.link = Link::Comparing { comparison, told };
        if let Some(step) = first {
            self.send_awaited(peer::Pair { step: Some(step) });
        }
        Ok(())
    }

    pub(crate) fn received_pair(&mut self, pair: peer::Pair) -> Result<(), Violation> {
        let Link::Comparing { comparison, .. } = &mut self.link else {
            return Err(Violation::OutOfOrder("comparison"));
        };
        let step = pair.step.ok_or(Violation::OutOfBounds("comparison"))?;
        if let pair::Step::Commitment(bytes) | pair::Step::Nonce(bytes) | pair::Step::Reveal(bytes) = &step
            && bytes.len() != limits::KEY_BYTES
        {
            return Err(Violation::OutOfBounds("comparison"));
        }
        let (reply, string) = match (&mut comparison.stage, step) {
            (Stage::Commitment, pair::Step::Commitment(commitment)) => {
                comparison.stage = Stage::Reveal { commitment };
                (Some(pair::Step::Nonce(Bytes::copy_from_slice(&comparison.nonce))), None)
            }
            (Stage::Nonce, pair::Step::Nonce(nonce)) => {
                let string = comparison.string(&nonce);
                (Some(pair::Step::Reveal(Bytes::copy_from_slice(&comparison.nonce))), Some(string))
            }
            (Stage::Reveal { commitment }, pair::Step::Reveal(nonce)) => {
                if Sha256::digest(&nonce)[..] != commitment[..] {
                    return Err(Violation::BadReveal);
                }
                (None, Some(comparison.string(&nonce)))
            }
            (Stage::Shown { yes_here, yes_there: yes_there @ None }, pair::Step::Verdict(verdict)) => {
                if !verdict.same {
                    self.goodbye(peer::ByeReason::ByeStringsDiffer);
                    return Ok(());
                }
                let key = <[u8; 32]>::try_from(&verdict.advert_key[..])
                    .map_err(|_| Violation::OutOfBounds("advert key"))?;
                *yes_there = Some(key);
                if *yes_here {
                    self.both_said_yes(key);
                } else {
                    self.tell(Event::ComparedThere);
                }
                return Ok(());
            }
            _ => return Err(Violation::OutOfOrder("comparison")),
        };
        if string.is_some() {
            comparison.stage = Stage::Shown { yes_here: false, yes_there: None };
            comparison.until = self.now + VERDICT_WITHIN;
        }
        if let Some(step) = reply {
            self.send(peer::Pair { step: Some(step) });
        }
        if let Some(string) = string {
            self.tell(Event::Comparing { string, known_name_new_key: self.known_name_new_key });
        }
        Ok(())
    }

    /// The answer of this device's person.
    pub(crate) fn compare(&mut self, same: bool) -> Result<(), Refused> {
        let Link::Comparing {
            comparison: Comparison { stage: Stage::Shown { yes_here, yes_there }, .. },
            ..
        } = &mut self.link
        else {
            return Err(Refused::NothingToCompare);
        };
        if *yes_here {
            return Err(Refused::NothingToCompare);
        }
        *yes_here = same;
        let yes_there = *yes_there;
        // A yes carries the advert key, which the hello hid from a stranger.
        let advert_key = if same { Bytes::copy_from_slice(&self.advert_key) } else { Bytes::new() };
        self.send(peer::Pair { step: Some(pair::Step::Verdict(peer::Verdict { same, advert_key })) });
        if !same {
            self.goodbye(peer::ByeReason::ByeStringsDiffer);
        } else if let Some(their_advert_key) = yes_there {
            self.both_said_yes(their_advert_key);
        }
        Ok(())
    }

    fn both_said_yes(&mut self, their_advert_key: [u8; 32]) {
        if let Link::Comparing { told, .. } = std::mem::replace(&mut self.link, Link::Up) {
            self.known = true;
            self.known_name_new_key = false;
            self.befriend(self.peer_name.clone().unwrap_or_default(), their_advert_key);
            self.tell(Event::Friends);
            self.resume(&told);
        }
    }

    /// Records the friend in the journal, unless an equal entry exists.
    fn befriend(&mut self, name: String, advert_key: [u8; 32]) {
        let friend = (name, advert_key);
        if self.friend.as_ref() != Some(&friend) {
            self.friend = Some(friend.clone());
            self.effects.keep(Entry::Friend { name: friend.0, advert_key: friend.1 });
        }
    }

    /// Ends the comparison without a friend.
    pub(crate) fn abandon_comparison(&mut self) {
        if matches!(self.link, Link::Comparing { .. }) {
            self.tell(Event::NotCompared);
        }
    }

    /// When a meeting of strangers times out. A friend who is slow to greet is not timed out while it is heard.
    pub(crate) fn meeting_ends(&self) -> Option<Instant> {
        match &self.link {
            Link::Greeting { string_by, .. } => Some(*string_by).filter(|_| !self.known),
            Link::Comparing { comparison, .. } => Some(comparison.until),
            Link::Down | Link::Up | Link::Closed(_) => None,
        }
    }

    /// The comparison timed out, without a string or without an answer: nobody has called the strings different.
    pub(crate) fn not_compared_in_time(&mut self) {
        let reason = peer::ByeReason::ByeNotCompared;
        self.send(peer::Bye { reason: reason.into() });
        self.effects.close(reason);
        self.close(reason);
    }
}
