//! Engines that the user has added: the list, which a file keeps.
//!
//! The file is apart from the journal, and in no backup: a list from elsewhere would name programs to run.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use engine::Level;
use engines::{Fault, Program, Protocol, Sandbox, Tried};
use proto::control::{self, EngineProtocol, RefusalCode, Words, event};
use proto::limits;
use session::wire;
use tracing::warn;

use crate::refusal::Refusal;
use crate::responder::Responder;
use crate::room::{EngineSeat, PlayedBy, Seat};

/// Name of the file in the data directory.
const FILE: &str = "engines";

/// The first line of the file.
const HEADING: &str = "qiyou engines 1";

/// Largest file that is read: a full list of the longest paths.
const FILE_BYTES: u64 = 1 << 20;

/// An engine of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    /// Unique in the list.
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) protocol: Protocol,
}

/// What the threads of engines report.
pub(crate) enum News {
    /// A program was tried, for this responder, under the name that the user gave it, if any.
    Tried { responder: Responder, program: Program, name: String, tried: Result<Tried, Fault> },
    /// Programs were looked for.
    Found(Responder, Vec<engines::Found>),
    /// The engine of this name has failed for whoever it worked for.
    Failed { by: PlayedBy, name: String, fault: Fault, for_good: bool },
    /// The engine of a seat resigns its position after this many actions.
    Resigns(PlayedBy, u32),
}

/// The list, and how its programs are run.
pub(crate) struct Installed {
    file: PathBuf,
    engines: Vec<Engine>,
    /// Lines of the file that this version cannot use. They are kept as they are.
    unused: Vec<String>,
    /// The file is no list that this version reads: it is set aside before another is written.
    is_foreign: bool,
    hidden: Vec<PathBuf>,
    /// Found when it is first needed.
    sandbox: Arc<OnceLock<Sandbox>>,
}

/// Why the list does not take a change.
#[derive(Debug)]
pub(crate) enum NotTaken {
    Full,
    /// Control characters in the path or an argument.
    Characters,
    NotKept(io::Error),
}

impl From<NotTaken> for Refusal {
    fn from(why: NotTaken) -> Self {
        let (code, detail, zh, en) = match why {
            NotTaken::Full => (
                RefusalCode::RefusalBadRequest,
                "the list is full".to_owned(),
                "引擎已经太多，请先移除一个。",
                "There are too many engines: remove one first.",
            ),
            NotTaken::Characters => (
                RefusalCode::RefusalBadRequest,
                "control characters".to_owned(),
                "程序的路径或参数含有不支持的字符。",
                "The path or an argument has characters that are not supported.",
            ),
            NotTaken::NotKept(error) if error.kind() == io::ErrorKind::StorageFull => (
                RefusalCode::RefusalDisk,
                error.to_string(),
                "存储空间已满，无法保存。",
                "It could not be saved: the storage is full.",
            ),
            NotTaken::NotKept(error) => (
                RefusalCode::RefusalDisk,
                error.to_string(),
                "引擎列表无法保存。",
                "The list of engines could not be saved.",
            ),
        };
        let reason = Some(Words { zh: zh.into(), en: en.into() });
        Refusal { reason, ..Refusal::new(code, detail) }
    }
}

