//! Two people use `qiyouctl` for everything that two people can do; each exit code tells how the command ended.

use std::time::Duration;

use link::CarrierState;
use serde_json::{Value, json};
use tests::house::{Device, House, Seen};
use tests::programs::{Hands, Said, programs};

/// A device with its user.
struct Person {
    device: Device,
    hands: Hands,
}

impl Person {
    async fn new(house: &mut House, name: &str) -> Self {
        let device = house.device(name).await;
        let hands = Hands::at(&device);
        Self { device, hands }
    }

    async fn does(&self, words: &[&str]) -> Said {
        self.hands.does(words).await
    }

    async fn ctl(&self, words: &[&str]) -> Said {
        self.hands.ctl(words).await
    }

    async fn sees(&mut self, what: &str, so: impl FnMut(&Seen) -> bool) {
        self.device.client.until(what, so).await;
    }

    /// The room of this id in the output of `rooms`.
    async fn room(&self, id: &str) -> Value {
        let rooms = self.does(&["rooms"]).await.lines;
        rooms.into_iter().find(|room| room["id"] == id).expect("the room is open")
    }

    /// Plays in the room of this id.
    async fn plays(&self, room: &str, action: &str) {
        self.does(&["play", action, "--room", room]).await;
    }

    async fn restarts(&mut self) {
        self.device.kill().await;
        self.device.start().await;
        self.hands = Hands::at(&self.device);
    }
}

async fn strangers(seed: u64) -> (House, Person, Person) {
    let mut house = House::new(seed);
    let (anna, ben) = (Person::new(&mut house, "Anna").await, Person::new(&mut house, "Ben").await);
    (house, anna, ben)
}

async fn friends(seed: u64) -> (House, Person, Person) {
    let (house, mut anna, mut ben) = strangers(seed).await;
    befriend(&mut anna, &mut ben).await;
    (house, anna, ben)
}

async fn befriend(anna: &mut Person, ben: &mut Person) {
    anna.does(&["meet", "Ben"]).await;
    ben.sees("a string", |seen| !seen.comparisons.is_empty()).await;
    let (here, there) =
        tokio::join!(anna.does(&["same", "--wait", "30"]), ben.does(&["same", "--wait", "30"]));
    assert_eq!((here.text("end"), there.text("end")), ("friends", "friends"));
    for person in [anna, ben] {
        person.sees("a friend", |seen| seen.friends.values().any(|friend| friend.connected)).await;
    }
}

/// Starts a match on these terms; returns the room's id, which is the same on both devices.
async fn begin(one: &mut Person, other: &mut Person, terms: &[&str]) -> String {
    let name = other.device.name.clone();
    let invite = [&["invite", &name][..], terms].concat();
    let (asked, accepted) = tokio::join!(one.does(&invite), other.does(&["accept", "--wait", "30"]));
    assert_eq!(asked.text("room_id"), accepted.text("room_id"));
    let id = accepted.text("room_id").to_owned();
    both_see(one, other, &id, |room| room.result.is_none()).await;
    id
}

async fn both_see(
    one: &mut Person,
    other: &mut Person,
    id: &str,
    so: impl Fn(&proto::control::Room) -> bool,
) {
    for person in [one, other] {
        person.sees("the same room", |seen| seen.rooms.get(id).is_some_and(&so)).await;
    }
}

/// Plays these moves in turn, `one` first, each after the other device has received the last one.
async fn play(one: &mut Person, other: &mut Person, id: &str, actions: &[&str]) {
    for (number, action) in actions.iter().enumerate() {
        let plies = one.device.client.seen.rooms[id].record.len() + 1;
        let mover = if number % 2 == 0 { &*one } else { &*other };
        mover.plays(id, action).await;
        both_see(one, other, id, |room| room.record.len() == plies).await;
    }
}

async fn resign(one: &mut Person, other: &mut Person, id: &str) {
    one.does(&["resign", "--room", id]).await;
    both_see(one, other, id, |room| room.result.is_some()).await;
}

