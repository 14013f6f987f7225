//! The client that confirms an answer, as a program in a file of its own.

use crate::flags::{Format, LibraryFlags};
use crate::output::{self, Target};
use seqcst_report::answer::{ClientWitness, TriedClient};
use seqcst_report::{Answer, Details};

/// Where the program of a client goes.
pub struct Kept {
    target: Option<Target>,
    notes: bool,
}

impl Kept {
    /// Looks whether it can be written, before anything is done. `output` is written as well.
    pub fn new(flags: &LibraryFlags, output: Option<&Target>) -> Result<Kept, String> {
        let target = flags.keep_client.as_deref().map(Target::new).transpose()?;
        if let Some(target) = &target {
            let name = target.name.display();
            if flags.compose.is_none() && flags.files.len() > 1 {
                let count = flags.files.len();
                return Err(format!(
                    "error: {name} can keep a client of one library: name one FILE, not {count}\n"
                ));
            }
            if flags.files.iter().chain(&flags.compose).any(|file| target.is(file)) {
                return Err(format!("error: {name} is the input: it is not overwritten\n"));
            }
            let others = [&flags.svg, &flags.dot].into_iter().flatten();
            if output.is_some_and(|output| output.same(target)) || others.into_iter().any(|it| target.is(it))
            {
                return Err(format!("error: {name} is to be written twice: name another file\n"));
            }
        }
        Ok(Kept { target, notes: flags.print.format == Format::Text })
    }

    /// Writes the client of an answer, if there is one; from then on its places are places in the file.
    pub fn keep(&self, answer: &mut Answer) -> Result<(), String> {
        let Some(target) = &self.target else { return Ok(()) };
        let name = target.name.display().to_string();
        match client(answer) {
            Some(client) => {
                target.write(&client.program.text)?;
                if let Some(witness) = &mut client.witness {
                    witness.file.clone_from(&name);
                }
                client.program.file = name;
            }
            None if self.notes => {
                output::write_stderr(&format!("{name}: note: not written, there is no client to keep\n"));
            }
            None => {}
        }
        Ok(())
    }
}

/// The client of an answer: the one that confirms it, or else the one that shows what is not proved.
fn client(answer: &mut Answer) -> Option<&mut ClientWitness> {
    let of = |tried: &'_ mut Option<TriedClient>| tried.as_mut().is_some_and(|tried| tried.client.is_some());
    let tried = match &mut answer.details {
        Details::Library(proof) => match of(&mut proof.client) {
            true => &mut proof.client,
            false => &mut proof.two_objects,
        },
        Details::Compose(composed) => &mut composed.client,
        _ => return None,
    };
    tried.as_mut()?.client.as_mut()
}
