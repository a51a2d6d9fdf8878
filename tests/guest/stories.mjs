// States of the page, as the host's messages. Only to be looked at and measured; what the messages are is said in
// docs/guest.md, and docs/guest-examples.json has the host's own.

export const welcome = { version: 1, as: "seat", side: "second", name: "Ben", host: "Anna's Deck", program: "qiyou 0.1.0" };
const words = (en, zh) => ({ en, zh });
/// A point by its column and row, both from 0.
export const point = (column, row) => row * 1024 + column;
/// By a player's name: H8.
export const named = (name) => point(name.toUpperCase().charCodeAt(0) - 65, Number(name.slice(1)) - 1);

const quiet = { kind: "nothing", stone: "unspecified", warnings: [], stuck: [] };
const place = (stone) => ({ ...quiet, kind: "place", stone });

function board(game, columns, rows, more) {
  return {
    game, columns, rows, ply: 0, turn: "second", pieces: [], lights: [], last: null, marks: [], lines: [], facts: [], taken: [], touch: quiet,
    steps: [], losing_steps: [], choices: [], ...more,
  };
}

function room(position, more = {}) {
  return {
    id: "00112233445566778899aabbccddeeff", follows: "", game: position.game, setup: "", names: { game: words("", ""), first: words("Black", "黑方"), second: words("White", "白方") },
    rule: null, area: true, you: "second",
    first: { who: "host", name: "Anna's Deck", level: 0, you: false, present: true },
    second: { who: "guest", name: "Ben", level: 0, you: true, present: true },
    swapped: false, ply: position.ply, revision: 0, digest: "0123456789abcdef", turn: position.turn, result: null, offer: null,
    can_act: position.turn === "second", can_take_back: true, can_offer_draw: true, can_resign: true, can_new_game: true, can_pause: true,
    can_continue: false, paused: false, record: [], spoken: [], pace: "none", pace_name: null, clocks: [], race: null, board: position, ...more,
  };
}

function stones(first, second, name = named) {
  const of = (list, side) => list.split(" ").filter(Boolean).map((one) => ({ at: name(one), side, kind: "stone" }));
  return [...of(first, "first"), ...of(second, "second")];
}

const GOMOKU = "h10 j10 i9 g8 h8 e7 j7 i5 j6".split(" ");
const WHITE = "k11 g9 f7 h7 g7 j8 i7 h6".split(" ");
const record = GOMOKU.flatMap((one, index) => [one, WHITE[index]]).filter(Boolean);
const gomokuBoard = board("gomoku", 15, 15, {
  ply: 17, pieces: stones(GOMOKU.join(" "), WHITE.join(" ")), last: { place: named("j6") }, touch: place("second"),
});
const gomoku = room(gomokuBoard, { record, rule: words("Standard", "标准") });

const goName = (name) => {
  const letter = name.toUpperCase().charCodeAt(0) - 65;
  return point(letter > 8 ? letter - 1 : letter, Number(name.slice(1)) - 1);
};
const goStones = stones("c3 c4 d4 e4 f3 g3 f5 g5 h4 c6 d6 d7 e8", "g4 e3 d3 d2 c2 g7 f6 g6 f7 e7 h6 j5 b7", goName);
const goBoard = board("go", 9, 9, {
  ply: 26, turn: "second", pieces: goStones, last: { place: goName("e8") }, touch: place("second"), choices: [{ pass: true }],
  facts: [{ kind: "taken", side: "first", number: 2, words: null }, { kind: "taken", side: "second", number: 1, words: null }],
  marks: [{ at: goName("e6"), kind: "ko", side: "unspecified", words: null }],
});
const clocks = [{ left_ms: 273_400, running: false, byo_yomi: false, periods: 3 }, { left_ms: 18_300, running: true, byo_yomi: true, periods: 2 }];
const go = room(goBoard, { record: Array.from({ length: 26 }, (_, index) => `${"ABCDEFGHJ"[index % 9]}${(index % 9) + 1}`), clocks, pace: "5m+3x30s", pace_name: words("5 min, then 3 × 30 s", "5 分钟，读秒 30 秒 3 次") });
const counted = board("go", 9, 9, {
  ...goBoard, ply: 28, touch: { ...quiet, kind: "toggle" }, choices: [{ agree: true }, { resume: true }],
  marks: [
    { at: goName("g4"), kind: "dead", side: "unspecified", words: null },
    ...["a1", "a2", "b2", "a5", "b5", "a6", "b6", "a3", "b3", "b4"].map((one) => ({ at: goName(one), kind: "territory", side: "first", words: null })),
    ...["j9", "h9", "h8", "j8", "h7", "j7", "g8", "g9"].map((one) => ({ at: goName(one), kind: "territory", side: "second", words: null })),
  ],
  facts: [
    { kind: "told", side: "unspecified", number: 0, words: words("Black has 38 points, White has 43: White is ahead by 5.", "黑 38 子，白 43 子：白领先 5 子。") },
    { kind: "agreed", side: "first", number: 0, words: null },
  ],
});