/// The commands for an offer and for its answer.
async fn agree(one: &mut Person, other: &mut Person, id: &str, offer: &[&str]) {
    one.does(&[offer, &["--room", id]].concat()).await;
    other.sees("an offer", |seen| seen.rooms.get(id).is_some_and(|room| room.offer.is_some())).await;
    other.does(&["yes", "--room", id]).await;
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test]
async fn strangers_are_listed_compared_and_kept_as_friends_with_a_note() {
    let (_house, anna, mut ben) = strangers(300).await;
    let near = anna.does(&["scan", "--seconds", "1"]).await;
    assert!(near.lines.iter().any(|one| one["event"] == "nearby" && one["name"] == "Ben"), "{near:?}");
    let here = anna.does(&["meet", "Ben"]).await;
    assert_eq!(here.last()["emoji"].as_array().map(Vec::len), Some(4));
    assert_eq!(here.text("digits").len(), 6);
    ben.sees("a string", |seen| !seen.comparisons.is_empty()).await;
    let shown = ben.device.client.seen.comparisons.first().expect("one").digits.clone();
    assert_eq!(here.text("digits"), shown, "both screens show the same");
    let (here, there) =
        tokio::join!(anna.does(&["same", "--wait", "30"]), ben.does(&["same", "--wait", "30"]));
    assert_eq!((here.text("name"), there.text("name")), ("Ben", "Anna"));
    anna.does(&["note", "Ben", "from the train"]).await;
    let kept = anna.does(&["friends"]).await;
    assert_eq!((kept.text("name"), kept.text("note")), ("Ben", "from the train"));
    assert_eq!(kept.last()["connected"], true);
    anna.does(&["forget", "Ben"]).await;
    assert!(anna.does(&["friends"]).await.lines.is_empty());
}

#[tokio::test]
async fn whoever_does_not_say_the_same_makes_no_friend_and_the_exit_code_says_so() {
    let (_house, anna, mut ben) = strangers(302).await;
    anna.does(&["meet", "Ben"]).await;
    ben.sees("a string", |seen| !seen.comparisons.is_empty()).await;
    // Nobody answers in time.
    let said = anna.ctl(&["same", "--wait", "1"]).await;
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.text("error").contains("has not answered yet"), "{said:?}");
    // An answer already given stands; the command waits for the other's answer.
    let waiting = anna.hands.begin_attached(&["same", "--wait", "30"]).await;
    let there = ben.ctl(&["different"]).await;
    let here = Said::of(&waiting.wait_with_output().await.expect("it ends"));
    assert_eq!((here.code, there.code), (5, 0), "{here:?} {there:?}");
    assert!(here.text("error").contains("did not say the same"), "{here:?}");
    for person in [&anna, &ben] {
        assert!(person.does(&["friends"]).await.lines.is_empty());
    }
    assert_eq!(anna.ctl(&["same"]).await.code, 5, "nothing is left to compare");
}

#[tokio::test]
async fn a_comparison_whose_link_is_lost_is_told_as_that() {
    let (house, anna, mut ben) = strangers(304).await;
    anna.does(&["meet", "Ben"]).await;
    ben.sees("a string", |seen| !seen.comparisons.is_empty()).await;
    let waiting = anna.hands.begin(&["same", "--wait", "30"]);
    ben.sees("Anna's answer", |seen| seen.comparisons.iter().any(|one| one.answered_there)).await;
    house.air.set_reach("Ben", false);
    let said = Said::of(&waiting.wait_with_output().await.expect("it ends"));
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.text("error").contains("connection was lost"), "{said:?}");
}

