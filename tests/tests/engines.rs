//! Engines that the user has installed: added, played against, asked, and failing, without harm to a match.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proto::board;
use proto::control::{self, EngineProtocol, NoticeKind, Room, event, reply, request, seat};
use tests::house::{Device, House};

/// One test at a time: a program that is being started holds, for a moment, what this process has open, such as the lock of
/// another test's data directory.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A folder with programs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A script that speaks UCI; `at_go`: what it does when it is asked for a move.
    fn script(&self, name: &str, at_go: &str) -> PathBuf {
        let text = format!(
            "#!/bin/sh\nmoves=0\nwhile read -r word rest; do case $word in\n\
             uci) echo id name {name}; echo uciok;;\nisready) echo readyok;;\n\
             position) line=$rest;;\ngo) {at_go};;\nquit) exit;;\nesac; done\n"
        );
        self.put(name, &text)
    }

    /// A script that speaks GTP, plays a stone when it is tried, and resigns afterwards.
    fn resigning(&self) -> PathBuf {
        let text = "#!/bin/sh\nwhile read -r id word rest; do case $word in\n\
             name) echo \"=$id Shy\";;\nplay) later=yes; echo \"=$id\";;\n\
             genmove) if [ \"$later\" ]; then echo \"=$id resign\"; else echo \"=$id E5\"; fi;;\n\
             *) echo \"=$id\";;\nesac; echo; done\n";
        self.put("shy", text)
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
        path
    }
}

async fn add(
    device: &mut Device,
    program: &Path,
    protocol: EngineProtocol,
) -> Result<control::Engine, control::Refusal> {
    let program = program.to_str().expect("text").to_owned();
    let add = control::AddEngine { program, protocol: protocol.into(), ..Default::default() };
    match device.client.ask(request::Body::AddEngine(add)).await {
        Ok(reply::Body::Engine(engine)) => Ok(engine),
        Ok(other) => panic!("no engine: {other:?}"),
        Err(refusal) => Err(refusal),
    }
}

/// Opens a match as the first side against this engine.
async fn open(device: &mut Device, engine: &str, game: board::Game) -> Result<String, control::Refusal> {
    let second = control::Seat {
        who: Some(seat::Who::BotLevel(1)),
        engine: engine.into(),
        engine_seconds: 1,
        ..control::Seat::default()
    };
    let choice = control::GameChoice { game: game.into(), ..Default::default() };
    let open = control::OpenRoom { second: Some(second), choice: Some(choice), ..Default::default() };
    match device.client.ask(request::Body::OpenRoom(open)).await {
        Ok(reply::Body::RoomId(id)) => Ok(id),
        Ok(other) => panic!("no room: {other:?}"),
        Err(refusal) => Err(refusal),
    }
}

/// Plays an action, and waits for the answer to it.
async fn play(device: &mut Device, id: &str, notation: &str) -> Room {
    let act = control::Act { room_id: id.into(), notation: notation.into(), ..Default::default() };
    device.client.ask(request::Body::Act(act)).await.expect("legal");
    let plies = device.client.seen.rooms[id].record.len();
    let answered = |room: &Room| room.record.len() > plies || room.result.is_some();
    device.client.until("an answer", |seen| answered(&seen.rooms[id])).await;
    device.client.seen.rooms[id].clone()
}

/// Our own engine, which `cargo test --workspace` has built for the tests of its own package.
fn own_engine() -> PathBuf {
    let exe = std::env::current_exe().expect("a test is a program");
    let beside = exe.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("qiyou-engine");
    if beside.is_file() { beside } else { tests::programs::programs().join("qiyou-engine") }
}

/// Plays on the first free point of the first row of gomoku, and waits for the answer.
async fn play_anywhere(device: &mut Device, id: &str) -> Room {
    let record = &device.client.seen.rooms[id].record;
    let free = ('a'..='o').map(|column| format!("{column}1")).find(|point| !record.contains(point));
    play(device, id, &free.expect("a free point")).await
}

