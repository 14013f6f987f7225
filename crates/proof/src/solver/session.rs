//! A solver that is asked question after question, and started again when it dies.

use super::expression::{Expression, parse};
use super::process::{NoReply, Process};
use super::{Answer, Error, OLDEST, Options, Question};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// One worker's solver.
pub struct Session {
    options: Options,
    program: PathBuf,
    /// `None`: to be started before the next question.
    process: Option<Process>,
    /// How long the process takes for a question at most, as it was told.
    told: Duration,
}

/// Why a question has no answer.
enum Failure {
    /// Nobody wants one any more.
    Stopped,
    /// The process ended.
    Died(String),
    /// The solver is of no use.
    Useless(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Useless(error)
    }
}

/// How long a solver may take to say what it is.
const STARTUP_LIMIT: Duration = Duration::from_secs(5);

/// How much later than its own limit a solver is stopped: it may need a moment to notice.
fn grace(limit: Duration) -> Duration {
    limit / 4 + Duration::from_millis(500)
}

impl Session {
    /// Starts a solver and looks whether it will do.
    pub fn new(options: &Options) -> Result<Session, Error> {
        let named = || std::env::var_os("SEQCST_Z3").filter(|name| !name.is_empty()).map(PathBuf::from);
        let program = options.program.clone().or_else(named).unwrap_or_else(|| PathBuf::from("z3"));
        let mut session = Session { options: options.clone(), program, process: None, told: Duration::ZERO };
        session.start()?;
        Ok(session)
    }

