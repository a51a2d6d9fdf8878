//! Joint analysis of a finished match: both players may go to any position of the record and try moves from there.
//!
//! An analysis is not saved and decides nothing. A player who changes it sends the whole analysis with the next version
//! number; of two with the same version, what the first side holds wins. Both sides therefore converge, whatever messages
//! crossed, and although a restarted side counts from 0 again: who once made a change has no say.

use std::cmp::Ordering;

use engine::{Action, AnyGame, Side};
use proto::limits::TRIED_ACTIONS;
use proto::peer;

use crate::analysis::{Analysis, Shared};
use crate::cx::Cx;
use crate::{Event, MatchState, Refused, Violation, wire};

impl MatchState {
    /// The shared position; `None` for the end of the record.
    pub fn analysis(&self) -> Option<&Analysis> {
        self.shared.at.as_ref()
    }

    /// Whether joint analysis is possible now: after the end, with the peer connected.
    pub fn can_analyse(&self) -> bool {
        self.record().result.is_some() && self.is_level()
    }

    /// The position after `ply` actions of the record plus `tried`; `None` if the record is shorter or a move is illegal.
    pub fn position_with(&self, ply: u32, tried: &[Action]) -> Option<AnyGame> {
        self.line.position_with(ply, tried)
    }
}

impl MatchState {
    pub(crate) fn analyse(&mut self, cx: &mut Cx<'_>, at: Option<(u32, Vec<Action>)>) -> Result<(), Refused> {
        if !self.can_analyse() {
            return Err(if self.is_level() { Refused::WrongPhase } else { Refused::Away });
        }
        let at = match at {
            None => None,
            Some((ply, tried)) => {
                let fits = tried.len() <= TRIED_ACTIONS && self.position_with(ply, &tried).is_some();
                Some(Analysis { ply, tried }).filter(|_| fits).ok_or(Refused::WrongPhase).map(Some)?
            }
        };
        self.shared = Shared { version: self.shared.version.saturating_add(1), at };
        self.send_analysis(cx);
        cx.tell(Event::AnalysisChanged(self.id()));
        Ok(())
    }

    pub(crate) fn received_analysis(
        &mut self,
        cx: &mut Cx<'_>,
        analysis: peer::Analysis,
    ) -> Result<(), Violation> {
        const WRONG: Violation = Violation::OutOfBounds("analysis");
        // On a new link the peer may learn earlier that both records are equal: its message waits until this side has learnt
        // that too.
        if !self.can_analyse() || self.revision() != analysis.revision {
            self.analysis_waits = Some(analysis).filter(|analysis| analysis.revision >= self.revision());
            return Ok(());
        }
        // Checked before unpacking and replaying, which are the expensive part. What waits, the peer has replaced by this.
        self.analysis_waits = None;
        if analysis.open && !cx.analyses.take(cx.now) {
            self.analysis_waits = Some(analysis);
            return Ok(());
        }
        let at = if analysis.open {
            let tried = wire::unpack_actions(&analysis.actions).map_err(|_| WRONG)?;
            if tried.len() > TRIED_ACTIONS || self.position_with(analysis.ply, &tried).is_none() {
                return Err(WRONG);
            }
            Some(Analysis { ply: analysis.ply, tried })
        } else {
            None
        };
        let wins = match analysis.version.cmp(&self.shared.version) {
            Ordering::Greater => true,
            Ordering::Equal => self.their_side() == Side::First,
            Ordering::Less => false,
        };
        if wins {
            let changed = self.shared.at != at;
            self.shared = Shared { version: analysis.version, at };
            if changed {
                cx.tell(Event::AnalysisChanged(self.id()));
            }
        }
        Ok(())
    }

    /// Whether an analysis of the peer waits for nothing but its turn.
    pub(crate) fn analysis_is_due(&self) -> bool {
        let revision = self.analysis_waits.as_ref().map(|analysis| analysis.revision);
        self.can_analyse() && revision == Some(self.revision())
    }

    /// Applies a message that came too early or too fast, once the match is ready for it. A message that is invalid is dropped: the
    /// message or the time that made the match ready is not to blame.
    pub(crate) fn waiting_analysis(&mut self, cx: &mut Cx<'_>) {
        let ready = self.can_analyse();
        if let Some(analysis) = self.analysis_waits.take_if(|_| ready) {
            let _ = self.received_analysis(cx, analysis);
        }
    }

    /// Sends the analysis on a new link, if there is one; both sides do, and the later change wins.
    pub(crate) fn send_analysis(&mut self, cx: &mut Cx<'_>) {
        if self.shared.version == 0 || !self.can_analyse() {
            return;
        }
        let (ply, tried) = self.shared.at.as_ref().map_or((0, &[][..]), |at| (at.ply, &at.tried[..]));
        cx.send(peer::Analysis {
            match_id: wire::id_bytes(self.id()),
            revision: self.revision(),
            version: self.shared.version,
            open: self.shared.at.is_some(),
            ply,
            actions: wire::pack_actions(tried).into(),
        });
    }
}
