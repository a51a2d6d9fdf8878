// The page around the board: fills the elements of index.html from the state. Decides nothing and sends nothing.
import { icon, sprite } from "./art.js";
import { isChinese, knows, say, told } from "./words.js";
import { fact, factWords, movesOf, nearSide, other } from "./points.js";

export function at(id) {
  return document.getElementById(id);
}

/// Sets the text only if it differs, because screen readers announce every assignment.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/// Sets the labels that change with the language only.
export function labelAll() {
  document.documentElement.lang = isChinese() ? "zh-Hans" : "en";
  for (const element of document.querySelectorAll("[data-w]")) write(element, say(element.dataset.w));
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
  for (const element of document.querySelectorAll("[data-language]")) {
    element.lang = isChinese() ? "en" : "zh-Hans";
    write(element, say("language"));
  }
}

function colourOf(room, side) {
  return room.swapped ? other(side) : side;
}

/// Black, White or Red, in the form for its use: "", "plays", "won", "resigned", "next".
function colourWord(room, side, kind = "") {
  const colour = colourOf(room, side);
  const name = room.game === "xiangqi" ? (colour === "first" ? "red" : "black") : colour === "first" ? "black" : "white";
  const capital = name[0].toUpperCase() + name.slice(1);
  if (kind === "plays" || kind === "next") return say(kind + capital);
  return say(kind ? name + kind : name);
}

export function colourName(room, side) {
  return colourWord(room, side);
}

/// Whether the room is Lights Out for one player.
export function isAlone(room) {
  return room.game === "lights_out" && !room.race;
}

const GAMES = ["gomoku", "liuzhou", "go", "xiangqi", "lights_out"];

export function gameName(room) {
  return GAMES.includes(room.game) ? say(room.game) : told(room.names?.game) || say("unknownGame");
}

export function seatName(room, side, host) {
  const seat = room[side];
  if (seat.you) return seat.name ? say("meNamed", seat.name) : say("me");
  if (seat.who === "bot") return say("level", seat.level);
  return seat.name || (seat.who === "host" ? host : "") || colourWord(room, side);
}