    /// Asks one question, to be answered before the deadline. `None` if nobody wants the answer any more.
    pub fn ask(
        &mut self,
        question: &Question,
        deadline: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Option<Answer>, Error> {
        let mut last = String::new();
        for _ in 0..2 {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Some(Answer::Unknown { why: "there was no time left for it".to_owned() }));
            }
            let limit = left.map_or(self.options.time_limit, |left| left.min(self.options.time_limit));
            match self.try_ask(question, limit, stop) {
                Ok(answer) => return Ok(Some(answer)),
                Err(Failure::Stopped) => return Ok(None),
                Err(Failure::Useless(error)) => {
                    self.process = None;
                    return Err(error);
                }
                Err(Failure::Died(how)) => last = how,
            }
        }
        Ok(Some(Answer::Unknown { why: format!("the solver ended twice in the middle of it ({last})") }))
    }

    fn try_ask(
        &mut self,
        question: &Question,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Answer, Failure> {
        if self.process.is_none() {
            self.start()?;
        }
        // Without switches there is more for the solver to simplify.
        let labels = if self.options.want_cores { labels(question) } else { Vec::new() };
        let mut commands = state(question, &labels);
        if self.told != limit {
            commands.insert_str(0, &format!("(set-option :timeout {})\n", limit.as_millis().max(1)));
            self.told = limit;
        }
        let verdict = match self.exchange(commands, limit + grace(limit), stop)? {
            Ok(verdict) => verdict,
            Err(answer) => return Ok(answer),
        };
        let (verdict, follow_up) = match verdict.split_whitespace().next() {
            Some("unsat") if self.options.want_cores => ("unsat", "(get-unsat-core)".to_owned()),
            Some("unsat") => ("unsat", String::new()),
            Some("sat") if question.evaluate.is_empty() => ("sat", String::new()),
            Some("sat") => ("sat", format!("(get-value ({}))", question.evaluate.join("\n"))),
            Some("unknown" | "timeout") => ("unknown", "(get-info :reason-unknown)".to_owned()),
            _ => return Err(self.garbage(question, &verdict).into()),
        };
        let reply = match self.exchange(format!("{follow_up}\n(pop 1)"), grace(limit), stop)? {
            Ok(reply) => reply,
            Err(answer) => return Ok(answer),
        };
        let answer = match verdict {
            "unsat" if self.options.want_cores => core(&reply, &labels).map(|core| Answer::Unsat { core }),
            "unsat" => Some(Answer::Unsat { core: Vec::new() }),
            "sat" if question.evaluate.is_empty() => Some(Answer::Sat { values: Vec::new() }),
            "sat" => values(&reply, question).map(|values| Answer::Sat { values }),
            _ => Some(Answer::Unknown { why: self.reason(&reply) }),
        };
        answer.ok_or_else(|| self.garbage(question, &reply).into())
    }

    /// One reply; inside, an answer if there can be no reply.
    fn exchange(
        &mut self,
        commands: String,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Result<String, Answer>, Failure> {
        let Some(process) = &mut self.process else {
            return Err(Failure::Died("it is not running".to_owned()));
        };
        let no_reply = match process.ask(commands, patience, stop) {
            Ok(reply) => return Ok(Ok(reply)),
            Err(no_reply) => no_reply,
        };
        self.process = None;
        match no_reply {
            NoReply::Late => {
                let limit = seconds(self.told);
                let why = format!("the solver did not keep to its limit of {limit} s and was stopped");
                Ok(Err(Answer::Unknown { why }))
            }
            NoReply::Stopped => Err(Failure::Stopped),
            // It says so on standard error, or with its exit code.
            NoReply::Died { said, how } if said.contains("out of memory") || how == "exit status: 101" => {
                let why = format!("the solver needs more than {} MB of memory", self.options.memory_limit);
                Ok(Err(Answer::Unknown { why }))
            }
            NoReply::Died { how, .. } => Err(Failure::Died(how)),
            NoReply::TooLong => Err(self.broken("its replies have no end").into()),
        }
    }

    /// Starts the process, asks it what it is and tells it how to work.
    fn start(&mut self) -> Result<(), Error> {
        let program = self.program.display().to_string();
        let started = Process::start(&self.program, self.options.memory_limit);
        let mut process =
            started.map_err(|error| Error::Missing { program: program.clone(), why: why(&error) })?;
        let nobody = AtomicBool::new(false);
        let commands = "(get-info :name)\n(get-info :version)".to_owned();
        let reply = process.ask(commands, STARTUP_LIMIT, &nobody).map_err(|no_reply| match no_reply {
            NoReply::Died { how, .. } => self.broken(&format!("it ended at once ({how})")),
            NoReply::TooLong => self.broken("its replies have no end"),
            NoReply::Late | NoReply::Stopped => {
                self.broken(&format!("no answer within {} s", STARTUP_LIMIT.as_secs()))
            }
        })?;
        let parts = parse(&reply).unwrap_or_default();
        let info = |key: &str| parts.iter().find_map(|part| part.text_of(key)).map(str::to_owned);
        let (Some(name), Some(version)) = (info(":name"), info(":version")) else {
            return Err(self.broken(&format!("asked for its version, it says `{}`", excerpt(&reply))));
        };
        if name != "Z3" {
            return Err(Error::NotZ3 { program, name });
        }
        if numbers(&version).is_none_or(|version| version < OLDEST) {
            return Err(Error::TooOld { program, version });
        }
        let mut settings = format!("(set-option :timeout {})\n", self.options.time_limit.as_millis().max(1));
        if self.options.want_cores {
            settings += "(set-option :produce-unsat-cores true)\n(set-option :smt.core.minimize true)\n";
        }
        match process.ask(settings, STARTUP_LIMIT, &nobody) {
            Ok(reply) if reply.trim().is_empty() => {}
            Ok(reply) => {
                return Err(self.broken(&format!("asked to keep to a limit, it says `{}`", excerpt(&reply))));
            }
            Err(_) => return Err(self.broken("no answer to its settings")),
        }
        self.process = Some(process);
        self.told = self.options.time_limit;
        Ok(())
    }

    fn broken(&self, what: &str) -> Error {
        Error::Broken { program: self.program.display().to_string(), what: what.to_owned() }
    }

    /// An error message of the solver, or no answer at all.
    fn garbage(&mut self, question: &Question, reply: &str) -> Error {
        self.process = None;
        let parts = parse(reply).unwrap_or_default();
        match parts.iter().find_map(|part| part.text_of("error")) {
            Some(message) => {
                Error::Misunderstood { question: question.name.clone(), message: excerpt(message) }
            }
            None => self.broken(&format!("asked `{}`, it says `{}`", question.name, excerpt(reply))),
        }
    }

    fn reason(&self, reply: &str) -> String {
        let parts = parse(reply).unwrap_or_default();
        match parts.iter().find_map(|part| part.text_of(":reason-unknown")) {
            Some("timeout" | "canceled") => {
                format!("the solver found no answer within {} s", seconds(self.told))
            }
            Some(reason) => format!("the solver gave up: {}", excerpt(reason)),
            None => "the solver gave up".to_owned(),
        }
    }
}

/// The labels of a question, each once, in order.
fn labels(question: &Question) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for (label, _) in &question.assertions {
        if !label.is_empty() && seen.insert(label.as_str()) {
            out.push(label);
        }
    }
    out
}

