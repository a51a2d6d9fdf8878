// Sentences for the player, in English and Chinese. {0}, {1} are placeholders; a bar separates singular and plural, chosen
// by the first number.
export const ALL = {
  qiyou: ["Qiyou", "棋友"],
  language: ["中文", "English"],

  gomoku: ["Gomoku", "五子棋"],
  liuzhou: ["Liuzhou", "六洲棋"],
  go: ["Go", "围棋"],
  xiangqi: ["Xiangqi", "象棋"],
  lights_out: ["Lights Out", "关灯"],
  unknownGame: ["A game this page doesn't know", "这个页面不认识的棋"],

  // Before the game
  hello: ["{0} invites you to play {1}", "{0} 邀你下{1}"],
  yourName: ["Your name", "你的名字"],
  nameHint: ["{0} sees this name.", "{0} 会看到这个名字。"],
  sitDown: ["Play", "来一局"],
  referee: ["The other device is the referee and keeps the game.", "对方的设备当裁判，棋局也保存在那里。"],
  theHost: ["Your friend", "对方"],
  readable: [
    "This page isn't encrypted: anyone in this network could read the moves and messages.",
    "这个页面没有加密：同一网络里的人可能看到着法和聊天。",
  ],
  connecting: ["Connecting…", "正在连接…"],

  // Errors
  lostTitle: ["Connection lost", "连接断了"],
  lost: ["Connection lost. Trying again in {0} second…|Connection lost. Trying again in {0} seconds…", "连接断了，{0} 秒后重试…"],
  lostNow: ["Connection lost. Trying again…", "连接断了，正在重试…"],
  lostHelp: [
    "The game waits. Stay in the same Wi-Fi as the other device, and keep Qiyou open there. If the network has changed, scan the code on that device again.",
    "棋局等着。请和对方的设备连同一个 Wi-Fi，并让那边的「棋友」开着。换了网络的话，请再扫一次那台设备上的二维码。",
  ],
  tryNow: ["Try now", "马上重试"],
  back: ["Connected again", "又连上了"],
  noCode: ["Scan the QR code on the other device to play.", "请扫另一台设备上的二维码来下棋。"],
  wrongCode: ["This code isn't valid any more", "这个二维码已经失效"],
  wrongCodeHelp: [
    "Ask for a new one. On the other device: open your game again from the first page, or tap “Someone without Qiyou” for a new game.",
    "请对方再给一个：在那台设备的首页重新打开这局棋；要下新的一局，就点“对方没有「棋友」”。",
  ],
  taken: ["Someone else already plays with this code", "已经有人用这个二维码在下了"],
  takenHelp: [
    "{0} is asked whether you may take that place. If you play on another phone or browser, close the page there.",
    "正在问 {0} 能不能让你来下。如果你在别处也打开过这个页面，请先把那边的关掉。",
  ],
  takenNo: ["{0} has said no, or hasn't answered.", "{0} 没有答应，或者没有回答。"],
  given: ["{0} has given this place to someone else", "{0} 把座位让给了别人"],
  askAgain: ["Ask again", "再问一次"],
  closed: ["{0} has closed this game to guests", "{0} 不再让别人用这个页面下这局棋"],
  closedHelp: ["The game is saved on that device. Ask for a new code to play on.", "棋局保存在那台设备上。要接着下，请对方再给一个二维码。"],
  waitTitle: ["Too many wrong codes", "错误的二维码太多"],
  wait: ["Try again in {0} second.|Try again in {0} seconds.", "请 {0} 秒后再试。"],
  full: ["Too many people are watching", "旁观的人太多了"],
  fullHelp: ["Try again when somebody has left.", "等有人离开后再试。"],
  elsewhere: ["The game is open in another tab", "棋局在另一个标签页里打开了"],
  elsewhereHelp: ["Play there, or continue here.", "可以在那边下，也可以在这里接着下。"],
  continueHere: ["Continue here", "在这里接着下"],
  hostGone: ["Qiyou was closed on the other device", "对方的设备关掉了「棋友」"],
  tooOld: ["This page is older than the other device. Load it again.", "这个页面的版本旧了，请重新载入。"],
  reload: ["Load again", "重新载入"],
  failed: ["That didn't work", "没有成功"],
  failedHelp: ["Load the page again, or ask for a new code.", "请重新载入页面，或请对方再给一个二维码。"],

  // A club evening
  club: ["Club evening", "棋会"],
  clubRound: ["Round {0}", "第 {0} 轮"],
  clubFree: ["No game in this round: {0}", "这一轮没有对手：{0}"],
  clubYouPlay: ["Round {0}: you play {1}", "第 {0} 轮：你和 {1} 下"],
  clubNext: ["Next games", "下一局"],
  clubOpponent: ["Opponent", "对手"],
  clubRoundHead: ["Round", "轮次"],
  clubStandings: ["Standings", "名次"],
  clubPlayer: ["Player", "姓名"],
  clubPoints: ["Points", "得分"],
  clubBerger: ["SB", "小分"],
  playing: ["playing", "正在下"],
  sitAs: ["Sit down: {0}", "坐下：{0}"],
  clubGathers: ["{0} player on the list|{0} players on the list", "名单上有 {0} 人"],
  clubFinished: ["The evening is over.", "棋会结束了。"],
  clubNotShown: ["This evening isn't shown any more", "这个棋会不再给人看了"],
  toEvening: ["Back to the evening", "回到棋会"],

  // Seats
  me: ["Me", "我"],
  meNamed: ["{0} (me)", "{0}（我）"],
  level: ["Level {0}", "难度 {0}"],
  black: ["Black", "黑"],
  white: ["White", "白"],
  red: ["Red", "红"],
  playsBlack: ["plays Black", "执黑"],
  playsWhite: ["plays White", "执白"],
  playsRed: ["plays Red", "执红"],
  won: ["won", "胜"],
  drew: ["drew", "和"],
  lostGame: ["lost", "负"],
  yourTurn: ["Your turn", "轮到你了"],
  theirTurn: ["their turn", "轮到对方"],
  toMove: ["to move", "请落子"],
  waiting: ["waiting", "等待中"],
  thinking: ["thinking…", "思考中…"],
  away: ["away; the game waits", "不在，棋局等着"],
  paused: ["paused", "暂停中"],
  pausedTitle: ["Paused", "已暂停"],
  agreed: ["agreed", "已同意"],
  said: ["“{0}”", "“{0}”"],
  tapAgain: ["Tap again to play there", "再点一下就下在那里"],
  pick: ["Your turn: tap a piece", "轮到你：点一枚棋子"],
  aim: ["Now tap where it goes", "再点要去的地方"],
  youAreInCheck: ["You are in check", "你被将军了"],
  capture: ["Capture {0} stone|Capture {0} stones", "点 {0} 枚要吃的子"],
  formedCapture: ["{1}: capture {0} stone|{1}: capture {0} stones", "{1}：吃 {0} 子"],
  markDead: ["Tap the dead stones", "点出死子"],
  chooseFirst: ["Your turn: choose below", "轮到你：在下面选一个"],
  press: ["Press a light: it and its neighbours change.", "按一盏灯，它和邻居一起变。"],
  askedUndo: ["was asked for an undo…", "等对方答应悔棋…"],
  askedDraw: ["was asked for a draw…", "等对方答应和棋…"],
  askedNew: ["was asked for a new game…", "等对方答应重新开局…"],
  askedPause: ["was asked for a pause…", "等对方答应暂停…"],
  askedContinue: ["was asked to continue…", "等对方答应继续…"],
  inHand: ["{0} in hand", "手中 {0}"],
  inHandTaken: ["{0} in hand · captured {1}", "手中 {0} · 吃 {1}"],
  capturedN: ["captured {0}", "吃 {0}"],
  territoryPoints: ["{0} points", "{0} 目"],
  areaPoints: ["{0} points", "{0} 子"],
  periods: ["{0} period|{0} periods", "读秒 {0} 次"],
  pressed: ["{1} · {0} press|{1} · {0} presses", "{1} · 按了 {0} 下"],
  doneIn: ["done in {1} with {0} press|done in {1} with {0} presses", "{1} 完成，按了 {0} 下"],
  lightsOn: ["{0} light still on|{0} lights still on", "还亮 {0} 盏"],
  pressesSoFar: ["{0} press so far|{0} presses so far", "已按 {0} 下"],
  pressesFewest: ["{0} presses; the fewest possible is {1}", "按了 {0} 下，最少 {1} 下"],
  watchingLine: ["You are watching", "你在旁观"],

  // Actions
  undo: ["Undo", "悔棋"],
  draw: ["Draw", "求和"],
  resign: ["Resign", "认输"],
  say: ["Say", "说话"],
  more: ["More", "更多"],
  pass: ["Pass", "停一手"],
  agreeCount: ["Agree and count", "同意，算胜负"],
  playOn: ["Play on", "接着下"],
  playBlack: ["Play Black", "执黑"],
  playWhite: ["Play White", "执白"],
  twoMore: ["Two more stones", "再摆两子"],
  fifths: ["Fifth moves: {0}", "第五手 {0} 个点"],
  other: ["Continue", "继续"],
  playThere: ["Play there", "下在这里"],
  notThere: ["Not there", "换个地方"],
  rematch: ["Rematch", "再来一局"],
  sameColours: ["Same colours", "不换先"],
  anotherBoard: ["Another board", "换一题"],
  restart: ["New", "新局"],
  review: ["Review", "复盘"],
  save: ["Save to a file", "保存为文件"],
  saveShort: ["Save", "保存"],
  saved: ["Saved as {0}", "已存为 {0}"],
  flip: ["Flip the board", "翻转棋盘"],
  rules: ["Rules", "规则"],
  about: ["About this page", "关于这个页面"],
  noInstall: [
    "Nothing is installed. This browser keeps only your name and which seat is yours.",
    "什么都不安装。这里只留下你的名字和你的座位。",
  ],
  newGame: ["New game", "新局"],
  pause: ["Pause", "暂停"],
  continue: ["Continue", "继续"],
  moves: ["Moves", "着法"],
  noMoves: ["No moves yet.", "还没有走棋。"],
  close: ["Close", "关闭"],
  coordinates: ["Coordinates", "棋盘坐标"],
  appearance: ["Appearance", "外观"],
  asSystem: ["Same as system", "跟随系统"],
  light: ["Light", "浅色"],
  dark: ["Dark", "深色"],
  sendMessage: ["Send", "发出"],
  write: ["Write a message", "自己写一句"],
  saySomething: ["Say something", "说句话"],
  zoomIn: ["Zoom in", "放大"],
  zoomOut: ["Zoom out", "缩小"],
  left: ["Move left", "左移"],
  right: ["Move right", "右移"],
  up: ["Move up", "上移"],
  down: ["Move down", "下移"],

  // Dialogs
  asksUndo: ["{0} asks to undo a move", "{0} 想悔一步"],
  asksDraw: ["{0} offers a draw", "{0} 提议和棋"],
  asksNew: ["{0} would like a new game", "{0} 想重新开一局"],
  asksPause: ["{0} would like a pause", "{0} 想暂停一下"],
  asksContinue: ["{0} would like to continue", "{0} 想接着下"],
  swapped: ["Colours are swapped.", "双方换先。"],
  agree: ["Agree", "同意"],
  decline: ["Decline", "不同意"],
  declined: ["{0} declined", "{0} 不同意"],
  resignTitle: ["Resign this game?", "这局认输吗？"],
  resignHint: ["The other side wins.", "对方获胜。"],
  newTitle: ["Start a new game?", "重新开一局？"],
  newHint: ["This game isn't finished. In the new one you swap colours.", "这一局还没下完。新的一局双方换先。"],
  newHintAlone: ["This game isn't finished.", "这一局还没下完。"],
  losing: ["This move loses", "这步棋会判负"],
  losingHint: [
    "The same position would come up for the third time. By the repetition rules you would lose.",
    "同一局面将第三次出现，按棋例判你负。",
  ],
  forbidden: ["Forbidden: {0}", "禁手：{0}"],
  forbiddenHint: ["By the renju rules Black loses at once by playing there.", "按连珠规则，黑棋下在那里立即判负。"],
  chooseOther: ["Choose another move", "换一步"],
  anyway: ["Play it anyway", "就这么走"],
  thereAnyway: ["Play there anyway", "就下这里"],

  // The end
  aDraw: ["A draw", "和棋"],
  youWon: ["You won", "你赢了"],
  youLost: ["You lost", "你输了"],
  blackWon: ["Black won", "黑方胜"],
  whiteWon: ["White won", "白方胜"],
  redWon: ["Red won", "红方胜"],
  allOff: ["All the lights are off", "灯全灭了"],
  firstBoard: ["Your first board of {0} × {1}", "第一次完成 {0} × {1}"],
  firstWin: ["Your first win against level {0}", "第一次赢下难度 {0}"],
  cannotBeFewer: ["It can't be done with fewer presses", "再少一下也不行"],
  fewestSoFar: ["Your fewest so far: before, it took you {0}", "按得最少的一次，以前要 {0} 下"],
  inARow: ["{0} win in a row|{0} wins in a row", "{0} 连胜"],
  nextBlack: ["Rematch: this time you are Black", "再来一局：这次你执黑"],
  nextWhite: ["Rematch: this time you are White", "再来一局：这次你执白"],
  nextRed: ["Rematch: this time you are Red", "再来一局：这次你执红"],
  runOf: ["{1}: {2} s with {0} press|{1}: {2} s with {0} presses", "{1}：{2} 秒，按了 {0} 下"],
  runStopped: ["{1}: stopped after {2} s with {0} press|{1}: stopped after {2} s with {0} presses", "{1}：{2} 秒时停下，按了 {0} 下"],
  "five_in_a_row": ["Five in a row", "五子连珠"],
  "board_full": ["The board is full", "棋盘下满了"],
  "too_few_stones": ["Too few stones left", "剩子太少"],
  "no_moves": ["No move left", "无子可走"],
  "no_moves.xiangqi": ["No move left", "困毙"],
  repetition: ["The same position again and again", "同一局面反复出现"],
  "too_long": ["Too long without progress", "久无进展"],
  "too_long.xiangqi": ["Too long without progress", "达到自然限着"],
  checkmate: ["Checkmate", "将死"],
  "perpetual_check": ["Perpetual check loses", "长将判负"],
  "perpetual_chase": ["Perpetual chase loses", "长捉判负"],
  "perpetual_attack": ["Perpetual attack loses", "长打判负"],
  "bare_material": ["Neither side can win any more", "双方都无力取胜"],
  samePoints: ["The same number of points", "双方得分相同"],
  byPoints: ["By {0} points", "胜 {0} 目"],
  byArea: ["By {0} points", "胜 {1} 子"],
  "all_out": ["", ""],
  faster: ["Faster", "用时更少"],
  "fewer_presses": ["Equally fast, with fewer presses", "一样快，按得更少"],
  "forbidden_overline": ["A forbidden row of six or more", "黑方长连禁手"],
  "forbidden_double_four": ["A forbidden double four", "黑方四四禁手"],
  "forbidden_double_three": ["A forbidden double three", "黑方三三禁手"],
  "draw_agreed": ["Both agreed to a draw", "双方同意和棋"],
  time: ["Time ran out", "时间用完"],
  abandoned: ["The game was abandoned", "对局中止"],
  opponentResigned: ["Your opponent resigned", "对方认输"],
  youResigned: ["You resigned", "你认输了"],
  blackResigned: ["Black resigned", "黑方认输"],
  whiteResigned: ["White resigned", "白方认输"],
  redResigned: ["Red resigned", "红方认输"],

  // Remarks
  pickFirst: ["Tap one of your own pieces first", "先点一枚自己的棋子"],

  // The title line
  moveN: ["Move {0}", "第 {0} 步"],
  moveNOf: ["Move {0} of {1}", "第 {0} 步，共 {1} 步"],
  moveNOfIs: ["Move {0} of {1}: {2}", "第 {0} 步，共 {1} 步：{2}"],
  toBeginning: ["To the beginning", "回到开头"],
  previous: ["Previous move", "上一步"],
  next: ["Next move", "下一步"],
  toEnd: ["To the end", "到最后"],
  backToGame: ["Back to the game", "回到棋局"],
  linkUp: ["Connected to {0} · not encrypted", "已连到 {0} · 未加密"],

  // Screen readers
  board: ["Board, {0} by {1}", "棋盘，{0} 乘 {1}"],
  boardHelp: ["Arrow keys move, Enter plays.", "方向键移动，回车落子。"],
  filePoint: ["File {0}, row {1}", "{0}路，第 {1} 行"],
  lamp: ["Column {0}, row {1}", "第 {0} 列，第 {1} 行"],
  empty: ["empty", "空"],
  lit: ["lit", "亮"],
  unlit: ["dark", "灭"],
  redPiece: ["red {0}", "红{0}"],
  blackPiece: ["black {0}", "黑{0}"],
  general: ["general", "将"],
  adviser: ["adviser", "士"],
  elephant: ["elephant", "象"],
  horse: ["horse", "马"],
  chariot: ["chariot", "车"],
  cannon: ["cannon", "炮"],
  soldier: ["soldier", "兵"],
  last: ["last move", "最后一步"],
  winning: ["winning row", "连成五子"],
  picked: ["picked", "已选中"],
  possible: ["possible", "可到"],
  inCheck: ["in check", "被将军"],
  deadStone: ["dead", "死子"],
  checker: ["gives check", "正在将军"],
  helper: ["can help", "能解将"],
  takenHere: ["taken from here", "刚在此被吃"],
  formation: ["formation", "成城"],
  territoryOf: ["counts for {0}", "算{0}"],
  forbiddenPoint: ["forbidden", "禁手"],
  waitsHere: ["waits to be confirmed", "等待确认"],
  played: ["{0}: {1}", "{0}：{1}"],
};