const XIANGQI = {
  first: { chariot: "a1 h1", horse: "c3 g3", elephant: "c1 g1", adviser: "d1 f1", general: "e1", cannon: "e3 b6", soldier: "a4 c6 e4 g4 i4" },
  second: { chariot: "a10 h10", horse: "c8 g8", elephant: "e8 g10", adviser: "f10 e9", general: "e10", cannon: "b8 h8", soldier: "a7 c7 e7 g6 i7" },
};
const pieces = Object.entries(XIANGQI).flatMap(([side, kinds]) =>
  Object.entries(kinds).flatMap(([kind, list]) => list.split(" ").map((one) => ({ at: named(one), side, kind }))));
const steps = [["h10", "h9"], ["h10", "i10"], ["b8", "b9"], ["b8", "b10"], ["b8", "b6"], ["g8", "f6"], ["g8", "i6"], ["g8", "h6"], ["e8", "c10"], ["e8", "c6"], ["c7", "c6"], ["a7", "a6"]]
  .map((step) => step.map(named));
const xiangqiBoard = board("xiangqi", 9, 10, {
  ply: 13, pieces, last: { step: [named("b3"), named("b6")] }, touch: { ...quiet, kind: "step", stuck: [{ at: named("e10"), words: words("The general would be in check.", "将会被将军。"), points: [named("e10")] }] }, steps,
  losing_steps: [[named("h10"), named("h9")]],
  taken: [{ side: "first", kind: "soldier" }, { side: "first", kind: "cannon" }, { side: "second", kind: "horse" }],
});
const spoken = ["炮二平五", "马8进7", "马二进三", "车9平8", "车一平二", "马2进3", "兵七进一", "卒7进1", "马八进七", "士4进5", "炮八进二", "象3进5", "兵三进一"].map((one) => words("C2=5", one));
const xiangqi = room(xiangqiBoard, { record: spoken.map(() => "b3e3"), spoken });
const checked = room(
  { ...xiangqiBoard, marks: [
    { at: named("e10"), kind: "check", side: "unspecified", words: null }, { at: named("e3"), kind: "checker", side: "unspecified", words: null },
    { at: named("e8"), kind: "helper", side: "unspecified", words: null }, { at: named("e9"), kind: "helper", side: "unspecified", words: null }],
  facts: [{ kind: "check", side: "unspecified", number: 0, words: words("The cannon on file 5 gives check; an elephant or adviser can help.", "五路炮将军，象、士可以解将。") }] },
  { record: xiangqi.record, spoken },
);

const liuzhouBoard = board("liuzhou", 6, 6, {
  ply: 8, pieces: stones("a1 b1 a2 b2 e4", "f6 e6 d4 c5"), last: { place: named("b2") }, touch: { ...quiet, kind: "capture" },
  marks: [...["f6", "e6", "d4"].map((one) => ({ at: named(one), kind: "target", side: "unspecified", words: null })),
    ...["a1", "b1", "a2", "b2"].map((one) => ({ at: named(one), kind: "formation", side: "unspecified", words: null })),
    { at: named("c5"), kind: "captured", side: "unspecified", words: null }],
  lines: [["a1", "b1"], ["b1", "b2"], ["b2", "a2"], ["a2", "a1"]].map((line) => line.map(named)),
  facts: [
    { kind: "captures_due", side: "unspecified", number: 2, words: null }, { kind: "in_hand", side: "first", number: 13, words: null },
    { kind: "in_hand", side: "second", number: 14, words: null }, { kind: "taken", side: "second", number: 1, words: null },
    { kind: "phase", side: "unspecified", number: 0, words: words("placing", "布子") }, { kind: "formed", side: "unspecified", number: 0, words: words("Square", "成方") },
    { kind: "told", side: "unspecified", number: 0, words: words("A square: it takes one stone.", "成方，吃一子。") },
  ],
});
const liuzhou = room(liuzhouBoard, { record: ["a1", "f6", "b1", "e6", "a2", "d4", "e4", "b2"] });

