//! A hostile peer that sends anything at any time. The session must not panic, hold an illegal record, do what its person
//! did not do or agree to, or grow without bound.

mod pair;
#[path = "../../tests/src/seed.rs"]
mod seed;

use std::time::Duration;

use bytes::Bytes;
use engine::lights_out::{LightsOutSetup, Start};
use engine::{Action, GameKind, Rng, Setup, Side};
use pair::{ANNA, BERT, Pair, any_small, choices, place, small, small_race, solution};
use proto::{board, peer};
use session::{
    Colours, Command, Error, Event, Input, MAX_MATCHES, MatchId, MatchRecord, MatchResult, MatchState,
    OfferKind, Role, Session, Terms, asked_by_letter, wire,
};

/// Most outputs per message: a long list of actions is sent as one record, so a few for each match.
const MOST_OUTPUTS: usize = 40 + 8 * MAX_MATCHES;

/// The match of this id.
fn of<'session>(session: &'session Session, id: &[u8]) -> Option<&'session MatchState> {
    session.matches().find(|state| state.id().0[..] == *id)
}

struct Fuzzer {
    rng: Rng,
    ids: Vec<MatchId>,
}

impl Fuzzer {
    fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }

    /// Mostly the id of an existing match.
    fn id(&mut self) -> Bytes {
        let index = self.below(self.ids.len() as u32 + 2) as usize;
        match self.ids.get(index).copied() {
            Some(id) => Bytes::copy_from_slice(&id.0),
            None if self.below(10) == 0 => Bytes::from_static(b"short"),
            None => Bytes::copy_from_slice(&[200 + self.below(20) as u8; 16]),
        }
    }

    /// Mostly near `around`, sometimes any number.
    fn number(&mut self, around: u32) -> u32 {
        match self.below(12) {
            0 => u32::MAX,
            1 => self.rng.next_u64() as u32,
            _ => (around + self.below(4)).saturating_sub(self.below(3)),
        }
    }

    /// Turns the direction of writing, and is often longer than a name may be.
    fn name(&mut self) -> String {
        "x\u{202E}".repeat(self.below(40) as usize)
    }

    /// Mostly no account, as on a link.
    fn account(&mut self) -> String {
        match self.below(4) {
            0 => "anna@example.org".into(),
            1 => self.name(),
            _ => String::new(),
        }
    }

    fn action(&mut self) -> Option<board::Action> {
        use board::action::Kind;
        let point = self.below(5) * 1024 + self.below(5);
        let to = self.below(5) * 1024 + self.below(5);
        let kind = match self.below(20) {
            0 => Kind::Pass(true),
            1 => Kind::Step(board::Step { from: point, to: u32::MAX }),
            2 => Kind::Capture(point),
            3 => Kind::Place(self.rng.next_u64() as u32),
            4 => return None,
            5 => Kind::Choose(self.below(16) as i32),
            6 => Kind::Step(board::Step { from: point, to }),
            7 => Kind::Press(point),
            8 => Kind::Toggle(point),
            9 => Kind::Agree(true),
            10 => Kind::Resume(true),
            11 => Kind::Done(self.below(1_000)),
            _ => Kind::Place(point),
        };
        Some(board::Action { kind: Some(kind) })
    }

    /// A legal action in the position of this match, if it is not over.
    fn legal(&mut self, state: &MatchState) -> Option<Action> {
        let legal = state.position().legal_actions();
        let number = self.below(legal.len().max(1) as u32);
        legal.get(number as usize).copied()
    }

    fn result(&mut self) -> Option<board::Result> {
        let winner = self.below(4) as i32;
        match self.below(6) {
            0 => Some(board::Result { winner, ending: board::Ending::Resigned.into() }),
            1 => Some(board::Result { winner: 0, ending: board::Ending::DrawAgreed.into() }),
            2 => Some(board::Result { winner, ending: self.below(40) as i32 }),
            _ => None,
        }
    }

    fn setup(&mut self) -> Option<board::Setup> {
        match self.below(12) {
            0 => None,
            1 => Some(board::Setup { game: None }),
            2 => {
                let rule = self.below(4) as i32;
                let opening = self.below(3) as i32;
                let size = self.number(5);
                let gomoku = board::GomokuSetup { size, rule, edge_five_wins: false, opening };
                Some(board::Setup { game: Some(board::setup::Game::Gomoku(gomoku)) })
            }
            3 => {
                let size = self.number(5);
                let gomoku = board::GomokuSetup { size, ..Default::default() };
                let bytes: Vec<u8> =
                    (0..self.below(20)).map(|_| [0, 1, 2, 0x12][self.below(4) as usize]).collect();
                Some(board::Setup {
                    game: Some(board::setup::Game::Started(board::Started {
                        rules: Some(board::started::Rules::Gomoku(gomoku)),
                        turn: self.below(3) as i32,
                        points: bytes.into(),
                        moving: self.below(8) == 0,
                    })),
                })
            }
            4 => {
                // The largest board of a race, of two devices, and of all.
                let size = [15, 64, 1_000][self.below(3) as usize];
                let start = Start::Random { columns: size, rows: size, seed: u64::from(self.below(2)) };
                let lights = LightsOutSetup { start, race: self.below(4) > 0, ..LightsOutSetup::default() };
                Some(wire::setup(&Setup::LightsOut(lights)))
            }
            5 => Some(wire::setup(&GameKind::Go.default_setup())),
            _ => Some(wire::setup(&any_small(self.below(256) as u8))),
        }
    }

    fn pace(&mut self) -> Option<board::Pace> {
        let kind = self.below(6) as i32;
        (self.below(3) == 0).then(|| board::Pace {
            kind,
            main_s: self.number(300),
            step_s: self.number(10),
            periods: self.number(3),
        })
    }

    /// A whole record, mostly of a match of the victim's.
    fn record(&mut self, victim: &Session) -> peer::Record {
        let match_id = self.id();
        let state = of(victim, &match_id);
        let revision = self.number(state.map_or(0, |state| state.record().revision));
        let mut actions: Vec<_> = state.map(|state| state.record().actions.clone()).unwrap_or_default();
        if self.below(2) == 0 {
            actions.truncate(self.below(4) as usize);
        }
        if self.below(2) == 0 {
            let legal = state.and_then(|state| self.legal(state));
            actions.push(legal.unwrap_or_else(|| place(self.below(5) as u16, self.below(5) as u16)));
        }
        let mut packed = wire::pack_actions(&actions);
        if self.below(6) == 0 {
            packed.extend((0..self.below(3000)).map(|_| 0x80));
        }
        let setup = match state {
            Some(state) if self.below(4) > 0 => Some(wire::setup(&state.record().setup)),
            _ => self.setup(),
        };
        let timed = self.below(3) == 0;
        peer::Record {
            match_id,
            setup,
            sender_side: 1 + self.below(3) as i32,
            revision,
            actions: packed.into(),
            result: self.result(),
            pace: self.pace(),
            times: Bytes::from(vec![5; if timed { self.below(12) as usize } else { 0 }]),
            paused: self.below(4) == 0,
            reveal: Bytes::from(vec![1; [0, 32][self.below(2) as usize]]),
            spent_ms: self.below(u32::MAX),
            hints: (self.below(4) == 0)
                .then(|| peer::Hints { first: self.number(3), second: self.below(u32::MAX) }),
            account: self.account(),
        }
    }

    fn club_player(&mut self) -> peer::ClubPlayer {
        peer::ClubPlayer {
            id: self.number(3),
            name: self.name(),
            number: self.number(2),
            left: self.below(2) == 0,
            who: self.below(4) as i32,
        }
    }

    /// Any message, mostly related to the victim's state.
    fn word(&mut self, victim: &Session) -> peer::Envelope {
        let match_id = self.id();
        let state = of(victim, &match_id);
        let ply = state.map_or(0, session::MatchState::ply);
        let revision = state.map_or(0, |state| state.record().revision);
        let digest = state.map_or(0, session::MatchState::digest);
        let ply = self.number(ply);
        let revision = self.number(revision);
        let digest = if self.below(4) == 0 { self.rng.next_u64() } else { digest };
        match self.below(34) {
            0 => peer::Hello {
                lowest_version: self.below(3),
                highest_version: self.below(3),
                name: self.name(),
                games: vec![self.below(9) as i32; self.below(4) as usize],
                advert_key: Bytes::from(vec![1; self.below(40) as usize]),
                matches: (0..self.below(4))
                    .map(|_| peer::ResumePoint {
                        match_id: self.id(),
                        ply: self.number(1),
                        digest,
                        revision,
                        result: self.result(),
                        paused: self.below(2) == 0,
                        spent_ms: self.below(u32::MAX),
                        hints: self.number(3),
                    })
                    .collect(),
                wants_comparison: self.below(2) == 0,
                wish: i32::MAX,
                knows_hints: self.below(2) == 0,
                knows_starts: self.below(2) == 0,
                knows_openings: self.below(2) == 0,
                knows_chinese_repetition: self.below(2) == 0,
            }
            .into(),
            1 => peer::Pair { step: Some(peer::pair::Step::Nonce(Bytes::from_static(&[0; 32]))) }.into(),
            2 => peer::Invite {
                invite_id: match_id,
                setup: self.setup(),
                colours: self.below(4) as i32,
                pace: self.pace(),
                commitment: Bytes::from(vec![1; [0, 32][self.below(2) as usize]]),
                counters: if self.below(4) == 0 { self.id() } else { Bytes::new() },
                alternates: self.below(2) == 0,
                hints: self.below(2) == 0,
            }
            .into(),
            3 => {
                use peer::invite_answer::Answer;
                let answer =
                    [Some(Answer::Accept(true)), Some(Answer::Decline(7)), None][self.below(3) as usize];
                let nonce = Bytes::from(vec![1; [0, 32][self.below(2) as usize]]);
                peer::InviteAnswer { invite_id: match_id, answer, nonce, account: self.account() }.into()
            }
            4 => peer::Withdraw { invite_id: match_id }.into(),
            5..=8 => {
                let spent_ms = self.below(9);
                // Often a correct move.
                let mut action = self.action();
                let mut after = digest;
                if let Some(state) = state
                    && self.below(2) == 0
                    && let Some(legal) = self.legal(state)
                {
                    action = Some(wire::action(legal));
                    let mut record = state.record().clone();
                    record.actions.push(legal);
                    after = record.digest();
                }
                peer::Play { match_id, ply, action, thought_ms: u32::MAX, digest: after, revision, spent_ms }
                    .into()
            }
            9..=11 => {
                let (wants_rest, paused) = (self.below(2) == 0, self.below(4) == 0);
                let spent_ms = self.below(u32::MAX);
                peer::Ack {
                    match_id,
                    ply,
                    digest,
                    revision,
                    result: self.result(),
                    wants_rest,
                    paused,
                    spent_ms,
                }
                .into()
            }
            12..=14 => {
                let kind = self.below(9) as i32;
                let offer_id = self.number(3);
                peer::Offer { match_id, offer_id, kind, ply, to_ply: self.number(ply.min(9)), revision }
                    .into()
            }
            15..=17 => {
                let (offer_id, accept) = (self.below(4), self.below(4) > 0);
                peer::OfferAnswer { match_id, offer_id, accept, ply, revision }.into()
            }
            18 => peer::Resign { match_id, ply, revision }.into(),
            19 | 20 => self.record(victim).into(),
            21 => peer::Ping { token: self.rng.next_u64() }.into(),
            22 => peer::Pong { token: self.rng.next_u64() % 4 }.into(),
            23 => peer::Flag { match_id, ply, revision }.into(),
            24 => peer::Reveal { invite_id: match_id, nonce: Bytes::from(vec![1; 32]) }.into(),
            25 => {
                let actions: Vec<_> = (0..self.below(4)).map(|at| place(at as u16, 0)).collect();
                let (version, open) = (self.number(3), self.below(4) > 0);
                let actions = wire::pack_actions(&actions).into();
                peer::Analysis { match_id, revision, version, open, ply, actions }.into()
            }
            26 => {
                let (presses, lit, elapsed_ms) = (self.number(5), self.number(1), self.number(9_000));
                peer::Progress { match_id, presses, lit, elapsed_ms, revision }.into()
            }
            27 | 28 => {
                // Mostly for a race, sometimes even correct: the presses that put the lights out.
                let race = victim.matches().find(|state| state.is_race() && state.record().result.is_none());
                let right = race.filter(|_| self.below(3) > 0);
                let mut actions: Vec<_> = right.map_or_else(Vec::new, solution);
                if self.below(4) == 0 {
                    actions.truncate(self.below(4) as usize);
                }
                actions.push(Action::Done(self.below(1_000)));
                let ply = if self.below(2) == 0 { 0 } else { self.number(actions.len() as u32) };
                let match_id = race.map_or(match_id, |race| Bytes::copy_from_slice(&race.id().0));
                let digest = race.map_or(digest, |race| {
                    let mut longer = race.record().clone();
                    longer.actions.extend(&actions);
                    longer.digest()
                });
                let actions = wire::pack_actions(&actions).into();
                peer::Run { match_id, ply, actions, digest, revision }.into()
            }
            29 => peer::HintTaken { match_id, hints: self.number(3) }.into(),
            30 => peer::Gift { record: (self.below(8) > 0).then(|| self.record(victim)) }.into(),
            31 => {
                use peer::say::What;
                let what = match self.below(3) {
                    0 => Some(What::Phrase(self.below(40) as i32)),
                    1 => Some(What::Text("棋\u{202E}".repeat(self.below(120) as usize))),
                    _ => None,
                };
                peer::Say { match_id, what }.into()
            }
            32 => peer::Club {
                number: self.number(1),
                name: self.name(),
                setup: self.setup(),
                pace: self.pace(),
                twice: self.below(2) == 0,
                phase: self.below(4) as i32,
                players: (0..self.below(20)).map(|_| self.club_player()).collect(),
                games: (0..self.below(30)).map(|_| self.below(9) as u8).collect(),
            }
            .into(),
            _ if self.below(4) == 0 => peer::Bye { reason: self.below(20) as i32 }.into(),
            _ => peer::Unsupported { msgid: u32::MAX }.into(),
        }
    }
}

