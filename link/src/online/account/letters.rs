//! Letters in transit: encrypted bytes in messages that servers store for an absent account.
//!
//! The state of a letter comes from three sources. Stream management (XEP-0198) acknowledges that the server has it. A receipt
//! (XEP-0184) says that the other device has processed it; any server can forge a receipt, so a receipt is only displayed. The
//! friend's own letters say what the friend has; nobody can forge those. Letters that another client of the account has fetched,
//! or that the server has not kept for delivery, are read from the server's archive (XEP-0313).

use std::collections::{BTreeMap, VecDeque};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::sync::mpsc;
use tokio_xmpp::jid::{BareJid, Jid};
use tokio_xmpp::minidom::Element;
use tokio_xmpp::parsers::iq::Iq;
use tokio_xmpp::parsers::mam::{Fin, Query, QueryId, Result_};
use tokio_xmpp::parsers::message::{Id, Message, MessageType};
use tokio_xmpp::parsers::rsm::SetQuery;
use tokio_xmpp::parsers::{ns, receipts};
use tokio_xmpp::stanzastream::{StanzaStage, StanzaState, StanzaToken};
use tracing::debug;

use super::{Task, new_random};
use crate::letter::MAX_LETTER;
use crate::online::versions::Layer;
use crate::online::{AccountState, LetterNews, LetterStage, Presence};
use crate::secure::Versions;

/// Namespace of a letter's payload; the number is the layout's version.
const NAMESPACE: &str = "urn:qiyou:letter:1";
const ELEMENT: &str = "letter";

/// Versions of letters: of the element and of what is sealed.
const VERSIONS: Versions = Versions { lowest: 1, highest: 1 };

const LAYER: Layer = Layer { word: "letter", element: ELEMENT, spoken: VERSIONS };

/// Bytes of the longest accepted id of a letter: ours have 29.
const LONGEST_ID: usize = 256;

/// Prefix of the ids of archive queries.
const ARCHIVE_ID: &str = "qiyou-archive-";

/// Messages per page of the archive, and pages in a row. The first time an account is used on this device only the last page is
/// read.
const PAGE: usize = 100;
const PAGES: u32 = 20;

/// Letters in transit, and ids of received letters: an account's offline messages and its archive often hold the same letter.
const KEPT: usize = 256;

/// Letters of one account.
pub(super) struct Letters {
    news: mpsc::UnboundedSender<LetterNews>,
    /// Keyed by the id of the message.
    sent: BTreeMap<String, (u64, BareJid)>,
    read: VecDeque<String>,
    /// Letters of another version, by sender and id, whose senders are still to be told.
    refused: Vec<(BareJid, String)>,
    /// The last archive message that was read.
    last: Option<String>,
    pages: u32,
}

impl Letters {
    pub(super) fn new(news: mpsc::UnboundedSender<LetterNews>) -> Self {
        let (sent, read, refused) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        Self { news, sent, read, refused, last: None, pages: 0 }
    }

    /// Remembers a letter until its receipt. The ids are random, the numbers ascend: the oldest letter has the lowest number.
    fn remember_sent(&mut self, id: String, number: u64, to: BareJid) {
        if self.sent.len() >= KEPT
            && let Some(oldest) =
                self.sent.iter().min_by_key(|(_, (number, _))| *number).map(|(id, _)| id.clone())
        {
            self.sent.remove(&oldest);
        }
        self.sent.insert(id, (number, to));
    }

    /// Whether a letter of this name is read for the first time; it is then remembered.
    fn is_new(&mut self, name: String) -> bool {
        if self.read.contains(&name) {
            return false;
        }
        if self.read.len() >= KEPT {
            self.read.pop_front();
        }
        self.read.push_back(name);
        true
    }

    /// Whether no more is kept than may be, and every refusal was sent.
    pub(super) fn are_within_limits(&self) -> bool {
        self.sent.len() <= KEPT && self.read.len() <= KEPT && self.refused.is_empty()
    }

    fn tell(&self, news: LetterNews) {
        // Without a receiver nobody plays by letter.
        let _ = self.news.send(news);
    }
}

