//! Lessons: the position of a step is recomputed from its actions at every request; nothing is kept.

use engine::lessons::{self, NotTaught, Said};
use engine::{Action, AnyGame, GameKind};
use proto::control::{self, RefusalCode};
use session::wire;

use crate::refusal::Refusal;
use crate::show::position;

fn bad(what: &str) -> Refusal {
    Refusal::new(RefusalCode::RefusalBadRequest, what)
}

/// The game and the actions of a step.
fn read(asked: &control::Teach) -> Result<(GameKind, Vec<Action>), Refusal> {
    let kind = wire::read_game(asked.game).ok_or_else(|| bad("no such game"))?;
    let action = |action| wire::read_action(Some(action)).map_err(|error| bad(&error.to_string()));
    Ok((kind, asked.actions.iter().map(action).collect::<Result<_, _>>()?))
}

/// The step of a lesson after these actions.
pub(crate) fn teach(asked: &control::Teach) -> Result<control::Lesson, Refusal> {
    let (kind, actions) = read(asked)?;
    let step = asked.step as usize;
    let taught = lessons::teach(kind, step, &actions).map_err(|why| match (why, actions.last()) {
        (NotTaught::Illegal(illegal), Some(action)) => {
            match lessons::teach(kind, step, &actions[..actions.len() - 1]) {
                Ok(before) => Refusal::illegal(illegal, *action, &before.game),
                Err(_) => bad(&why.to_string()),
            }
        }
        (NotTaught::Elsewhere, _) => Refusal {
            reason: Some(words(Said {
                zh: "这步不算错，不过请点有标记的地方。",
                en: "Not wrong, but tap what is marked.",
            })),
            ..Refusal::new(RefusalCode::RefusalIllegal, why.to_string())
        },
        (why, _) => bad(&why.to_string()),
    })?;
    let steps = lessons::lesson(kind);
    Ok(control::Lesson {
        step: asked.step,
        steps: steps.len() as u32,
        say: Some(words(steps[step].say)),
        then: Some(words(steps[step].then)),
        board: Some(position(&taught.game)),
        wanted: taught.wanted.into_iter().map(wire::action).collect(),
    })
}

/// The position of a step after these actions; where they end the game, the first position of the step.
pub(crate) fn position_of(asked: &control::Teach) -> Result<AnyGame, Refusal> {
    let (kind, actions) = read(asked)?;
    let after = |actions: &[Action]| {
        let taught = lessons::teach(kind, asked.step as usize, actions);
        taught.map(|taught| taught.game).map_err(|why| bad(&why.to_string()))
    };
    let game = after(&actions)?;
    if game.outcome().is_some() { after(&[]) } else { Ok(game) }
}

fn words(said: Said) -> control::Words {
    control::Words { zh: said.zh.into(), en: said.en.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(game: i32, step: u32, actions: Vec<proto::board::Action>) -> Result<control::Lesson, Refusal> {
        teach(&control::Teach { game, step, actions })
    }

    #[test]
    fn every_lesson_is_taught_touch_by_touch_and_what_is_wrong_is_refused_with_its_reason() {
        for game in 1..=5 {
            let mut step = 0;
            loop {
                let mut actions = Vec::new();
                let mut lesson = ask(game, step, Vec::new()).expect("it begins");
                while let Some(wanted) = lesson.wanted.first() {
                    actions.push(*wanted);
                    lesson = ask(game, step, actions.clone()).expect("what is wanted is taken");
                }
                assert!(lesson.board.is_some_and(|board| board.ply > 0));
                step += 1;
                if step == lesson.steps {
                    break;
                }
            }
            let refused = ask(game, step, Vec::new()).expect_err("there is no more");
            assert_eq!(refused.into_wire().code(), RefusalCode::RefusalBadRequest);
        }
        let occupied = proto::board::Action { kind: Some(proto::board::action::Kind::Place(7 * 1_024 + 7)) };
        let refused = ask(1, 3, vec![occupied]).expect_err("a stone stands there").into_wire();
        assert!(refused.code() == RefusalCode::RefusalOccupied && refused.reason.is_some());
        let elsewhere = proto::board::Action { kind: Some(proto::board::action::Kind::Place(0)) };
        let refused = ask(1, 3, vec![elsewhere]).expect_err("not what is shown").into_wire();
        assert_eq!(refused.reason.map(|words| words.en), Some("Not wrong, but tap what is marked.".into()));
        assert!(ask(0, 0, Vec::new()).is_err() && ask(77, 0, Vec::new()).is_err());
    }
}
