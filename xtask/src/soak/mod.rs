//! `cargo xtask soak`: the same properties as the tests, on many more inputs.
//!
//! The work is cut into slices ([`parts`]), of which as many run at a time as there are cores. What was done is kept in
//! `docs/soak.jsonl`, with what it was done of ([`sources`]): a soak that was stopped goes on where it was when it is called
//! again, and what no change has touched since is not done again.

mod fuzz;
mod parts;
mod sources;

use crate::Outcome;
use crate::cargo::{Executable, build, root, show};
use crate::saved::{self, Measured};
use crate::table::{Table, count};
use crate::test::number_before;
use parts::{Kind, PARTS, Part, Slice};
use serde::{Deserialize, Serialize};
use sources::Sources;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long.
#[derive(clap::Args)]
pub struct Options {
    /// Random programs, or traces of programs, for each comparison with a definition; the fuzzers get ten times as many
    #[arg(long, value_name = "N", default_value_t = Options::CASES)]
    cases: u64,
    /// How many slices run at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Only parts whose name contains this
    filter: Option<String>,
    /// Begin nothing new after so many minutes; the next call goes on from there
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
}

impl Options {
    /// Unless something else is asked for.
    const CASES: u64 = 200_000;
}

/// A slice in which nothing was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    part: String,
    seed: u64,
    cases: u64,
    /// How many tests there are in it.
    tests: u64,
    milliseconds: u64,
    /// The commit that was checked out.
    commit: String,
    /// What it was done of: see [`sources`].
    sources: String,
}

impl Done {
    fn is(&self, part: &Part, slice: Slice) -> bool {
        (&*self.part, self.seed, self.cases) == (part.what, slice.seed, slice.cases)
    }
}

/// What was done, as it is saved.
pub type Saved = Measured<Done>;

/// Where.
const SAVED: &str = "docs/soak.jsonl";

/// What slices that run at the same time share.
struct Soak {
    left: VecDeque<(&'static Part, Slice)>,
    done: Saved,
    /// For each part, what it is made of now. None: of something that is not committed, and nothing is kept.
    digests: BTreeMap<&'static str, Option<String>>,
    file: PathBuf,
    failures: Vec<String>,
}

/// Runs the long versions of everything.
pub fn run(options: &Options) -> Outcome {
    let start = Instant::now();
    let deadline = options.minutes.map(|minutes| start + Duration::from_secs(60 * minutes));
    let is_over = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    let is_wanted = |part: &Part| options.filter.as_ref().is_none_or(|filter| part.what.contains(&**filter));
    let wanted: Vec<&'static Part> = PARTS.iter().filter(|part| is_wanted(part)).collect();
    if wanted.is_empty() {
        return Err(format!("no part's name contains {}", options.filter.as_deref().unwrap_or_default()));
    }
    let binaries = built(&wanted)?;
    let mut soak = Soak::load(&wanted, &binaries)?;
    let mut all = parts::slices(options.cases);
    all.retain(|(part, _)| is_wanted(part));
    let is_done = |&(part, slice): &(&Part, Slice)| soak.done.rows.iter().any(|done| done.is(part, slice));
    let left: VecDeque<_> = all.iter().copied().filter(|slice| !is_done(slice)).collect();
    println!(
        "commit {}: {} of {} slices were done before",
        soak.done.commit,
        all.len() - left.len(),
        all.len()
    );
    if left.iter().any(|(part, _)| part.kind == Kind::Fuzzing) {
        fuzz::prepare()?;
    }
    soak.left = left;
    let soak = Mutex::new(soak);
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while !is_over() {
                    let next = lock(&soak).left.pop_front();
                    let Some((part, slice)) = next else { break };
                    let outcome = part.run(slice, &binaries);
                    let mut soak = lock(&soak);
                    print!("[{:>6.0} s] {:>3} left, ", start.elapsed().as_secs_f64(), soak.left.len());
                    soak.end(part, slice, outcome);
                }
            });
        }
    });
    let soak = soak.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("\n{}", soak.done.table(options.cases, &wanted).text());
    if !soak.failures.is_empty() {
        return Err(format!("{} found something:\n{}", soak.failures.len(), soak.failures.join("\n")));
    }
    let commit = &soak.done.commit;
    if !soak.left.is_empty() {
        println!(
            "nothing found so far at commit {commit}; the next call goes on with {} slices",
            soak.left.len()
        );
        return Ok(());
    }
    println!("nothing found at commit {commit}");
    Ok(())
}

fn lock(soak: &Mutex<Soak>) -> MutexGuard<'_, Soak> {
    soak.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The test binaries, with optimisations.
fn built(parts: &[&Part]) -> Outcome<Vec<Executable>> {
    let tests = parts.iter().filter(|part| part.kind != Kind::Fuzzing);
    let packages: BTreeSet<&str> = tests.map(|part| part.package).collect();
    if packages.is_empty() {
        return Ok(Vec::new());
    }
    let mut args = vec!["test", "--release", "--locked", "--no-run"];
    for package in packages {
        args.extend(["--package", package]);
    }
    let binaries = build(&args)?;
    Ok(binaries.into_iter().filter(|binary| binary.is_test).collect())
}

