//! JSON for scripts, one object per line. Field names follow `control.proto`; enums are lower-case words; digests are 16
//! hexadecimal digits; times are microseconds of the host device's CLOCK_MONOTONIC.

use proto::board::Result as MatchResult;
use proto::control::{
    Account, Achieved, Adapter, Analysis, Blocked, Board, Check, Clock, Club, ClubPlayer, Comparison,
    Connecting, Contact, Engine, Event, ExploredMove, Friend, GameSheet, Gift, Guest, HintFound, Hotspot,
    Invitation, MatchSummary, Me, Nearby, Puzzle, PuzzleCount, PuzzleDays, PuzzleStanding, QuietHours, Race,
    Room, Seat, Stranger, Taken, club_player, event, seat,
};
use serde_json::{Value, json};

use crate::{pace, words};

/// An event: its fields, `event` with its kind, and `t_us` with the time at which the host sent it.
pub fn event(event: &Event) -> Value {
    let (kind, mut value) = match &event.body {
        None => ("unknown", json!({})),
        Some(event::Body::Ready(_)) => ("ready", json!({})),
        Some(event::Body::Me(one)) => ("me", me(one)),
        Some(event::Body::Radio(radio)) => (
            "radio",
            json!({"carrier": words::carrier(radio.carrier), "state": words::radio(radio.state),
                "detail": radio.detail, "scanning": radio.scanning, "advertising": radio.advertising}),
        ),
        Some(event::Body::Nearby(one)) => ("nearby", nearby(one)),
        Some(event::Body::NearbyGone(gone)) => ("nearby_gone", json!({"id": gone.id})),
        Some(event::Body::Endings(one)) => (
            "endings",
            json!({"state": words::endings(one.state), "plies": one.plies, "permille": one.permille,
                "bytes": one.bytes}),
        ),
        Some(event::Body::PuzzleMaking(one)) => (
            "puzzle_making",
            json!({"game": words::game(one.game), "found": one.found, "wanted": one.wanted}),
        ),
        Some(event::Body::WorkProgress(one)) => ("work_progress", json!({"permille": one.permille})),
        Some(event::Body::Friend(one)) => ("friend", friend(one)),
        Some(event::Body::FriendGone(gone)) => ("friend_gone", json!({"id": gone.id})),
        Some(event::Body::Comparison(one)) => ("comparison", comparison(one)),
        Some(event::Body::ComparisonGone(gone)) => {
            ("comparison_gone", json!({"peer": gone.id, "end": words::comparison_end(gone.end)}))
        }
        Some(event::Body::Activated(one)) => {
            ("activated", json!({"room_id": one.room_id, "invite_id": one.invite_id, "peer": one.peer}))
        }
        Some(event::Body::Invitation(one)) => ("invitation", invitation(one)),
        Some(event::Body::InvitationGone(gone)) => (
            "invitation_gone",
            json!({"invite_id": gone.invite_id, "end": words::invitation_end(gone.end),
                "room_id": gone.room_id, "reason": words::decline_reason(gone.reason),
                "countered_by": gone.countered_by}),
        ),
        Some(event::Body::Room(one)) => ("room", room(one)),
        Some(event::Body::RoomGone(gone)) => ("room_gone", json!({"id": gone.id})),
        Some(event::Body::Guest(one)) => ("guest", guest(one)),
        Some(event::Body::GuestGone(gone)) => {
            let (room, club) = (&gone.room_id, &gone.club_id);
            ("guest_gone", json!({"room_id": room, "club_id": club, "side": words::side(gone.side)}))
        }
        Some(event::Body::Engines(list)) => {
            ("engines", json!({"engines": list.engines.iter().map(engine).collect::<Vec<_>>()}))
        }
        Some(event::Body::Club(one)) => ("club", club(one)),
        Some(event::Body::ClubGone(gone)) => ("club_gone", json!({"id": gone.id})),
        Some(event::Body::Hotspot(one)) => ("hotspot", hotspot(one)),
        Some(event::Body::Thinking(thinking)) => (
            "thinking",
            json!({"room_id": thinking.room_id, "side": words::side(thinking.side), "on": thinking.on,
                "depth": thinking.depth, "nodes": thinking.nodes,
                "score": thinking.score.map(words::score), "line": thinking.line,
                "elapsed_ms": thinking.elapsed_ms}),
        ),
        Some(event::Body::Judgements(analysis)) => (
            "judgements",
            json!({
                "room_id": analysis.room_id,
                "permille": analysis.positions.iter().map(|one| one.permille).collect::<Vec<_>>(),
                "why": analysis.positions.iter().map(|one| one.why.as_ref().map(|why| &why.en)).collect::<Vec<_>>(),
                "total": analysis.total,
                "ended": analysis.ended,
            }),
        ),
        Some(event::Body::Gift(one)) => ("gift", gift(one)),
        Some(event::Body::GiftGone(gone)) => ("gift_gone", json!({"gift_id": gone.id})),
        Some(event::Body::Account(one)) => ("account", account(one)),
        Some(event::Body::Contact(one)) => ("contact", contact(one)),
        Some(event::Body::ContactGone(gone)) => ("contact_gone", json!({"account": gone.id})),
        Some(event::Body::Said(said)) => (
            "said",
            json!({"room_id": said.room_id, "mine": said.mine, "text": said.text, "name": said.name,
                "phrase": (said.phrase != 0).then(|| words::phrase(said.phrase))}),
        ),
        Some(event::Body::Notice(notice)) => (
            "notice",
            json!({"kind": words::notice(notice.kind), "name": notice.name, "room_id": notice.room_id,
                "detail": notice.detail, "seconds": notice.seconds,
                "words": notice.words.as_ref().map(|words| &words.en)}),
        ),
        Some(event::Body::Connecting(one)) => ("connecting", connecting(one)),
        Some(event::Body::Stranger(one)) => ("stranger", stranger(one)),
        Some(event::Body::StrangerGone(gone)) => ("stranger_gone", json!({"id": gone.id})),
        Some(event::Body::Blocked(one)) => ("blocked", blocked(one)),
        Some(event::Body::BlockedGone(gone)) => ("blocked_gone", json!({"id": gone.id})),
    };
    value["event"] = kind.into();
    value["t_us"] = event.monotonic_us.into();
    if event.quiet {
        value["quiet"] = true.into();
    }
    value
}