impl Task {
    pub(super) async fn send_letter(&mut self, number: u64, to: BareJid, sealed: &[u8]) {
        let id = new_random().map(|random| format!("qiyou-letter-{random}"));
        let (Some(id), Some(stream), AccountState::Online) = (id, &self.stream, self.shown.borrow().state)
        else {
            return self.letters.tell(LetterNews::Stage { number, stage: LetterStage::Lost });
        };
        let mut message = letter_to(&to);
        let here = self.shown.borrow().contacts.get(&to.to_string()).map(|contact| contact.presence);
        if here.is_some_and(|presence| presence != Presence::Offline) {
            // Addressed past the account's other clients. If the device has gone offline, the server stores the message anyway.
            message.to = Some(Jid::from(to.with_resource(crate::online::resource())));
        }
        message.id = Some(Id(id.clone()));
        message.payloads.push(element(sealed));
        message.payloads.push(receipts::Request.into());
        let token = stream.send(Box::new(message.into())).await;
        self.letters.remember_sent(id, number, to);
        let news = self.letters.news.clone();
        tokio::spawn(async move {
            let stage = if reached_server(token).await { LetterStage::AtServer } else { LetterStage::Lost };
            let _ = news.send(LetterNews::Stage { number, stage });
        });
    }

    /// Sends a receipt to the sender's device: this device has processed the letter.
    pub(super) async fn send_receipt(&self, to: &BareJid, id: String) {
        let mut message = letter_to(to);
        message.payloads.push(receipts::Received { id }.into());
        self.send(message).await;
    }

    /// Sets the archive message after which the next sign-in continues reading.
    pub(super) fn archive_read_to(&mut self, last: Option<String>) {
        self.letters.last = last;
    }

    pub(super) async fn ask_archive(&mut self) {
        self.letters.pages = 0;
        self.ask_page().await;
    }

    async fn ask_page(&mut self) {
        self.letters.pages += 1;
        let after = self.letters.last.clone();
        // Without a previous position, start with the last page.
        let before = after.is_none().then(String::new);
        let set = Some(SetQuery { max: Some(PAGE), after, before, index: None });
        let id = format!("{ARCHIVE_ID}{}", self.letters.pages);
        let queryid = Some(QueryId(id.clone()));
        let query = Query { queryid, node: None, form: None, set, flip_page: false };
        self.send(Iq::Set { from: None, to: None, id, payload: query.into() }).await;
    }

    /// Handles the end of a page, or an error. Returns whether this answered an archive query.
    pub(super) async fn hear_archive(&mut self, iq: &Iq) -> bool {
        match iq {
            Iq::Result { id, payload, .. } if id.starts_with(ARCHIVE_ID) => {
                let Some(fin) = payload.clone().and_then(|payload| Fin::try_from(payload).ok()) else {
                    return true;
                };
                let more = !fin.complete && self.letters.last.is_some();
                if let Some(last) = fin.set.last {
                    let news = self.letters.last.as_ref() != Some(&last);
                    self.letters.last = Some(last.clone());
                    self.letters.tell(LetterNews::Archive(last));
                    if more && news && self.letters.pages < PAGES {
                        self.ask_page().await;
                    }
                }
                true
            }
            Iq::Error { id, error, .. } if id.starts_with(ARCHIVE_ID) => {
                debug!(condition = ?error.defined_condition, "the archive is not read");
                // The archive no longer holds the last message read.
                if self.letters.last.take().is_some() && self.letters.pages == 1 {
                    self.ask_page().await;
                }
                true
            }
            _ => false,
        }
    }

    /// Handles a message about letters; returns whether it was one.
    pub(super) fn hear_letter(&mut self, message: &Message) -> bool {
        let own = self.account.as_ref().map(|account| account.jid.clone());
        let from = message.from.as_ref().map(Jid::to_bare);
        let find =
            |name: &str, namespace: &str| message.payloads.iter().find(|payload| payload.is(name, namespace));
        if let Some(result) = find("result", ns::MAM) {
            // Only this account's own server may answer for its archive.
            if (from.is_none() || from == own)
                && let Ok(Result_ { forwarded, .. }) = Result_::try_from(result.clone())
            {
                self.hear_letter(&forwarded.message);
            }
            return true;
        }
        let Some(from) = from.filter(|from| Some(from) != own.as_ref()) else { return false };
        if let Some(received) = find("received", ns::RECEIPTS) {
            if let Ok(receipts::Received { id }) = receipts::Received::try_from(received.clone()) {
                self.letter_stage(&id, &from, LetterStage::Delivered);
            }
            return true;
        }
        if let Some((_, theirs)) = message.payloads.iter().find_map(|payload| LAYER.read_answer(payload)) {
            let is_refused = message.type_ != MessageType::Error && VERSIONS.common(theirs).is_none();
            // The stage of the letter stays: it is written again after days, when either device may have been updated.
            if is_refused && self.accepts_links_of(&from) {
                let outdated = LAYER.outdated(theirs.highest);
                self.letters.tell(LetterNews::OtherVersion { account: from.to_string(), outdated });
            }
            return true;
        }
        let letter = find(ELEMENT, NAMESPACE);
        let other = message.payloads.iter().filter_map(|payload| LAYER.other_version(payload)).max();
        if letter.is_none() && other.is_none() {
            return false;
        }
        let Some(Id(id)) = message.id.as_ref().filter(|Id(id)| id.len() <= LONGEST_ID) else { return true };
        if message.type_ == MessageType::Error {
            self.letter_stage(id, &from, LetterStage::Refused);
            return true;
        }
        if !self.accepts_links_of(&from) {
            return true;
        }
        let (account, name) = (from.to_string(), format!("{from} {id}"));
        if let Some(letter) = letter {
            let Some(sealed) = read(letter) else { return true };
            if self.letters.is_new(name) {
                self.letters.tell(LetterNews::Came { account, id: id.clone(), sealed });
            }
        } else if let Some(newest) = other
            && self.letters.is_new(name)
        {
            if self.is_shown_to(&from) {
                self.letters.refused.push((from, id.clone()));
            }
            self.letters.tell(LetterNews::OtherVersion { account, outdated: LAYER.outdated(newest) });
        }
        true
    }

