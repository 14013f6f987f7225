//! The contract of a library: comments `//@ key: value`, and the same keys as options.

use super::error::Error;
use crate::code::{Contract, Role, Specification};

/// What the contract says, before names are looked up.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Specification, roles, threads, setup; linearization points are still missing.
    pub contract: Contract,
    /// The struct that stands for the library's object.
    pub object: Option<(String, Place)>,
    /// Names of methods that were mentioned, to be checked.
    pub mentioned: Vec<(String, Place)>,
    /// Lines that end with `//@ linearization-point`.
    pub points: Vec<u32>,
}

/// Where a term was given.
#[derive(Clone, Debug)]
pub struct Place {
    file: String,
    line: u32,
    column: u32,
}

impl Place {
    /// A message about the term.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error { file: self.file.clone(), line: self.line, column: self.column, message: message.into() }
    }
}

const KEYS: &str = "specification, object, one-thread, setup, linearization-point, verdict, because, or a role (get, set, add, \
                    remove, contains, take, steal, lock, unlock)";

/// Reads the comments of `text`; `options` (key, value) replace comments of the same key.
pub fn read(path: &str, text: &[u8], options: &[(String, String)]) -> Result<Terms, Error> {
    let mut terms = Terms::default();
    for (number, line) in String::from_utf8_lossy(text).lines().enumerate() {
        let Some(at) = line.find("//@") else { continue };
        let place = Place {
            file: path.to_owned(),
            line: number as u32 + 1,
            column: line[..at].chars().count() as u32 + 1,
        };
        let term = line[at + 3..].trim();
        if term == "linearization-point" {
            terms.points.push(place.line);
            continue;
        }
        if !line[..at].trim().is_empty() {
            return Err(place.error(
                "only `//@ linearization-point` stands behind code: other terms need a line of their own",
            ));
        }
        let Some((key, value)) = term.split_once(':') else {
            return Err(place.error(format!("`//@` needs `key: value`, where key is one of: {KEYS}")));
        };
        let (key, value) = (key.trim(), value.trim());
        if options.iter().all(|(given, _)| given != key) {
            terms.add(key, value, place)?;
        }
    }
    for (key, value) in options {
        let place = Place { file: format!("--spec {key}={value}"), line: 0, column: 0 };
        terms.add(key, value, place)?;
    }
    Ok(terms)
}

impl Terms {
    fn add(&mut self, key: &str, value: &str, place: Place) -> Result<(), Error> {
        let names: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
        match key {
            "verdict" | "because" => return Ok(()),
            "specification" => {
                self.contract.specification = match value {
                    "register" => Some(Specification::Register),
                    "stack" => Some(Specification::Stack),
                    "queue" => Some(Specification::Queue),
                    "set" => Some(Specification::Set),
                    "deque" => Some(Specification::Deque),
                    "lock" => Some(Specification::Lock),
                    "none" => None,
                    _ => {
                        return Err(place.error(format!(
                            "no specification is called `{value}`: take register, stack, queue, set, deque, lock or none"
                        )));
                    }
                };
                return Ok(());
            }
            "object" => {
                let name = value.strip_prefix("struct ").unwrap_or(value).trim();
                self.object = Some((name.to_owned(), place));
                return Ok(());
            }
            _ if names.is_empty() => return Err(place.error(format!("`{key}` needs names of methods"))),
            "one-thread" => self.contract.one_thread.push(names.clone()),
            "setup" => self.contract.setup.extend(names.iter().cloned()),
            _ => match role(key) {
                Some(role) => self.contract.roles.extend(names.iter().map(|n| (role, n.clone()))),
                None => return Err(place.error(format!("no term is called `{key}`: take {KEYS}"))),
            },
        }
        self.mentioned.extend(names.into_iter().map(|n| (n, place.clone())));
        Ok(())
    }
}

fn role(key: &str) -> Option<Role> {
    Some(match key {
        "get" => Role::Get,
        "set" => Role::Set,
        "add" => Role::Add,
        "remove" => Role::Remove,
        "contains" => Role::Contains,
        "take" => Role::Take,
        "steal" => Role::Steal,
        "lock" => Role::Lock,
        "unlock" => Role::Unlock,
        _ => return None,
    })
}