impl Installed {
    /// The list of this data directory. What cannot be read of it is not shown, and not lost.
    pub(crate) fn load(folder: &Path) -> Self {
        let file = folder.join(FILE);
        let (read, is_foreign) = match read(&file) {
            Ok(read) => (read, false),
            Err(error) => {
                warn!(%error, "the list of engines cannot be read, and is left alone");
                (Read::default(), true)
            }
        };
        let home = directories::BaseDirs::new().map(|all| all.home_dir().to_owned());
        let hidden = home.into_iter().chain([folder.to_owned()]).collect();
        Self { file, engines: read.engines, unused: read.unused, is_foreign, hidden, sandbox: Arc::default() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Engine> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// How engines are run. Finding it out takes some milliseconds, once.
    pub(crate) fn sandbox(&self) -> impl Fn() -> Sandbox + Send + use<> {
        let (sandbox, hidden) = (self.sandbox.clone(), self.hidden.clone());
        move || sandbox.get_or_init(|| Sandbox::find(hidden.clone())).clone()
    }

    /// The list for clients; `None` if it is empty, as a client assumes.
    pub(crate) fn event(&self) -> Option<event::Body> {
        (!self.engines.is_empty()).then(|| self.shown())
    }

    pub(crate) fn shown(&self) -> event::Body {
        let engines = self.engines.iter().map(|engine| self.shown_engine(engine)).collect();
        event::Body::Engines(control::Engines { engines })
    }

    pub(crate) fn shown_engine(&self, engine: &Engine) -> control::Engine {
        control::Engine {
            name: engine.name.clone(),
            program: engine.program.path.to_string_lossy().into_owned(),
            arguments: engine.program.arguments.clone(),
            protocol: shown_protocol(engine.protocol).into(),
            game: wire::game(engine.protocol.game()).into(),
            confined: self.sandbox()().confines(),
            missing: !engine.program.path.is_file(),
        }
    }

    /// Found programs that are not in the list.
    pub(crate) fn not_added(&self, found: Vec<engines::Found>) -> Vec<control::Engine> {
        let is_new = |program: &Program| self.engines.iter().all(|engine| engine.program != *program);
        let new = found.into_iter().filter(|found| is_new(&found.program)).take(limits::ENGINES);
        let name = |path: &Path| {
            limits::fit_name(&path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default())
        };
        new.map(|found| {
            let name = name(&found.program.path);
            self.shown_engine(&Engine { name, program: found.program, protocol: found.protocol })
        })
        .collect()
    }

    /// Adds an engine under this name, or with a number after it if that is taken.
    pub(crate) fn add(&mut self, name: &str, program: Program, tried: &Tried) -> Result<Engine, NotTaken> {
        if self.engines.len() >= limits::ENGINES {
            return Err(NotTaken::Full);
        }
        let file_name = program.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let names = [name.to_owned(), tried.name.clone(), file_name.unwrap_or_default()];
        let usual = names.iter().map(|name| limits::fit_name(name)).find(|name| !name.is_empty());
        let usual = usual.unwrap_or_else(|| tried.protocol.word().to_owned());
        let numbered = (2..).map(|number| limits::fit_name(&format!("{} {number}", shorter(&usual))));
        let free = std::iter::once(usual.clone()).chain(numbered).find(|name| self.get(name).is_none());
        let engine = Engine { name: free.unwrap_or(usual), program, protocol: tried.protocol };
        if !is_written(&engine) {
            return Err(NotTaken::Characters);
        }
        self.engines.push(engine.clone());
        self.keep().inspect_err(|_| drop(self.engines.pop()))?;
        Ok(engine)
    }

    /// Removes an engine; whether it was there.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, NotTaken> {
        let Some(at) = self.engines.iter().position(|engine| engine.name == name) else { return Ok(false) };
        let removed = self.engines.remove(at);
        if let Err(error) = self.keep() {
            self.engines.insert(at, removed);
            return Err(error);
        }
        Ok(true)
    }

    fn keep(&mut self) -> Result<(), NotTaken> {
        let mut text = format!("{HEADING}\n");
        for engine in &self.engines {
            let path = engine.program.path.to_string_lossy();
            let fields = [engine.name.as_str(), engine.protocol.word(), &path];
            let fields = fields.into_iter().chain(engine.program.arguments.iter().map(String::as_str));
            text.push_str(&fields.collect::<Vec<_>>().join("\t"));
            text.push('\n');
        }
        for line in &self.unused {
            text.push_str(line);
            text.push('\n');
        }
        self.replace(text.as_bytes()).map_err(|error| {
            warn!(%error, "the list of engines cannot be kept");
            NotTaken::NotKept(error)
        })
    }

    /// Replaces the file; a crash leaves the old or the new one. A foreign file gets another name first.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let beside = self.file.with_extension("new");
        let mut new = File::create(&beside)?;
        new.write_all(bytes)?;
        new.sync_all()?;
        if self.is_foreign {
            let mut names = (1..u32::MAX).map(|number| self.file.with_extension(format!("old-{number}")));
            let aside = names.find(|name| !name.exists()).expect("the list of a folder ends");
            fs::rename(&self.file, aside)?;
            self.is_foreign = false;
        }
        fs::rename(beside, &self.file)
    }
}