/// The attacker has a new link, and mostly greets as a friend does.
fn come_back(pair: &mut Pair, fuzzer: &mut Fuzzer) {
    pair.devices[BERT].linked = true;
    pair.input(BERT, Input::LinkUp { role: Role::Listener, handshake_hash: [1; 32] });
    if fuzzer.below(8) == 0 {
        return;
    }
    let hello = peer::Hello {
        lowest_version: 1,
        highest_version: 1,
        games: vec![1],
        matches: pair.devices[BERT]
            .session
            .matches()
            .take(3)
            .map(|state| peer::ResumePoint {
                match_id: Bytes::copy_from_slice(&state.id().0),
                ply: state.ply(),
                digest: state.digest(),
                revision: state.record().revision,
                result: state.record().result.map(wire::result),
                ..peer::ResumePoint::default()
            })
            .collect(),
        ..peer::Hello::default()
    };
    pair.input(BERT, Input::Received(hello.into()));
}

/// The honest person acts.
fn act(pair: &mut Pair, fuzzer: &mut Fuzzer) {
    // The last id is of no match.
    let id = fuzzer.ids[fuzzer.rng.below(fuzzer.ids.len() as u32 - 1) as usize];
    let state = pair.devices[BERT].session.match_state(id);
    let action = state.and_then(|state| choices(state, pair.now).first().copied());
    let commands = [
        action.map(|action| Command::Act { id, action }),
        Some(Command::Offer { id, kind: OfferKind::Draw }),
        Some(Command::Offer { id, kind: OfferKind::TakeBack }),
        Some(Command::AnswerOffer { id, accept: false }),
    ];
    if let Some(command) = commands[fuzzer.below(4) as usize].clone() {
        let _ = pair.try_input(BERT, Input::Command(command));
    }
}

