//! SGF of Go and gomoku, and Gomocup's files: of other programs, written and read, and damaged.

use engine::gomoku::Psq;
use engine::sgf::{Collection, GoRecord, GomokuRecord, Node, Tree, Value};
use engine::{
    Action, Game, Gomoku, GomokuOpening, GomokuRule, GomokuSetup, IllegalAction, Outcome, Point, Reason, Rng,
    Side,
    go::{Go, GoSetup, Handicap, Scoring, Superko},
};

fn read(bytes: impl AsRef<[u8]>) -> Collection {
    Collection::read(bytes.as_ref()).unwrap_or_else(|stopped| panic!("{}", stopped.error))
}

fn tree(text: &str) -> Tree {
    read(text).games.remove(0)
}

fn go(text: &str) -> GoRecord {
    GoRecord::read(&tree(text)).unwrap_or_else(|stopped| panic!("{text}: {}", stopped.error))
}

fn gomoku(text: &str) -> GomokuRecord {
    GomokuRecord::read(&tree(text)).unwrap_or_else(|stopped| panic!("{text}: {}", stopped.error))
}

fn random_actions<G: Game>(start: &G, seed: u64, limit: u32) -> (G, Vec<Action>) {
    let (mut game, mut rng, mut moves, mut actions) = (start.clone(), Rng::new(seed), Vec::new(), Vec::new());
    while game.outcome().is_none() && game.ply() < limit {
        game.legal_moves(&mut moves);
        let mv = moves[rng.below(moves.len() as u32) as usize];
        actions.push(G::action(mv));
        game.play(mv);
    }
    (game, actions)
}

/// A file with every feature: comments with escapes and line ends, nested variations, marks, obsolete and private properties.
const EVERYTHING: &str = r"From: somewhere
(;FF[4]GM[1]SZ[19]CA[UTF-8]AP[CGoban:3]ST[2]RU[Japanese]KM[6.50]TM[1800]OT[5x30 byo-yomi]
PB[黑棋手]PW[White \] player]BR[3d]RE[B+R]DT[2026-01-02,03]C[a comment\: with \\ and \
a soft line
and a hard one]XX[private][two values]
;B[pd]BL[1795.5]OB[5];W[dd]WL[1790]
(;B[pq]N[main](;W[dp];B[])(;W[do]TR[pd][dd]LB[dd:1][pd:\:\]]))
(;B[qp]C[another way]))
(;GM[1]SZ[9];B[ee])trailing";

#[test]
fn a_tree_keeps_its_variations_and_every_property_and_is_written_again_as_it_was() {
    let collection = read(EVERYTHING);
    assert_eq!(collection.games.len(), 2);
    let game = &collection.games[0];
    assert_eq!((game.len(), game.variations(), game.main_line().count()), (8, 3, 6));
    let root = game.root();
    assert_eq!(root.text("PB").as_deref(), Some("黑棋手"));
    assert_eq!(root.text("PW").as_deref(), Some("White ] player"));
    assert_eq!(root.text("C").as_deref(), Some("a comment: with \\ and a soft line\nand a hard one"));
    assert_eq!(root.values("XX").len(), 2);
    assert_eq!(root.value("AP").and_then(Value::parts), Some(("CGoban".into(), "3".into())));
    let labels: Vec<_> = game.node(6).expect("it is there").values("LB").iter().map(Value::parts).collect();
    assert_eq!(labels, [Some(("dd".into(), "1".into())), Some(("pd".into(), ":]".into()))]);
    let again = read(collection.write());
    assert_eq!(again.games.len(), 2);
    // Everything except its position in the file.
    assert_eq!(texts(&again.games[0]), texts(game));
    assert_eq!(again.write(), collection.write());
}

fn texts(tree: &Tree) -> Vec<Vec<(String, Vec<String>)>> {
    let node = |node: &Node| {
        node.properties.iter().map(|p| (p.name.clone(), p.values.iter().map(Value::text).collect())).collect()
    };
    (0..tree.len()).map(|n| node(tree.node(n).expect("it is there"))).collect()
}

