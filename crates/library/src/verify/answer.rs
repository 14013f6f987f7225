//! What is known about a library, as the answer that renderers show.

use super::{Verified, witness};
use crate::client::{Call, PROGRAM, Tried};
use crate::code::Site;
use crate::prove::{ClassResult, Failure, Objects};
use seqcst_model::Model;
use seqcst_report::answer::{Class, ClientWitness, Loop, Mutant, Program, Proof, TriedClient};
use seqcst_report::{Answer, Assumption, Details, Place, Verdict};

impl Verified {
    /// The answer.
    pub fn answer(&self) -> Answer {
        let subject = &self.subject;
        let files = &subject.library.files;
        let the_loop = |method: &str, site: Site, change: &str| Loop {
            method: method.to_owned(),
            place: place(files, site),
            change: change.to_owned(),
        };
        let transformed = &subject.transformed;
        let changed = transformed.changes.iter().map(|it| the_loop(&it.method, it.site, &it.what));
        let kept = transformed.kept.iter().map(|it| the_loop(&it.method, it.site, &it.why));
        let mutant = subject
            .mutant
            .as_ref()
            .map(|(change, site)| Mutant { change: change.clone(), place: place(files, *site) });
        let proof = Proof {
            notion: subject.notion().to_owned(),
            objects: objects(self.outcome.objects).to_owned(),
            questions: self.outcome.questions,
            methods: subject.library.methods.iter().map(|method| method.name.clone()).collect(),
            classes: self.outcome.classes.iter().map(|class| self.class_answer(class)).collect(),
            loops: changed.collect(),
            kept_loops: kept.collect(),
            mutant,
            client: self.tried.as_ref().map(tried_client),
            two_objects: self.tried_objects.as_ref().map(tried_client),
        };
        let verdict = self.verdict();
        let gave_up = self.why_unknown().filter(|_| verdict == Verdict::GaveUp);
        Answer {
            limit: gave_up.map(str::to_owned),
            seconds: self.proof_seconds,
            assumptions: self.outcome.assumptions.iter().cloned().map(Assumption::Words).collect(),
            witness: self.counterexample().map(|partial| witness::witness(subject, partial)),
            ..Answer::new(subject.name.clone(), Some(Model::Rc20), verdict, Details::Library(Box::new(proof)))
        }
    }

    fn class_answer(&self, class: &ClassResult) -> Class {
        let why = match &class.failure {
            Some(Failure::Unknown { why, .. }) => Some(why.clone()),
            Some(Failure::Skipped) => Some("not looked at: the library is refuted already".to_owned()),
            _ => None,
        };
        Class {
            class: self.class(class.class).to_owned(),
            conditions: class.conditions.iter().map(ToString::to_string).collect(),
            constraints: class.used.iter().map(|constraint| constraint.name().to_owned()).collect(),
            questions: class.questions,
            proved: class.failure.is_none(),
            why,
            refuted: matches!(class.failure, Some(Failure::Witness(_))),
            skipped: matches!(class.failure, Some(Failure::Skipped)),
        }
    }
}

/// Which clients a proof covers, in a word.
fn objects(objects: Objects) -> &'static str {
    match objects {
        Objects::Global => "global",
        Objects::One => "one",
        Objects::Any => "any-number",
    }
}

/// The search for clients.
pub(crate) fn tried_client(tried: &Tried) -> TriedClient {
    let calls = |calls: &Vec<Call>| calls.iter().map(ToString::to_string).collect();
    match tried {
        Tried::Confirmed(confirmed) => TriedClient {
            confirmed: true,
            client: Some(ClientWitness {
                threads: confirmed.client.threads.iter().map(calls).collect(),
                shows: confirmed.shows().to_owned(),
                witness: confirmed.checked.answer.witness.clone(),
                program: Program { file: PROGRAM.to_owned(), text: confirmed.checked.program.clone() },
            }),
            why: None,
        },
        Tried::NotConfirmed(searched) => {
            TriedClient { confirmed: false, client: None, why: Some(searched.to_string()) }
        }
    }
}

/// A site by its file's name.
pub(crate) fn place(files: &[String], site: Site) -> Place {
    let file = files.get(site.file as usize).cloned().unwrap_or_else(|| "?".to_owned());
    Place { file, line: site.line, column: site.column }
}