#[tokio::test]
async fn an_invitation_is_accepted_declined_countered_withdrawn_or_told_to_wait() {
    let (_house, mut anna, mut ben) = friends(306).await;
    let id = begin(&mut anna, &mut ben, &["--game", "go", "--option", "size=5", "--pace", "5m+3s"]).await;
    let (here, there) = (anna.room(&id).await, ben.room(&id).await);
    assert_eq!((&here["setup"], &here["pace"]), (&there["setup"], &there["pace"]), "the same terms");
    assert_ne!(here["mine"], there["mine"], "drawn, and one of each");
    resign(&mut anna, &mut ben, &id).await;

    let (asked, answered) = tokio::join!(anna.ctl(&["invite", "Ben"]), async {
        ben.sees("an invitation", |seen| !seen.invitations.is_empty()).await;
        ben.ctl(&["decline", "--reason", "other-game"]).await
    });
    assert_eq!((asked.code, answered.code), (5, 0), "{asked:?}");
    assert!(asked.text("error").contains("other_game"), "{asked:?}");
    ben.sees("it is gone", |seen| seen.invitations.is_empty()).await;

    // A counter-offer replaces her terms; she accepts it.
    let (hands, client) = (&anna.hands, &mut anna.device.client);
    let (asked, countered, accepted) = tokio::join!(
        hands.ctl(&["invite", "Ben", "--colour", "first"]),
        async {
            ben.sees("an invitation", |seen| !seen.invitations.is_empty()).await;
            ben.ctl(&["counter", "--game", "xiangqi", "--colour", "first", "--pace", "30s/move"]).await
        },
        async {
            client.until("other terms", |seen| seen.invitations.iter().any(|one| !one.mine)).await;
            hands.ctl(&["accept"]).await
        },
    );
    assert_eq!((asked.code, countered.code, accepted.code), (5, 0, 0), "{asked:?} {countered:?}");
    assert!(asked.text("error").contains("countered"), "{asked:?}");
    let id = accepted.text("room_id").to_owned();
    let room = ben.room(&id).await;
    assert!(word(&room["setup"]).starts_with("xiangqi"), "{room}");
    assert_eq!((word(&room["pace"]), &room["mine"]), ("30s/move", &json!(["first"])));
    both_see(&mut anna, &mut ben, &id, |room| room.result.is_none()).await;
    resign(&mut anna, &mut ben, &id).await;

    // One invitation at a time; a withdrawn one is removed on both sides.
    anna.does(&["invite", "Ben", "--no-wait"]).await;
    assert_eq!(anna.ctl(&["invite", "Ben", "--no-wait"]).await.refusal(), (1, "busy"));
    ben.sees("an invitation", |seen| !seen.invitations.is_empty()).await;
    assert_eq!(ben.does(&["invitations"]).await.lines.len(), 1);
    anna.does(&["withdraw"]).await;
    ben.sees("it is gone", |seen| seen.invitations.is_empty()).await;
    assert_eq!(ben.ctl(&["accept"]).await.code, 5);
    assert_eq!(anna.ctl(&["withdraw"]).await.code, 5);
}

#[tokio::test]
async fn invitations_that_cross_become_one_match() {
    let (house, mut anna, mut ben) = strangers(308).await;
    // Longer than it takes until both commands have reached their hosts. A link keeps the delay that it began with.
    house.air.set_delay(Duration::from_secs(1)..Duration::from_millis(1_001));
    befriend(&mut anna, &mut ben).await;
    let (here, there) = tokio::join!(anna.ctl(&["invite", "Ben"]), ben.ctl(&["invite", "Anna"]));
    let rooms = [anna.does(&["rooms"]).await, ben.does(&["rooms"]).await];
    assert_eq!([here.code, there.code], [0, 0], "{here:?} {there:?}");
    assert_eq!(here.text("room_id"), there.text("room_id"));
    for rooms in rooms {
        assert_eq!(rooms.lines.len(), 1, "{rooms:?}");
        assert_eq!(word(&rooms.lines[0]["id"]), here.text("room_id"));
    }
}

#[tokio::test]
async fn colours_alternate_from_match_to_match() {
    let (_house, mut anna, mut ben) = friends(310).await;
    let mut before: Option<Value> = None;
    for _ in 0..3 {
        let id = begin(&mut anna, &mut ben, &["--colour", "alternate"]).await;
        let mine = anna.room(&id).await["mine"].clone();
        assert!(before.is_none_or(|before| before != mine), "not as the last time");
        before = Some(mine);
        resign(&mut ben, &mut anna, &id).await;
        for person in [&anna, &ben] {
            person.does(&["close", "--room", &id]).await;
        }
    }
}