/// This device, as others see it.
pub fn me(me: &Me) -> Value {
    json!({"name": me.name, "visibility": words::visibility(me.visibility),
        "fingerprint": me.fingerprint, "found_when_closed": me.found_when_closed, "makes_puzzles": me.makes_puzzles,
        "quiet_hours": me.quiet_hours.as_ref().map(quiet_hours), "has_guests": me.has_guests,
        "ends_with_app": me.ends_with_app})
}

/// An engine that the user has added, or that was found.
pub fn engine(one: &Engine) -> Value {
    json!({"name": one.name, "program": one.program, "arguments": one.arguments,
        "protocol": words::protocol(one.protocol), "game": words::game(one.game), "confined": one.confined,
        "missing": one.missing})
}

/// A club evening. Players are named by their ids; points are numbers with halves, Sonneborn-Berger with quarters.
pub fn club(club: &Club) -> Value {
    let rounds = club.rounds.iter().map(|round| {
        let games = round.games.iter().map(|game| {
            let over = game.result != 0;
            json!({"board": game.board, "first": game.first, "second": game.second,
                "result": over.then(|| words::club_result(game.result)), "begun": game.begun,
                "room_id": game.room_id, "way": words::club_way(game.way)})
        });
        json!({"round": round.round, "games": games.collect::<Vec<_>>(), "free": round.free})
    });
    let standings = club.standings.iter().map(|row| {
        json!({"place": (row.place > 0).then_some(row.place), "player": row.player,
            "points": f64::from(row.half_points) / 2.0,
            "sonneborn_berger": f64::from(row.sonneborn_berger) / 4.0,
            "direct": row.direct.map(|half_points| f64::from(half_points) / 2.0), "wins": row.wins,
            "played": row.played, "cross": row.cross})
    });
    let next = club.next.iter().map(|next| {
        json!({"player": next.player, "round": next.round, "board": next.board, "opponent": next.opponent,
            "side": words::side(next.side)})
    });
    json!({"id": club.id, "name": club.name, "setup": words::setup(club.setup.as_ref()),
        "pace": pace::text(club.pace.as_ref()), "twice": club.twice, "state": words::club_state(club.state),
        "round": (club.round > 0).then_some(club.round),
        "players": club.players.iter().map(club_player).collect::<Vec<_>>(),
        "rounds": rounds.collect::<Vec<_>>(), "standings": standings.collect::<Vec<_>>(),
        "next": next.collect::<Vec<_>>(), "keeper": (!club.keeper.is_empty()).then_some(&club.keeper)})
}