/// The seat that a client means with a bot's level.
pub(crate) fn read_seat(seat: Option<&control::Seat>, level: Level) -> Result<Seat, Refusal> {
    let Some(seat) = seat.filter(|seat| !seat.engine.is_empty()) else { return Ok(Seat::Bot(level)) };
    if seat.bot_assists || seat.bot_adapts {
        return Err(bad_request("an engine neither plays for a person nor follows their strength"));
    }
    let seconds = u8::try_from(seat.engine_seconds).ok();
    let seconds = seconds.filter(|seconds| (1..=limits::ENGINE_SECONDS).contains(&u32::from(*seconds)));
    let seconds = seconds.ok_or_else(|| bad_request("an engine takes 1 to 60 seconds for a move"))?;
    Ok(Seat::Engine(EngineSeat { name: seat.engine.clone(), seconds, stand_in: level }))
}

fn bad_request(why: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, why)
}

/// A name that leaves room for a number.
fn shorter(name: &str) -> String {
    name.chars().take(limits::NAME_CHARS - 4).collect()
}

/// Whether the file can say it.
fn is_written(engine: &Engine) -> bool {
    let Some(path) = engine.program.path.to_str() else { return false };
    let all = engine.program.arguments.iter().map(String::as_str).chain([path, engine.name.as_str()]);
    all.into_iter().all(|text| !text.contains(char::is_control))
}

/// What a file of ours holds.
#[derive(Default)]
struct Read {
    engines: Vec<Engine>,
    unused: Vec<String>,
}

/// Reads the file; without one, the list is empty.
///
/// # Errors
/// It cannot be read, or is no list of this version.
fn read(file: &Path) -> io::Result<Read> {
    let mut text = String::new();
    match File::open(file).and_then(|file| file.take(FILE_BYTES + 1).read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::default()),
        Err(error) => return Err(error),
    }
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) || text.len() as u64 > FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is of another kind or version"));
    }
    let mut read = Read::default();
    for line in lines {
        let engine = read_line(line).filter(|_| read.engines.len() < limits::ENGINES);
        match engine.filter(|engine| read.engines.iter().all(|other| other.name != engine.name)) {
            Some(engine) => read.engines.push(engine),
            None => read.unused.push(line.to_owned()),
        }
    }
    Ok(read)
}

fn read_line(line: &str) -> Option<Engine> {
    let mut fields = line.split('\t');
    let name = limits::fit_name(fields.next()?);
    let protocol = fields.next()?.parse().ok()?;
    let path = PathBuf::from(fields.next()?);
    let arguments: Vec<String> = fields.map(str::to_owned).collect();
    let fits = !name.is_empty() && path.is_absolute() && arguments.len() <= limits::ENGINE_ARGUMENTS;
    fits.then_some(Engine { name, program: Program { path, arguments }, protocol })
}

pub(crate) fn shown_protocol(protocol: Protocol) -> EngineProtocol {
    match protocol {
        Protocol::Uci => EngineProtocol::Uci,
        Protocol::Ucci => EngineProtocol::Ucci,
        Protocol::Gtp => EngineProtocol::Gtp,
        Protocol::Gomocup => EngineProtocol::Gomocup,
    }
}

