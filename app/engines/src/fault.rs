//! What can go wrong with an engine.

/// Why an engine has not given a move. Facts for the user; none of them ends a match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The program could not be started, for this reason.
    #[error("it does not start: {0}")]
    NotStarted(String),
    /// The program has ended by itself.
    #[error("it has ended by itself")]
    Ended,
    /// No answer came in time; the program was killed.
    #[error("it did not answer in time")]
    Silent,
    /// A line, or all lines for one answer, were longer than any engine's; the program was killed.
    #[error("it wrote without end")]
    Endless,
    /// The move that it answered is illegal here, or no move at all.
    #[error("its move {0:?} is illegal here")]
    Illegal(String),
    /// The engine reported this error.
    #[error("it reports: {0}")]
    Refused(String),
    /// It does not play this game, or not by these rules.
    #[error("it does not play this game by these rules")]
    Unsupported,
}

impl Fault {
    /// The fault in Chinese and English, after the engine's name: 「GNU Go」没有按时回应。
    pub fn words(&self) -> [String; 2] {
        let (zh, en) = match self {
            Self::NotStarted(_) => ("无法启动", "could not be started"),
            Self::Ended => ("意外退出了", "has stopped unexpectedly"),
            Self::Silent => ("没有按时回应", "did not answer in time"),
            Self::Endless => ("输出了过多内容", "wrote more than can be read"),
            Self::Illegal(_) => ("走了不合规则的一步", "answered with an illegal move"),
            Self::Refused(_) => ("报告了错误", "reported an error"),
            Self::Unsupported => ("不支持这样的规则", "does not play by these rules"),
        };
        [zh.into(), en.into()]
    }
}

/// Longest part of an engine's text that is shown.
const SHOWN_CHARS: usize = 60;

/// A text of an engine for display: one line, shortened, without control characters.
pub(crate) fn shown(text: &str) -> String {
    let one_line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    one_line.take(SHOWN_CHARS).collect::<String>().trim().to_owned()
}