fn club_player(player: &ClubPlayer) -> Value {
    let (who, friend) = match &player.who {
        Some(club_player::Who::Here(_)) => ("here", None),
        Some(club_player::Who::Friend(friend)) => ("friend", Some(friend)),
        Some(club_player::Who::Guest(_)) => ("guest", None),
        Some(club_player::Who::Nobody(_)) | None => ("nobody", None),
    };
    json!({"id": player.id, "name": player.name, "who": who, "friend": friend, "number": player.number,
        "left": player.left})
}

/// The Wi-Fi network for guests. Its passphrase is a secret.
pub fn hotspot(one: &Hotspot) -> Value {
    json!({"state": words::hotspot(one.state), "ssid": one.ssid, "passphrase": one.passphrase,
        "trouble": one.trouble.as_ref().map(|words| &words.en)})
}

/// Quiet hours, as `{"from": "22:00", "until": "08:00"}`.
pub fn quiet_hours(hours: &QuietHours) -> Value {
    let written = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
    json!({"from": written(hours.from_minute), "until": written(hours.until_minute)})
}

/// A device in reach.
pub fn nearby(nearby: &Nearby) -> Value {
    json!({"id": nearby.id, "name": nearby.name, "is_friend": nearby.is_friend, "rssi_dbm": nearby.rssi_dbm,
        "age_ms": nearby.age_ms, "carrier": words::carrier(nearby.carrier), "connected": nearby.connected,
        "carriers": nearby.carriers.iter().map(|one| words::carrier(*one)).collect::<Vec<_>>(),
        "busy": nearby.busy && !nearby.connected, "wish": (nearby.wish != 0).then(|| words::game(nearby.wish))})
}

/// A friend.
pub fn friend(friend: &Friend) -> Value {
    json!({"id": friend.id, "name": friend.name, "near": friend.near, "connected": friend.connected,
        "met_unix_ms": friend.met_unix_ms, "muted": friend.muted, "note": friend.note,
        "carrier": words::carrier(friend.carrier), "account": friend.account,
        "presence": words::presence(friend.presence), "met_by": words::carrier(friend.met_by),
        "unreached": words::unreached(friend.unreached)})
}

/// A connected device that is not a friend.
pub fn stranger(one: &Stranger) -> Value {
    json!({"id": one.id, "name": one.name, "carrier": words::carrier(one.carrier), "comparing": one.comparing,
        "mine": one.mine})
}

/// A blocked person.
pub fn blocked(one: &Blocked) -> Value {
    json!({"id": one.id, "name": one.name, "since_unix_ms": one.since_unix_ms})
}

/// A Bluetooth adapter.
pub fn adapter(one: &Adapter) -> Value {
    json!({"name": one.name, "address": one.address, "powered": one.powered, "in_use": one.in_use,
        "chosen": one.chosen, "here": one.here})
}

/// The XMPP account for online play.
pub fn account(account: &Account) -> Value {
    let sentence = account.sentence.as_ref().map_or("", |words| words.en.as_str());
    json!({"account": account.account, "state": words::account_state(account.state), "sentence": sentence,
        "detail": account.detail, "can_make": account.can_make, "retry_ms": account.retry_ms})
}

/// A contact of the account.
pub fn contact(contact: &Contact) -> Value {
    json!({"account": contact.account, "state": words::contact_state(contact.state), "name": contact.name,
        "presence": words::presence(contact.presence), "friend": contact.friend})
}