    /// Tells the senders of letters that this device cannot read which versions it can. There is no receipt.
    pub(super) async fn refuse_letters(&mut self) {
        for (to, id) in std::mem::take(&mut self.letters.refused) {
            self.send(refusal(&to, &id)).await;
        }
    }

    fn letter_stage(&mut self, id: &str, by: &BareJid, stage: LetterStage) {
        if let Some((number, to)) = self.letters.sent.get(id)
            && to == by
        {
            let number = *number;
            self.letters.sent.remove(id);
            self.letters.tell(LetterNews::Stage { number, stage });
        }
    }
}

/// Addressed to the account's next device: servers store the message until then.
fn letter_to(account: &BareJid) -> Message {
    let mut message = Message::chat(Jid::from(account.clone()));
    message.payloads.push(Element::builder("store", "urn:xmpp:hints").build());
    message
}

fn refusal(to: &BareJid, id: &str) -> Message {
    let mut message = letter_to(to);
    message.payloads.push(LAYER.answer(id, VERSIONS));
    message
}

pub(super) fn element(sealed: &[u8]) -> Element {
    Element::builder(ELEMENT, NAMESPACE).append(BASE64_STANDARD.encode(sealed)).build()
}

pub(super) fn read(element: &Element) -> Option<Vec<u8>> {
    let text = element.text();
    (text.len() <= 2 * MAX_LETTER).then_some(())?;
    BASE64_STANDARD.decode(text.trim()).ok()
}