/// Nothing is taken away, played or ended in Bert's name by this input, and a violation changes nothing. Returns how many
/// records it changed.
fn check_fair(session: &Session, before: &[MatchRecord], input: &Input, is_violation: bool) -> usize {
    let mut changes = 0;
    for old in before {
        let Some(state) = session.match_state(old.id) else { continue };
        let new = state.record();
        changes += usize::from(new != old);
        if is_violation {
            assert_eq!(new, old, "a violation changes nothing: {input:?}");
        }
        if new.revision != old.revision {
            let consent = old.offered.expect("only what was offered here can be accepted there");
            assert_eq!((consent.revision, new.revision), (old.revision, old.revision + 1), "{input:?}");
            assert!(consent.kind != OfferKind::NewGame);
            continue;
        }
        assert!(new.actions.starts_with(&old.actions), "nothing is taken away: {input:?}");
        let theirs = new.my_side.other();
        let for_bert = state.decided_by().zip(&new.actions).skip(old.actions.len());
        let for_bert: Vec<_> = for_bert.filter(|(by, _)| *by != theirs).map(|(_, action)| *action).collect();
        // In a race Bert's presses enter the record once the other run is there.
        assert!(for_bert.is_empty() || for_bert == old.run, "nobody plays for Bert: {input:?}");
        if new.result != old.result {
            let fair = match new.result {
                Some(MatchResult::Resigned(side) | MatchResult::TimedOut(side)) => side == theirs,
                Some(MatchResult::Played(_)) => new.actions.len() > old.actions.len(),
                Some(MatchResult::DrawAgreed) | None => false,
            };
            assert!(fair, "{old:?} became {new:?} by {input:?}");
        }
    }
    changes
}

