//! The messages between a client and its host, with their bounds. Both programs belong to the same user, so the bounds
//! guard against mistakes and runaway lists, not against malice.

use crate::board;
use crate::control::{
    Board, Club, ClubPlayer, ClubRequest, Engine, Event, GameChoice, GameSheet, MatchSummary, PositionNotes,
    Puzzle, Reply, Request, Seat, SideMove, Teach, Words, analyse, club_player, club_request, edit_notes,
    event, reply, request, seat,
};
use crate::envelope::{Bounded, EnvelopeError, bound, numbered_messages};
use crate::limits;
use crate::peer_envelope::{action, setup};

numbered_messages! {
    /// One message on the local socket.
    Message in control {
        1 => Request,
        2 => Reply,
        3 => Event,
    }
}

fn id(text: &str, field: &'static str) -> Result<(), EnvelopeError> {
    bound(text.len() <= limits::CLIENT_ID_BYTES, field)
}

fn text(text: &str, field: &'static str) -> Result<(), EnvelopeError> {
    bound(text.len() <= limits::TEXT_BYTES, field)
}

fn name(name: &str, field: &'static str) -> Result<(), EnvelopeError> {
    bound(name.len() <= limits::NAME_BYTES, field)
}

fn notations(list: &[String], most: usize, field: &'static str) -> Result<(), EnvelopeError> {
    bound(list.len() <= most && list.iter().all(|one| one.len() <= limits::NOTATION_BYTES), field)
}

fn seats(both: [Option<&Seat>; 2]) -> Result<(), EnvelopeError> {
    both.into_iter().flatten().try_for_each(|seat| {
        name(&seat.name, "Seat.name")?;
        name(&seat.engine, "Seat.engine")?;
        match &seat.who {
            Some(seat::Who::Peer(peer)) => id(peer, "Seat.peer"),
            Some(seat::Who::Here(_) | seat::Who::BotLevel(_) | seat::Who::Guest(_)) | None => Ok(()),
        }
    })
}

fn side_line(line: &[board::Action], field: &'static str) -> Result<(), EnvelopeError> {
    bound(line.len() <= limits::SIDE_MOVES, field)?;
    line.iter().try_for_each(|one| action(Some(one), field))
}

fn side_moves(list: &[SideMove], field: &'static str) -> Result<(), EnvelopeError> {
    bound(list.len() <= limits::SIDE_MOVES, field)?;
    list.iter().try_for_each(|one| {
        action(one.action.as_ref(), field)?;
        bound(one.written.len() <= limits::NOTATION_BYTES, field)?;
        words(one.spoken.as_ref(), field)
    })
}

fn notes_bounds(notes: &PositionNotes) -> Result<(), EnvelopeError> {
    bound(notes.comment.len() <= limits::COMMENT_BYTES, "PositionNotes.comment")?;
    side_moves(&notes.line, "PositionNotes.line")?;
    side_moves(notes.next.as_slice(), "PositionNotes.next")?;
    side_moves(&notes.beside, "PositionNotes.beside")?;
    bound(notes.marked.len() <= limits::SHOWN_ACTIONS + 1, "PositionNotes.marked")
}

fn arguments(list: &[String], field: &'static str) -> Result<(), EnvelopeError> {
    bound(list.len() <= limits::ENGINE_ARGUMENTS, field)?;
    list.iter().try_for_each(|one| text(one, field))
}

fn engine_bounds(engine: &Engine) -> Result<(), EnvelopeError> {
    name(&engine.name, "Engine.name")?;
    text(&engine.program, "Engine.program")?;
    arguments(&engine.arguments, "Engine.arguments")
}

fn engines_bounds(engines: &[Engine]) -> Result<(), EnvelopeError> {
    bound(engines.len() <= limits::ENGINES, "Engines.engines")?;
    engines.iter().try_for_each(engine_bounds)
}

fn choice(choice: Option<&GameChoice>) -> Result<(), EnvelopeError> {
    let Some(choice) = choice else { return Ok(()) };
    id(&choice.preset, "GameChoice.preset")?;
    bound(choice.start.len() <= limits::START_TEXT_BYTES, "GameChoice.start")?;
    bound(choice.options.len() <= limits::OPTIONS, "GameChoice.options")?;
    choice.options.iter().try_for_each(|one| {
        id(&one.option, "ChosenOption.option")?;
        id(&one.value, "ChosenOption.value")
    })
}

fn teach(asked: &Teach) -> Result<(), EnvelopeError> {
    bound(asked.actions.len() <= limits::TRIED_ACTIONS, "Teach.actions")?;
    asked.actions.iter().try_for_each(|one| action(Some(one), "Teach.actions"))
}