#[test]
fn clocks_are_read_and_written() {
    let game = tree(EVERYTHING);
    assert_eq!(game.main_time().map(|time| time.as_secs()), Some(1800));
    let first = game.node(1).expect("a move");
    assert_eq!(first.time_left(Side::First).map(|time| time.as_millis()), Some(1_795_500));
    assert_eq!((first.overtime_moves_left(Side::First), first.time_left(Side::Second)), (Some(5), None));
    let mut node = Node::default();
    node.set_time_left(Side::Second, std::time::Duration::from_millis(61_250));
    assert_eq!(node.text("WL").as_deref(), Some("61.25"));
    for wrong in ["-1", "x", "1e300", "NaN", ""] {
        node.set_text("WL", wrong);
        assert_eq!(node.time_left(Side::Second), None, "{wrong}");
    }
}

/// The name 围棋, and a comment whose second bytes are brackets and backslashes, in the usual legacy encodings.
#[test]
fn names_are_read_in_the_encoding_that_the_file_declares() {
    for (label, text) in [
        ("GBK", "围棋 乗乘"),
        ("gb2312", "围棋"),
        ("GB18030", "围棋𠀀"),
        ("CP936", "围棋"),
        ("Big5", "圍棋 許功蓋"),
        ("Shift_JIS", "囲碁 ソ表能"),
        ("EUC-JP", "囲碁"),
        ("EUC-KR", "바둑"),
        ("windows-1251", "Го"),
        ("KOI8-R", "Го"),
        ("ISO-8859-1", "Weiß é"),
        ("ISO-8859-2", "Łódź"),
        ("UTF-8", "围棋 Го é"),
    ] {
        let known = match label {
            "CP936" => "gbk",
            label => label,
        };
        let encoding = encoding_rs::Encoding::for_label(known.as_bytes()).expect(label);
        let file = format!("(;GM[1]SZ[9]CA[{label}]PB[{text}]C[{text}];B[ee])");
        let (bytes, _, lost) = encoding.encode(&file);
        assert!(!lost, "{label}");
        let collection = read(&bytes);
        assert_eq!(collection.games[0].root().text("PB").as_deref(), Some(text), "{label}");
        assert_eq!(collection.games[0].len(), 2, "{label}");
        let written = collection.write();
        assert!(written.contains("CA[UTF-8]"), "{label}");
        assert_eq!(read(written).games[0].root().text("C").as_deref(), Some(text), "{label}");
    }
}