/// A match that a friend offers as a copy.
pub fn gift(gift: &Gift) -> Value {
    json!({"gift_id": gift.gift_id, "peer": gift.peer, "name": gift.name,
        "match": gift.r#match.as_ref().map(summary)})
}

/// An active guest code; `side` is `unspecified` for a spectators' code, and `room_id` is empty for that of a club evening.
pub fn guest(guest: &Guest) -> Value {
    json!({"room_id": guest.room_id, "club_id": guest.club_id, "side": words::side(guest.side),
        "name": guest.name, "present": guest.present, "asks": guest.asks, "watchers": guest.watchers,
        "came": guest.came})
}

/// The stage of an attempt to connect.
pub fn connecting(connecting: &Connecting) -> Value {
    json!({"peer": connecting.peer, "name": connecting.name, "state": words::connect(connecting.state)})
}

/// A short string that two people compare.
pub fn comparison(comparison: &Comparison) -> Value {
    json!({"peer": comparison.peer, "name": comparison.name, "emoji": comparison.emoji,
        "digits": comparison.digits, "answered_here": comparison.answered_here,
        "answered_there": comparison.answered_there, "known_name_new_key": comparison.known_name_new_key})
}

/// An invitation, ours or theirs.
pub fn invitation(invitation: &Invitation) -> Value {
    json!({"invite_id": invitation.invite_id, "peer": invitation.peer, "name": invitation.name,
        "mine": invitation.mine, "setup": words::setup(invitation.setup.as_ref()),
        "my_side": words::side(invitation.my_side), "expires_ms": invitation.expires_ms,
        "colours": words::colours(invitation.colours), "pace": pace::text(invitation.pace.as_ref()),
        "counters": invitation.counters, "by_letter": invitation.by_letter, "hints": invitation.hints})
}

/// A line of the doctor's report.
pub fn check(check: &Check) -> Value {
    json!({"subject": check.subject, "state": words::check(check.state), "found": check.found,
        "remedy": check.remedy})
}

/// How a match ended.
pub fn result(result: MatchResult) -> Value {
    json!({"winner": words::side(result.winner), "ending": words::ending(result.ending)})
}

fn seat(seat: Option<&Seat>) -> Value {
    let peer = match seat.and_then(|seat| seat.who.as_ref()) {
        Some(seat::Who::Peer(id)) => Some(id),
        _ => None,
    };
    let guest = seat.is_some_and(|seat| matches!(seat.who, Some(seat::Who::Guest(_))));
    json!({"who": words::seat(seat), "peer": peer, "guest": guest,
        "away": seat.is_some_and(|seat| seat.away)})
}

/// A side's clock.
pub fn clock(clock: &Clock) -> Value {
    json!({"left_ms": clock.left_ms, "running": clock.running, "byo_yomi": clock.byo_yomi,
        "periods": clock.periods})
}

/// The analysis that is shown; `null` when the final position is shown.
pub fn analysis(shown: Option<&Analysis>) -> Value {
    shown.map_or(Value::Null, |shown| {
        json!({"ply": shown.ply, "tried": shown.tried, "can_act": shown.can_act, "shared": shown.shared})
    })
}

/// 16 hexadecimal digits.
pub fn digest(digest: u64) -> String {
    format!("{digest:016x}")
}

/// A room without its board.
pub fn room(room: &Room) -> Value {
    let board = room.board.clone().unwrap_or_default();
    json!({
        "id": room.id, "setup": words::setup(room.setup.as_ref()),
        "first": seat(room.first.as_ref()), "second": seat(room.second.as_ref()),
        "ply": board.ply, "turn": words::side(board.turn),
        "mine": room.mine.iter().map(|side| words::side(*side)).collect::<Vec<_>>(),
        "result": room.result.map(result),
        "achieved": room.achieved.as_ref().map(achieved),
        "offer": room.offer.as_ref().map(|offer| json!({"kind": words::offer(offer.kind), "mine": offer.mine})),
        "link": room.link.as_ref().map(|link| json!({
            "carrier": words::carrier(link.carrier), "state": words::link(link), "away_ms": link.away_ms,
            "round_trip_ms": link.round_trip_ms, "rssi_dbm": link.rssi_dbm,
            "bytes_sent": link.bytes_sent, "bytes_received": link.bytes_received,
            "messages_sent": link.messages_sent, "messages_received": link.messages_received,
            "seen_action_ply": link.seen_action_ply, "seen_after_us": link.seen_after_us,
            "letter": words::letter(link.letter)})),
        "can_act": room.can_act, "can_take_back": room.can_take_back,
        "can_offer_draw": room.can_offer_draw, "can_resign": room.can_resign,
        "can_new_game": room.can_new_game,
        "record": room.record, "revision": room.revision, "digest": digest(room.digest),
        "pace": pace::text(room.pace.as_ref()), "paused": room.paused,
        "hints": room.hints.map(|hints| [hints.first, hints.second]),
        "clocks": room.clocks.iter().map(clock).collect::<Vec<_>>(),
        "can_pause": room.can_pause, "can_continue": room.can_continue, "can_adjourn": room.can_adjourn,
        "can_analyse": room.can_analyse, "analysis": analysis(room.analysis.as_ref()),
        "race": room.race.as_ref().map(race), "puzzle": puzzle_room(room),
        "differs": room.differs, "seen_ply": room.seen_ply, "follows": room.follows,
    })
}

/// What the end of a match was to the person here.
pub fn achieved(achieved: &Achieved) -> Value {
    json!({
        "help": words::help(achieved.help), "first_win": achieved.first_win, "streak": achieved.streak,
        "fewest": achieved.fewest, "best_before": achieved.best_before,
        "next_level": achieved.next_level, "review": achieved.review,
    })
}

/// A race from this device's point of view.
pub fn race(race: &Race) -> Value {
    json!({
        "my_presses": race.my_presses, "my_elapsed_ms": race.my_elapsed_ms,
        "my_clock_runs": race.my_clock_runs, "i_finished": race.i_finished, "i_stopped": race.i_stopped,
        "their_presses": race.their_presses, "their_lit": race.their_lit,
        "they_finished": race.they_finished, "they_stopped": race.they_stopped,
        "their_elapsed_ms": race.their_elapsed_ms,
    })
}

/// A room with all pieces, for `qiyouctl board`.
pub fn board(shown: &Room) -> Value {
    let Board { columns, rows, pieces, marks, facts, .. } = shown.board.clone().unwrap_or_default();
    let mut value = room(shown);
    value["columns"] = columns.into();
    value["rows"] = rows.into();
    value["pieces"] = pieces
        .iter()
        .map(|piece| {
            json!({"column": piece.at % 1024, "row": piece.at / 1024, "side": words::side(piece.side),
                "kind": words::piece(piece.kind)})
        })
        .collect();
    value["marks"] = marks
        .iter()
        .map(|mark| {
            json!({"column": mark.at % 1024, "row": mark.at / 1024, "kind": words::mark(mark.kind),
                "side": words::side(mark.side)})
        })
        .collect();
    value["facts"] = facts
        .iter()
        .map(|fact| json!({"kind": words::fact(fact.kind), "side": words::side(fact.side), "number": fact.number}))
        .collect();
    value
}

/// The options of a game, and its rules.
pub fn sheet(sheet: &GameSheet) -> Value {
    json!({
        "setup": words::setup(sheet.setup.as_ref()),
        "preset": sheet.preset,
        "presets": sheet.presets.iter().map(|preset| &preset.preset).collect::<Vec<_>>(),
        "options": sheet.options.iter().map(|option| json!({
            "option": option.option, "chosen": option.chosen,
            "values": option.values.iter().map(|value| &value.value).collect::<Vec<_>>(),
            "least": option.numbers.then_some(option.least), "most": option.numbers.then_some(option.most),
        })).collect::<Vec<_>>(),
        "rules_en": sheet.rule_sheet_en, "rules_zh": sheet.rule_sheet_zh, "problem": sheet.problem,
        "gives_odds": words::side(sheet.gives_odds), "level_step_tenths": sheet.level_step_tenths,
        "strength": sheet.strength.as_ref().map(|strength| json!({
            "level_tenths": strength.level_tenths, "lowest_tenths": strength.lowest_tenths,
            "highest_tenths": strength.highest_tenths, "matches": strength.matches, "history": strength.history,
        })),
    })
}

/// A kept match.
pub fn summary(summary: &MatchSummary) -> Value {
    json!({
        "id": summary.room_id, "setup": words::setup(summary.setup.as_ref()),
        "first": seat(summary.first.as_ref()), "second": seat(summary.second.as_ref()),
        "ply": summary.ply, "result": summary.result.map(result),
        "changed_unix_ms": summary.changed_unix_ms, "digest": digest(summary.digest),
        "record": summary.record, "revision": summary.revision, "open": summary.open,
        "pace": pace::text(summary.pace.as_ref()), "paused": summary.paused,
    })
}

/// A move that was played in a position, with how often and how the matches ended.
pub fn explored(one: &ExploredMove) -> Value {
    json!({
        "move": one.r#move.as_ref().map(|side| &side.written), "games": one.games, "first_won": one.first_won,
        "second_won": one.second_won, "drawn": one.drawn, "in_book": one.in_book,
    })
}

/// A hint.
pub fn hint(hint: &HintFound) -> Value {
    json!({
        "action": hint.notation,
        "lines": hint.lines.iter().map(|line| json!({"line": line.line, "permille": line.permille,
            "judged": line.judged, "lead_tenths": line.lead_tenths, "depth": line.depth})).collect::<Vec<_>>(),
        "threats": hint.threats.iter().map(|threat| json!({"kind": words::threat(threat.kind),
            "side": words::side(threat.side),
            "at": threat.at.iter().map(|at| json!([at % 1024, at / 1024])).collect::<Vec<_>>(),
            "says": threat.words.as_ref().map(|words| &words.en)})).collect::<Vec<_>>(),
    })
}

/// A puzzle.
pub fn puzzle(puzzle: &Puzzle) -> Value {
    let mistake = puzzle.mistake.as_ref().map(|one| {
        json!({"box": one.r#box, "boxes": one.boxes, "learnt": one.learnt, "due_in_days": one.due_in_days})
    });
    json!({"id": puzzle.id, "grade": puzzle.grade, "moves": puzzle.moves, "solved": puzzle.solved,
        "solved_unix_ms": puzzle.solved_unix_ms, "tries": puzzle.tries, "daily": puzzle.daily, "mistake": mistake,
        "goal_en": puzzle.goal.as_ref().map(|goal| &goal.en), "goal_zh": puzzle.goal.as_ref().map(|goal| &goal.zh)})
}

/// How many puzzles of a game there are.
pub fn puzzle_count(count: &PuzzleCount) -> Value {
    json!({"game": words::game(count.game).replace('_', "-"), "puzzles": count.puzzles, "solved": count.solved,
        "yours": count.yours, "due": count.due})
}

/// How the player fares in the puzzles of a game; without results `rating` and `deviation` are null.
pub fn puzzle_standing(standing: &PuzzleStanding) -> Value {
    let rated = |number: u32| (standing.rated > 0).then_some(number);
    let today = standing.today.iter().map(|one| json!({"id": one.id, "mark": words::today_mark(one)}));
    json!({"game": words::game(standing.game).replace('_', "-"), "rating": rated(standing.rating),
        "deviation": rated(standing.deviation), "rated": standing.rated, "run": standing.run,
        "best_run": standing.best_run, "today": today.collect::<Vec<_>>()})
}

/// Days in a row on which today's five were solved; `week`: the last seven days, today first.
pub fn puzzle_days(days: PuzzleDays) -> Value {
    let week: Vec<bool> = (0..7).map(|ago| (days.week >> ago) & 1 == 1).collect();
    json!({"streak": days.streak, "best": days.best, "week": week})
}

/// The contents of a backup that the next start restores.
pub fn taken(taken: &Taken) -> Value {
    json!({"name": taken.name, "friends": taken.friends, "matches": taken.matches})
}

/// The state of a puzzle's room; `null` for any other.
fn puzzle_room(room: &Room) -> Value {
    room.puzzle.as_ref().map_or(Value::Null, |state| {
        json!({"puzzle": state.puzzle.as_ref().map(puzzle), "progress": words::puzzle_progress(state), "left": state.left,
            "say_en": state.say.as_ref().map(|say| &say.en), "next": state.next})
    })
}

#[cfg(test)]
mod tests {
    use proto::control::Help;

    use super::*;

    #[test]
    fn what_the_end_was_to_the_player_is_in_the_room_and_null_where_it_is_not_told() {
        let achieved = Achieved { first_win: true, streak: 2, next_level: 4, ..Achieved::default() };
        let told = room(&Room { achieved: Some(achieved), ..Room::default() });
        let plain = json!({"help": "none", "first_win": true, "streak": 2, "fewest": false,
            "best_before": 0, "next_level": 4, "review": false});
        assert_eq!(told["achieved"], plain);
        assert_eq!(room(&Room::default())["achieved"], Value::Null);
        for (help, word) in [(Help::Hints, "hints"), (Help::Solved, "solved")] {
            let helped = Achieved { help: help.into(), ..Achieved::default() };
            assert_eq!(self::achieved(&helped)["help"], word);
        }
    }
}