impl Soak {
    /// What was done of the sources as they are now. What was done of others is forgotten.
    fn load(parts: &[&Part], binaries: &[Executable]) -> Outcome<Soak> {
        let workspace = Sources::of("Cargo.toml")?;
        let fuzzed = parts.iter().any(|part| part.kind == Kind::Fuzzing);
        let fuzzed = if fuzzed { Some(Sources::of("fuzz/Cargo.toml")?) } else { None };
        let mut digests = BTreeMap::new();
        for part in parts {
            let digest = match (part.kind, &fuzzed) {
                (Kind::Fuzzing, Some(fuzzed)) => fuzzed.digest(part, None)?,
                _ => workspace.digest(part, Some(part.binary(binaries)?))?,
            };
            digests.insert(part.what, digest);
        }
        let mut done = Saved::here(());
        let file = root().join(SAVED);
        if file.exists() {
            done.rows = saved::load::<Done, ()>(&file)?.rows;
        }
        // Parts that this call is not about are left as they are.
        let is_known = |row: &Done| PARTS.iter().any(|part| part.what == row.part);
        done.rows.retain(|row| match digests.get(&*row.part) {
            Some(digest) => digest.as_ref() == Some(&row.sources),
            None => is_known(row),
        });
        Ok(Soak { left: VecDeque::new(), done, digests, file, failures: Vec::new() })
    }

    /// Notes what came of a slice.
    fn end(&mut self, part: &Part, slice: Slice, outcome: Outcome<Done>) {
        match outcome.and_then(|done| self.keep(part, done)) {
            Ok(()) => {}
            Err(why) => {
                println!("{}: {slice}: FOUND SOMETHING", part.what);
                self.failures.push(format!("{}: {slice}:\n{why}", part.what));
            }
        }
    }

    fn keep(&mut self, part: &Part, done: Done) -> Outcome {
        println!("{}: {} from {}, {:.0} s", part.what, done.cases, done.seed, done.milliseconds as f64 / 1e3);
        let commit = self.done.commit.clone();
        let sources = self.digests[part.what].clone();
        let is_kept = sources.is_some();
        self.done.rows.push(Done { commit, sources: sources.unwrap_or_default(), ..done });
        self.done.save(is_kept.then_some(&*self.file))
    }
}

impl Saved {
    /// What was soaked, for the documents.
    pub fn report(&self) -> String {
        let commits: BTreeSet<&str> = self.rows.iter().map(|row| &*row.commit).collect();
        let commits: Vec<&str> = commits.into_iter().collect();
        format!(
            "{}, commits {}.\n\n{}",
            self.machine,
            commits.join(", "),
            self.table(Options::CASES, &PARTS.iter().collect::<Vec<_>>()).markdown()
        )
    }

    /// What was done of a soak of these parts with so many cases.
    fn table(&self, cases: u64, parts: &[&Part]) -> Table {
        let mut table =
            Table::new(&["what", "inputs for each test", "of", "tests", "core minutes"], &["what"]);
        let slices = parts::slices(cases);
        for part in parts {
            let is_of_it = |done: &&Done| {
                slices.iter().any(|&(other, slice)| other.what == part.what && done.is(part, slice))
            };
            let rows: Vec<&Done> = self.rows.iter().filter(is_of_it).collect();
            let inputs: u64 = rows.iter().map(|done| done.cases).sum();
            let time: u64 = rows.iter().map(|done| done.milliseconds).sum();
            let tests = rows.iter().map(|done| done.tests).max().unwrap_or(0);
            let all = part.inputs(cases);
            let minutes = format!("{:.1}", time as f64 / 6e4);
            table.row(vec![part.what.to_owned(), count(inputs), count(all), tests.to_string(), minutes]);
        }
        table
    }
}

impl Part {
    /// Its tests.
    fn binary<'a>(&self, binaries: &'a [Executable]) -> Outcome<&'a Executable> {
        let is_it = |binary: &&Executable| (&*binary.package, &*binary.target) == (self.package, self.target);
        let found = binaries.iter().find(is_it);
        found.ok_or_else(|| format!("no test {} in {}", self.target, self.package))
    }

    fn command(&self, slice: Slice, binaries: &[Executable]) -> Outcome<Command> {
        let Kind::Tests(filter) = self.kind else { return Ok(fuzz::command(self, slice)) };
        let binary = self.binary(binaries)?;
        let mut command = Command::new(&binary.path);
        command.current_dir(&binary.folder).env("CARGO_MANIFEST_DIR", &binary.folder);
        command.env("SEQCST_SEED", slice.seed.to_string()).env("SEQCST_CASES", slice.cases.to_string());
        command.env("SEQCST_SLOW", "1").args(filter).arg("--test-threads=1");
        Ok(command)
    }

    /// Runs one slice; what its tests print is the error if one fails.
    fn run(&self, slice: Slice, binaries: &[Executable]) -> Outcome<Done> {
        let start = Instant::now();
        let mut command = self.command(slice, binaries)?;
        let output = command.output().map_err(|error| format!("{}: {error}", show(&command)))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let results = printed.lines().filter(|line| line.starts_with("test result:"));
        let tests = match self.kind {
            Kind::Tests(_) => results.map(|line| number_before(line, " passed")).sum(),
            Kind::Fuzzing => 1,
        };
        if !output.status.success() || tests == 0 {
            return Err(format!("{printed}{}{}", String::from_utf8_lossy(&output.stderr), output.status));
        }
        let milliseconds = start.elapsed().as_millis() as u64;
        Ok(Done {
            part: self.what.to_owned(),
            seed: slice.seed,
            cases: slice.cases,
            tests,
            milliseconds,
            ..Done::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_read_as_it_was_written() {
        let part = PARTS[0].what.to_owned();
        let (commit, sources) = ("abc".to_owned(), "def".to_owned());
        let done = Done { part, seed: 10, cases: 5, tests: 2, milliseconds: 7, commit, sources };
        let again = saved::round_trip((), std::slice::from_ref(&done));
        assert!(again.rows[0].is(&PARTS[0], Slice { seed: 10, cases: 5 }));
        assert!(!again.rows[0].is(&PARTS[0], Slice { seed: 10, cases: 6 }));
    }
}