function clockText(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/// Remaining milliseconds of a clock, rounded up to whole seconds, so that 0:00 means out of time.
function clockLeft(room, side, since) {
  const clock = room.clocks[side === "second" ? 1 : 0];
  return clock ? Math.max(0, clock.left_ms - (clock.running ? since : 0)) : null;
}

function halves(number) {
  return number % 2 ? `${Math.floor(number / 2)}.5` : String(number / 2);
}

/// The task of the player whose turn it is; empty on the opponent's turn.
export function taskText(state) {
  const { room } = state;
  const { board } = room;
  const due = fact(board, "captures_due") ?? 0;
  const formed = factWords(board, "formed");
  if (state.waiting !== null) return say("tapAgain");
  switch (room.can_act ? board.touch.kind : "nothing") {
    case "capture":
      return formed ? say("formedCapture", due, formed) : say("capture", due);
    case "step":
      if (state.picked !== null) return say("aim");
      return factWords(board, "check") ? say("youAreInCheck") : say("pick");
    case "toggle":
      return say("markDead");
    case "choose":
      return say("chooseFirst");
    default:
      return say("yourTurn");
  }
}

const ASKED = {
  take_back: "askedUndo", draw: "askedDraw", new_game: "askedNew", new_game_same: "askedNew", pause: "askedPause",
  continue: "askedContinue",
};

function raceText(room, mine, since) {
  const race = room.race;
  if (mine) {
    const elapsed = race.my_elapsed_ms + (race.my_clock_runs ? since : 0);
    const text = clockText(Math.floor(elapsed / 1000));
    return race.i_finished ? say("doneIn", race.my_presses, text) : say("pressed", race.my_presses, text);
  }
  if (race.they_finished) return say("doneIn", race.their_presses, clockText(Math.floor(race.their_elapsed_ms / 1000)));
  return say("lightsOn", race.their_lit);
}

/// The status line of a seat, and whether it is a chat message.
function seatState(state, side, since) {
  const { room } = state;
  const seat = room[side];
  const said = state.said[side];
  if (said) return [say("said", said), true];
  const away = !seat.you && seat.present === false;
  if (room.race && room.you !== "unspecified" && !away) return [raceText(room, seat.you, since), false];
  if (room.result) {
    const { winner } = room.result;
    return [say(winner === side ? "won" : winner === "unspecified" ? "drew" : "lostGame"), false];
  }
  if (away) return [say("away"), false];
  if (!seat.you && room.offer?.mine) return [say(ASKED[room.offer.kind] ?? "waiting"), false];
  if (room.paused) return [say("paused"), false];
  if (fact(room.board, "agreed", side) !== null) return [say("agreed"), false];
  if (room.turn === side) {
    if (seat.you) return [room.can_act ? taskText(state) : say("waiting"), false];
    if (seat.who === "bot") return [say("thinking"), false];
    return [say(room.you === "unspecified" ? "toMove" : "theirTurn"), false];
  }
  return [colourWord(room, side, "plays"), false];
}

function holds(room, side) {
  const points = fact(room.board, "half_points", side);
  if (points !== null) return say(room.area ? "areaPoints" : "territoryPoints", halves(points));
  const hand = fact(room.board, "in_hand", side) ?? 0;
  const taken = fact(room.board, "taken", side) ?? 0;
  if (hand && taken) return say("inHandTaken", hand, taken);
  if (hand) return say("inHand", hand);
  return taken && !takenBy(room, side).length ? say("capturedN", taken) : "";
}

/// The pieces that a side has captured.
function takenBy(room, side) {
  return room.board.taken.filter((piece) => piece.side === other(side));
}

/// Fills a seat's card.
export function showSeat(element, state, side, since) {
  const { room } = state;
  const seat = room[side];
  if (!element.firstChild) {
    const part = (name, tag = "p") => Object.assign(document.createElement(tag), { className: name });
    const who = part("who", "div");
    who.append(part("name"), part("state"));
    element.append(part("stone", "span"), who, part("taken", "div"), part("holds"), part("clock", "div"));
  }
  const find = (name) => element.querySelector(`.${name}`);
  const colour = colourOf(room, side);
  const kind = room.game === "xiangqi" ? "general" : "stone";
  redraw(find("stone"), `${colour} ${kind}`, () => {
    const drawn = sprite(colour, kind);
    drawn.classList.toggle("piece", kind !== "stone");
    drawn.classList.toggle("dark-stone", kind === "stone" && colour === "first");
    return [drawn];
  });
  write(find("name"), seatName(room, side, state.host));
  const [line, says] = seatState(state, side, since);
  write(find("state"), line);
  find("state").classList.toggle("says", says);
  const taken = takenBy(room, side);
  find("taken").hidden = !taken.length;
  find("taken").classList.toggle("many", taken.length > 8);
  redraw(find("taken"), JSON.stringify(taken), () => taken.map((piece) => sprite(piece.side, piece.kind)));
  const has = holds(room, side);
  write(find("holds"), has);
  find("holds").hidden = !has;
  element.classList.toggle("moves-now", !room.result && !room.race && room.turn === side);
  showClock(find("clock"), room, side, since);
}

function showClock(element, room, side, since) {
  const left = clockLeft(room, side, since);
  element.hidden = left === null;
  if (left === null) return;
  const { running, byo_yomi: byoYomi, periods } = room.clocks[side === "second" ? 1 : 0];
  const seconds = Math.ceil(left / 1000);
  if (!element.firstChild) element.append(document.createElement("span"), Object.assign(document.createElement("span"), { className: "small" }));
  write(element.firstChild, clockText(seconds));
  write(element.lastChild, byoYomi ? say("periods", periods) : "");
  element.classList.toggle("low", running && seconds < 20);
  element.classList.toggle("last-seconds", running && seconds < 10);
}

/// Redraws an element only if its key has changed.
function redraw(element, key, parts) {
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...parts());
}