const lightsBoard = board("lights_out", 5, 5, {
  ply: 4, lights: ["01010", "11100", "00000", "00100", "10001"], last: { press: point(1, 1) }, touch: { ...quiet, kind: "press" },
  facts: [{ kind: "presses", side: "unspecified", number: 4, words: null }],
});
const alone = room({ ...lightsBoard, turn: "first" }, { you: "first", can_act: true, can_resign: false, can_offer_draw: false, record: ["b2", "c3", "c4", "b2"], first: { ...gomoku.second }, second: { ...gomoku.second, you: true } });
const race = {
  my_presses: 4, my_elapsed_ms: 12_300, my_clock_runs: true, i_finished: false, i_stopped: false, their_presses: 6, their_lit: 7, their_elapsed_ms: 0,
  they_finished: false, they_stopped: false,
};
const racing = room(lightsBoard, { race, can_take_back: false, can_offer_draw: false });
const large = room(
  board("lights_out", 30, 26, { lights: Array.from({ length: 26 }, (_, row) => Array.from({ length: 30 }, (_, column) => ((row * 7 + column * 5) % 3 ? 0 : 1)).join("")), touch: { ...quiet, kind: "press" }, turn: "first" }),
  { you: "first", can_act: true, can_resign: false, can_offer_draw: false, first: { ...gomoku.second }, second: { ...gomoku.second } },
);

const over = room(
  { ...gomokuBoard, ply: 18, turn: "unspecified", touch: quiet, last: { place: named("e7") }, marks: ["f7", "g7", "h7", "i7", "e7"].map((one) => ({ at: named(one), kind: "winning", side: "unspecified", words: null })),
    pieces: gomokuBoard.pieces.map((piece) => (piece.at === named("e7") ? { ...piece, side: "second" } : piece)) },
  { record: [...record, "e7"], turn: "unspecified", result: { winner: "second", ending: "five_in_a_row", words: words("White wins: five in a row.", "白方胜：五子连珠。") }, can_act: false, can_take_back: false, can_offer_draw: false, can_resign: false },
);
const scored = room(
  { ...counted, ply: 30, turn: "unspecified", touch: quiet, choices: [], facts: [
    { kind: "half_points", side: "first", number: 76, words: null }, { kind: "half_points", side: "second", number: 86, words: null }] },
  { record: go.record, turn: "unspecified", can_act: false, result: { winner: "second", ending: "score", words: words("White wins by 5 points.", "白胜 1.25 子") } },
);
const raceOver = room(
  { ...lightsBoard, turn: "unspecified", touch: quiet, lights: ["00000", "00000", "00000", "00000", "00000"] },
  { turn: "unspecified", can_act: false, race: { ...race, my_clock_runs: false, i_finished: true, my_presses: 9, my_elapsed_ms: 21_400, they_stopped: true, their_elapsed_ms: 21_400 }, result: { winner: "second", ending: "faster", words: words("", "") } },
);

const ended = { turn: "unspecified", can_act: false, can_take_back: false, can_offer_draw: false, can_resign: false, can_pause: false };
const drawn = room(
  { ...gomokuBoard, turn: "unspecified", touch: quiet },
  { ...ended, record, rule: words("Standard", "标准"), result: { winner: "unspecified", ending: "draw_agreed", words: words("A draw by agreement.", "双方同意和棋。") } },
);
const timedOut = room(
  { ...goBoard, turn: "unspecified", touch: quiet, choices: [] },
  {
    ...ended, record: go.record, pace: go.pace, pace_name: go.pace_name, clocks: [clocks[0], { left_ms: 0, running: false, byo_yomi: true, periods: 0 }],
    result: { winner: "first", ending: "time", words: words("Black wins on time.", "白方超时，黑方胜。") },
  },
);

