//! The TPL parser, continued: memory accesses, fences and their modes.

use super::cursor::Parse;
use super::tpl::{Parser, is_reserved};
use crate::ast::{Access, At, Cas, CasKind, Expr, Name, RmwMode};
use crate::error::InputError;
use seqcst_model::Mode;

/// The mode that a word names.
fn mode_named(word: &str) -> Option<Mode> {
    match word {
        "rlx" => Some(Mode::Relaxed),
        "acq" => Some(Mode::Acquire),
        "rel" => Some(Mode::Release),
        "acq_rel" => Some(Mode::AcqRel),
        "sc" | "seq_cst" => Some(Mode::SeqCst),
        _ => None,
    }
}

const MODES: &str = "a mode (`rlx`, `acq`, `rel`, `acq_rel` or `sc`)";

impl Parser<'_> {
    /// `x.load(…)`, `x.store(…)`, `x.naload()`, `x.nastore(…)`
    pub(super) fn method(&mut self) -> Parse<Access> {
        let location = self.location()?;
        self.cursor.expect(".", "after the location")?;
        let method = self.cursor.token();
        let word = self.cursor.word();
        if !matches!(word, "load" | "store" | "naload" | "nastore") {
            return Err(self.cursor.unexpected("`load`, `store`, `naload` or `nastore`"));
        }
        self.cursor.advance()?;
        self.cursor.expect("(", &format!("after `{}`", self.cursor.text(method.span)))?;
        let access = match word {
            "load" if self.cursor.at(")") => Access::Load(location, None),
            "load" => Access::Load(location, Some(self.mode()?)),
            "naload" => Access::NaLoad(location),
            "store" => {
                let value = self.expression()?;
                let mode = match self.cursor.eat(",")? {
                    true => Some(self.mode()?),
                    false => None,
                };
                Access::Store(location, value, mode)
            }
            _ => Access::NaStore(location, self.expression()?),
        };
        self.close(word)?;
        Ok(access)
    }

    /// `fence`, `wait(…)`, `lock(…)`, `FADD(…)` and the like: whatever starts with its own keyword.
    pub(super) fn call(&mut self) -> Parse<Access> {
        let keyword = self.cursor.advance()?.span;
        let word = self.cursor.text(keyword);
        if word == "fence" && !self.cursor.at("(") {
            return Ok(Access::Fence(At::new(Mode::SeqCst, keyword)));
        }
        self.cursor.expect("(", &format!("after `{word}`"))?;
        if word == "fence" {
            let mode = self.fence_mode()?;
            self.close(word)?;
            return Ok(Access::Fence(mode));
        }
        let location = self.location()?;
        let access = match word {
            "lock" => Access::Lock(location),
            "unlock" => Access::Unlock(location),
            "wait" => {
                let mut values = vec![self.operand("the location")?];
                while self.cursor.at(",") && mode_named(self.word_after_comma()?).is_none() {
                    values.push(self.operand("the value")?);
                }
                let mode = match self.cursor.eat(",")? {
                    true => Some(self.mode()?),
                    false => None,
                };
                Access::Wait(location, values, mode)
            }
            "FADD" => Access::FetchAdd(location, self.operand("the location")?, self.rmw_mode()?),
            "exchange" => Access::Exchange(location, self.operand("the location")?, self.rmw_mode()?),
            _ => {
                let kind = match word {
                    "CAS" => CasKind::Strong,
                    "WCAS" => CasKind::Weak,
                    "FCAS" => CasKind::Failing,
                    _ => CasKind::Blocking,
                };
                let expected = self.operand("the location")?;
                let new = self.operand("the expected value")?;
                let mode = self.rmw_mode()?;
                // Only a compare-and-swap that can fail has a mode for failing.
                let halves = matches!(mode, RmwMode::Halves(..));
                let failure = match halves && kind != CasKind::Blocking && self.cursor.eat(",")? {
                    true => Some(self.mode()?),
                    false => None,
                };
                Access::Cas(kind, Box::new(Cas { location, expected, new, mode, failure }))
            }
        };
        self.close(word)?;
        Ok(access)
    }

    fn location(&mut self) -> Parse<Name> {
        self.cursor.name("the name of a location", is_reserved)
    }

    fn close(&mut self, word: &str) -> Parse<()> {
        self.cursor.expect(")", &format!("after the arguments of `{word}`"))?;
        Ok(())
    }

    /// A comma and an expression.
    fn operand(&mut self, after: &str) -> Parse<Expr> {
        self.cursor.expect(",", &format!("after {after}"))?;
        self.expression()
    }

    fn word_after_comma(&self) -> Parse<&str> {
        Ok(self.cursor.text(self.cursor.peek()?.span))
    }

    fn mode(&mut self) -> Parse<At<Mode>> {
        let Some(mode) = mode_named(self.cursor.word()) else {
            return Err(self.cursor.unexpected(MODES));
        };
        Ok(At::new(mode, self.cursor.advance()?.span))
    }

    fn fence_mode(&mut self) -> Parse<At<Mode>> {
        if self.cursor.eat_word("upd")? {
            return Ok(At::new(Mode::SeqCst, self.cursor.previous()));
        }
        if mode_named(self.cursor.word()).is_none() {
            let error = self.cursor.unexpected("`acq`, `rel`, `acq_rel` or `seq_cst`");
            return Err(InputError::with_note(error, "`fence` alone is an SC fence"));
        }
        self.mode()
    }

    /// Nothing, one mode for the whole, or one for each half.
    fn rmw_mode(&mut self) -> Parse<RmwMode> {
        if !self.cursor.eat(",")? {
            return Ok(RmwMode::Unwritten);
        }
        let first = self.mode()?;
        if !self.cursor.eat(",")? {
            return Ok(RmwMode::Whole(first));
        }
        Ok(RmwMode::Halves(first, self.mode()?))
    }
}