#[tokio::test]
async fn in_a_match_all_is_asked_for_answered_and_shown_on_both_devices() {
    let (_house, mut anna, mut ben) = friends(312).await;
    let id = begin(&mut anna, &mut ben, &["--colour", "first", "--pace", "10m+3x30s"]).await;
    assert_eq!(ben.ctl(&["play", "h8"]).await.refusal(), (1, "not_your_turn"));
    // More than the host reads of any client, which then closes the connection.
    let long = "x".repeat(100_000);
    for words in [["name", &long], ["add", &long], ["play", &long]] {
        let said = anna.ctl(&words).await;
        assert_eq!(said.code, 1, "{}: {:.200}", words[0], format!("{said:?}"));
        assert!(format!("{said:?}").contains("too long"), "{}: {:.200}", words[0], format!("{said:?}"));
    }
    play(&mut anna, &mut ben, &id, &["h8", "i9", "j8"]).await;
    assert_eq!(ben.ctl(&["play", "h8"]).await.refusal(), (1, "occupied"));
    assert_eq!(ben.ctl(&["play", "z99"]).await.code, 1);

    // A take-back to her last decision although Ben has moved since; then a refusal.
    play(&mut ben, &mut anna, &id, &["g7"]).await;
    agree(&mut anna, &mut ben, &id, &["take-back"]).await;
    both_see(&mut anna, &mut ben, &id, |room| room.record == ["h8", "i9"]).await;
    anna.does(&["draw"]).await;
    ben.sees("an offer", |seen| seen.rooms[&id].offer.is_some()).await;
    ben.does(&["no"]).await;
    anna.sees("no", |seen| seen.rooms[&id].offer.is_none()).await;
    assert_eq!(ben.ctl(&["yes"]).await.code, 1, "nothing is offered any more");
    assert_eq!(anna.room(&id).await["result"], Value::Null);

    agree(&mut ben, &mut anna, &id, &["pause"]).await;
    both_see(&mut anna, &mut ben, &id, |room| room.paused).await;
    assert_eq!(anna.ctl(&["play", "j8"]).await.refusal(), (1, "paused"));
    agree(&mut anna, &mut ben, &id, &["continue"]).await;
    both_see(&mut anna, &mut ben, &id, |room| !room.paused).await;

    // The next day, after another match between the same two.
    agree(&mut anna, &mut ben, &id, &["adjourn"]).await;
    for person in [&mut anna, &mut ben] {
        person.sees("the room is closed", |seen| !seen.rooms.contains_key(&id)).await;
    }
    let second = begin(&mut ben, &mut anna, &["--game", "liuzhou", "--colour", "first"]).await;
    for person in [&mut anna, &mut ben] {
        person.restarts().await;
        person.does(&["resume", &id[..8]]).await;
        assert_eq!(person.does(&["rooms"]).await.lines.len(), 2, "two unfinished matches with one friend");
    }
    both_see(&mut anna, &mut ben, &id, |room| room.paused && room.can_continue).await;
    assert_eq!(anna.ctl(&["rooms", "--room", "x"]).await.code, 2);
    assert_eq!(anna.ctl(&["board"]).await.code, 2, "which of the two?");
    agree(&mut ben, &mut anna, &id, &["continue"]).await;
    both_see(&mut anna, &mut ben, &id, |room| !room.paused && !room.clocks.is_empty()).await;
    play(&mut anna, &mut ben, &id, &["j8"]).await;

    agree(&mut ben, &mut anna, &id, &["draw"]).await;
    both_see(&mut anna, &mut ben, &id, |room| room.result.is_some()).await;
    assert_eq!(ben.room(&id).await["result"]["ending"], anna.room(&id).await["result"]["ending"]);

    // A new game with colours swapped, and one with the same colours.
    let mine = anna.room(&id).await["mine"].clone();
    agree(&mut anna, &mut ben, &id, &["new-game"]).await;
    let follows = |seen: &Seen, of: &str| {
        seen.rooms.values().find(|room| room.follows == of).map(|room| room.id.clone())
    };
    ben.sees("a new game", |seen| follows(seen, &id).is_some()).await;
    let third = follows(&ben.device.client.seen, &id).expect("it was there");
    both_see(&mut anna, &mut ben, &third, |room| room.result.is_none()).await;
    assert_ne!(anna.room(&third).await["mine"], mine);
    resign(&mut anna, &mut ben, &third).await;
    agree(&mut ben, &mut anna, &third, &["new-game", "--same-colours"]).await;
    anna.sees("a new game", |seen| follows(seen, &third).is_some()).await;
    let fourth = follows(&anna.device.client.seen, &third).expect("it was there");
    assert_ne!(anna.room(&fourth).await["mine"], mine, "as in the third");
    both_see(&mut anna, &mut ben, &second, |room| room.result.is_none()).await;
    assert_eq!(anna.device.record(), ben.device.record());
}