const offered = (kind) => ({ ...gomoku, offer: { number: 4, kind, mine: false, by: "first" } });
const paused = { ...go, paused: true, can_act: false, can_continue: true, can_pause: false, board: { ...goBoard, touch: quiet, choices: [] } };
const swap2 = room(
  { ...gomokuBoard, ply: 3, pieces: stones("h8 j9", "i10"), last: { place: named("j9") }, touch: { ...quiet, kind: "choose" }, choices: [{ choose: "black" }, { choose: "white" }, { choose: "two_more" }] },
  { record: ["h8", "i10", "j9"], rule: words("Standard, swap2", "标准，三手交换") },
);
const fifths = room(
  { ...gomokuBoard, ply: 4, turn: "second", pieces: stones("h8 j8", "i9 a1"), last: { place: named("a1") }, touch: { ...quiet, kind: "choose" }, choices: Array.from({ length: 8 }, (_, n) => ({ choose: `fifths_${n + 1}` })) },
  { record: ["h8", "i9", "j8", "white", "a1"], rule: words("Renju, Soosõrv-8", "连珠，索索夫-8") },
);
const renju = room(
  { ...gomokuBoard, turn: "first", touch: { ...place("first"), warnings: [{ at: named("h9"), words: words("double three", "三三"), points: [] }] }, marks: [{ at: named("h9"), kind: "forbidden", side: "unspecified", words: words("double three", "三三") }] },
  { record, you: "first", can_act: true, first: { ...gomoku.second }, second: { ...gomoku.first }, rule: words("Renju", "连珠") },
);

const seat = (shown, more = {}) => ({ sends: [{ welcome: { ...welcome, side: shown.you, ...more } }, { room: shown }] });
const answers = {
  look: ({ id, ply: wanted }) => ((ply) => ({ position: { id, room: gomoku.id, ply, total: record.length, board: { ...gomokuBoard, ply, touch: quiet, last: ply ? { place: named(record[ply - 1]) } : null,
    pieces: record.slice(0, ply).map((one, index) => ({ at: named(one), side: index % 2 ? "second" : "first", kind: "stone" })) } } }))(Math.min(wanted, record.length)),
  rules: ({ id }) => ({ rules: { id, words: words("1. Black goes first.\n2. Five in a row win, six or more do not.", "1. 黑先。\n2. 五子连珠为胜，长连不算。") } }),
  file: ({ id }) => ({ file: { id, name: "gomoku-2026-11-24.sgf", text: "(;GM[4]SZ[15];B[hh])" } }),
};

/// A club evening in its second round; this page's guest is Ben, whose first game is over.
const evening = {
  id: "3", name: "Friday", setup: "", pace: "none", twice: false, state: "running", round: 2,
  players: ["Anna", "Ben", "小明", "Dora", "A player with a long name"].map((name, at) => ({ id: at + 1, name, who: ["here", "guest", "friend", "nobody", "guest"][at], number: at + 1, left: false })),
  rounds: [
    { round: 1, games: [{ board: 1, first: 2, second: 5, result: "draw", begun: true }, { board: 2, first: 3, second: 4, result: "second_wins", begun: true }], free: [1] },
    { round: 2, games: [{ board: 1, first: 5, second: 3, result: null, begun: true }, { board: 2, first: 1, second: 2, result: null, begun: false }], free: [4] },
  ],
  standings: [
    [1, 4, 1, 0, 1, [".", ".", "1", "", "."]], [2, 2, 0.5, 0.25, 0, [".", "", ".", ".", "½"]], [2, 5, 0.5, 0.25, 0, [".", "½", ".", ".", ""]],
    [4, 1, 0, 0, 0, ["", ".", ".", ".", "."]], [4, 3, 0, 0, 0, [".", ".", "", "0", "."]],
  ].map(([place, player, points, berger, wins, cross]) => ({ place, player, points, sonneborn_berger: berger, direct: null, wins, played: 1, cross })),
  next: [[1, 2, 2, 2, "first"], [2, 2, 2, 1, "second"], [3, 2, 1, 5, "second"], [4, 3, 1, 1, "second"], [5, 2, 1, 3, "first"]]
    .map(([player, round, board, opponent, side]) => ({ player, round, board, opponent, side })),
};
/// The last round is over.
const finished = {
  ...evening, state: "finished", round: null, next: [],
  rounds: evening.rounds.map((one) => ({ ...one, games: one.games.map((game) => ({ ...game, result: game.result ?? "first_wins", begun: true })) })),
};