/// Bert is honest, with a match of each game; the peer claims to be Anna and is hostile.
fn attack(seed: u64, words: usize) -> (usize, usize) {
    let (mut pair, first) = Pair::playing();
    let mut ids = vec![first, pair.begin(BERT, small(), Side::First)];
    // Liuzhou, Go, xiangqi.
    for (inviter, number) in [(ANNA, 0), (BERT, 1), (ANNA, 2)] {
        ids.push(pair.begin(inviter, any_small(number), Side::First));
    }
    let terms = Terms { setup: small_race(), pace: None, colours: Colours::Random, hints: false };
    ids.push(pair.begin_with(BERT, terms));
    ids.push(MatchId([240; 16]));
    let mut fuzzer = Fuzzer { rng: Rng::new(seed), ids };
    pair.devices[ANNA].linked = false;
    let (mut violations, mut changes) = (0, 0);
    for _ in 0..words {
        if fuzzer.below(30) == 0 {
            pair.lose_link(BERT);
        }
        let is_away = pair.closed(BERT).is_some() || !pair.devices[BERT].linked;
        // Without a link the attacker may write a letter.
        let writes = is_away && fuzzer.below(3) == 0;
        if is_away && !writes {
            come_back(&mut pair, &mut fuzzer);
        }
        pair.devices[BERT].sent.clear();
        pair.devices[BERT].told();
        // Sometimes the honest person acts.
        if fuzzer.below(12) == 0 {
            act(&mut pair, &mut fuzzer);
            continue;
        }
        let victim = &pair.devices[BERT].session;
        let before: Vec<_> = victim.matches().map(|state| state.record().clone()).collect();
        let input = if writes {
            Input::Letter(Box::new(fuzzer.record(victim)))
        } else {
            Input::Received(fuzzer.word(victim))
        };
        let done = pair.try_input(BERT, input.clone());
        assert!(!matches!(done, Err(Error::Refused(_))), "what a peer says is not refused");
        violations += usize::from(done.is_err());
        let outputs = pair.devices[BERT].sent.len() + pair.devices[BERT].events.len();
        assert!(outputs <= MOST_OUTPUTS, "{outputs} outputs after {input:?}");
        changes += check_fair(&pair.devices[BERT].session, &before, &input, done.is_err());
        // Sometimes the person accepts the match that a letter asks for.
        if let Input::Letter(letter) = input
            && let Some((id, ..)) = asked_by_letter(&letter)
            && pair.devices[BERT].journal.record(id).is_none()
            && fuzzer.below(2) == 0
        {
            let _ = pair.try_input(BERT, Input::Command(Command::AcceptLetter(letter)));
        }
        assert!(pair.devices[BERT].session.matches().len() <= MAX_MATCHES + 4);
    }
    (violations, changes)
}