export const PHRASES = {
  hello: ["Hello!", "你好！"],
  "good-luck": ["Good luck!", "祝你好运！"],
  "good-move": ["Good move!", "好棋！"],
  "let-me-think": ["Let me think", "让我想想"],
  "take-your-time": ["Take your time", "不着急"],
  "your-turn": ["It's your turn", "轮到你了"],
  sorry: ["Sorry!", "抱歉！"],
  thanks: ["Thank you!", "谢谢！"],
  "good-game": ["Good game!", "下得真好！"],
  "one-more": ["One more?", "再来一局？"],
  "have-to-go": ["I have to go", "我得走了"],
  smile: ["(smiles)", "（微笑）"],
  laugh: ["(laughs)", "（大笑）"],
  wow: ["(wow)", "（哇）"],
  sad: ["(sad)", "（难过）"],
  applause: ["(applauds)", "（鼓掌）"],
  sweat: ["(sweats)", "（汗）"],
};

const KEPT = "qiyou.language";

let chinese = wanted();

/// The stored language, otherwise the browser's first language that is supported.
function wanted() {
  const kept = keptChoice();
  if (kept) return kept === "zh";
  for (const language of navigator.languages || [navigator.language || "en"]) {
    if (/^zh/i.test(language)) return true;
    if (/^en/i.test(language)) return false;
  }
  return false;
}

