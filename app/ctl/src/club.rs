//! Commands about club evenings.

use client::{json, pace, words};
use proto::control::{
    self, Club, ClubGame, ClubPlayer, ClubResult, ClubState, ClubWay, club_player, club_request, reply,
    request,
};
use serde_json::json;

use crate::arguments::{ClubChoice, ClubCommand, PlayerAs, Verdict};
use crate::connection::Failure;
use crate::conversation::{Conversation, unexpected};
use crate::playing::choice;

impl Conversation {
    pub(crate) async fn club(&mut self, command: ClubCommand) -> Result<(), Failure> {
        use club_request::Deed;
        let (evening, deed) = match command {
            ClubCommand::List => {
                let clubs = self.host.state().clubs.values();
                return clubs.into_iter().try_for_each(|club| self.print(|| line(club), || json::club(club)));
            }
            ClubCommand::Show { evening } => return self.print_club(&self.evening(&evening)?),
            ClubCommand::New { name, game, pace, twice } => {
                let pace = pace::parse(&pace).map_err(Failure::Usage)?;
                let open = control::OpenClub {
                    name,
                    choice: Some(choice(&game)),
                    pace,
                    twice,
                    ..Default::default()
                };
                let asked = control::ClubRequest { club_id: String::new(), deed: Some(Deed::Open(open)) };
                let reply::Body::ClubId(id) = self.host.ask(request::Body::Club(asked)).await? else {
                    return Err(unexpected());
                };
                return self.print(|| format!("evening {id}"), || json!({"club_id": id}));
            }
            ClubCommand::Add { name, r#as, evening } => {
                let player = self.player_to_add(name, r#as)?;
                (evening, Deed::Add(player))
            }
            ClubCommand::Remove { player, evening } => {
                let player = player_of(&self.evening(&evening)?, &player)?;
                (evening, Deed::Remove(player))
            }
            ClubCommand::Start { lots, evening } => (evening, Deed::Start(control::StartClub { lots })),
            ClubCommand::Begin { round, board, evening } => {
                (evening, Deed::Begin(control::ClubBoard { round, board }))
            }
            ClubCommand::Result { round, board, result, evening } => {
                let result = verdict(result).into();
                (evening, Deed::Result(control::ClubVerdict { round, board, result }))
            }
            ClubCommand::Finish { evening } => (evening, Deed::Finish(true)),
            ClubCommand::Discard { evening } => (evening, Deed::Discard(true)),
        };
        let club_id = self.evening(&evening)?.id;
        let asked = control::ClubRequest { club_id: club_id.clone(), deed: Some(deed) };
        match self.host.ask(request::Body::Club(asked)).await? {
            reply::Body::RoomId(id) => {
                self.print(|| format!("room {id}"), || json!({"club_id": club_id, "room_id": id}))
            }
            reply::Body::InviteId(id) => {
                self.print(|| format!("invitation {id}"), || json!({"club_id": club_id, "invite_id": id}))
            }
            _ => match self.host.state().clubs.values().find(|club| club.id == club_id).cloned() {
                Some(club) => self.print_club(&club),
                None => self.print(|| "done".into(), || json!({"done": true})),
            },
        }
    }

    fn print_club(&self, club: &Club) -> Result<(), Failure> {
        self.print(|| text(club), || json::club(club))
    }

    /// The evening that is meant: by default the latest one of this device, which is the only one of its own that can be
    /// unfinished, and without any the latest one of a friend.
    fn evening(&self, choice: &ClubChoice) -> Result<Club, Failure> {
        let clubs = &self.host.state().clubs;
        let found = if let Some(number) = choice.evening {
            clubs.get(&number)
        } else {
            let own = |club: &&Club| club.keeper.is_empty();
            clubs.values().rfind(own).or_else(|| clubs.values().next_back())
        };
        found.cloned().ok_or_else(|| Failure::NotToBe("there is no such club evening".into()))
    }

    fn player_to_add(&self, name: Option<String>, kind: PlayerAs) -> Result<ClubPlayer, Failure> {
        let needed = || Failure::Usage("say the player's name".into());
        let (who, name) = match kind {
            PlayerAs::Here => (club_player::Who::Here(true), name.unwrap_or_default()),
            PlayerAs::Friend => {
                let friend = self.friend(&name.ok_or_else(needed)?)?;
                (club_player::Who::Friend(friend), String::new())
            }
            PlayerAs::Guest => (club_player::Who::Guest(true), name.ok_or_else(needed)?),
            PlayerAs::Nobody => (club_player::Who::Nobody(true), name.ok_or_else(needed)?),
        };
        Ok(ClubPlayer { who: Some(who), name, ..Default::default() })
    }
}

/// The id of the player with this name or id.
fn player_of(club: &Club, which: &str) -> Result<u32, Failure> {
    let named: Vec<u32> =
        club.players.iter().filter(|player| player.name == which).map(|player| player.id).collect();
    match (named.as_slice(), which.parse()) {
        ([id], _) => Ok(*id),
        ([], Ok(id)) => Ok(id),
        ([], Err(_)) => Err(Failure::NotToBe(format!("no player is called {which}"))),
        _ => Err(Failure::Usage(format!("several players are called {which}: say the id"))),
    }
}

fn verdict(result: Verdict) -> ClubResult {
    match result {
        Verdict::First => ClubResult::ClubFirstWins,
        Verdict::Second => ClubResult::ClubSecondWins,
        Verdict::Draw => ClubResult::ClubDraw,
        Verdict::FirstForfeits => ClubResult::ClubFirstForfeits,
        Verdict::SecondForfeits => ClubResult::ClubSecondForfeits,
        Verdict::NotPlayed => ClubResult::ClubNotPlayed,
        Verdict::None => ClubResult::Unspecified,
    }
}

/// An evening in one line.
fn line(club: &Club) -> String {
    let state = match club.state() {
        ClubState::ClubGathering => "gathering".into(),
        ClubState::ClubRunning if club.round == 0 => "all games are over".into(),
        ClubState::ClubRunning => format!("round {} of {}", club.round, club.rounds.len()),
        ClubState::ClubFinished => "finished".into(),
    };
    let twice = if club.twice { ", double" } else { "" };
    let clock = pace::text(club.pace.as_ref());
    let keeper = if club.keeper.is_empty() { "" } else { ", on a friend's list" };
    format!(
        "{}  {}: {}, clock {clock}{twice}, {} players, {state}{keeper}",
        club.id,
        club.name,
        words::setup(club.setup.as_ref()),
        club.players.len()
    )
}

/// An evening as tables: the round that is played, who comes next, the standings with the cross table.
fn text(club: &Club) -> String {
    let name = |id: u32| {
        club.players.iter().find(|player| player.id == id).map_or("?", |player| player.name.as_str())
    };
    let wide = club.players.iter().map(|player| player.name.chars().count()).max().unwrap_or(0).max(6);
    let mut lines = vec![line(club)];
    if club.rounds.is_empty() {
        lines.extend(club.players.iter().map(|player| format!("{:>3}  {}", player.id, player.name)));
        return lines.join("\n");
    }
    for round in club.rounds.iter().filter(|round| club.round == 0 || round.round == club.round) {
        lines.push(format!("\nRound {}", round.round));
        for game in &round.games {
            let (first, second) = (name(game.first), name(game.second));
            lines.push(format!(
                "{:>3}  {first:wide$}  {:^7}  {second:wide$}  {}",
                game.board,
                score(game),
                state(game)
            ));
        }
        if !round.free.is_empty() {
            let free: Vec<&str> = round.free.iter().map(|id| name(*id)).collect();
            lines.push(format!("     free: {}", free.join(", ")));
        }
    }
    let cell = |cell: &String| if cell.is_empty() { "*".to_owned() } else { cell.clone() };
    let cells = if club.twice { 3 } else { 2 };
    let heads =
        club.players.iter().map(|player| format!("{:>cells$}", player.id)).collect::<Vec<_>>().concat();
    lines.push(format!("\nplace  id  {:wide$}  points     SB  wins {heads}", "player"));
    for row in &club.standings {
        let place = if row.place == 0 { "left".into() } else { format!("{}.", row.place) };
        let cross =
            row.cross.iter().map(|signs| format!("{:>cells$}", cell(signs))).collect::<Vec<_>>().concat();
        lines.push(format!(
            "{place:>5} {:>3}  {:wide$}  {:>6.1} {:>6.2} {:>5} {cross}",
            row.player,
            name(row.player),
            f64::from(row.half_points) / 2.0,
            f64::from(row.sonneborn_berger) / 4.0,
            row.wins
        ));
    }
    lines.join("\n")
}

fn score(game: &ClubGame) -> &'static str {
    match game.result() {
        ClubResult::Unspecified => "-",
        ClubResult::ClubFirstWins => "1 : 0",
        ClubResult::ClubSecondWins => "0 : 1",
        ClubResult::ClubDraw => "½ : ½",
        ClubResult::ClubFirstForfeits => "- : +",
        ClubResult::ClubSecondForfeits => "+ : -",
        ClubResult::ClubNotPlayed => "- : -",
    }
}