fn words(words: Option<&Words>, field: &'static str) -> Result<(), EnvelopeError> {
    let Some(Words { zh, en }) = words else { return Ok(()) };
    bound(zh.len() <= limits::CLIENT_ID_BYTES && en.len() <= limits::CLIENT_ID_BYTES, field)
}

fn spoken(list: &[Words], most: usize, field: &'static str) -> Result<(), EnvelopeError> {
    let short =
        |one: &Words| one.zh.len() <= limits::NOTATION_BYTES && one.en.len() <= limits::NOTATION_BYTES;
    bound(list.len() <= most && list.iter().all(short), field)
}

fn sheet_bounds(sheet: &GameSheet) -> Result<(), EnvelopeError> {
    setup(sheet.setup.as_ref(), limits::LIGHTS_BYTES, "GameSheet.setup")?;
    bound(sheet.presets.len() <= limits::OPTIONS, "GameSheet.presets")?;
    sheet.presets.iter().try_for_each(|preset| {
        id(&preset.preset, "GamePreset.preset")?;
        words(preset.name.as_ref(), "GamePreset.name")
    })?;
    bound(sheet.options.len() <= limits::OPTIONS, "GameSheet.options")?;
    sheet.options.iter().try_for_each(|option| {
        id(&option.option, "GameOption.option")?;
        words(option.name.as_ref(), "GameOption.name")?;
        bound(option.values.len() <= limits::OPTION_VALUES, "GameOption.values")?;
        option.values.iter().try_for_each(|value| {
            id(&value.value, "OptionValue.value")?;
            words(value.name.as_ref(), "OptionValue.name")
        })
    })?;
    bound(sheet.paces.len() <= limits::OPTIONS, "GameSheet.paces")?;
    sheet.paces.iter().try_for_each(|preset| {
        id(&preset.word, "PacePreset.word")?;
        words(preset.name.as_ref(), "PacePreset.name")
    })?;
    bound(sheet.rule_sheet_en.len() <= limits::RULE_SHEET_BYTES, "GameSheet.rule_sheet_en")?;
    bound(sheet.rule_sheet_zh.len() <= limits::RULE_SHEET_BYTES, "GameSheet.rule_sheet_zh")?;
    words(sheet.misfit.as_ref(), "GameSheet.misfit")?;
    text(&sheet.problem, "GameSheet.problem")
}

fn club_player_bounds(player: &ClubPlayer) -> Result<(), EnvelopeError> {
    name(&player.name, "ClubPlayer.name")?;
    match &player.who {
        Some(club_player::Who::Friend(friend)) => id(friend, "ClubPlayer.friend"),
        _ => Ok(()),
    }
}

fn club_request_bounds(asked: &ClubRequest) -> Result<(), EnvelopeError> {
    use club_request::Deed;
    id(&asked.club_id, "ClubRequest.club_id")?;
    match &asked.deed {
        Some(Deed::Open(open)) => {
            // The host cuts a name that is too long, as a person expects; of players too.
            text(&open.name, "OpenClub.name")?;
            setup(open.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "OpenClub.setup")?;
            choice(open.choice.as_ref())
        }
        Some(Deed::Add(player)) => {
            text(&player.name, "ClubPlayer.name")?;
            club_player_bounds(&ClubPlayer { name: String::new(), ..player.clone() })
        }
        _ => Ok(()),
    }
}

fn club_bounds(club: &Club) -> Result<(), EnvelopeError> {
    id(&club.id, "Club.id")?;
    id(&club.keeper, "Club.keeper")?;
    name(&club.name, "Club.name")?;
    setup(club.setup.as_ref(), limits::LIGHTS_BYTES, "Club.setup")?;
    let players = |count: usize| count <= limits::CLUB_PLAYERS;
    bound(players(club.players.len()), "Club.players")?;
    club.players.iter().try_for_each(club_player_bounds)?;
    bound(players(club.standings.len()) && players(club.next.len()), "Club.standings")?;
    let short = |cell: &String| cell.len() <= limits::NOTATION_BYTES;
    bound(
        club.standings.iter().all(|row| players(row.cross.len()) && row.cross.iter().all(short)),
        "Club.cross",
    )?;
    bound(club.rounds.len() <= limits::CLUB_ROUNDS, "Club.rounds")?;
    club.rounds.iter().try_for_each(|round| {
        bound(players(round.games.len() * 2) && players(round.free.len()), "ClubRound.games")?;
        round.games.iter().try_for_each(|game| id(&game.room_id, "ClubGame.room_id"))
    })
}