/// Waits until the server has acknowledged the message. Without stream management, only until the bytes were sent.
async fn reached_server(mut token: StanzaToken) -> bool {
    match token.wait_for(StanzaStage::Acked).await {
        Some(state) => matches!(state, StanzaState::Acked { .. }),
        None => matches!(token.state(), StanzaState::Sent { .. } | StanzaState::Acked { .. }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{CONTACT, Harness};
    use super::*;
    use crate::Outdated;

    fn letter(from: &str, version: u32, id: &str) -> String {
        format!(
            "<message type='chat' from='{from}' id='{id}'><letter xmlns='urn:qiyou:letter:{version}'>aDg=</letter></message>"
        )
    }

    fn news(account: &mut Harness) -> Option<LetterNews> {
        account.letters.try_recv().ok()
    }

    #[tokio::test]
    async fn a_letter_of_another_version_is_refused_and_a_person_learns_which_device_needs_an_update() {
        let mut account = Harness::begin();
        for (id, version, outdated) in [("a", 2, Outdated::Here), ("b", 0, Outdated::There)] {
            account.hear(&letter(CONTACT, version, id)).await;
            assert_eq!(
                news(&mut account),
                Some(LetterNews::OtherVersion { account: CONTACT.into(), outdated })
            );
            let (to, refused) = account.task.letters.refused.pop().expect("refused");
            assert_eq!((to.to_string().as_str(), refused.as_str()), (CONTACT, id));
            let sent = refusal(&to, &refused);
            let answer = sent.payloads.iter().find_map(|payload| LAYER.read_answer(payload));
            assert_eq!(answer, Some((id, VERSIONS)));
            // The contact may be away: its server keeps the answer.
            assert!(sent.payloads.iter().any(|payload| payload.is("store", "urn:xmpp:hints")));
            assert!(!sent.payloads.iter().any(|payload| payload.is("received", ns::RECEIPTS)));
            // The archive may hold it too.
            account.hear(&letter(CONTACT, version, id)).await;
            assert!(account.task.letters.refused.is_empty() && news(&mut account).is_none(), "once");
        }
        account.hear(&letter(CONTACT, 1, "c")).await;
        assert!(matches!(news(&mut account), Some(LetterNews::Came { id, .. }) if id == "c"));
        assert!(account.task.letters.refused.is_empty());
    }

    #[tokio::test]
    async fn nobody_learns_from_a_refusal_what_the_presence_does_not_tell() {
        let mut account = Harness::begin();
        for from in ["eve@example.org", "me@example.org"] {
            account.hear(&letter(from, 2, "a")).await;
            assert!(account.task.letters.refused.is_empty() && news(&mut account).is_none(), "{from}");
        }
        let error = letter(CONTACT, 2, "b").replace("chat", "error");
        account.hear(&error).await;
        assert!(account.task.letters.refused.is_empty() && news(&mut account).is_none());
        // Who is shown to nobody still learns that something has come.
        account.task.card = None;
        account.hear(&letter(CONTACT, 2, "c")).await;
        assert!(account.task.letters.refused.is_empty());
        assert!(matches!(news(&mut account), Some(LetterNews::OtherVersion { .. })));
    }

    #[tokio::test]
    async fn whose_letters_are_refused_learns_which_device_needs_an_update() {
        let mut account = Harness::begin();
        let refusal = |from: &str, kind: &str, range: &str| {
            let versions =
                format!("<versions xmlns='urn:qiyou:versions' of='letter' id='qiyou-letter-7' {range}/>");
            format!("<message type='{kind}' from='{from}'>{versions}</message>")
        };
        let contact_on_a_device = format!("{CONTACT}/qiyou");
        for (from, range, outdated) in [
            (CONTACT, "lowest='2' highest='3'", Outdated::Here),
            (contact_on_a_device.as_str(), "lowest='0' highest='0'", Outdated::There),
        ] {
            account.hear(&refusal(from, "chat", range)).await;
            assert_eq!(
                news(&mut account),
                Some(LetterNews::OtherVersion { account: CONTACT.into(), outdated })
            );
        }
        for (from, kind, range) in [
            ("eve@example.org", "chat", "lowest='2' highest='3'"),
            (CONTACT, "error", "lowest='2' highest='3'"),
            // It reads this device's letters.
            (CONTACT, "chat", "lowest='1' highest='3'"),
        ] {
            account.hear(&refusal(from, kind, range)).await;
            assert_eq!(news(&mut account), None, "{from} {kind} {range}");
        }
    }

    #[tokio::test]
    async fn a_letter_with_an_endless_id_is_not_remembered() {
        let mut account = Harness::begin();
        account.hear(&letter(CONTACT, 1, &"x".repeat(LONGEST_ID + 1))).await;
        assert!(news(&mut account).is_none() && account.task.letters.read.is_empty());
        account.hear(&letter(CONTACT, 1, &"x".repeat(LONGEST_ID))).await;
        assert!(news(&mut account).is_some());
    }

    #[test]
    fn of_many_letters_in_transit_the_oldest_is_forgotten_first() {
        let (news, _heard) = mpsc::unbounded_channel();
        let mut letters = Letters::new(news);
        let to: BareJid = "ben@example.org".parse().expect("an address");
        for number in 0..2 * KEPT as u64 {
            // Random ids sort in any order; these in the reverse one.
            letters.remember_sent(format!("{:06}", 1_000_000 - number), number, to.clone());
            assert!(letters.sent.len() <= KEPT);
        }
        assert_eq!(letters.sent.values().map(|(number, _)| *number).min(), Some(KEPT as u64));
    }

    #[test]
    fn a_letter_comes_back_from_xml_and_nonsense_does_not() {
        for sealed in [&b""[..], b"h8", &[0xFF; MAX_LETTER]] {
            let xml = String::from(&element(sealed));
            assert_eq!(read(&xml.parse().expect("XML")).as_deref(), Some(sealed));
        }
        let xml = |text: &str| format!("<letter xmlns='{NAMESPACE}'>{text}</letter>");
        for text in ["not base64!".to_owned(), "AAAA".repeat(MAX_LETTER)] {
            assert_eq!(read(&xml(&text).parse().expect("XML")), None);
        }
    }
}
