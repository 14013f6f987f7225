//! Names of locations, registers and labels.

use super::Unsupported;
use super::syntax::NEVER;
use super::values::{Key, Values};
use crate::code::Library;
use seqcst_program::MAX_LOCATIONS;
use std::collections::{BTreeMap, BTreeSet};

/// Names of locations: `head`, `node2_next`, `buffer_0`.
pub fn names(library: &Library, values: &Values) -> Result<BTreeMap<Key, String>, Unsupported> {
    let mut names = BTreeMap::new();
    let mut used = BTreeSet::from([NEVER.to_owned()]);
    let mut records = BTreeMap::<(u32, i64), usize>::new();
    for key in values.memory.keys().filter(|key| key.base != 0) {
        let Some(record) = library.classes[key.class.0 as usize].record else { continue };
        let count = records.keys().filter(|(r, base)| *r == record.0 && *base != key.base).count();
        records.entry((record.0, key.base)).or_insert(count + 1);
    }
    for key in values.memory.keys() {
        let class = &library.classes[key.class.0 as usize];
        let mut name = class.name.clone();
        if let Some(number) = class.record.and_then(|record| records.get(&(record.0, key.base))) {
            name = match name.split_once('.') {
                Some((record, field)) => format!("{record}{number}_{field}"),
                None => format!("{name}{number}"),
            };
        }
        if class.cells.is_some() {
            name = match name.contains("[]") {
                true => name.replace("[]", &format!("_{}", key.index)),
                false => format!("{name}_{}", key.index),
            };
        }
        names.insert(*key, unused(&clean(&name), &mut used));
    }
    if names.len() > MAX_LOCATIONS {
        let count = names.len();
        return Err(Unsupported(format!(
            "{count} locations are needed, at most {MAX_LOCATIONS} are modelled"
        )));
    }
    Ok(names)
}

/// Letters, digits and underscores only.
fn clean(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_keyword = matches!(
        name.as_str(),
        "max_value"
            | "global"
            | "na"
            | "track"
            | "fn"
            | "local"
            | "if"
            | "else"
            | "while"
            | "goto"
            | "oneof"
            | "assert"
            | "assume"
            | "verify"
            | "skip"
            | "fence"
            | "wait"
            | "lock"
            | "unlock"
            | "exchange"
            | "all"
            | "true"
            | "false"
            | "load"
            | "store"
            | "rlx"
            | "acq"
            | "rel"
            | "sc"
    );
    match (is_word, is_keyword) {
        (false, _) => format!("v{name}"),
        (true, true) => format!("{name}_"),
        _ => name,
    }
}

fn unused(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2;
    while !used.insert(candidate.clone()) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    candidate
}

/// A thread as far as it is written.
pub struct Coded {
    pub registers: Vec<String>,
    pub used: BTreeSet<String>,
    pub labels: usize,
}

impl Coded {
    pub fn register(&mut self, name: &str) -> String {
        let name = unused(&clean(name), &mut self.used);
        self.registers.push(name.clone());
        name
    }

    pub fn label(&mut self, name: &str) -> String {
        self.labels += 1;
        format!("{name}{}", self.labels)
    }
}
