use serde_json::Value;

use super::harness::{CONTACT, Harness};
use super::*;
use crate::Tag;
use crate::online::pipe::Segment;

/// A link message of this version.
fn opening(from: &str, version: u32) -> String {
    format!(
        "<message type='chat' from='{from}'><q xmlns='urn:qiyou:link:{version}' l='7' a='0' o='1'/></message>"
    )
}

/// What is to be sent to the contact about the link `7`.
fn answer(account: &mut Harness) -> Option<Said> {
    let ToSend { to, link, said } = account.to_send.try_recv().ok()?;
    assert_eq!((to.to_string(), link.as_str()), (format!("{CONTACT}/qiyou"), "7"));
    said
}

#[tokio::test]
async fn a_link_of_another_version_is_answered_with_what_this_device_speaks() {
    let mut account = Harness::begin();
    let device = format!("{CONTACT}/qiyou");
    for version in [0, 2, 4_000_000_000] {
        account.hear(&opening(&device, version)).await;
        assert_eq!(answer(&mut account), Some(Said::Speaks(link::VERSIONS)), "{version}");
        assert!(account.task.links.is_empty());
    }
    // Both in one message: the one that is spoken.
    let both = opening(&device, 1).replace("<q", "<q xmlns='urn:qiyou:link:2' l='7'/><q");
    account.hear(&both).await;
    assert!(answer(&mut account).is_none() && account.task.links.len() == 1);
}

#[tokio::test]
async fn what_links_say_is_to_be_neither_stored_nor_copied_to_another_client() {
    let mut account = Harness::begin();
    let _stream = account.dial();
    let ToSend { to, link, said } = account.to_send.recv().await.expect("it opens");
    for said in [said.expect("not its end"), Said::Speaks(link::VERSIONS)] {
        let sent = link_message(to.clone(), &link, &said);
        assert_eq!(sent.to, Some(Jid::from(to.clone())));
        let hints = sent.payloads.iter().filter(|payload| payload.has_ns("urn:xmpp:hints"));
        assert_eq!(hints.map(Element::name).collect::<Vec<_>>(), ["no-store", "no-copy"]);
        assert_eq!(sent.payloads.iter().find_map(link::read), Some((link.clone(), said)));
    }
}

#[tokio::test]
async fn nobody_learns_from_an_answer_what_the_presence_does_not_tell() {
    let mut account = Harness::begin();
    let device = format!("{CONTACT}/qiyou");
    let nothing = async |account: &mut Harness, xml: &str, why: &str| {
        account.hear(xml).await;
        assert!(account.to_send.try_recv().is_err(), "{why}");
    };
    nothing(&mut account, &opening("eve@example.org/qiyou", 2), "a stranger").await;
    nothing(&mut account, &opening("me@example.org/other", 2), "the account itself").await;
    nothing(&mut account, &opening(&device, 2).replace("chat", "error"), "an error").await;
    let state = |account: &Harness, state| {
        account.task.shown.send_modify(|view| {
            view.contacts.get_mut(CONTACT).expect("a contact").state = state;
        });
    };
    for half in [ContactState::Asks, ContactState::Asked, ContactState::OneWay] {
        state(&account, half);
        nothing(&mut account, &opening(&device, 2), "not both have accepted").await;
    }
    state(&account, ContactState::Mutual);
    account.task.card = None;
    nothing(&mut account, &opening(&device, 2), "this device is shown to nobody").await;
}

#[tokio::test]
async fn an_accepted_link_tells_whose_account_it_comes_from() {
    let mut account = Harness::begin();
    account.hear(&opening(&format!("{CONTACT}/qiyou"), 1)).await;
    let accepted = account.accepting.try_recv().expect("a contact opens it");
    let contact = Address { kind: CarrierKind::Online, text: CONTACT.to_owned() };
    assert_eq!(accepted.source, Some(contact), "without the device");
}

#[tokio::test]
async fn an_answer_reaches_the_link_that_asked_and_is_not_answered() {
    let mut account = Harness::begin();
    let mut stream = account.dial();
    let opened = account.to_send.recv().await.expect("it opens");
    assert!(matches!(opened.said, Some(Said::Segment { opens: true, .. })));
    let speaks = |from: &str, link: &str| {
        let versions =
            format!("<versions xmlns='urn:qiyou:versions' of='link' id='{link}' lowest='2' highest='3'/>");
        format!("<message type='chat' from='{from}'>{versions}</message>")
    };
    let device = format!("{CONTACT}/qiyou");
    account.hear(&speaks("eve@example.org/qiyou", &opened.link)).await;
    account.hear(&speaks(&device, "another")).await;
    assert!(account.to_send.try_recv().is_err());
    account.hear(&speaks(&device, &opened.link)).await;
    let error = tokio::io::AsyncReadExt::read(&mut stream, &mut [0]).await.expect_err("no version in common");
    let outdated = error.get_ref().and_then(|inner| inner.downcast_ref::<Outdated>());
    assert_eq!(outdated, Some(&Outdated::Here));
    let ended = account.to_send.recv().await.expect("it ends");
    assert!(ended.said.is_none(), "nothing is sent");
}