/// What is done about a pairing that is not over.
fn state(game: &ClubGame) -> &'static str {
    match (game.way(), game.begun) {
        (ClubWay::None, _) => "",
        (_, true) => "is played",
        (ClubWay::Here, _) => "`begin` opens a room",
        (ClubWay::Invite, _) => "`begin` invites",
        (ClubWay::Elsewhere, _) => "played elsewhere",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn club() -> Club {
        let player = |id, name: &str| ClubPlayer { id, name: name.into(), ..Default::default() };
        let game = |board, first, second, result: ClubResult, way: ClubWay| ClubGame {
            board,
            first,
            second,
            result: result.into(),
            way: way.into(),
            ..Default::default()
        };
        let row = |player, place, half_points, sonneborn_berger, cross: [&str; 3]| control::ClubStanding {
            player,
            place,
            half_points,
            sonneborn_berger,
            wins: half_points / 2,
            cross: cross.map(str::to_owned).to_vec(),
            ..Default::default()
        };
        Club {
            id: "3".into(),
            name: "Friday".into(),
            state: ClubState::ClubRunning.into(),
            players: vec![player(1, "Anna"), player(2, "Ben"), player(3, "小明")],
            rounds: vec![
                control::ClubRound {
                    round: 1,
                    games: vec![game(1, 2, 3, ClubResult::ClubDraw, ClubWay::None)],
                    free: vec![1],
                },
                control::ClubRound {
                    round: 2,
                    games: vec![game(1, 3, 1, ClubResult::Unspecified, ClubWay::Here)],
                    free: vec![2],
                },
            ],
            round: 2,
            standings: vec![
                row(2, 1, 1, 1, [".", "", "½"]),
                row(3, 1, 1, 1, [".", "½", ""]),
                row(1, 0, 0, 0, ["", ".", "."]),
            ],
            ..Club::default()
        }
    }

    #[test]
    fn an_evening_is_shown_with_the_round_that_is_played_and_the_standings() {
        let shown = text(&club());
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "3  Friday: a game that this program does not know, clock none, 3 players, round 2 of 2",
                "",
                "Round 2",
                "  1  小明         -     Anna    `begin` opens a room",
                "     free: Ben",
                "",
                "place  id  player  points     SB  wins  1 2 3",
                "   1.   2  Ben        0.5   0.25     0  . * ½",
                "   1.   3  小明         0.5   0.25     0  . ½ *",
                " left   1  Anna       0.0   0.00     0  * . .",
            ]
        );
        let over = text(&Club { round: 0, state: ClubState::ClubFinished.into(), ..club() });
        assert!(over.contains("Round 1") && over.contains("Round 2"), "{over}");
        assert!(over.contains("½ : ½"), "{over}");
    }

    #[test]
    fn a_player_is_named_by_name_or_id() {
        let mut club = club();
        assert_eq!(player_of(&club, "小明").ok(), Some(3));
        assert_eq!(player_of(&club, "2").ok(), Some(2));
        assert!(player_of(&club, "Carl").is_err());
        club.players[0].name = "Ben".into();
        assert!(player_of(&club, "Ben").is_err(), "two have that name");
    }
}