function keptChoice() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

export function isChinese() {
  return chinese;
}

export function setChinese(on) {
  chinese = on;
  try {
    localStorage.setItem(KEPT, on ? "zh" : "en");
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

/// The sentence of this name, with its placeholders filled.
export function say(name, ...given) {
  const entry = ALL[name];
  return entry ? fill(pick(entry), given) : name;
}

export function knows(name) {
  return name in ALL;
}

export function phrase(name) {
  return PHRASES[name] ? pick(PHRASES[name]) : "";
}

/// The host's words in the page's language, or in the other language if missing.
export function told(words) {
  if (!words) return "";
  return (chinese ? words.zh || words.en : words.en || words.zh) || "";
}

function pick(entry) {
  return entry[chinese ? 1 : 0];
}

function fill(text, given) {
  const bar = text.indexOf("|");
  if (bar >= 0) text = given[0] === 1 ? text.slice(0, bar) : text.slice(bar + 1);
  // No space between Chinese words: the spaces around a placeholder are removed if its value is Chinese too.
  return text.replace(/( ?)\{(\d)\}( ?)/g, (_, before, index, after) => {
    const put = String(given[index] ?? "");
    return `${CJK.test(put[0]) ? "" : before}${put}${CJK.test(put.at(-1)) ? "" : after}`;
  });
}

const CJK = /[\u3000-\u9fff\uff00-\uffef]/;