#[tokio::test]
async fn phrases_and_words_are_said_heard_bounded_and_muted() {
    let (_house, mut anna, mut ben) = friends(314).await;
    begin(&mut anna, &mut ben, &[]).await;
    anna.does(&["say", "--phrase", "good-luck"]).await;
    anna.does(&["say", &"棋".repeat(200)]).await;
    ben.sees("two things said", |seen| seen.said.len() == 2).await;
    assert_eq!(ben.device.client.seen.said[0].phrase(), proto::peer::Phrase::GoodLuck);
    assert_eq!(ben.device.client.seen.said[1].text.chars().count(), 200);
    assert_eq!(anna.ctl(&["say", &"棋".repeat(201)]).await.code, 2, "200 at most");
    assert_eq!(anna.ctl(&["say", "--phrase", "no-such"]).await.code, 2);
    ben.does(&["mute", "Anna"]).await;
    anna.does(&["say", "into the void"]).await;
    ben.does(&["mute", "Anna", "--off"]).await;
    anna.does(&["say", "heard"]).await;
    ben.sees("what was said after", |seen| seen.said.last().is_some_and(|said| said.text == "heard")).await;
    assert!(!ben.device.client.seen.said.iter().any(|said| said.text == "into the void"));
}

#[tokio::test]
async fn dead_stones_are_agreed_on_by_both_and_play_can_be_resumed() {
    let (_house, mut anna, mut ben) = friends(316).await;
    let id = begin(
        &mut anna,
        &mut ben,
        &["--game", "go", "--option", "size=5", "--option", "scoring=territory", "--colour", "first"],
    )
    .await;
    play(&mut anna, &mut ben, &id, &["C3", "A1", "pass", "pass"]).await;
    // The lone white stone is proposed as dead to both. Ben resumes play; then both accept the next proposal.
    both_see(&mut anna, &mut ben, &id, |room| room.record.last().is_some_and(|last| last == "dead A1")).await;
    anna.plays(&id, "agree").await;
    ben.sees("her agreement", |seen| seen.rooms[&id].record.len() == 6).await;
    ben.plays(&id, "resume").await;
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 7 && room.result.is_none()).await;
    for _ in 0..2 {
        let turn = word(&anna.room(&id).await["turn"]).to_owned();
        let mover = if turn == "first" { &anna } else { &ben };
        let plies = anna.device.client.seen.rooms[&id].record.len() + 1;
        mover.plays(&id, "pass").await;
        both_see(&mut anna, &mut ben, &id, |room| room.record.len() == plies).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.last().is_some_and(|last| last == "dead A1")).await;
    for action in ["agree", "agree"] {
        let plies = anna.device.client.seen.rooms[&id].record.len() + 1;
        let turn = word(&anna.room(&id).await["turn"]).to_owned();
        let mover = if turn == "first" { &anna } else { &ben };
        mover.plays(&id, action).await;
        both_see(&mut anna, &mut ben, &id, |room| room.record.len() == plies || room.result.is_some()).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.result.is_some()).await;
    assert_eq!(word(&ben.room(&id).await["result"]["winner"]), "first");
}

#[tokio::test]
async fn colours_are_chosen_in_the_opening_and_pieces_of_liuzhou_chess_are_taken() {
    let (_house, mut anna, mut ben) = friends(318).await;
    let id = begin(&mut anna, &mut ben, &["--option", "opening=swap2", "--colour", "first"]).await;
    for action in ["h8", "i9", "j10"] {
        anna.plays(&id, action).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 3).await;
    play(&mut ben, &mut anna, &id, &["more"]).await;
    for action in ["a1", "o15"] {
        ben.plays(&id, action).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 6).await;
    play(&mut anna, &mut ben, &id, &["black"]).await;
    assert_eq!(anna.room(&id).await["record"], ben.room(&id).await["record"]);
    resign(&mut ben, &mut anna, &id).await;

    // Renju: a number of fifth moves, and each of them.
    let renju = ["--option", "rule=renju", "--option", "opening=soosorv-8", "--colour", "first"];
    let id = begin(&mut anna, &mut ben, &renju).await;
    for action in ["h8", "i9", "j8"] {
        anna.plays(&id, action).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 3).await;
    for action in ["white", "a1", "offer2"] {
        ben.plays(&id, action).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 6).await;
    for action in ["black", "b2", "c4"] {
        anna.plays(&id, action).await;
    }
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 9).await;
    play(&mut ben, &mut anna, &id, &["c4"]).await;
    assert_eq!(anna.room(&id).await["record"], ben.room(&id).await["record"]);
    resign(&mut ben, &mut anna, &id).await;

    // A square makes a capture due at once.
    let id = begin(&mut anna, &mut ben, &["--game", "liuzhou", "--colour", "first"]).await;
    play(&mut anna, &mut ben, &id, &["b2", "e5", "b3", "e2", "c2", "a6", "c3"]).await;
    let marked = anna.room(&id).await;
    assert_eq!(word(&marked["turn"]), "first", "a piece is to be taken: {marked}");
    anna.plays(&id, "xe5").await;
    both_see(&mut anna, &mut ben, &id, |room| room.record.len() == 8).await;
    assert_eq!(
        anna.does(&["board", "--room", &id]).await.last()["pieces"],
        ben.does(&["board", "--room", &id]).await.last()["pieces"]
    );
}