/// The number of presses, in place of the two seats.
export function showPresses(element, room) {
  if (element.querySelector(".stone")) element.replaceChildren();
  if (!element.firstChild) {
    const who = Object.assign(document.createElement("div"), { className: "who" });
    who.append(Object.assign(document.createElement("p"), { className: "name" }), Object.assign(document.createElement("p"), { className: "state" }));
    element.append(who);
  }
  const presses = fact(room.board, "presses") ?? room.ply;
  const fewest = fact(room.board, "fewest");
  write(element.querySelector(".name"), fewest === null ? say("pressesSoFar", presses) : say("pressesFewest", presses, fewest));
  write(element.querySelector(".state"), say(room.result ? "allOff" : "press"));
  element.classList.remove("moves-now");
}

/// The result, from the point of view of this player.
export function outcome(room) {
  if (isAlone(room)) return say("allOff");
  const { winner } = room.result;
  if (winner === "unspecified") return say("aDraw");
  if (room.you === winner) return say("youWon");
  if (room.you !== "unspecified") return say("youLost");
  return colourWord(room, winner, "Won");
}

export function reason(room) {
  const { ending, winner, words } = room.result;
  if (ending === "all_out") return "";
  if (ending === "score") {
    if (winner === "unspecified") return say("samePoints");
    const lead = Math.abs((fact(room.board, "half_points", "first") ?? 0) - (fact(room.board, "half_points", "second") ?? 0));
    return room.area ? say("byArea", halves(lead), String(lead / 4)) : say("byPoints", halves(lead));
  }
  if (ending === "resigned") {
    if (room.you === winner) return say("opponentResigned");
    if (room.you !== "unspecified") return say("youResigned");
    return colourWord(room, other(winner), "Resigned");
  }
  const special = `${ending}.${room.game}`;
  if (knows(special)) return say(special);
  return knows(ending) ? say(ending) : told(words);
}

/// What the end was to this player, beside the result; empty if it was nothing special or came about with help.
export function achievement(room) {
  const told = room.achieved;
  if (!told || told.help !== "none" || room.you === "unspecified") return "";
  const { columns, rows } = room.board;
  const seat = room[other(room.you)];
  const first = !told.first_win ? "" : isAlone(room) ? say("firstBoard", columns, rows) : say("firstWin", seat.level);
  const record = told.fewest ? say("cannotBeFewer")
    : told.best_before ? say("fewestSoFar", told.best_before)
    : told.streak > 1 ? say("inARow", told.streak) : "";
  return [first, record].filter(Boolean).join(" · ");
}

export function showResult(state) {
  const { room } = state;
  const { result } = room;
  const shown = Boolean(result) && !state.review;
  at("result").hidden = !shown;
  if (!shown) return;
  const alone = isAlone(room);
  write(at("outcome"), outcome(room));
  at("outcome").classList.toggle("glad", result.winner !== "unspecified" && (room.you === "unspecified" || room.you === result.winner));
  write(at("reason"), alone ? "" : reason(room));
  at("reason").hidden = alone || !reason(room);
  const was = achievement(room);
  write(at("achieved"), was);
  at("achieved").hidden = !was;
  at("runs").hidden = !room.race || room.you === "unspecified";
  if (room.race) {
    const { race } = room;
    const run = (who, stopped, presses, elapsed) => say(stopped ? "runStopped" : "runOf", presses, who, (elapsed / 1000).toFixed(1));
    const mine = run(say("me"), race.i_stopped, race.my_presses, race.my_elapsed_ms);
    const theirs = run(seatName(room, other(nearSide(room)), state.host), race.they_stopped, race.their_presses, race.their_elapsed_ms);
    write(at("runs"), `${mine}\n${theirs}`);
  }
  const plays = room.you !== "unspecified";
  const open = state.up && room.can_new_game && !room.offer;
  at("rematch").hidden = at("same").hidden = !plays;
  write(at("rematch"), say(alone ? "anotherBoard" : "rematch"));
  at("rematch").disabled = at("same").disabled = !open;
  if (alone || room.race) at("same").hidden = true;
  const hint = plays && !alone && !room.race;
  at("rematch-hint").hidden = !hint;
  if (hint) write(at("rematch-hint"), colourWordNext(room));
}

