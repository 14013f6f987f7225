//! What is known about a client of several libraries, as the answer that renderers show.

use super::fix::Fixed;
use super::{Call, Composition, Gap};
use crate::client::Tried;
use crate::verify::{place, tried_client};
use seqcst_model::Model;
use seqcst_report::answer::{self, Composed, MissingFence, Unrepaired};
use seqcst_report::{Answer, Assumption, Details, Verdict};

impl Composition {
    /// The answer about the client `name`, whose source is `text`. It is robust only if its libraries are: `libraries` is the worst
    /// that is known of them.
    pub fn answer(
        &self,
        name: &str,
        text: &str,
        libraries: Verdict,
        tried: Option<&Tried>,
        fixed: Option<&Fixed>,
    ) -> Answer {
        let all_proved = libraries == Verdict::Robust;
        let (is_fenced, is_kept) = (self.gaps.is_empty(), self.broken.is_empty());
        let call = |call: &Call| self.call(call, text);
        let missing = |gap: &Gap| MissingFence {
            earlier: call(&gap.earlier),
            later: call(&gap.later),
            path: gap.path.iter().map(|site| site.line).collect(),
        };
        let left = |(it, why): &(Call, &'static str)| Unrepaired { call: call(it), why: (*why).to_owned() };
        let composed = Composed {
            threads: self.threads.clone(),
            calls: self.calls,
            fences: self.fences,
            missing: self.gaps.iter().map(missing).collect(),
            broken: self.broken.clone(),
            all_proved,
            repaired: fixed.map(|fixed| fixed.left.is_empty() && is_kept && all_proved),
            client: tried.map(tried_client),
            inserted: fixed.map(|fixed| fixed.fences.len()),
            left: fixed.map(|fixed| fixed.left.iter().map(left).collect()),
            fixed: None,
        };
        let verdict = if is_fenced && is_kept { libraries } else { Verdict::MayBeNonRobust };
        let answer = Answer::new(name, Some(Model::Rc20), verdict, Details::Compose(Box::new(composed)));
        let limit = (verdict == Verdict::GaveUp).then(|| "no answer for all of its libraries".to_owned());
        Answer {
            limit,
            assumptions: self.assumptions.iter().cloned().map(Assumption::Words).collect(),
            ..answer
        }
    }

    fn call(&self, call: &Call, text: &str) -> answer::Call {
        let line = || text.lines().nth((call.site.line as usize).checked_sub(1)?);
        let line = (call.site.file == 0).then(line).flatten();
        answer::Call {
            call: call.what.clone(),
            library: call.owner.to_string(),
            function: call.function.clone(),
            place: place(&self.files, call.site),
            text: line.map(|line| line.trim().chars().filter(|c| !c.is_control()).take(100).collect()),
        }
    }
}