#[tokio::test(start_paused = true)]
async fn an_engine_is_added_played_against_and_kept_with_its_match() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(41), Folder::new());
    let mut anna = house.device("Anna").await;
    assert_eq!(anna.client.seen.engines, []);
    let program =
        folder.script("Paul", "case $line in *moves*) echo bestmove h10g8;; *) echo bestmove h3e3;; esac");
    let added = add(&mut anna, &program, EngineProtocol::Uci).await.expect("it plays");
    assert_eq!((added.name.as_str(), added.game()), ("Paul", board::Game::Xiangqi));
    assert_eq!(anna.client.seen.engines, std::slice::from_ref(&added), "every client is told");

    let id = open(&mut anna, "Paul", board::Game::Xiangqi).await.expect("it plays xiangqi");
    let room = play(&mut anna, &id, "h2e2").await;
    assert_eq!(room.record, ["h2e2", "h9g7"]);
    let seat = room.second.expect("a seat");
    assert_eq!((seat.engine.as_str(), seat.engine_seconds), ("Paul", 1));
    for game in [board::Game::Gomoku, board::Game::Go, board::Game::Liuzhou] {
        let refused = open(&mut anna, "Paul", game).await.expect_err("it plays xiangqi alone");
        assert!(refused.reason.is_some(), "{game:?}: {refused:?}");
    }

    anna.stop().await;
    anna.start().await;
    assert_eq!(anna.client.seen.engines, [added]);
    let seat = anna.client.seen.rooms[&id].second.clone().expect("a seat");
    assert_eq!((seat.engine.as_str(), seat.engine_seconds), ("Paul", 1));

    // Its own answer is illegal now: the match goes on with ours.
    let room = play(&mut anna, &id, "e2e6").await;
    assert_eq!(room.record.len(), 4);
    let notice = anna.client.seen.notices.last().expect("a sentence");
    assert_eq!((notice.kind(), notice.name.as_str()), (NoticeKind::NoticeEngineFailed, "Paul"));
    let words = notice.words.clone().expect("a sentence");
    assert!(words.en.starts_with("Paul answered with an illegal move"), "{words:?}");
    assert!(words.zh.contains("不合规则"), "{words:?}");

    let remove = control::RemoveEngine { name: "Paul".into() };
    anna.client.done(request::Body::RemoveEngine(remove.clone())).await;
    assert_eq!(anna.client.seen.engines, []);
    assert!(anna.client.ask(request::Body::RemoveEngine(remove)).await.is_err(), "it is not there");
    assert!(open(&mut anna, "Paul", board::Game::Xiangqi).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_match_outlives_its_engine() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(42), Folder::new());
    let mut anna = house.device("Anna").await;
    // It plays when it is tried, and ends when the match has begun.
    let program = folder.put(
        "frail",
        "#!/bin/sh\nwhile read -r word rest; do case $word in\n\
         ABOUT) echo 'name=\"Frail\"';;\nSTART) echo OK;;\nBEGIN) echo 7,7;;\nBOARD) exit;;\nesac; done\n",
    );
    add(&mut anna, &program, EngineProtocol::Gomocup).await.expect("it plays once");
    let id = open(&mut anna, "Frail", board::Game::Gomoku).await.expect("a match");
    for plies in [2, 4, 6] {
        let room = play_anywhere(&mut anna, &id).await;
        assert_eq!((room.record.len(), room.result), (plies, None), "the match goes on");
    }
    let failures = anna.client.seen.notices.iter();
    let failures = failures.filter(|notice| notice.kind() == NoticeKind::NoticeEngineFailed);
    assert_eq!(failures.count(), 2, "it is not tried for ever");

    std::fs::remove_file(&program).expect("removed");
    anna.stop().await;
    anna.start().await;
    assert!(anna.client.seen.engines[0].missing);
    let room = play_anywhere(&mut anna, &id).await;
    assert_eq!(room.record.len(), 8, "a stand-in plays for a program that is not there");
}

#[tokio::test(start_paused = true)]
async fn our_own_engine_plays_by_each_protocol() {
    let _alone = ALONE.lock().await;
    let mut house = House::new(45);
    let mut anna = house.device("Anna").await;
    let program = own_engine().to_str().expect("text").to_owned();
    for (protocol, word, game, mine) in [
        (EngineProtocol::Uci, "uci", board::Game::Xiangqi, ["h2e2", "h0g2"]),
        (EngineProtocol::Ucci, "ucci", board::Game::Xiangqi, ["h2e2", "h0g2"]),
        (EngineProtocol::Gtp, "gtp", board::Game::Go, ["A1", "T19"]),
        (EngineProtocol::Gomocup, "gomocup", board::Game::Gomoku, ["a1", "o15"]),
    ] {
        let add = control::AddEngine {
            program: program.clone(),
            arguments: vec![word.into(), "--level".into(), "1".into()],
            protocol: protocol.into(),
            name: word.into(),
        };
        anna.client.ask(request::Body::AddEngine(add)).await.expect("it plays");
        let id = open(&mut anna, word, game).await.expect("a match");
        for (plies, mine) in [2, 4].into_iter().zip(mine) {
            let room = play(&mut anna, &id, mine).await;
            assert_eq!((room.record.len(), room.result), (plies, None), "{word}");
        }
        anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id })).await;
    }
    assert_eq!(anna.client.seen.notices, [], "each move was the engine's own");
}