impl Bounded for Request {
    fn check(&self) -> Result<(), EnvelopeError> {
        use request::Body;
        match &self.body {
            None
            | Some(
                Body::Diagnose(_)
                | Body::Scan(_)
                | Body::SetHotspot(_)
                | Body::FindEngines(_)
                | Body::SetVisibility(_)
                | Body::PowerOn(_)
                | Body::Stop(_)
                | Body::SetFoundWhenClosed(_)
                | Body::SetMakesPuzzles(_)
                | Body::SetQuietHours(_)
                | Body::StopWork(_)
                | Body::Front(_)
                | Body::SetCarrier(_)
                | Body::SetEndings(_)
                | Body::SetWish(_)
                | Body::ListPuzzles(_)
                | Body::MakePuzzles(_)
                | Body::ListAdapters(_)
                | Body::ShowFriendCode(_)
                | Body::ShowPlaces(_)
                | Body::SignOut(_)
                | Body::TakeOver(_)
                | Body::SetAway(_),
            ) => Ok(()),
            Some(Body::AddEngine(add)) => {
                // The host cuts a name that is too long, as a person expects.
                text(&add.name, "AddEngine.name")?;
                text(&add.program, "AddEngine.program")?;
                arguments(&add.arguments, "AddEngine.arguments")
            }
            Some(Body::Club(asked)) => club_request_bounds(asked),
            Some(Body::RemoveEngine(remove)) => name(&remove.name, "RemoveEngine.name"),
            Some(Body::Block(block)) => id(&block.peer, "Block.peer"),
            Some(Body::MeetAddress(meet)) => id(&meet.address, "MeetAddress.address"),
            Some(Body::SendAway(away)) => id(&away.peer, "SendAway.peer"),
            Some(Body::Unblock(unblock)) => id(&unblock.peer, "Unblock.peer"),
            Some(Body::SetNote(set)) => {
                id(&set.peer, "SetNote.peer")?;
                // Only the bound of any text: the host refuses an invalid note with an error.
                text(&set.note, "SetNote.note")
            }
            Some(Body::SaveBackup(save)) => {
                text(&save.path, "SaveBackup.path")?;
                bound(save.passphrase.len() <= limits::PASSWORD_BYTES, "SaveBackup.passphrase")
            }
            Some(Body::RestoreBackup(take)) => {
                text(&take.path, "RestoreBackup.path")?;
                bound(take.passphrase.len() <= limits::PASSWORD_BYTES, "RestoreBackup.passphrase")
            }
            Some(Body::Give(give)) => {
                id(&give.room_id, "Give.room_id")?;
                id(&give.peer, "Give.peer")
            }
            Some(Body::AnswerGift(answer)) => id(&answer.gift_id, "AnswerGift.gift_id"),
            Some(Body::SetAdapter(set)) => id(&set.adapter, "SetAdapter.adapter"),
            Some(Body::SamePerson(same)) => {
                id(&same.old, "SamePerson.old")?;
                id(&same.new, "SamePerson.new")
            }
            Some(Body::Attach(attach)) => id(&attach.client, "Attach.client"),
            Some(Body::Teach(asked)) => teach(asked),
            // The host cuts a name that is too long (limits::fit_name), as a person expects.
            Some(Body::SetName(set)) => text(&set.name, "SetName.name"),
            Some(Body::Meet(meet)) => id(&meet.peer, "Meet.peer"),
            Some(Body::Compare(compare)) => id(&compare.peer, "Compare.peer"),
            Some(Body::Invite(invite)) => {
                id(&invite.peer, "Invite.peer")?;
                id(&invite.counters, "Invite.counters")?;
                setup(invite.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "Invite.setup")?;
                choice(invite.choice.as_ref())
            }
            Some(Body::Withdraw(withdraw)) => id(&withdraw.invite_id, "Withdraw.invite_id"),
            Some(Body::AnswerInvite(answer)) => id(&answer.invite_id, "AnswerInvite.invite_id"),
            Some(Body::Forget(forget)) => id(&forget.peer, "Forget.peer"),
            Some(Body::OpenRoom(open)) => {
                setup(open.setup.as_ref(), limits::LIGHTS_BYTES, "OpenRoom.setup")?;
                choice(open.choice.as_ref())?;
                id(&open.replaces, "OpenRoom.replaces")?;
                seats([open.first.as_ref(), open.second.as_ref()])
            }
            Some(Body::Act(act)) => {
                id(&act.room_id, "Act.room_id")?;
                bound(act.notation.len() <= limits::NOTATION_BYTES, "Act.notation")?;
                action(act.action.as_ref(), "Act.action")
            }
            Some(Body::Offer(offer)) => id(&offer.room_id, "Offer.room_id"),
            Some(Body::AnswerOffer(answer)) => id(&answer.room_id, "AnswerOffer.room_id"),
            Some(Body::Resign(resign)) => id(&resign.room_id, "Resign.room_id"),
            Some(Body::CloseRoom(close)) => id(&close.room_id, "CloseRoom.room_id"),
            Some(Body::ResumeRoom(resume)) => id(&resume.room_id, "ResumeRoom.room_id"),
            Some(Body::SetSeat(set)) => {
                id(&set.room_id, "SetSeat.room_id")?;
                seats([set.seat.as_ref(), None])
            }
            Some(Body::ListMatches(list)) => {
                bound(list.limit as usize <= limits::LISTED_MATCHES, "ListMatches.limit")?;
                id(&list.opponent, "ListMatches.opponent")
            }
            Some(Body::Look(look)) => {
                id(&look.room_id, "Look.room_id")?;
                side_line(&look.line, "Look.line")
            }
            Some(Body::Explore(explore)) => {
                id(&explore.room_id, "Explore.room_id")?;
                side_line(&explore.line, "Explore.line")
            }
            Some(Body::EditNotes(edit)) => {
                id(&edit.room_id, "EditNotes.room_id")?;
                side_line(&edit.line, "EditNotes.line")?;
                match &edit.change {
                    Some(edit_notes::Change::Comment(text)) => {
                        bound(text.len() <= limits::COMMENT_BYTES, "EditNotes.comment")
                    }
                    Some(edit_notes::Change::Add(one)) => action(Some(one), "EditNotes.add"),
                    Some(edit_notes::Change::Remove(_)) | None => Ok(()),
                }
            }
            Some(Body::Branch(branch)) => {
                id(&branch.room_id, "Branch.room_id")?;
                seats([branch.first.as_ref(), branch.second.as_ref()])
            }
            Some(Body::Import(import)) => {
                id(&import.name, "Import.name")?;
                bound(import.content.len() <= limits::FILE_BYTES, "Import.content")
            }
            Some(Body::Export(export)) => {
                id(&export.room_id, "Export.room_id")?;
                id(&export.format, "Export.format")
            }
            Some(Body::AnalyseMatch(judge)) => {
                name(&judge.engine, "AnalyseMatch.engine")?;
                id(&judge.room_id, "AnalyseMatch.room_id")
            }
            Some(Body::Discard(discard)) => id(&discard.room_id, "Discard.room_id"),
            Some(Body::Hint(hint)) => {
                name(&hint.engine, "Hint.engine")?;
                id(&hint.room_id, "Hint.room_id")
            }
            Some(Body::Say(say)) => {
                id(&say.room_id, "Say.room_id")?;
                bound(say.text.is_empty() || limits::is_said(&say.text), "Say.text")
            }
            Some(Body::SetMuted(set)) => id(&set.peer, "SetMuted.peer"),
            Some(Body::Analyse(analyse)) => {
                id(&analyse.room_id, "Analyse.room_id")?;
                match &analyse.step {
                    Some(analyse::Step::TryAction(one)) => action(Some(one), "Analyse.try_action"),
                    Some(analyse::Step::TryNotation(text)) => {
                        bound(text.len() <= limits::NOTATION_BYTES, "Analyse.try_notation")
                    }
                    Some(analyse::Step::ToPly(_) | analyse::Step::Back(_) | analyse::Step::Close(_))
                    | None => Ok(()),
                }
            }
            Some(Body::OpenPuzzle(open)) => id(&open.puzzle, "OpenPuzzle.puzzle"),
            Some(Body::AddFriend(add)) => {
                bound(add.code.len() <= limits::FRIEND_CODE_BYTES, "AddFriend.code")
            }
            Some(Body::SignIn(sign_in)) => {
                id(&sign_in.account, "SignIn.account")?;
                id(&sign_in.server, "SignIn.server")?;
                bound(sign_in.password.len() <= limits::PASSWORD_BYTES, "SignIn.password")
            }
            Some(Body::AskContact(ask)) => id(&ask.account, "AskContact.account"),
            Some(Body::AnswerContact(answer)) => id(&answer.account, "AnswerContact.account"),
            Some(Body::ShowGuestCode(show)) => {
                id(&show.room_id, "ShowGuestCode.room_id")?;
                id(&show.club_id, "ShowGuestCode.club_id")
            }
            Some(Body::CloseGuestCode(close)) => {
                id(&close.room_id, "CloseGuestCode.room_id")?;
                id(&close.club_id, "CloseGuestCode.club_id")
            }
            Some(Body::AnswerGuest(answer)) => id(&answer.room_id, "AnswerGuest.room_id"),
            Some(Body::TakeTheirs(take)) => id(&take.room_id, "TakeTheirs.room_id"),
            Some(Body::ForgetStrength(forget)) => choice(forget.choice.as_ref()),
            Some(Body::SetUp(set_up)) => {
                if let Some(crate::control::set_up::Change::From(from)) = &set_up.change {
                    id(&from.room_id, "SetUpFrom.room_id")?;
                    from.lesson.as_ref().map_or(Ok(()), teach)?;
                }
                choice(set_up.choice.as_ref())
            }
            Some(Body::Describe(describe)) => {
                setup(describe.setup.as_ref(), limits::LIGHTS_BYTES, "Describe.setup")?;
                choice(describe.choice.as_ref())
            }
        }
    }
}