#[tokio::test]
async fn a_race_is_run_on_both_devices_at_once() {
    let (_house, mut anna, mut ben) = friends(320).await;
    let id = begin(&mut anna, &mut ben, &["--game", "lights-out"]).await;
    let lights = |board: &Said| board.last()["race"].clone();
    anna.plays(&id, "a1").await;
    ben.sees("her press", |seen| seen.rooms[&id].race.is_some_and(|race| race.their_presses == 1)).await;
    assert_eq!(lights(&ben.does(&["board"]).await)["my_presses"], 0, "his board is his own");
    let (here, there) = tokio::join!(anna.does(&["bot", "--level", "5"]), ben.does(&["bot", "--level", "5"]));
    assert!(!here.last()["record"].is_null() && !here.last()["digest"].is_null(), "{here:?}");
    assert_eq!(
        (here.last()["record"].clone(), here.last()["digest"].clone()),
        (there.last()["record"].clone(), there.last()["digest"].clone()),
        "both runs are in both records"
    );
    assert_eq!(anna.device.record(), ben.device.record());
}

#[tokio::test]
async fn after_the_end_both_look_at_it_together() {
    let (_house, mut anna, mut ben) = friends(322).await;
    let id = begin(&mut anna, &mut ben, &["--colour", "first"]).await;
    play(&mut anna, &mut ben, &id, &["h8", "i9", "j8"]).await;
    assert_eq!(anna.ctl(&["analyse", "--to", "1"]).await.code, 1, "the match goes on");
    resign(&mut ben, &mut anna, &id).await;
    anna.does(&["analyse", "--to", "1"]).await;
    anna.does(&["analyse", "--try", "a1"]).await;
    let tried = |moves: &[&str]| {
        let moves: Vec<String> = moves.iter().map(|one| (*one).to_owned()).collect();
        move |room: &proto::control::Room| room.analysis.as_ref().is_some_and(|at| at.tried == moves)
    };
    both_see(&mut anna, &mut ben, &id, tried(&["a1"])).await;
    ben.does(&["analyse", "--try", "b2"]).await;
    both_see(&mut anna, &mut ben, &id, tried(&["a1", "b2"])).await;
    anna.does(&["analyse", "--back"]).await;
    both_see(&mut anna, &mut ben, &id, tried(&["a1"])).await;
    ben.does(&["analyse", "--close"]).await;
    both_see(&mut anna, &mut ben, &id, |room| room.analysis.is_none()).await;
    assert_eq!(ben.room(&id).await["record"], json!(["h8", "i9", "j8"]));
}

#[tokio::test]
async fn two_bots_play_a_match_to_its_end_by_command_line() {
    let (_house, mut anna, mut ben) = friends(324).await;
    begin(&mut anna, &mut ben, &[]).await;
    let (here, there) = tokio::join!(anna.does(&["bot", "--level", "1"]), ben.does(&["bot", "--level", "2"]));
    for key in ["room_id", "result", "record", "digest", "revision"] {
        assert!(!here.last()[key].is_null(), "{key}");
        assert_eq!(here.last()[key], there.last()[key], "{key}");
    }
}

// Exit codes, as `qiyouctl --help` lists them.

#[tokio::test]
async fn zero_is_done_and_one_is_what_the_host_refused() {
    let (_house, mut anna, mut ben) = friends(330).await;
    begin(&mut anna, &mut ben, &["--colour", "first"]).await;
    for words in
        [&["rooms"][..], &["friends"], &["matches"], &["doctor"], &["name"], &["visibility"], &["rules"]]
    {
        assert_eq!(anna.ctl(words).await.code, 0, "{words:?}");
    }
    for words in [
        &["play", "zz"][..],
        &["take-back"],
        &["yes"],
        &["no"],
        &["continue"],
        &["analyse", "--to", "0"],
        &["name", ""],
        &["add", "qiyou:friend/1/nonsense"],
    ] {
        let said = anna.ctl(words).await;
        assert_eq!(said.code, 1, "{words:?}: {said:?}");
        assert!(!said.text("refusal").is_empty(), "a script reads why: {said:?}");
    }
    assert_eq!(ben.ctl(&["play", "h8"]).await.refusal(), (1, "not_your_turn"));
    // More than the host reads of any client, which then closes the connection.
    let long = "x".repeat(100_000);
    for words in [["name", &long], ["add", &long], ["play", &long]] {
        let said = anna.ctl(&words).await;
        assert_eq!(said.code, 1, "{}: {:.200}", words[0], format!("{said:?}"));
        assert!(format!("{said:?}").contains("too long"), "{}: {:.200}", words[0], format!("{said:?}"));
    }
}