/// The view of the evening: Ben's board is begun, and his seat is free.
const looks = { ...welcome, as: "evening", side: "unspecified", name: "" };
const seats = [{ round: 2, board: 2, name: "Ben", side: "second", token: "gomoku" }];
const gathering = { ...evening, state: "gathering", round: null, rounds: [], standings: [], next: [] };

/// By their tokens. `do`: what is touched until the state is there, as [action, argument]; `fresh`: the name was not given before; `bare`: the page
/// is opened without a token; `from`: the seat was taken from the evening of this token; `shows`: what the story is about, as texts of the page or of the question in front of it, where each point of the board says its label; `exact`: the same
/// where points are larger than a finger.
export const STORIES = {
  start: { ...seat(gomoku, { name: "" }), fresh: true, shows: words(["Anna's Deck invites you to play Gomoku", "Your name"], ["Anna's Deck 邀你下五子棋", "你的名字"]) },
  gomoku: { ...seat(gomoku), answers, shows: words(["Your turn", "J6, Black, last move"], ["轮到你了", "J6，黑，最后一步"]) },
  // Where a finger cannot miss its point the stone is sent at once; the host does not answer it.
  aimed: {
    ...seat(gomoku), do: [["tap", "F8"]], answers: { act: ({ id }) => ({ pong: id }) },
    shows: words(["Tap again to play there", "a ghost on F8, empty, waits to be confirmed", "Not there"], ["再点一下就下在那里", "a ghost on F8，空，等待确认", "换个地方"]),
    exact: words(["a ghost on F8, empty"], ["a ghost on F8，空"]),
  },
  theirs: { ...seat(room({ ...gomokuBoard, turn: "first", touch: quiet }, { record, can_act: false })), shows: words(["their turn", "plays White"], ["轮到对方", "执白"]) },
  go: { ...seat(go), shows: words(["captured 2", "4:34", "2 periods", "Pass", "E8, Black, last move"], ["吃 2", "4:34", "读秒 2 次", "停一手", "E8，黑，最后一步"]) },
  go19: {
    ...seat(room(board("go", 19, 19, { ply: 6, pieces: stones("q16 d4 r4", "d16 q4 c14", goName), last: { place: goName("c14") }, touch: place("first"), turn: "second", choices: [{ pass: true }] }), { record: [] })),
    shows: words(["T19, empty", "C14, White, last move"], ["T19，空", "C14，白，最后一步"]),
  },
  counting: { ...seat(room(counted, { record: go.record })), shows: words(["Tap the dead stones", "White is ahead by 5", "G4, White, dead", "A1, empty, counts for Black", "Agree and count"], ["点出死子", "白领先 5 子", "G4，白，死子", "A1，空，算黑", "同意，算胜负"]) },
  xiangqi: { ...seat(xiangqi), shows: words(["tap a piece", "File 5, row 1, black general", "File 2, row 5, red cannon, last move"], ["点一枚棋子", "5路，第 1 行，黑将", "2路，第 5 行，红炮，最后一步"]) },
  picked: { ...seat(xiangqi), do: [["tap", "b8"]], shows: words(["Now tap where it goes", "File 2, row 3, black cannon, picked", "File 2, row 1, empty, possible"], ["再点要去的地方", "2路，第 3 行，黑炮，已选中", "2路，第 1 行，空，可到"]) },
  check: { ...seat(checked), shows: words(["You are in check", "The cannon on file 5 gives check", "black general, in check", "red cannon, gives check", "black adviser, can help"], ["你被将军了", "五路炮将军", "黑将，被将军", "红炮，正在将军", "黑士，能解将"]) },
  liuzhou: { ...seat(liuzhou), shows: words(["Square: capture 2 stones", "14 in hand · captured 1", "E6, White, possible", "A1, Black, formation"], ["成方：吃 2 子", "手中 14 · 吃 1", "E6，白，可到", "A1，黑，成城"]) },
  lights: { ...seat(alone), shows: words(["4 presses so far", "Press a light", "Column 2, row 4, lit, last move"], ["已按 4 下", "按一盏灯", "第 2 列，第 4 行，亮，最后一步"]) },
  race: { ...seat(racing), shows: words(["7 lights still on", "· 4 presses", "Column 2, row 4, lit, last move"], ["还亮 7 盏", "· 按了 4 下", "第 2 列，第 4 行，亮，最后一步"]) },
  large: { ...seat(large), shows: words(["1–20 / 30 × 1–20 / 26", "Column 20, row 20, "], ["1–20 / 30 × 1–20 / 26", "第 20 列，第 20 行，"]) },
  swap2: { ...seat(swap2), shows: words(["choose below", "Play Black", "Play White", "Two more stones"], ["在下面选一个", "执黑", "执白", "再摆两子"]) },
  fifths: { ...seat(fifths), shows: words(["choose below", "Fifth moves: 1", "Fifth moves: 8"], ["在下面选一个", "第五手 1 个点", "第五手 8 个点"]) },
  over: { ...seat(over), answers, shows: words(["You won", "Five in a row", "Rematch: this time you are Black", "E7, White, last move, winning row"], ["你赢了", "五子连珠", "再来一局：这次你执黑", "E7，白，最后一步，连成五子"]) },
  achieved: { ...seat({ ...over, achieved: { help: "none", first_win: false, streak: 3, fewest: false, best_before: 0, next_level: 0, review: false } }), shows: words(["You won", "3 wins in a row"], ["你赢了", "3 连胜"]) },
  scored: { ...seat(scored), shows: words(["By 5 points", "38 points", "43 points"], ["胜 2.5 子", "38 子", "43 子"]) },
  raceover: { ...seat(raceOver), shows: words(["Faster", "Me: 21.4 s with 9 presses", "Anna's Deck: stopped after 21.4 s with 6 presses"], ["用时更少", "我：21.4 秒，按了 9 下", "Anna's Deck：21.4 秒时停下，按了 6 下"]) },
  watch: {
    sends: [{ welcome: { ...welcome, as: "watcher", side: "unspecified", name: "" } }, { room: { ...xiangqi, you: "unspecified", second: { ...xiangqi.second, you: false }, can_act: false } }],
    shows: words(["You are watching", "to move"], ["你在旁观", "请落子"]),
  },
  away: { ...seat({ ...gomoku, can_act: false, first: { ...gomoku.first, present: false } }), shows: words(["away; the game waits"], ["不在，棋局等着"]) },
  said: { sends: [...seat(gomoku).sends, { said: { number: 1, mine: false, name: "Anna's Deck", phrase: "good-move", text: "", words: words("Good move!", "好棋！") } }], shows: words(["“Good move!”"], ["“好棋！”"]) },
  paused: { ...seat(paused), shows: words(["Paused", "Continue"], ["已暂停", "继续"]) },
  offerdraw: { ...seat(offered("draw")), shows: words(["Anna's Deck offers a draw", "Agree", "Decline"], ["Anna's Deck 提议和棋", "同意", "不同意"]) },
  offerundo: { ...seat(offered("take_back")), shows: words(["Anna's Deck asks to undo a move", "Agree", "Decline"], ["Anna's Deck 想悔一步", "同意", "不同意"]) },
  offernew: { ...seat(offered("new_game")), shows: words(["Anna's Deck would like a new game", "Colours are swapped.", "Agree", "Decline"], ["Anna's Deck 想重新开一局", "双方换先。", "同意", "不同意"]) },
  resign: { ...seat(gomoku), do: [["press", "do-resign"]], shows: words(["Resign this game?", "The other side wins."], ["这局认输吗？", "对方获胜。"]) },
  newgame: { ...seat(alone), do: [["press", "do-new"]], shows: words(["Start a new game?", "This game isn't finished."], ["重新开一局？", "这一局还没下完。"]) },
  say: { ...seat(gomoku), do: [["press", "do-say"]], shows: words(["Say something", "Good luck!", "Send"], ["说句话", "祝你好运！", "发出"]) },
  more: { ...seat(gomoku), do: [["press", "do-more"]], answers, shows: words(["More", "Flip the board", "About this page", "Coordinates"], ["更多", "翻转棋盘", "关于这个页面", "棋盘坐标"]) },
  losing: { ...seat(xiangqi), do: [["tap", "h10"], ["tap", "h9"]], shows: words(["This move loses", "Play it anyway"], ["这步棋会判负", "就这么走"]) },
  forbidden: { ...seat(renju), do: [["click", "h9"]], shows: words(["Forbidden: double three", "Play there anyway"], ["禁手：三三", "就下这里"]) },
  review: { ...seat(over), answers, do: [["press", "do-review"], ["review", "left"]], shows: words(["Move 16 of 17: H6", "H6, White, last move", "Back to the game"], ["第 16 步，共 17 步：H6", "H6，白，最后一步", "回到棋局"]) },
  rules: { ...seat(gomoku), answers, do: [["press", "do-more"], ["dialog", 3]], shows: words(["Gomoku", "1. Black goes first."], ["五子棋", "1. 黑先。"]) },
  club: { sends: [...seat(over).sends, { club: evening }], answers, do: [["press", "do-more"], ["dialog", 4]], shows: words(["Friday", "Round 2: you play Anna", "Next games", "Standings"], ["Friday", "第 2 轮：你和 Anna 下", "下一局", "名次"]) },
  clubover: { sends: [...seat(over).sends, { club: finished }], answers, do: [["press", "do-more"], ["dialog", 4]], shows: words(["Friday", "Round 1", "Round 2", "1 : 0", "Standings"], ["Friday", "第 1 轮", "第 2 轮", "1 : 0", "名次"]) },
  lost: { sends: [...seat(gomoku).sends, "lose"], shows: words(["Connection lost. Trying again", "Try now", "J6, Black, last move"], ["连接断了，", "马上重试", "J6，黑，最后一步"]) },
  closed: { sends: [{ closed: { why: "code_closed", words: words("The host has closed this game.", "对方已关闭这局棋。"), seconds: 0 } }], shows: words(["Your friend has closed this game to guests", "Ask for a new code to play on."], ["对方不再让别人用这个页面下这局棋", "请对方再给一个二维码。"]) },
  wrong: { sends: [{ closed: { why: "wrong_code", words: words("This code is not known here.", "这里没有这个二维码。"), seconds: 0 } }], shows: words(["This code isn't valid any more", "Ask for a new one"], ["这个二维码已经失效", "请对方再给一个"]) },
  taken: { sends: [{ taken: { words: words("Somebody sits here already. Anna's Deck is asked.", "这个座位已有人。正在询问对方。"), seconds: 120 } }], shows: words(["Someone else already plays with this code", "is asked whether you may take that place"], ["已经有人用这个二维码在下了", "能不能让你来下"]) },
  refusedseat: { sends: [{ closed: { why: "seat_taken", words: words("Somebody sits here already.", "这个座位已有人。"), seconds: 0 } }], shows: words(["has said no, or hasn't answered", "Ask again"], ["没有答应，或者没有回答", "再问一次"]) },
  replaced: { sends: [{ closed: { why: "replaced", words: words("The page is open a second time.", "页面打开了两次。"), seconds: 0 } }], shows: words(["The game is open in another tab", "Continue here"], ["棋局在另一个标签页里打开了", "在这里接着下"]) },
  stopping: { sends: [{ closed: { why: "host_stopping", words: words("Qiyou was closed there.", "那边关掉了「棋友」。"), seconds: 0 } }], shows: words(["Qiyou was closed on the other device", "Ask for a new code to play on."], ["对方的设备关掉了「棋友」", "请对方再给一个二维码。"]) },
  waitlong: { sends: [{ closed: { why: "wait", words: words("", ""), seconds: 60 } }], shows: words(["Too many wrong codes", "Try again in "], ["错误的二维码太多", "秒后再试。"]) },
  nocode: { sends: [], bare: true, shows: words(["Qiyou", "Scan the QR code on the other device to play."], ["棋友", "请扫另一台设备上的二维码来下棋。"]) },
  connecting: { sends: [], shows: words(["Connecting…"], ["正在连接…"]) },
  given: { sends: [{ closed: { why: "given", words: words("The seat was given to somebody else.", "座位让给了别人。"), seconds: 0 } }], shows: words(["has given this place to someone else", "Ask for a new one"], ["把座位让给了别人", "请对方再给一个"]) },
  tooold: { sends: [{ closed: { why: "too_old", words: words("This page is too old.", "页面太旧。"), seconds: 0 } }], shows: words(["This page is older than the other device", "Load again"], ["这个页面的版本旧了", "重新载入"]) },
  full: { sends: [{ closed: { why: "full", words: words("Too many are there.", "人太多了。"), seconds: 0 } }], shows: words(["Too many people are watching", "Try again when somebody has left.", "Try now"], ["旁观的人太多了", "等有人离开后再试。", "马上重试"]) },
  lostfirst: { sends: ["lose"], shows: words(["Connection lost", "Stay in the same Wi-Fi as the other device", "Try now"], ["连接断了", "请和对方的设备连同一个 Wi-Fi", "马上重试"]) },
  toofast: { sends: [{ closed: { why: "too_fast", words: words("Too many messages.", "消息太多。"), seconds: 5 } }], shows: words(["Connection lost. Trying again in 5 seconds…", "The game waits.", "Try now"], ["5 秒后重试", "棋局等着。", "马上重试"]) },
  refused: {
    ...seat(gomoku), do: [["press", "do-undo"]], answers: { offer: ({ id }) => ({ reply: { id, ok: false, words: words("Anna's Deck is away.", "Anna's Deck 不在。"), points: [] } }) },
    shows: words(["Anna's Deck is away.", "J6, Black, last move"], ["Anna's Deck 不在。", "J6，黑，最后一步"]),
  },
  about: {
    ...seat(gomoku), do: [["press", "do-more"], ["dialog", 6]],
    shows: words(["About this page", "The other device is the referee", "This page isn't encrypted", "Nothing is installed."], ["关于这个页面", "对方的设备当裁判", "这个页面没有加密", "什么都不安装。"]),
  },
  offerpause: { ...seat(offered("pause")), shows: words(["Anna's Deck would like a pause", "Agree", "Decline"], ["Anna's Deck 想暂停一下", "同意", "不同意"]) },
  offercontinue: { ...seat({ ...paused, offer: { number: 4, kind: "continue", mine: false, by: "first" } }), shows: words(["Anna's Deck would like to continue", "Agree", "Decline"], ["Anna's Deck 想接着下", "同意", "不同意"]) },
  asked: { ...seat({ ...gomoku, offer: { number: 4, kind: "draw", mine: true, by: "second" } }), shows: words(["was asked for a draw…"], ["等对方答应和棋…"]) },
  drawn: { ...seat(drawn), shows: words(["A draw", "Both agreed to a draw", "drew", "Rematch: this time you are Black"], ["和棋", "双方同意和棋", "和", "再来一局：这次你执黑"]) },
  timeout: { ...seat(timedOut), shows: words(["You lost", "Time ran out", "0:00"], ["你输了", "时间用完", "0:00"]) },
  evening: {
    sends: [{ welcome: looks }, { club: { ...evening, seats } }],
    shows: words(["Friday", "Sit down: Ben", "Next games", "Round 2", "No game in this round: Dora", "Standings"], ["Friday", "坐下：Ben", "下一局", "第 2 轮", "这一轮没有对手：Dora", "名次"]),
  },
  eveninglist: { sends: [{ welcome: looks }, { club: { ...gathering, seats: [] } }], shows: words(["Friday", "5 players on the list", "Player", "Dora"], ["Friday", "名单上有 5 人", "姓名", "Dora"]) },
  eveningover: {
    sends: [{ welcome: looks }, { club: { ...finished, seats: [] } }, { closed: { why: "code_closed", words: words("The host has closed this code.", "主人关闭了这个码。"), seconds: 0 } }],
    shows: words(["Friday", "The evening is over.", "Round 1", "Round 2", "Standings"], ["Friday", "棋会结束了。", "第 1 轮", "第 2 轮", "名次"]),
  },
  eveninggone: {
    sends: [{ welcome: looks }, { club: { ...evening, seats: [] } }, { closed: { why: "code_closed", words: words("The host has closed this code.", "主人关闭了这个码。"), seconds: 0 } }],
    shows: words(["This evening isn't shown any more"], ["这个棋会不再给人看了"]),
  },
  backto: { ...seat(over), from: "evening", shows: words(["You won", "Back to the evening"], ["你赢了", "回到棋会"]) },
  backclosed: { sends: [{ closed: { why: "code_closed", words: words("The host has closed this code.", "主人关闭了这个码。"), seconds: 0 } }], from: "evening", shows: words(["has closed this game to guests", "Back to the evening"], ["不再让别人用这个页面下这局棋", "回到棋会"]) },
};

/// Rooms that tests of the page's talk begin with.
export const ROOMS = { gomoku, xiangqi, go, liuzhou, racing, alone, counted: room(counted, { record: go.record }), swap2, fifths, over, offered };
export { evening, quiet };
