//! Several solvers: each takes the next question when it is free.

use super::session::Session;
use super::{Answer, Error, Options, Question};
use std::iter::Enumerate;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

/// Solvers that are running.
pub struct Pool {
    sessions: Vec<Session>,
    asked: usize,
    /// After that every answer is that there is none.
    pub deadline: Option<Instant>,
}

impl Pool {
    /// Starts solvers and looks whether they will do.
    pub fn new(options: Options) -> Result<Pool, Error> {
        let sessions =
            (0..options.workers.max(1)).map(|_| Session::new(&options)).collect::<Result<_, _>>()?;
        Ok(Pool { sessions, asked: 0, deadline: None })
    }

    /// How many answers there were.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// Asks questions, made when somebody is free for them. Answers come in any order, with the number of the question from
    /// 0; after a `Break` what is under way is stopped.
    pub fn ask<Questions>(
        &mut self,
        questions: Questions,
        mut each: impl FnMut(usize, Answer) -> ControlFlow<()>,
    ) -> Result<(), Error>
    where
        Questions: IntoIterator<Item = Question, IntoIter: Send>,
    {
        let (stop, deadline) = (AtomicBool::new(false), self.deadline);
        if let [session] = &mut self.sessions[..] {
            // Nothing is under way when an answer comes: so all is the same each time.
            for (number, question) in questions.into_iter().enumerate() {
                let Some(answer) = session.ask(&question, deadline, &stop)? else { break };
                self.asked += 1;
                if each(number, answer).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let next = Mutex::new(questions.into_iter().enumerate());
        let asked = &mut self.asked;
        let mut outcome = Ok(());
        thread::scope(|scope| {
            let (sender, answers) = channel();
            for session in &mut self.sessions {
                let (sender, next, stop) = (sender.clone(), &next, &stop);
                scope.spawn(move || work(session, next, deadline, stop, &sender));
            }
            drop(sender);
            for (number, answer) in answers {
                if stop.load(Ordering::Relaxed) {
                    continue;
                }
                match answer {
                    Ok(answer) => {
                        *asked += 1;
                        if each(number, answer).is_break() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        outcome = Err(error);
                    }
                }
            }
        });
        outcome
    }

    /// Asks questions; gives all answers, in order.
    pub fn ask_all(&mut self, questions: Vec<Question>) -> Result<Vec<Answer>, Error> {
        let mut answers = vec![None; questions.len()];
        self.ask(questions, |number, answer| {
            answers[number] = Some(answer);
            ControlFlow::Continue(())
        })?;
        Ok(answers.into_iter().flatten().collect())
    }
}

type Numbered<Answer> = (usize, Result<Answer, Error>);

fn work(
    session: &mut Session,
    next: &Mutex<Enumerate<impl Iterator<Item = Question>>>,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    sender: &Sender<Numbered<Answer>>,
) {
    while !stop.load(Ordering::Relaxed) {
        // The lock is poisoned if making a question panicked: that panic will be seen.
        let Some((number, question)) = next.lock().ok().and_then(|mut next| next.next()) else { return };
        let answer = match session.ask(&question, deadline, stop) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        if sender.send((number, answer)).is_err() {
            return;
        }
    }
}