#[test]
fn without_a_declaration_a_file_is_utf_8_if_it_can_be_and_else_latin_1() {
    let name = |bytes: &[u8]| read(bytes).games[0].root().text("PB");
    assert_eq!(name("(;PB[棋])".as_bytes()).as_deref(), Some("棋"));
    assert_eq!(name(b"(;PB[Wei\xdf])").as_deref(), Some("Weiß"));
    assert_eq!(name(b"\xef\xbb\xbf(;PB[x])").as_deref(), Some("x"));
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain("(;PB[棋])".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(name(&wide).as_deref(), Some("棋"));
    let unknown = Collection::read(b"(;GM[1]\nCA[klingon]PB[x];B[aa])").expect_err("no such encoding");
    assert_eq!((unknown.error.line, unknown.error.column), (2, 4));
    assert_eq!(unknown.read.games[0].len(), 2, "the rest is offered");
}

#[test]
fn a_broken_file_says_where_and_what_was_expected_and_offers_what_came_before() {
    for (text, line, column, nodes) in [
        ("", 1, 1, 0),
        ("no game", 1, 1, 0),
        ("(;GM[1];B[aa]", 1, 14, 2),
        ("(;GM[1]\n;B[aa];W[bb", 2, 9, 3),
        ("(;GM[1];B[aa];W", 1, 16, 3),
        ("(;GM[1];B;W[aa])", 1, 10, 2),
        ("(;GM[1];b[aa];W[bb])", 1, 10, 2),
        ("(;GM[1](;B[aa]);W[bb])", 1, 16, 2),
        ("(;GM[1](B[aa]))", 1, 9, 1),
        ("(;GM[1];B[aa]]", 1, 14, 2),
        ("(;GM[1];B[a\\", 1, 10, 2),
        ("(;GM[1]\r\n;B[aa]\r;W[bb]\n\n%)", 5, 1, 3),
    ] {
        let stopped = Collection::read(text.as_bytes()).expect_err(text);
        assert_eq!((stopped.error.line, stopped.error.column), (line, column), "{text:?}: {}", stopped.error);
        assert_eq!(stopped.read.games.iter().map(Tree::len).sum::<usize>(), nodes, "{text:?}");
    }
    let deep = format!("{}{}", "(;".repeat(100_000), ")".repeat(100_000));
    let collection = read(&deep);
    assert_eq!(collection.games[0].main_line().count(), 100_000);
    assert_eq!(read(collection.write()).games[0].len(), 100_000);
}

#[test]
fn games_of_go_from_other_programs_are_played_to_their_ends() {
    // A handicap game as KGS writes it; komi as Fox writes it; the end of a territory game as CGoban writes it.
    let kgs = go(
        "(;GM[1]FF[4]CA[UTF-8]AP[CGoban:3]ST[2]\nRU[Japanese]SZ[19]HA[4]KM[0.50]TM[1800]OT[5x30 byo-yomi]\n\
        PW[a]PB[b]WR[2d]BR[3k]DT[2010-01-01]PC[The KGS Go Server at http://www.gokgs.com/]\
        AB[dd][pd][dp][pp]RE[W+Resign]\n;W[qf]WL[1799.1]\n;B[nc]BL[1797.5]\n;W[tt])",
    );
    assert_eq!(kgs.start.setup().handicap, Handicap::Stars(4));
    assert_eq!((kgs.start.setup().scoring, kgs.start.setup().komi_half_points), (Scoring::Territory, 1));
    assert_eq!(
        (kgs.actions.len(), kgs.game.turn(), kgs.result.as_deref()),
        (3, Side::First, Some("W+Resign"))
    );
    let fox = go("(;GM[1]FF[4]SZ[19]GN[]DT[2020-05-05]PB[x]PW[y]KM[375]HA[0]RU[Chinese]AP[GNU Go:3.8]RN[3]\
        RE[B+R]TM[1200]TC[3]TT[30]AP[foxwq]RL[0];B[qd];W[dd];B[pq])");
    assert_eq!((fox.start.setup().komi_half_points, fox.start.setup().scoring), (15, Scoring::Area));
    let stones = go("(;SZ[9]KM[3.75];B[ee])");
    assert_eq!(stones.start.setup().komi_half_points, 15);
    let free = go("(;SZ[9]HA[2]AB[ba][hi]KM[0]RU[chinese];W[ee])");
    assert_eq!(free.start.setup().handicap, Handicap::Free(2));
    assert_eq!(free.game.view().pieces.len(), 3);
    let placed_by_moves = go("(;SZ[9]HA[3]KM[0];B[cc];B[gg];B[cg];W[gc])");
    assert_eq!(placed_by_moves.start.setup().handicap, Handicap::Free(3));
    assert_eq!(placed_by_moves.actions.len(), 4);
    let problem = go("(;SZ[9]AB[aa:ca][bb]AW[ad:dd]PL[W];AE[bb]AB[ii];W[ee];W[ff])");
    assert_eq!(problem.game.view().pieces.len(), 3 + 4 + 1 + 2);
    assert_eq!(problem.game.turn(), Side::First);
    let aga = go("(;SZ[13:13]RU[AGA]KM[7]);");
    assert_eq!((aga.start.setup().superko, aga.start.setup().size), (Superko::Situational, 13));
    let beijing = go("(;SZ[9]RU[Beijing rules])");
    assert_eq!(beijing.start.setup().superko, Superko::Positional);
}

#[test]
fn the_territory_of_the_last_node_says_which_stones_are_dead() {
    // Black's wall on the third line of 5 x 5; White's stone to the left of it is dead.
    let record =
        go("(;GM[1]SZ[5]KM[0.5]RU[Japanese];B[ca];W[bc];B[cb];W[];B[cc];W[];B[cd];W[];B[ce];W[];B[]\
        TB[aa][ab][ac][ad][ae][ba][bb][bc][bd][be][da][db][dc][dd][de][ea][eb][ec][ed][ee])");
    assert_eq!(record.game.outcome(), Some(Outcome { winner: Some(Side::First), reason: Reason::Score }));
    assert_eq!(record.game.score().half_points, [2 * 21, 1]);
    let written = GoRecord::write(&record.start, &record.actions);
    assert_eq!(written.root().text("RE").as_deref(), Some("B+20.5"));
    let again = GoRecord::read(&written).expect("it was written by us");
    assert_eq!(again.game.view(), record.game.view());
}

#[test]
fn a_move_that_the_rules_refuse_is_named_with_its_place_and_the_moves_before_are_offered() {
    for (text, line, column, refusal, plies) in [
        ("(;SZ[9];B[ee];W[ee])", 1, 17, Some(IllegalAction::Occupied(Point::new(4, 4))), 1),
        ("(;SZ[9];B[ee]\n;W[zz])", 2, 4, None, 1),
        ("(;SZ[9];B[e])", 1, 11, None, 0),
        ("(;SZ[9];B[ba];B[ab];W[aa])", 1, 23, Some(IllegalAction::Suicide(Point::new(0, 8))), 2),
    ] {
        let stopped = GoRecord::read(&tree(text)).expect_err(text);
        assert_eq!((stopped.error.line, stopped.error.column), (line, column), "{text}: {}", stopped.error);
        assert_eq!(stopped.refusal, refusal, "{text}");
        assert_eq!(stopped.read.expect("the root is right").game.ply(), plies, "{text}");
    }
    for (text, column) in [
        ("(;SZ[30])", 6),
        ("(;SZ[9:7])", 6),
        ("(;SZ[x])", 6),
        ("(;GM[2])", 6),
        ("(;SZ[9]KM[x])", 11),
        ("(;SZ[9]HA[x])", 11),
        ("(;SZ[9]AB[jj])", 11),
        ("(;SZ[2]AB[aa:bb])", 11),
        ("(;SZ[9]PL[green])", 11),
    ] {
        let stopped = GoRecord::read(&tree(text)).expect_err(text);
        assert_eq!((stopped.error.line, stopped.error.column), (1, column), "{text}: {}", stopped.error);
        assert!(stopped.read.is_none());
    }
}

#[test]
fn random_games_of_go_read_back_from_what_is_written() {
    for (seed, handicap, scoring, superko) in [
        (1, Handicap::None, Scoring::Area, Superko::Positional),
        (2, Handicap::Stars(5), Scoring::Territory, Superko::Situational),
        (3, Handicap::Free(3), Scoring::Area, Superko::Situational),
        (4, Handicap::Free(2), Scoring::Territory, Superko::Positional),
    ] {
        let setup = GoSetup { size: 9, scoring, komi_half_points: 13, superko, handicap, start: None };
        let start = Go::new(&setup).expect("the setup is valid");
        let (mut game, mut actions) = random_actions(&start, seed, 150);
        // Marks without an agreement are not written.
        for action in [Action::Resume, Action::Pass, Action::Pass, Action::Pass, Action::Agree, Action::Agree]
        {
            if let Ok(mv) = game.legal_move(action) {
                game.play(mv);
                actions.push(action);
            }
        }
        let text = Collection { games: vec![GoRecord::write(&start, &actions)] }.write();
        let again = go(&text);
        assert_eq!(again.start.setup(), &setup, "{text}");
        assert_eq!(again.game.view().pieces, game.view().pieces, "{text}");
        assert_eq!(again.game.score(), game.score(), "{text}");
        assert_eq!(again.game.outcome(), game.outcome(), "{text}");
    }
}

#[test]
fn games_of_gomoku_from_other_programs_are_read() {
    let littlegolem = gomoku(
        "(;FF[4]EV[go19.mc.2010.mar.1.21]PB[a]PW[b]SZ[19]SO[http://www.littlegolem.com]\
        ;B[jj];W[kk];B[jk];W[jl])",
    );
    assert_eq!((littlegolem.actions.len(), littlegolem.start.setup().size), (4, 19));
    let letters = gomoku("(;GM[4]SZ[15]RU[renju];B[h8];W[h9];B[i9])");
    assert_eq!(letters.start.setup().rule, GomokuRule::Renju);
    assert_eq!(
        letters.game.opening().map(|opening| opening.name(engine::Language::English)),
        Some("Kagetsu")
    );
    let five = gomoku("(;GM[4]SZ[15];B[aa];W[ba];B[ab];W[bb];B[ac];W[bc];B[ad];W[bd];B[ae])");
    assert_eq!(five.game.outcome().map(|outcome| outcome.winner), Some(Some(Side::First)));
    assert_eq!(five.actions[0], Action::Place(Point::new(0, 14)), "rows are counted from the top");
    for (text, column) in [("(;GM[1]SZ[15])", 6), ("(;GM[4]SZ[25])", 11), ("(;GM[4]SZ[15];B[pp])", 17)] {
        let stopped = GomokuRecord::read(&tree(text)).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!((stopped.error.line, stopped.error.column), (1, column), "{text}");
    }
}

#[test]
fn random_games_of_gomoku_read_back_with_their_choices() {
    for (seed, rule) in (0..).zip(GomokuRule::ALL.into_iter().cycle().take(12)) {
        let setup = GomokuSetup {
            size: 9,
            rule,
            edge_five_wins: seed % 2 == 0,
            opening: [
                GomokuOpening::Free,
                GomokuOpening::Pro,
                GomokuOpening::LongPro,
                GomokuOpening::Swap,
                GomokuOpening::Swap2,
            ][seed as usize % 5],
            start: None,
        };
        let start = Gomoku::new(&setup).expect("the setup is valid");
        let (game, actions) = random_actions(&start, seed, 60);
        let text = Collection { games: vec![GomokuRecord::write(&start, &actions)] }.write();
        let again = gomoku(&text);
        assert_eq!(again.start.setup(), &setup, "{text}");
        assert_eq!((again.actions, again.game.view()), (actions, game.view()), "{text}");
        let line = again.game.position();
        if game.outcome().is_none() {
            let from_line = Gomoku::from_position(&setup, &line).expect("a position of ours");
            assert_eq!(from_line.position(), line);
        }
    }
}

#[test]
fn a_result_by_points_that_the_board_shows_without_dead_stones_is_agreed_on() {
    let text = |result| format!("(;SZ[5]KM[0.5]RE[{result}];B[ca];W[];B[cc];W[];B[])");
    assert!(go(&text("B+24.5")).game.outcome().is_some());
    for other in ["B+3.5", "B+R", "W+24.5", "?"] {
        assert_eq!(go(&text(other)).game.outcome(), None, "{other}");
    }
}

/// A tournament game as the Gomocup manager writes it.
const PSQ: &str = "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,7,1023\r\n8,7,15\r\n10,8,0\r\nRAPFI21.zip\r\nYIXIN18.zip\r\n-1\r\n0,Standard15_1\r\n";

#[test]
fn gomocups_files_are_read_and_written() {
    let psq = Psq::read(PSQ).unwrap_or_else(|stopped| panic!("{}", stopped.error));
    assert_eq!(psq.setup.rule, GomokuRule::Standard);
    assert_eq!(psq.names, Some(["RAPFI21.zip".to_owned(), "YIXIN18.zip".to_owned()]));
    let points: Vec<String> = psq.moves.iter().map(|(point, _)| point.to_string()).collect();
    assert_eq!(points, ["h8", "i9", "h9", "j8"]);
    assert_eq!(psq.moves[1].1.as_millis(), 1023);
    assert_eq!(Psq::read(&psq.write()), Ok(psq));
    let bare = Psq::read("Piskvorky 20x20, 0:0, 1\n1,1\n20,20,5").unwrap_or_else(|e| panic!("{}", e.error));
    assert_eq!((bare.moves.len(), bare.setup.size, bare.names), (2, 20, None));
    let twenty = Psq::read("Piskvorky 20x20, 0:0, 0\n20,1,0\n").unwrap_or_else(|e| panic!("{}", e.error));
    assert_eq!(twenty.moves[0].0, Point::new(19, 19));
}

#[test]
fn a_broken_psq_says_where_and_offers_the_moves_before() {
    for (text, line, column, moves) in [
        ("", 1, 1, 0),
        ("Gomoku 15x15", 1, 1, 0),
        ("Piskvorky 15, 0:0, 0", 1, 11, 0),
        ("Piskvorky 15x20, 0:0, 0", 1, 11, 0),
        ("Piskvorky 40x40, 0:0, 0", 1, 11, 0),
        ("Piskvorky 15x15, 0:0, 0\n8,8,0\n8,8,0", 3, 1, 1),
        ("Piskvorky 15x15, 0:0, 0\n8,8,0\n8,16,0", 3, 3, 1),
        ("Piskvorky 15x15, 0:0, 0\n8,8,soon", 2, 5, 0),
        ("Piskvorky 15x15, 0:0, 0\n0,8,0", 2, 1, 0),
    ] {
        let stopped = Psq::read(text).expect_err(text);
        assert_eq!((stopped.error.line, stopped.error.column), (line, column), "{text:?}: {}", stopped.error);
        assert_eq!(stopped.read.moves.len(), moves, "{text:?}");
    }
}

#[test]
fn positions_of_go_and_gomoku_read_back_from_their_lines_and_what_is_none_is_refused_with_the_column() {
    let setup = GoSetup { size: 9, ..GoSetup::default() };
    for seed in 0..20 {
        let (game, _) = random_actions(&Go::new(&setup).expect("valid"), seed, 80);
        if game.outcome().is_some() || game.view().choices.contains(&Action::Agree) {
            continue;
        }
        let line = game.position();
        let again = Go::from_position(&setup, &line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((again.position(), again.key()), (line, game.key()));
    }
    let ko = "5/1bw2/b1bw1/1bw2/5 w";
    assert!(Go::from_position(&"5".parse().expect("a setup"), ko).is_ok());
    for (line, column) in [
        ("", 1),
        ("9/9/9 b", 1),
        ("5/5/5 b", 6),
        ("5/5/5/5/6 b", 9),
        ("5/5/5/5/5/5 b", 10),
        ("5/5/5/5/4x5 b", 11),
        ("5/5/5/5/4q b", 10),
        ("5/5/5/5/5", 10),
        ("5/5/5/5/5 x", 11),
        ("5/5/5/5/5 b Q1", 13),
        ("5/5/5/5/5 b C3", 13),
        ("5/5/5/5/5 b - 3", 15),
        ("5/5/5/5/5 b - 0 x", 17),
        ("5/5/5/5/5 b - 0 0 0 0", 21),
        ("b4/w4/5/5/5 b", 0),
        ("bw3/w4/5/5/5 b", 1),
        ("999999999999999999999999/5/5/5/5 b", 1),
    ] {
        let found = Go::from_position(&"5".parse().expect("a setup"), line);
        match column {
            0 => assert!(found.is_ok(), "{line}"),
            _ => assert_eq!(found.expect_err(line).column, column, "{line}"),
        }
    }
    let gomoku = |line: &str| Gomoku::from_position(&"5 freestyle".parse().expect("a setup"), line);
    for (line, column) in [
        ("", 1),
        ("5/5 b", 4),
        ("5/5/5/5/bbbbb w", 1),
        ("5/5/5/5/5", 10),
        ("5/5/5/5/5 x", 11),
        ("5/5/5/5/5 b b", 13),
    ] {
        let error = gomoku(line).err().unwrap_or_else(|| panic!("{line}"));
        assert_eq!(error.column, column, "{line}: {error}");
    }
    let full = gomoku("bwbwb/wbwbw/bwwbw/wbbwb/bwbww b").expect("a position");
    assert_eq!(full.outcome(), Some(Outcome { winner: None, reason: Reason::BoardFull }));
}

#[test]
fn setups_read_back_from_their_text() {
    for text in ["19", "9 territory komi=6.5", "13 superko=situational handicap=4", "9 komi=0 free=2"] {
        assert_eq!(text.parse::<GoSetup>().unwrap_or_else(|e| panic!("{text}: {e}")).to_string(), text);
    }
    for text in [
        "15 freestyle",
        "20 standard no-edge",
        "15 renju swap2",
        "9 standard pro",
        "19 freestyle no-edge long-pro",
        "20 standard swap",
        "15 renju taraguchi-10",
        "15 renju soosorv-8",
        "15 renju no-edge yamaguchi",
    ] {
        assert_eq!(text.parse::<GomokuSetup>().unwrap_or_else(|e| panic!("{text}: {e}")).to_string(), text);
    }
    for text in [
        "quiet=120",
        "quiet=off black-first",
        "quiet=120 repetition=chinese",
        "quiet=20 black-first repetition=chinese",
    ] {
        let setup: engine::xiangqi::XiangqiSetup = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(setup.to_string(), text);
    }
    for (text, column) in
        [("9 komi=x", 8), ("99", 1), ("9 handicap=x", 12), ("9 blue", 3), ("9 superko=no", 11)]
    {
        assert_eq!(text.parse::<GoSetup>().expect_err(text).column, column, "{text}");
    }
    assert_eq!("15 pink".parse::<GomokuSetup>().map_err(|error| error.column), Err(4));
    assert!("quiet=0".parse::<engine::xiangqi::XiangqiSetup>().is_err());
}