/// The question as SMT-LIB. Each label has a switch, a Boolean constant, and all switches are on: so a core is a set of labels.
fn state(question: &Question, labels: &[&str]) -> String {
    let numbers: rustc_hash::FxHashMap<&str, usize> =
        labels.iter().enumerate().map(|(n, &l)| (l, n)).collect();
    let mut out = String::from("(push 1)\n");
    for declaration in &question.declarations {
        let _ = writeln!(out, "{declaration}");
    }
    for number in 0..labels.len() {
        let _ = writeln!(out, "(declare-const |seqcst {number}| Bool)");
    }
    for (label, term) in &question.assertions {
        let _ = match numbers.get(label.as_str()) {
            Some(number) => writeln!(out, "(assert (=> |seqcst {number}| {term}))"),
            None => writeln!(out, "(assert {term})"),
        };
    }
    let switches: Vec<String> = (0..labels.len()).map(|number| format!("|seqcst {number}|")).collect();
    match labels {
        [] => out.push_str("(check-sat)"),
        _ => out.push_str(&format!("(check-sat-assuming ({}))", switches.join(" "))),
    }
    out
}

/// The labels in `(|seqcst 3| |seqcst 1|)`.
fn core(reply: &str, labels: &[&str]) -> Option<Vec<String>> {
    let parts = parse(reply)?;
    let [Expression::List(switches)] = &parts[..] else { return None };
    let number = |switch: &Expression| {
        switch.as_word()?.strip_prefix("|seqcst ")?.strip_suffix('|')?.parse::<usize>().ok()
    };
    let mut numbers = switches.iter().map(number).collect::<Option<Vec<usize>>>()?;
    numbers.sort_unstable();
    numbers.into_iter().map(|number| labels.get(number).map(|label| label.to_string())).collect()
}

/// The values in `((x 1) (y (- 2)))`, which come in the order of the question.
fn values(reply: &str, question: &Question) -> Option<Vec<(String, String)>> {
    let parts = parse(reply)?;
    let [Expression::List(pairs)] = &parts[..] else { return None };
    if pairs.len() != question.evaluate.len() {
        return None;
    }
    let value = |(term, pair): (&String, &Expression)| match pair.as_list()? {
        [_, value] => Some((term.clone(), value.value())),
        _ => None,
    };
    question.evaluate.iter().zip(pairs).map(value).collect()
}

/// `4.8` of `4.8.12`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// The beginning of a text, in one line that a terminal does not obey.
fn excerpt(text: &str) -> String {
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect();
    if text.trim().chars().count() > 120 { format!("{line}…") } else { line }
}

/// Without more digits than anybody wants.
fn seconds(limit: Duration) -> f64 {
    (limit.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The error in words, without a number.
fn why(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such program".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