/// `None`: to be found out.
pub(crate) fn read_protocol(protocol: EngineProtocol) -> Option<Protocol> {
    match protocol {
        EngineProtocol::Unspecified => None,
        EngineProtocol::Uci => Some(Protocol::Uci),
        EngineProtocol::Ucci => Some(Protocol::Ucci),
        EngineProtocol::Gtp => Some(Protocol::Gtp),
        EngineProtocol::Gomocup => Some(Protocol::Gomocup),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str, arguments: &[&str]) -> Program {
        Program { path: path.into(), arguments: arguments.iter().map(ToString::to_string).collect() }
    }

    fn tried(name: &str) -> Tried {
        Tried { protocol: Protocol::Gtp, name: name.into() }
    }

    #[test]
    fn the_list_is_as_it_was_after_a_restart_and_names_are_unique() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut list = Installed::load(folder.path());
        assert!(list.engines.is_empty());
        let gnugo = program("/usr/games/gnugo", &["--mode", "gtp"]);
        let mut add = |name: &str, program: &Program, own: &str| {
            list.add(name, program.clone(), &tried(own)).map(|engine| engine.name).ok()
        };
        assert_eq!(add("", &gnugo, "GNU Go").as_deref(), Some("GNU Go"));
        assert_eq!(add("", &gnugo, "GNU Go").as_deref(), Some("GNU Go 2"));
        assert_eq!(add("Go, slow", &gnugo, "GNU Go").as_deref(), Some("Go, slow"));
        assert_eq!(add("", &program("/opt/x", &[]), "").as_deref(), Some("x"));
        assert_eq!(add("", &program("/opt/a\tb", &[]), ""), None);
        assert_eq!(list.remove("GNU Go 2").ok(), Some(true));
        assert_eq!(list.remove("GNU Go 2").ok(), Some(false));
        let again = Installed::load(folder.path());
        assert_eq!(again.engines, list.engines);
        assert_eq!(again.get("GNU Go").map(|engine| &engine.program), Some(&gnugo));
    }

    #[test]
    fn whatever_the_file_holds_only_engines_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        for (text, count) in [
            ("", 0),
            ("something else\nA\tgtp\t/a\n", 0),
            ("qiyou engines 1\nA\tgtp\t/a\nA\tgtp\t/b\nB\tchess\t/b\nC\tuci\trelative\n\tuci\t/d\nE\n", 1),
        ] {
            std::fs::write(&file, text).expect("written");
            assert_eq!(Installed::load(folder.path()).engines.len(), count, "{text}");
        }
        std::fs::write(&file, [0xff; 64]).expect("written");
        assert!(Installed::load(folder.path()).engines.is_empty());
    }

    #[test]
    fn a_file_of_another_version_is_set_aside_before_one_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        for (number, other) in
            ["qiyou engines 2\nA\tgtp\t/a\tin a new form\n", "no list"].into_iter().enumerate()
        {
            std::fs::write(folder.path().join(FILE), other).expect("written");
            let mut list = Installed::load(folder.path());
            assert!(list.remove("A").is_ok_and(|removed| !removed));
            let add =
                |list: &mut Installed, name| list.add(name, program("/b", &[]), &tried("")).expect("added");
            add(&mut list, "B");
            add(&mut list, "C");
            assert_eq!(Installed::load(folder.path()).engines, list.engines);
            let aside = folder.path().join(format!("{FILE}.old-{}", number + 1));
            assert_eq!(std::fs::read_to_string(aside).expect("set aside"), other);
        }
    }

    #[test]
    fn lines_that_this_version_cannot_use_stay_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        let unused = "B\tchess\t/b\nC\tuci\trelative";
        std::fs::write(&file, format!("{HEADING}\n{unused}\nA\tgtp\t/a\n")).expect("written");
        let mut list = Installed::load(folder.path());
        list.add("D", program("/d", &["-x"]), &tried("")).expect("added");
        assert!(list.remove("A").expect("kept"));
        let text = std::fs::read_to_string(&file).expect("read");
        assert_eq!(text, format!("{HEADING}\nD\tgtp\t/d\t-x\n{unused}\n"));
    }

    #[test]
    fn a_list_that_cannot_be_kept_is_as_before_and_the_reason_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut list = Installed::load(folder.path());
        list.add("A", program("/a", &[]), &tried("")).expect("added");
        std::fs::create_dir(folder.path().join("engines.new")).expect("something stands in the way");
        let refusal = Refusal::from(list.add("B", program("/b", &[]), &tried("")).expect_err("not kept"));
        assert_eq!(refusal.code, RefusalCode::RefusalDisk);
        let said = refusal.reason.expect("a sentence");
        assert_eq!(said.en, "The list of engines could not be saved.");
        assert!(list.remove("A").is_err());
        assert_eq!(list.engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>(), ["A"]);
        assert_eq!(Installed::load(folder.path()).engines, list.engines);
        let full = NotTaken::NotKept(io::ErrorKind::StorageFull.into());
        assert!(Refusal::from(full).reason.is_some_and(|said| said.en.contains("full")));
    }

    #[test]
    fn a_full_list_takes_no_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut list = Installed::load(folder.path());
        for _ in 0..limits::ENGINES {
            assert!(list.add("很".repeat(40).as_str(), program("/a", &[]), &tried("")).is_ok());
        }
        assert!(list.add("b", program("/a", &[]), &tried("")).is_err());
        let mut names: Vec<&str> = list.engines.iter().map(|engine| engine.name.as_str()).collect();
        names.dedup();
        assert_eq!(names.len(), limits::ENGINES);
    }
}