#[tokio::test(start_paused = true)]
async fn an_engine_may_resign() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(43), Folder::new());
    let mut anna = house.device("Anna").await;
    let added = add(&mut anna, &folder.resigning(), EngineProtocol::Gtp).await.expect("it plays");
    assert_eq!((added.name.as_str(), added.game()), ("Shy", board::Game::Go));
    let id = open(&mut anna, "Shy", board::Game::Go).await.expect("a match");
    let room = play(&mut anna, &id, "D4").await;
    let result = room.result.expect("it is over");
    assert_eq!((result.ending(), result.winner()), (board::Ending::Resigned, board::Side::First));
    assert_eq!(anna.client.seen.notices, []);
}

#[tokio::test(start_paused = true)]
async fn an_engine_advises_and_a_program_that_is_none_is_refused_with_a_reason() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(44), Folder::new());
    let mut anna = house.device("Anna").await;
    let program =
        folder.script("Sage", "echo info depth 7 score cp 120 nodes 99 pv b3e3 h10g8; echo bestmove b3e3");
    add(&mut anna, &program, EngineProtocol::Uci).await.expect("it plays");
    let choice = control::GameChoice { game: board::Game::Xiangqi.into(), ..Default::default() };
    let open = control::OpenRoom { choice: Some(choice), ..Default::default() };
    let Ok(reply::Body::RoomId(room_id)) = anna.client.ask(request::Body::OpenRoom(open)).await else {
        panic!("no room");
    };
    let hint =
        control::Hint { room_id: room_id.clone(), lines: 1, engine: "Sage".into(), ..Default::default() };
    let Ok(reply::Body::Hint(found)) = anna.client.ask(request::Body::Hint(hint.clone())).await else {
        panic!("no hint");
    };
    assert_eq!((found.notation.as_str(), found.lines[0].depth), ("b2e2", 7));
    let nobody = control::Hint { engine: "Nobody".into(), ..hint };
    assert!(anna.client.ask(request::Body::Hint(nobody)).await.is_err());

    let none = folder.put("none", "#!/bin/sh\nexit\n");
    for protocol in [EngineProtocol::Uci, EngineProtocol::Unspecified] {
        let refusal = add(&mut anna, &none, protocol).await.expect_err("it is no engine");
        assert!(refusal.reason.is_some_and(|words| words.en.contains("stopped unexpectedly")));
    }
    let refusal = add(&mut anna, Path::new("/nowhere/engine"), EngineProtocol::Uci).await;
    assert!(refusal.expect_err("it is not there").reason.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_match_is_evaluated_by_an_engine_that_can_and_by_no_other() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(47), Folder::new());
    let mut anna = house.device("Anna").await;
    // Whoever is to move stands better. A chariot goes up and down, also in positions beside the match.
    let program = folder.script(
        "Sage",
        "set -- $line; fen=$2 side=$3; shift 7; if [ $# -gt 0 ]; then shift; fi; \
         for move; do if [ $side = w ]; then side=b; else side=w; fi; done; \
         up=a1a2 down=a2a1 row=${fen##*/}; if [ $side = b ]; then up=a10a9 down=a9a10 row=$fen; fi; \
         case $row in [Rr]*) at=home;; *) at=away;; esac; \
         for move; do case $move in $up) at=away;; $down) at=home;; esac; done; \
         if [ $at = home ]; then best=$up; else best=$down; fi; \
         echo info depth 9 score cp 500 nodes 99 pv $best; echo bestmove $best",
    );
    add(&mut anna, &program, EngineProtocol::Uci).await.expect("it plays");
    add(&mut anna, &folder.resigning(), EngineProtocol::Gtp).await.expect("it plays");
    let file = b"[Game \"Chinese Chess\"]\n[Format \"ICCS\"]\n\n1. H2-E2 H9-G7 2. H0-G2 *\n";
    let file = control::Import { name: "a.pgn".into(), content: file.to_vec().into() };
    let Ok(reply::Body::RoomId(room_id)) = anna.client.ask(request::Body::Import(file)).await else {
        panic!("it is a game");
    };
    let judge = |engine: &str| {
        let (room_id, engine) = (room_id.clone(), engine.into());
        request::Body::AnalyseMatch(control::AnalyseMatch { room_id, on: true, engine })
    };
    for (engine, because) in [("Shy", "does not play this game"), ("Nobody", "no such engine")] {
        let refusal = anna.client.ask(judge(engine)).await.expect_err("it gives none");
        assert!(refusal.reason.is_some_and(|words| words.en.contains(because)), "{engine}");
    }
    anna.client.done(judge("Sage")).await;
    let all = loop {
        if let Some(event::Body::Judgements(told)) = anna.client.next().await.body
            && told.ended
        {
            break told;
        }
    };
    assert_eq!((all.total, all.positions.len()), (4, 4));
    assert_eq!(anna.client.seen.notices, [], "each answer was the engine's own");
    let chances: Vec<bool> = all.positions.iter().map(|one| one.permille > 0).collect();
    assert_eq!(chances, [true, false, true, false], "of the first side, whoever is to move: {all:?}");
}