#[tokio::test]
async fn a_match_is_kept_from_a_file_and_written_to_another() {
    let mut house = House::new(332);
    let anna = Person::new(&mut house, "Anna").await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (given, written) = (path("given.sgf"), path("written.sgf"));
    std::fs::write(&given, "(;GM[1]SZ[9]PB[Xu]PW[Yan]RE[B+R];B[ee];W[cc];B[gg])").expect("written");
    let imported = anna.ctl(&["import", &given]).await;
    assert_eq!(imported.code, 0, "{imported:?}");
    let id = imported.text("room_id").to_owned();
    assert!(format!("{:?}", anna.ctl(&["matches"]).await).contains(&id), "it is in the list");
    assert_eq!(anna.ctl(&["export", &id, &written]).await.code, 0);
    let text = std::fs::read_to_string(&written).expect("it was written");
    assert!(text.contains(";B[ee];W[cc];B[gg]") && text.contains("PB[Xu]"), "{text}");
    let printed = anna.ctl(&["export", &id, "--format", "qiyou"]).await;
    assert!(printed.text("content").contains("E5"), "{printed:?}");
    let again = anna.ctl(&["export", &id, &written]).await;
    assert!(again.code == 1 && again.text("error").contains("exists"), "nothing is overwritten: {again:?}");

    let pipe = path("pipe.sgf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    std::fs::write(path("long.sgf"), vec![b' '; 1 << 21]).expect("written");
    for bad in [pipe, path("long.sgf"), path("none.sgf"), path("")] {
        let said = anna.ctl(&["import", &bad]).await;
        assert!(said.code == 1 && !said.text("error").is_empty(), "{bad}: {said:?}");
    }
    std::fs::write(&given, "(;GM[1]SZ[9];B[zz])").expect("written");
    let said = anna.ctl(&["import", &given]).await;
    assert!(said.code == 1 && said.text("error").contains("line 1"), "{said:?}");
}

#[tokio::test]
async fn two_is_wrong_usage() {
    let mut house = House::new(332);
    let anna = Person::new(&mut house, "Anna").await;
    for words in [
        &["play"][..],
        &["no-such-command"],
        &["bot", "--level", "11"],
        &["new", "--opponent", "bot:0"],
        &["new", "--pace", "soon"],
        &["new", "--colour", "alternate"],
        &["invite", "Ben", "--option", "size"],
        &["decline", "--reason", "boredom"],
        &["analyse"],
        &["say", "--phrase", "no-such"],
    ] {
        if words[0] == "say" {
            anna.does(&["new", "--opponent", "here"]).await;
        }
        let output = anna.hands.begin(words).wait_with_output().await.expect("it ends");
        // clap's own messages are not JSON.
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
    }
    anna.does(&["new", "--opponent", "here"]).await;
    assert_eq!(anna.ctl(&["play", "h8"]).await.code, 2, "in which of two rooms?");
}

#[tokio::test]
async fn three_is_no_daemon_and_four_one_that_goes_away() {
    let mut house = House::new(334);
    let mut anna = Person::new(&mut house, "Anna").await;
    let nowhere = tempfile::tempdir().expect("a directory");
    let socket = nowhere.path().join("control.sock");
    let output = tokio::process::Command::new(programs().join("qiyouctl"))
        .args(["rooms", "--json", "--socket"])
        .arg(&socket)
        .output()
        .await
        .expect("it runs");
    let said = Said::of(&output);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.text("remedy").contains("qiyoud"), "{said:?}");

    let mut waiting = Vec::new();
    for words in [&["watch"][..], &["scan", "--seconds", "60"], &["accept", "--wait", "60"]] {
        waiting.push(anna.hands.begin_attached(words).await);
    }
    anna.device.kill().await;
    for child in waiting {
        let said = Said::of(&child.wait_with_output().await.expect("it ends"));
        assert_eq!(said.code, 4, "{said:?}");
        assert!(said.text("remedy").contains("everything was saved"), "{said:?}");
    }
}