#[tokio::test]
async fn a_card_that_cannot_be_read_shows_which_device_needs_an_update() {
    let mut account = Harness::begin();
    const READABLE: &str = "<card xmlns='urn:qiyou:card:1' v='1' s='2' t='0001abff09'/>";
    for (cards, outdated, is_read) in [
        (READABLE, None, true),
        ("<card xmlns='urn:qiyou:card:2' z='?'/>", Some(Outdated::Here), false),
        ("<card xmlns='urn:qiyou:card:1' v='2' s='2' t='0001abff09'/>", Some(Outdated::Here), false),
        ("<card xmlns='urn:qiyou:card:0'/>", Some(Outdated::There), false),
        // A device that speaks both.
        (
            "<card xmlns='urn:qiyou:card:2'/><card xmlns='urn:qiyou:card:1' v='1' s='2' t='0001abff09'/>",
            None,
            true,
        ),
        ("<card xmlns='urn:qiyou:card:1' v='1' s='2' t='?'/>", None, false),
        ("", None, false),
    ] {
        account.hear(&format!("<presence from='{CONTACT}/qiyou'>{cards}</presence>")).await;
        let contact = account.task.shown.borrow().contacts[CONTACT].clone();
        assert_eq!((contact.outdated, contact.card.is_some()), (outdated, is_read), "{cards}");
        assert_ne!(contact.presence, Presence::Offline, "a link can be tried: {cards}");
    }
    account
        .hear(&format!("<presence from='{CONTACT}/qiyou'><card xmlns='urn:qiyou:card:2'/></presence>"))
        .await;
    account.hear(&format!("<presence from='{CONTACT}/qiyou' type='unavailable'/>")).await;
    assert_eq!(account.task.shown.borrow().contacts[CONTACT].outdated, None);
}

#[tokio::test]
async fn a_contact_can_be_dialed_whose_card_cannot_be_read() {
    let mut account = Harness::begin();
    account
        .hear(&format!("<presence from='{CONTACT}/qiyou'><card xmlns='urn:qiyou:card:2'/></presence>"))
        .await;
    assert!(account.task.open(CONTACT.parse().expect("an account")).is_some());
    let opened = account.to_send.recv().await.expect("it opens");
    assert_eq!(opened.to, format!("{CONTACT}/qiyou").parse::<FullJid>().expect("a device"));
}

// The elements of docs/vectors.json; what has no XMPP in it is compared by tests/tests/vectors.rs.

fn vectors() -> Value {
    let text = include_str!("../../../../docs/vectors.json");
    serde_json::from_str(text).expect("docs/vectors.json is JSON")
}

/// The elements of a list, which must not be empty.
fn list(value: &Value) -> &[Value] {
    let list = value.as_array().expect("a list");
    assert!(!list.is_empty());
    list
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn is(value: &Value) -> bool {
    value.as_bool().expect("yes or no")
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| number.try_into().ok()).expect("a number")
}

fn bytes(value: &Value) -> Vec<u8> {
    let digits = text(value);
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn xml(value: &Value) -> Element {
    text(value).parse().expect("XML")
}

/// As somebody else reads it.
fn sent(element: &Element) -> Element {
    String::from(element).parse().expect("XML")
}

#[test]
fn a_card_in_a_presence_is_the_element_of_the_vectors() {
    for one in list(&vectors()["cards"]) {
        let card = Card {
            tag: Tag(bytes(&one["tag"]).try_into().expect("five bytes")),
            open_to_all: is(&one["open_to_all"]),
            busy: is(&one["busy"]),
            wish: number(&one["wish"]) as u8,
            name: one["name"].as_str().map(str::to_owned),
            seldom: false,
        };
        let element = xml(&one["presence"]);
        assert_eq!(sent(&card_element(&card)), element);
        assert_eq!(card_of(&element), Some(card));
    }
}

#[test]
fn what_links_and_letters_say_are_the_elements_of_the_vectors() {
    let vectors = vectors();
    let xmpp = &vectors["xmpp"];
    let check = |one: &Value, said: Said| {
        let (name, element) = (text(&one["link"]), xml(&one["element"]));
        assert_eq!(sent(&link::element(name, &said)), element);
        assert_eq!(link::read(&element), Some((name.to_owned(), said)));
    };
    for one in list(&xmpp["links"]) {
        let segment = Segment {
            number: (!one["number"].is_null()).then(|| number(&one["number"])),
            acknowledged: number(&one["acknowledged"]),
            chunk: bytes(&one["chunk"]).into(),
        };
        check(one, Said::Segment { opens: is(&one["opens"]), segment });
    }
    check(&xmpp["link_that_is_not_there"], Said::Reset);
    for (one, word) in list(&xmpp["versions"]).iter().zip(["link", "letter"]) {
        assert_eq!(text(&one["of"]), word);
        let byte = |value: &Value| number(value) as u8;
        let versions = Versions { lowest: byte(&one["lowest"]), highest: byte(&one["highest"]) };
        let layer = Layer { word, element: word, spoken: versions };
        let (id, element) = (text(&one["id"]), xml(&one["element"]));
        assert_eq!(sent(&layer.answer(id, versions)), element);
        assert_eq!(layer.read_answer(&element), Some((id, versions)));
    }
    for one in list(&xmpp["letters"]) {
        let (sealed, element) = (bytes(&one["sealed"]), xml(&one["element"]));
        assert_eq!(sent(&letters::element(&sealed)), element);
        assert_eq!(letters::read(&element), Some(sealed));
    }
}