impl Bounded for Reply {
    fn check(&self) -> Result<(), EnvelopeError> {
        use reply::Body;
        match &self.body {
            None | Some(Body::Done(_)) => Ok(()),
            Some(Body::Refusal(refusal)) => {
                text(&refusal.detail, "Refusal.detail")?;
                words(refusal.reason.as_ref(), "Refusal.reason")?;
                bound(refusal.points.len() <= limits::PIECES, "Refusal.points")?;
                action(refusal.action.as_ref(), "Refusal.action")
            }
            Some(Body::Diagnosis(diagnosis)) => {
                bound(diagnosis.checks.len() <= limits::CHECKS, "Diagnosis.checks")?;
                diagnosis.checks.iter().try_for_each(|check| {
                    id(&check.subject, "Check.subject")?;
                    text(&check.found, "Check.found")?;
                    text(&check.remedy, "Check.remedy")
                })
            }
            Some(Body::RoomId(room)) => id(room, "Reply.room_id"),
            Some(Body::ClubId(club)) => id(club, "Reply.club_id"),
            Some(Body::Peer(peer)) => id(peer, "Reply.peer"),
            Some(Body::Places(places)) => {
                bound(places.addresses.len() <= limits::PLACES, "Places.addresses")?;
                places.addresses.iter().try_for_each(|one| id(one, "Places.addresses"))
            }
            Some(Body::InviteId(invite)) => id(invite, "Reply.invite_id"),
            Some(Body::Matches(list)) => {
                bound(list.matches.len() <= limits::LISTED_MATCHES, "Matches.matches")?;
                list.matches.iter().try_for_each(summary_bounds)
            }
            Some(Body::Hint(hint)) => {
                bound(hint.notation.len() <= limits::NOTATION_BYTES, "HintFound.notation")?;
                bound(hint.presses.len() <= limits::LIGHTS_BYTES, "HintFound.presses")?;
                bound(hint.lines.len() <= limits::HINT_LINES, "HintFound.lines")?;
                hint.lines.iter().try_for_each(|line| {
                    notations(&line.line, limits::LINE_ACTIONS, "HintLine.line")?;
                    spoken(&line.spoken, limits::LINE_ACTIONS, "HintLine.spoken")
                })?;
                bound(hint.threats.len() <= limits::THREATS, "HintFound.threats")?;
                hint.threats.iter().try_for_each(|threat| {
                    bound(threat.at.len() <= limits::PIECES, "Threat.at")?;
                    words(threat.words.as_ref(), "Threat.words")
                })?;
                words(hint.say.as_ref(), "HintFound.say")?;
                action(hint.action.as_ref(), "HintFound.action")
            }
            Some(Body::Puzzles(list)) => {
                bound(list.counts.len() <= limits::GAMES, "Puzzles.counts")?;
                bound(list.puzzles.len() <= limits::PUZZLES, "Puzzles.puzzles")?;
                list.puzzles.iter().try_for_each(puzzle_bounds)
            }
            Some(Body::Sheet(sheet)) => sheet_bounds(sheet),
            Some(Body::Engine(engine)) => engine_bounds(engine),
            Some(Body::Engines(list)) => engines_bounds(&list.engines),
            Some(Body::Lesson(lesson)) => {
                lesson.board.as_ref().map_or(Ok(()), board_bounds)?;
                words(lesson.say.as_ref(), "Lesson.say")?;
                words(lesson.then.as_ref(), "Lesson.then")?;
                bound(lesson.wanted.len() <= limits::TRIED_ACTIONS, "Lesson.wanted")?;
                lesson.wanted.iter().try_for_each(|one| action(Some(one), "Lesson.wanted"))
            }
            Some(Body::SetUp(position)) => {
                position.board.as_ref().map_or(Ok(()), board_bounds)?;
                bound(position.start.len() <= limits::START_TEXT_BYTES, "SetUpPosition.start")?;
                bound(position.tray.len() <= limits::TRAY_PIECES, "SetUpPosition.tray")?;
                position.tray.iter().try_for_each(|piece| words(piece.name.as_ref(), "TrayPiece.name"))?;
                words(position.problem.as_ref(), "SetUpPosition.problem")?;
                choice(position.choice.as_ref())
            }
            Some(Body::Position(position)) => {
                id(&position.room_id, "Position.room_id")?;
                position.board.as_ref().map_or(Ok(()), board_bounds)?;
                position.notes.as_ref().map_or(Ok(()), notes_bounds)?;
                spoken(&position.spoken, limits::SHOWN_ACTIONS, "Position.spoken")?;
                notations(&position.record, limits::SHOWN_ACTIONS, "Position.record")
            }
            Some(Body::Explored(explored)) => {
                bound(explored.moves.len() <= limits::EXPLORED_MOVES, "Explored.moves")?;
                let mut moves = explored.moves.iter().filter_map(|one| one.r#move.as_ref());
                moves.try_for_each(|one| side_moves(std::slice::from_ref(one), "Explored.move"))
            }
            Some(Body::File(file)) => {
                id(&file.name, "File.name")?;
                bound(file.content.len() <= limits::FILE_BYTES, "File.content")
            }
            Some(Body::Taken(taken)) => name(&taken.name, "Taken.name"),
            Some(Body::Adapters(list)) => {
                bound(list.adapters.len() <= limits::ADAPTERS, "Adapters.adapters")?;
                list.adapters.iter().try_for_each(|one| {
                    id(&one.name, "Adapter.name")?;
                    id(&one.address, "Adapter.address")
                })
            }
            Some(Body::FriendCode(code)) => {
                bound(code.text.len() <= limits::FRIEND_CODE_BYTES, "FriendCode.text")?;
                bound(code.side as usize <= limits::QR_SIDE, "FriendCode.side")?;
                bound(code.dark.len() <= limits::QR_SIDE * limits::QR_SIDE.div_ceil(8), "FriendCode.dark")
            }
            Some(Body::GuestCode(code)) => {
                bound(code.others.len() <= limits::GUEST_ADDRESSES, "GuestCode.others")?;
                code.others.iter().chain([&code.url]).try_for_each(|url| id(url, "GuestCode.url"))?;
                bound(code.side as usize <= limits::QR_SIDE, "GuestCode.side")?;
                bound(code.dark.len() <= limits::QR_SIDE * limits::QR_SIDE.div_ceil(8), "GuestCode.dark")
            }
        }
    }
}

impl Bounded for Event {
    fn check(&self) -> Result<(), EnvelopeError> {
        use event::Body;
        match &self.body {
            None
            | Some(Body::Ready(_) | Body::Endings(_) | Body::PuzzleMaking(_) | Body::WorkProgress(_)) => {
                Ok(())
            }
            Some(Body::Me(me)) => {
                name(&me.name, "Me.name")?;
                id(&me.fingerprint, "Me.fingerprint")
            }
            Some(Body::Engines(list)) => engines_bounds(&list.engines),
            Some(Body::Club(club)) => club_bounds(club),
            Some(Body::Radio(radio)) => text(&radio.detail, "Radio.detail"),
            Some(Body::Nearby(nearby)) => {
                id(&nearby.id, "Nearby.id")?;
                name(&nearby.name, "Nearby.name")?;
                bound(nearby.carriers.len() <= limits::CARRIERS, "Nearby.carriers")
            }
            Some(
                Body::NearbyGone(gone)
                | Body::FriendGone(gone)
                | Body::RoomGone(gone)
                | Body::BlockedGone(gone)
                | Body::StrangerGone(gone)
                | Body::GiftGone(gone)
                | Body::ClubGone(gone)
                | Body::ContactGone(gone),
            ) => id(&gone.id, "Gone.id"),
            Some(Body::Gift(gift)) => {
                id(&gift.gift_id, "Gift.gift_id")?;
                id(&gift.peer, "Gift.peer")?;
                name(&gift.name, "Gift.name")?;
                gift.r#match.as_ref().map_or(Ok(()), summary_bounds)
            }
            Some(Body::Guest(guest)) => {
                id(&guest.room_id, "Guest.room_id")?;
                id(&guest.club_id, "Guest.club_id")?;
                name(&guest.name, "Guest.name")
            }
            Some(Body::Hotspot(hotspot)) => {
                id(&hotspot.ssid, "Hotspot.ssid")?;
                id(&hotspot.passphrase, "Hotspot.passphrase")?;
                bound(hotspot.side as usize <= limits::QR_SIDE, "Hotspot.side")?;
                bound(hotspot.dark.len() <= limits::QR_SIDE * limits::QR_SIDE.div_ceil(8), "Hotspot.dark")?;
                words(hotspot.trouble.as_ref(), "Hotspot.trouble")
            }
            Some(Body::GuestGone(gone)) => {
                id(&gone.room_id, "GuestGone.room_id")?;
                id(&gone.club_id, "GuestGone.club_id")
            }
            Some(Body::ComparisonGone(gone)) => id(&gone.id, "ComparisonGone.id"),
            Some(Body::Activated(activated)) => {
                id(&activated.room_id, "Activated.room_id")?;
                id(&activated.invite_id, "Activated.invite_id")?;
                id(&activated.peer, "Activated.peer")
            }
            Some(Body::Friend(friend)) => {
                id(&friend.id, "Friend.id")?;
                id(&friend.account, "Friend.account")?;
                name(&friend.name, "Friend.name")?;
                bound(limits::is_note(&friend.note), "Friend.note")
            }
            Some(Body::Stranger(stranger)) => {
                id(&stranger.id, "Stranger.id")?;
                name(&stranger.name, "Stranger.name")
            }
            Some(Body::Blocked(blocked)) => {
                id(&blocked.id, "Blocked.id")?;
                name(&blocked.name, "Blocked.name")
            }
            Some(Body::Comparison(comparison)) => {
                id(&comparison.peer, "Comparison.peer")?;
                name(&comparison.name, "Comparison.name")?;
                bound(comparison.emoji.len() <= crate::short_string::SHOWN, "Comparison.emoji")?;
                bound(comparison.digits.len() <= crate::short_string::DIGITS, "Comparison.digits")
            }
            Some(Body::Invitation(invitation)) => {
                id(&invitation.invite_id, "Invitation.invite_id")?;
                id(&invitation.peer, "Invitation.peer")?;
                setup(invitation.setup.as_ref(), limits::PEER_LIGHTS_BYTES, "Invitation.setup")?;
                name(&invitation.name, "Invitation.name")?;
                words(invitation.pace_name.as_ref(), "Invitation.pace_name")?;
                id(&invitation.counters, "Invitation.counters")?;
                bound(
                    invitation.rule_sheet_en.len() <= limits::RULE_SHEET_BYTES,
                    "Invitation.rule_sheet_en",
                )?;
                bound(invitation.rule_sheet_zh.len() <= limits::RULE_SHEET_BYTES, "Invitation.rule_sheet_zh")
            }
            Some(Body::InvitationGone(gone)) => {
                id(&gone.invite_id, "InvitationGone.invite_id")?;
                id(&gone.countered_by, "InvitationGone.countered_by")?;
                id(&gone.room_id, "InvitationGone.room_id")
            }
            Some(Body::Room(room)) => {
                id(&room.id, "Room.id")?;
                id(&room.follows, "Room.follows")?;
                seats([room.first.as_ref(), room.second.as_ref()])?;
                room.board.as_ref().map_or(Ok(()), board_bounds)?;
                setup(room.setup.as_ref(), limits::LIGHTS_BYTES, "Room.setup")?;
                bound(room.mine.len() <= board::Side::Second as usize, "Room.mine")?;
                words(room.pace_name.as_ref(), "Room.pace_name")?;
                bound(room.clocks.len() <= board::Side::Second as usize, "Room.clocks")?;
                if let Some(puzzle) = &room.puzzle {
                    puzzle.puzzle.as_ref().map_or(Ok(()), puzzle_bounds)?;
                    words(puzzle.say.as_ref(), "PuzzleState.say")?;
                    id(&puzzle.next, "PuzzleState.next")?;
                }
                if let Some(analysis) = &room.analysis {
                    analysis.board.as_ref().map_or(Ok(()), board_bounds)?;
                    notations(&analysis.tried, limits::TRIED_ACTIONS, "Analysis.tried")?;
                }
                spoken(&room.spoken, limits::SHOWN_ACTIONS, "Room.spoken")?;
                notations(&room.record, limits::SHOWN_ACTIONS, "Room.record")
            }
            Some(Body::Judgements(judged)) => {
                id(&judged.room_id, "Judgements.room_id")?;
                bound(judged.positions.len() <= limits::SHOWN_ACTIONS + 1, "Judgements.positions")?;
                judged.positions.iter().try_for_each(|one| {
                    bound(one.best.len() <= limits::NOTATION_BYTES, "Judgement.best")?;
                    id(&one.try_again, "Judgement.try_again")?;
                    words(one.best_spoken.as_ref(), "Judgement.best_spoken")
                })
            }
            Some(Body::Thinking(thinking)) => {
                id(&thinking.room_id, "Thinking.room_id")?;
                spoken(&thinking.spoken, limits::LINE_ACTIONS, "Thinking.spoken")?;
                bound(thinking.actions.len() <= limits::LINE_ACTIONS, "Thinking.actions")?;
                bound(thinking.stones.len() <= limits::LINE_ACTIONS, "Thinking.stones")?;
                notations(&thinking.line, limits::LINE_ACTIONS, "Thinking.line")
            }
            Some(Body::Notice(notice)) => {
                name(&notice.name, "Notice.name")?;
                id(&notice.room_id, "Notice.room_id")?;
                words(notice.words.as_ref(), "Notice.words")?;
                text(&notice.detail, "Notice.detail")
            }
            Some(Body::Said(said)) => {
                id(&said.room_id, "Said.room_id")?;
                name(&said.name, "Said.name")?;
                text(&said.text, "Said.text")
            }
            Some(Body::Account(account)) => {
                id(&account.account, "Account.account")?;
                words(account.sentence.as_ref(), "Account.sentence")?;
                text(&account.detail, "Account.detail")
            }
            Some(Body::Contact(contact)) => {
                id(&contact.account, "Contact.account")?;
                name(&contact.name, "Contact.name")?;
                id(&contact.friend, "Contact.friend")
            }
            Some(Body::Connecting(connecting)) => {
                id(&connecting.peer, "Connecting.peer")?;
                name(&connecting.name, "Connecting.name")
            }
        }
    }
}

fn summary_bounds(one: &MatchSummary) -> Result<(), EnvelopeError> {
    id(&one.room_id, "MatchSummary.room_id")?;
    one.board.as_ref().map_or(Ok(()), board_bounds)?;
    setup(one.setup.as_ref(), limits::LIGHTS_BYTES, "MatchSummary.setup")?;
    seats([one.first.as_ref(), one.second.as_ref()])?;
    if let Some(origin) = &one.origin {
        let said = [&origin.first, &origin.second, &origin.event, &origin.date, &origin.score];
        said.into_iter().try_for_each(|said| id(said, "Origin"))?;
    }
    notations(&one.record, limits::SHOWN_ACTIONS, "MatchSummary.record")
}

fn puzzle_bounds(puzzle: &Puzzle) -> Result<(), EnvelopeError> {
    id(&puzzle.id, "Puzzle.id")?;
    words(puzzle.goal.as_ref(), "Puzzle.goal")?;
    puzzle.board.as_ref().map_or(Ok(()), board_bounds)
}

fn board_bounds(board: &Board) -> Result<(), EnvelopeError> {
    bound(board.columns <= limits::ROWS_OR_COLUMNS, "Board.columns")?;
    bound(board.rows <= limits::ROWS_OR_COLUMNS, "Board.rows")?;
    bound(board.pieces.len() <= limits::PIECES, "Board.pieces")?;
    bound(board.marks.len() <= limits::PIECES, "Board.marks")?;
    bound(board.facts.len() <= limits::FACTS, "Board.facts")?;
    board.marks.iter().try_for_each(|mark| words(mark.words.as_ref(), "Mark.words"))?;
    board.facts.iter().try_for_each(|fact| words(fact.words.as_ref(), "Fact.words"))?;
    bound(board.taken.len() <= limits::PIECES, "Board.taken")?;
    bound(board.steps.len() <= limits::STEPS, "Board.steps")?;
    bound(board.losing_steps.len() <= limits::STEPS, "Board.losing_steps")?;
    bound(board.lines.len() <= limits::FACTS, "Board.lines")?;
    bound(board.choices.len() <= limits::FACTS, "Board.choices")?;
    bound(board.lights.len() <= limits::LIGHTS_BYTES, "Board.lights")?;
    if let Some(touch) = &board.touch {
        for list in [&touch.warnings, &touch.stuck] {
            bound(list.len() <= limits::PIECES, "Touch.warnings")?;
            list.iter().try_for_each(|one| {
                bound(one.points.len() <= limits::PIECES, "Warning.points")?;
                words(one.words.as_ref(), "Warning.words")
            })?;
        }
    }
    action(board.last.as_ref(), "Board.last")
}