#[test]
fn whatever_a_peer_says_nothing_happens_that_was_not_agreed() {
    let rounds =
        std::env::var("QIYOU_HOSTILE_ROUNDS").ok().map_or(100, |text| text.parse().expect("a number"));
    let (mut violations, mut changes) = (0, 0);
    let first = seed::begin("hostile", 0);
    for seed in first..first + rounds {
        let (guilty, changed) = attack(seed, 300);
        violations += guilty;
        changes += changed;
    }
    // Otherwise the fuzzing reached nothing.
    assert!(violations > 1_000 && changes > 100, "{violations} violations, {changes} changes");
}

#[test]
fn ten_invitations_a_second_ring_once() {
    let mut pair = Pair::friends();
    pair.connect();
    pair.run();
    pair.devices[BERT].told();
    // Almost a minute: then the invitation would end.
    for number in 0..590_u32 {
        pair.wait_without_delivery(Duration::from_millis(100));
        pair.input(BERT, Input::Tick);
        let mut id = [9; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let invite = peer::Invite {
            invite_id: Bytes::copy_from_slice(&id),
            setup: Some(wire::setup(&small())),
            ..peer::Invite::default()
        };
        pair.input(BERT, Input::Received(invite.into()));
    }
    let rings = pair.devices[BERT].told().into_iter().filter(|event| matches!(event, Event::Invited { .. }));
    assert_eq!(rings.count(), 1);
}