#[tokio::test(start_paused = true)]
async fn by_rules_that_an_engine_does_not_play_the_hint_is_our_own() {
    let _alone = ALONE.lock().await;
    let (mut house, folder) = (House::new(48), Folder::new());
    let mut anna = house.device("Anna").await;
    // It would always answer with h8, which is not free when it could be asked: that would be told as a failure.
    let program = folder.put(
        "stubborn",
        "#!/bin/sh\nwhile read -r word rest; do case $word in\n\
         ABOUT) echo 'name=\"Stubborn\"';;\nSTART) echo OK;;\nBEGIN|BOARD) echo 7,7;;\nesac; done\n",
    );
    add(&mut anna, &program, EngineProtocol::Gomocup).await.expect("it plays");
    let options = vec![control::ChosenOption { option: "edge-five".into(), value: "no".into() }];
    let choice = control::GameChoice { game: board::Game::Gomoku.into(), options, ..Default::default() };
    let open = control::OpenRoom { choice: Some(choice), ..Default::default() };
    let Ok(reply::Body::RoomId(room_id)) = anna.client.ask(request::Body::OpenRoom(open)).await else {
        panic!("no room");
    };
    anna.client.play("h8").await.expect("the board is empty");
    let hint = control::Hint { room_id, lines: 1, engine: "Stubborn".into(), ..Default::default() };
    let Ok(reply::Body::Hint(found)) = anna.client.ask(request::Body::Hint(hint)).await else {
        panic!("no hint");
    };
    assert!(!found.notation.is_empty() && found.notation != "h8", "{}", found.notation);
    assert_eq!(anna.client.seen.notices, [], "the engine was not asked");
}

#[tokio::test(start_paused = true)]
#[ignore = "make test-engines, which needs gnugo and fairy-stockfish"]
async fn engines_of_debian_are_found_and_play() {
    let _alone = ALONE.lock().await;
    let mut house = House::new(46);
    let mut anna = house.device("Anna").await;
    let find = request::Body::FindEngines(control::FindEngines {});
    let Ok(reply::Body::Engines(found)) = anna.client.ask(find).await else { panic!("nothing found") };
    for (name, game, mine) in [
        ("gnugo", board::Game::Go, ["A1", "T19"]),
        ("fairy-stockfish", board::Game::Xiangqi, ["h2e2", "h0g2"]),
    ] {
        let found = found.engines.iter().find(|one| one.name == name).expect("it is installed");
        let add = control::AddEngine {
            program: found.program.clone(),
            arguments: found.arguments.clone(),
            protocol: found.protocol,
            name: name.into(),
        };
        anna.client.ask(request::Body::AddEngine(add)).await.expect("it plays");
        let id = open(&mut anna, name, game).await.expect("a match");
        for (plies, mine) in [2, 4].into_iter().zip(mine) {
            assert_eq!(play(&mut anna, &id, mine).await.record.len(), plies, "{name}");
        }
        anna.client.done(request::Body::CloseRoom(control::CloseRoom { room_id: id })).await;
    }
    assert_eq!(anna.client.seen.notices, [], "each move was the engine's own");
}