#[tokio::test]
async fn five_is_what_did_not_come_to_be_and_six_what_stops_play() {
    let (house, mut anna, mut ben) = friends(336).await;
    for words in [
        &["accept"][..],
        &["accept", "--wait", "1"],
        &["decline"],
        &["withdraw"],
        &["same"],
        &["same", "Nobody", "--wait", "1"],
        &["different"],
        &["bot"],
        &["play", "h8"],
        &["resign"],
        &["close"],
        &["resume", "ffffffff"],
        &["meet", "Nobody", "--seconds", "1"],
        &["invite", "Nobody", "--seconds", "1"],
        &["forget", "Nobody"],
        &["mute", "Nobody"],
        &["note", "Nobody"],
        &["block", "Nobody"],
        &["unblock", "Nobody"],
    ] {
        assert_eq!(anna.ctl(words).await.code, 5, "{words:?}");
    }
    // A friend who is away.
    house.air.set_reach("Ben", false);
    for person in [&mut anna, &mut ben] {
        person.sees("away", |seen| seen.friends.values().all(|friend| !friend.connected)).await;
    }
    let said = anna.ctl(&["invite", "Ben", "--seconds", "1"]).await;
    assert_eq!(said.code, 5, "{said:?}");
    house.air.set_state("Anna", CarrierState::Off);
    let said = anna.ctl(&["meet", "Somebody", "--seconds", "1"]).await;
    assert_eq!(said.code, 5);
    assert!(said.text("error").contains("off"), "{said:?}");
}

#[tokio::test]
async fn a_report_for_a_bug_says_versions_checks_and_the_log_and_names_nobody() {
    let (house, mut anna, mut ben) = friends(340).await;
    anna.does(&["note", "Ben", "from the train"]).await;
    begin(&mut anna, &mut ben, &[]).await;
    let folder = tempfile::tempdir().expect("a directory");
    let (log, file) = (folder.path().join("log"), folder.path().join("report.txt"));
    let friend = anna.device.client.seen.friends.values().next().expect("Ben").id.clone();
    let own = anna.device.client.seen.me.fingerprint.clone();
    let room = anna.device.client.seen.room().expect("one room").id.clone();
    let lines = [
        "INFO host::actor: the host has started name=\"Anna\" rooms=0".to_owned(),
        format!("DEBUG host::reach: dialing address=Lan:192.168.7.20:47415 peer={friend}"),
        "DEBUG ble_transport: /org/bluez/hci0/dev_00_AA_01_00_00_42 is 00:AA:01:00:00:42".to_owned(),
        format!("INFO host: {own} plays Ben in {room}; ben@example.org said hello"),
        "WARN host::journal: the disk is full".to_owned(),
    ];
    std::fs::write(&log, lines.join("\n")).expect("written");
    let (log, report) = (log.display().to_string(), file.display().to_string());
    anna.does(&["report", "--log", &log, "--file", &report]).await;
    let text = std::fs::read_to_string(&file).expect("the report");
    let secrets = ["Anna", "Ben", "from the train", "192.168.7.20", "00:AA", "00_AA", "ben@example.org"];
    for secret in secrets.into_iter().chain([friend.as_str(), &own, &room]) {
        assert!(!text.contains(secret), "{secret} is in the report:\n{text}");
    }
    for kept in [
        "version: ",
        "kernel: ",
        "features: carriers memory",
        "holds: 1 friends, 1 rooms",
        "storage",
        "the disk is full",
    ] {
        assert!(text.contains(kept), "{kept} is not in the report:\n{text}");
    }
    anna.does(&["report", "--log", &log, "--file", &report, "--lines", "1"]).await;
    let text = std::fs::read_to_string(&file).expect("the report");
    assert!(text.contains("the disk is full") && !text.contains("dialing"), "{text}");
    // Without a daemon, which may be the fault.
    drop((anna, ben, house));
    let socket = folder.path().join("nobody");
    let output = std::process::Command::new(programs().join("qiyouctl"))
        .args(["report", "--log", &log, "--file", &report, "--socket"])
        .arg(socket)
        .output()
        .expect("qiyouctl runs");
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&file).expect("the report");
    assert!(text.contains("daemon: no daemon listens") && text.contains("the disk is full"), "{text}");
    assert!(!text.contains("192.168.7.20") && !text.contains("Anna"), "{text}");
}
