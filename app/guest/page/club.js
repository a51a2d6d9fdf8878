// The club evening of which this game is one, or at which the page looks: who plays whom now and next, and the standings.
import { store } from "./connection.js";
import { button, make, openDialog, show } from "./dialogs.js";
import { announce } from "./news.js";
import { nearSide } from "./points.js";
import { comesFrom, state } from "./state.js";
import { at, write } from "./view.js";
import { isChinese, say } from "./words.js";

const SCORES = {
  first_wins: "1 : 0", second_wins: "0 : 1", draw: "½ : ½", first_forfeits: "- : +", second_forfeits: "+ : -", not_played: "- : -",
};

/// Takes in the evening as it is now; an open dialog follows it.
export function takeClub(club) {
  const before = (state.club?.seats ?? []).map((seat) => seat.token);
  state.club = club;
  if (openDialog() === "club") showClub();
  for (const seat of club.seats ?? []) if (!before.includes(seat.token)) announce(say("sitAs", seat.name));
}

/// Whether the page shows the evening, also when it is over and nothing more comes.
export function looksAtEvening() {
  return state.evening && Boolean(state.club) && (!state.ended || state.club.state === "finished");
}

/// Fills the page of the evening.
export function drawEvening() {
  const { club } = state;
  write(at("evening-title"), club.name);
  const gathers = club.state === "gathering";
  const line = gathers ? say("clubGathers", club.players.length) : club.state === "finished" ? say("clubFinished") : "";
  write(at("evening-state"), line);
  at("evening-state").hidden = !line;
  document.title = `${club.name} · ${say("qiyou")}`;
  const seats = state.up ? (club.seats ?? []) : [];
  fill(at("evening-seats"), seats, () => seats.map((seat) => button(say("sitAs", seat.name), () => sitDown(seat), { kind: "primary" })));
  fill(at("evening-table"), club, () => (gathers ? [players(club)] : tables(club, null)));
  at("evening-link").hidden = Boolean(state.ended);
  write(at("evening-link"), state.up ? say("linkUp", state.host || say("theHost")) : say("lostTitle"));
  at("evening-link").classList.toggle("down", !state.up);
}

/// Fills an element anew if what it shows has changed. What had the focus in it gives it to the title.
function fill(element, shown, parts) {
  const key = JSON.stringify([shown, isChinese()]);
  if (element.dataset.key === key) return;
  const held = element.contains(document.activeElement);
  element.dataset.key = key;
  element.replaceChildren(...parts());
  element.hidden = !element.firstChild;
  if (held) at("evening-title").focus();
}

/// The list of an evening that has not begun.
function players(club) {
  return table(say("club"), ["#", say("clubPlayer")], club.players.map((player) => [player.id, player.name]), [1]);
}

/// Goes to a seat of the evening: the name is that on the list, and the way back is known.
function sitDown(seat) {
  comesFrom(seat.token, state.token);
  store(`qiyou.started.${seat.token.slice(0, 8)}`, "1");
  location.hash = seat.token;
}

/// Goes back to the evening from which this seat was taken.
export function toEvening() {
  location.hash = state.from;
}

/// The player of the evening who sits at this page, or null if that is not certain: a guest may have another name here than
/// on the list.
function ownPlayer({ players }) {
  const { room, watcher } = state;
  if (watcher || !room || room.you === "unspecified") return null;
  const guests = players.filter((player) => player.who === "guest" && !player.left);
  return guests.find((player) => player.name === room[nearSide(room)].name) ?? (guests.length === 1 ? guests[0] : null);
}

/// Shows it over a game.
export function showClub() {
  const { club } = state;
  show("club", club.name, [...tables(club, ownPlayer(club)?.id ?? null), button(say("close"), null, { kind: "primary" })]);
}

/// The next games, the round that is played, or all rounds after the last one, and the standings. `own`: the player at this page; the
/// page of the evening is nobody's, and begins with the round.
function tables(club, own) {
  const name = (id) => club.players.find((player) => player.id === id)?.name ?? "";
  const named = (id) => (id === own ? say("meNamed", name(id)) : name(id));
  const [nextGames, parts] = [[], []];
  const mine = club.next.find((one) => one.player === own);
  if (mine) nextGames.push(make("p", { id: "club-own" }, say("clubYouPlay", mine.round, name(mine.opponent))));
  if (club.next.length) {
    const list = [...club.next].sort((one, other) => (other === mine) - (one === mine));
    const rows = list.map((one) => [named(one.player), named(one.opponent), one.round]);
    const shown = table(say("clubNext"), [say("clubPlayer"), say("clubOpponent"), say("clubRoundHead")], rows, [0, 1], mine ? 0 : -1);
    shown.id = "club-next";
    nextGames.push(shown);
  }
  for (const { round, games, free } of club.rounds) {
    if (club.round !== null && club.round !== round) continue;
    const rows = games.map((game) => [name(game.first), SCORES[game.result] ?? (game.begun ? say("playing") : "–"), name(game.second)]);
    parts.push(table(say("clubRound", round), null, rows, [0, 2]));
    if (free.length) parts.push(make("p", { className: "small" }, say("clubFree", free.map(name).join(", "))));
  }
  const number = (value) => String(value).replace(".5", "½").replace(/^0½/, "½");
  const heads = ["#", say("clubPlayer"), say("clubPoints"), say("clubBerger"), ...club.players.map((player) => String(player.id))];
  const rows = club.standings.map((row) => [
    row.place ?? "", `${row.player} ${name(row.player)}`, number(row.points), row.sonneborn_berger.toFixed(2), ...row.cross.map((cell) => cell || "×"),
  ]);
  parts.push(table(say("clubStandings"), heads, rows, [1]));
  return state.evening ? [...parts, ...nextGames] : [...nextGames, ...parts];
}

/// `names`: the columns that may take more than one line; `marked`: the row that stands out.
function table(caption, heads, rows, names, marked = -1) {
  const line = (tag, cells, own = false) => make("tr", { className: own ? "own" : "" }, ...cells.map((cell, at) => make(tag, { className: names.includes(at) ? "name" : "" }, String(cell))));
  const element = make("table", {}, make("caption", {}, caption));
  if (heads) element.append(make("thead", {}, line("th", heads)));
  element.append(make("tbody", {}, ...rows.map((row, at) => line("td", row, at === marked))));
  const frame = make("div", { className: "table", tabIndex: 0 }, element);
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", caption);
  return frame;
}