/// Colour in the next game, where sides are swapped and the swap of the opening is undone.
function colourWordNext(room) {
  return colourWord({ ...room, swapped: false }, other(room.you), "next");
}

/// What the last action brought about, in words.
export function toldText(room) {
  return factWords(room.board, "check") || factWords(room.board, "told");
}

export function showTold(state) {
  const { room } = state;
  const text = room.result || state.review ? "" : toldText(room);
  const check = Boolean(factWords(room.board, "check"));
  at("told").hidden = !text;
  at("told").classList.toggle("check", check);
  write(at("told"), text);
}

export function showTitle(state) {
  const { room } = state;
  write(at("title"), gameName(room));
  const aside = [room.race ? "" : say("moveN", room.ply), told(room.rule), factWords(room.board, "opening") || factWords(room.board, "phase"), told(room.pace_name)];
  write(at("aside"), aside.filter(Boolean).join(" · "));
  const turn = room.you !== "unspecified" && room.turn === room.you && !room.result;
  document.title = `${turn ? `${say("yourTurn")} · ` : ""}${gameName(room)} · ${say("qiyou")}`;
}

export function showLink(state) {
  const element = at("link");
  element.classList.toggle("down", !state.up);
  const line = state.up ? say("linkUp", state.host || say("theHost")) : say("lostTitle");
  write(element, state.up && state.room.you === "unspecified" ? `${say("watchingLine")} · ${line}` : line);
}

/// The list of moves; `chosen` is the one that is shown.
export function showMoves(state, chosen, look) {
  const { room } = state;
  const moves = movesOf(room);
  const list = at("moves-list");
  at("moves-none").hidden = moves.length > 0;
  redraw(list, JSON.stringify([moves, isChinese(), room.revision]), () => {
    const rows = [];
    for (let index = 0; index < moves.length; index += 2) {
      const row = document.createElement("li");
      row.append(`${index / 2 + 1}.`);
      for (const ply of [index, index + 1].filter((ply) => ply < moves.length)) {
        const element = Object.assign(document.createElement("button"), { type: "button", textContent: moves[ply] });
        element.dataset.ply = ply + 1;
        element.addEventListener("click", () => look(ply + 1));
        row.append(element);
      }
      rows.push(row);
    }
    return rows;
  });
  let chosenOne = null;
  for (const element of list.querySelectorAll("button")) {
    const current = Number(element.dataset.ply) === chosen;
    if (current) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
    if (current) chosenOne = element;
  }
  // Scrolls the chosen move into view, without scrolling the page.
  const card = at("moves");
  if (chosenOne && card.dataset.chosen !== `${chosen} ${moves.length}`) {
    card.dataset.chosen = `${chosen} ${moves.length}`;
    const beyond = chosenOne.getBoundingClientRect().bottom - card.getBoundingClientRect().bottom;
    const before = chosenOne.getBoundingClientRect().top - card.getBoundingClientRect().top;
    if (beyond > 0) card.scrollTop += beyond + 8;
    else if (before < 0) card.scrollTop += before - 8;
  }
}

/// Creates the buttons of the action bar from {name, icon, word, act}.
export function fillActions(actions) {
  at("actions").replaceChildren(
    ...actions.map(({ name, icon: picture, word, act }) => {
      const element = Object.assign(document.createElement("button"), { type: "button", className: "action", id: `do-${name}` });
      const label = document.createElement("span");
      label.dataset.w = word;
      label.textContent = say(word);
      element.append(icon(picture), label);
      element.addEventListener("click", act);
      return element;
    }),
  );
}
