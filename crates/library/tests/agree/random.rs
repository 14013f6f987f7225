//! Random small libraries over a few locations, nodes and cells.

use seqcst_library::code::{
    Access, AccessKind, Class, ClassId, Expr, Integer, Label, Library, Local, LocalId, Method, Mode,
    Operator, Place, Record, RecordId, Site, Statement, Update,
};

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize]
    }
}

struct Maker {
    dice: Dice,
    library: Library,
    labels: u32,
    /// All accesses are at least this strong; some libraries are strong on purpose, else few would be robust.
    is_strong: bool,
}

/// The library with that number.
pub fn library(seed: u64) -> Library {
    let mut dice = Dice(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let is_strong = dice.one_in(3);
    let mut maker = Maker { dice, library: Library::default(), labels: 0, is_strong };
    maker.library.files.push("random".to_owned());
    match maker.dice.roll(5) {
        0 => maker.published_nodes(),
        1 => maker.counters(),
        2 => maker.loops(),
        _ => maker.locations(),
    }
    maker.library
}

fn place(class: ClassId) -> Place {
    Place { class, base: None, index: None }
}

fn local(k: u32) -> Expr {
    Expr::Local(LocalId(k))
}

fn binary(op: Operator, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

impl Maker {
    fn class(&mut self, name: &str) -> ClassId {
        let class = Class {
            name: name.to_owned(),
            record: None,
            cells: None,
            is_atomic: true,
            integer: Integer::LONG,
            initial: 0,
            initial_cell: None,
            is_of_object: false,
        };
        self.library.classes.push(class);
        ClassId(self.library.classes.len() as u32 - 1)
    }

    fn access(&mut self, kind: AccessKind) -> Statement {
        self.labels += 1;
        let site = Site { file: 0, line: self.labels, column: 1 };
        Statement::Access(Access { label: Label(self.labels), site, kind })
    }

    fn method(&mut self, name: &str, parameters: u32, locals: u32, body: Vec<Statement>) {
        let locals = (0..locals)
            .map(|k| Local { name: format!("v{k}"), points_to: None, integer: Integer::LONG })
            .collect();
        let parameters = (0..parameters).map(LocalId).collect();
        let site = Site { file: 0, line: 1, column: 1 };
        self.library.methods.push(Method {
            name: name.to_owned(),
            parameters,
            locals,
            body,
            returns: false,
            site,
        });
    }

    fn reading(&mut self) -> Mode {
        let sc = self.dice.one_in(4);
        match (self.is_strong, sc) {
            (_, true) => Mode::SeqCst,
            (true, false) => Mode::Acquire,
            _ => self.dice.of(&[Mode::Relaxed, Mode::Acquire, Mode::Acquire]),
        }
    }

    fn writing(&mut self) -> Mode {
        let sc = self.dice.one_in(4);
        match (self.is_strong, sc) {
            (_, true) => Mode::SeqCst,
            (true, false) => Mode::Release,
            _ => self.dice.of(&[Mode::Relaxed, Mode::Release, Mode::Release]),
        }
    }

    fn updating(&mut self) -> Mode {
        let sc = self.dice.one_in(4);
        match (self.is_strong, sc) {
            (_, true) => Mode::SeqCst,
            (true, false) => Mode::AcqRel,
            _ => self.dice.of(&[Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel]),
        }
    }

    fn fence(&mut self) -> Statement {
        let order = self.dice.of(&[Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst, Mode::SeqCst]);
        self.access(AccessKind::Fence { order })
    }

    /// Methods of one to three accesses of two locations, of every kind.
    fn locations(&mut self) {
        let classes = [self.class("x"), self.class("y")];
        if self.dice.one_in(5) {
            self.library.classes[1].is_atomic = false;
        }
        let methods = 1 + self.dice.roll(3);
        for number in 0..methods {
            let mut body = Vec::new();
            for k in 0..1 + self.dice.roll(3) as u32 {
                let statement = self.statement(&classes, 1 + k);
                if self.dice.one_in(4) {
                    body.push(self.fence());
                }
                if k > 0 && self.dice.one_in(4) {
                    let condition = binary(Operator::Equal, local(k), Expr::Int(self.dice.roll(2) as i128));
                    body.push(Statement::If { condition, then: vec![statement], otherwise: vec![] });
                } else {
                    body.push(statement);
                }
            }
            self.method(&format!("m{number}"), 1, 6, body);
        }
        if self.dice.one_in(4) {
            self.library.contract.one_thread.push(vec!["m0".to_owned()]);
        }
    }

    /// Methods with a loop that is left when a value is read, between accesses of two locations.
    fn loops(&mut self) {
        let classes = [self.class("x"), self.class("y")];
        self.library.classes[1].is_atomic = !self.dice.one_in(5);
        for number in 0..1 + self.dice.roll(2) {
            let mut body = Vec::new();
            if self.dice.one_in(2) {
                body.push(self.statement(&classes, 1));
            }
            let mut inside = vec![self.statement(&classes, 2)];
            if self.dice.one_in(2) {
                inside.push(self.statement(&classes, 3));
            }
            let value = Expr::Int(self.dice.roll(2) as i128);
            let condition = binary(Operator::Equal, local(2), value);
            let at = self.dice.roll(1 + inside.len() as u64) as usize;
            let leave = Statement::If { condition, then: vec![Statement::Break(0)], otherwise: vec![] };
            inside.insert(at.max(1), leave);
            body.push(Statement::Loop { body: inside, site: Site { file: 0, line: 1, column: 1 } });
            if self.dice.one_in(2) {
                body.push(self.statement(&classes, 4));
            }
            self.method(&format!("m{number}"), 1, 6, body);
        }
        if self.dice.one_in(4) {
            self.library.contract.one_thread.push(vec!["m0".to_owned()]);
        }
    }

    fn statement(&mut self, classes: &[ClassId], to: u32) -> Statement {
        let class = self.dice.of(classes);
        let to = LocalId(to);
        let value = self.dice.of(&[0, 1, 2]);
        let value = if value == 2 { local(0) } else { Expr::Int(value) };
        let is_atomic = self.library.classes[class.0 as usize].is_atomic;
        let kind = match self.dice.roll(if is_atomic { 8 } else { 4 }) {
            0 | 1 => {
                let order = if is_atomic { self.reading() } else { Mode::Relaxed };
                AccessKind::Load { to, place: place(class), order }
            }
            2 | 3 => {
                let order = if is_atomic { self.writing() } else { Mode::Relaxed };
                AccessKind::Store { place: place(class), value, order }
            }
            4 => {
                let update = self.dice.of(&[Update::Add, Update::Exchange]);
                let order = self.updating();
                {
                    let (to, place, operand) = (Some(to), place(class), Expr::Int(1));
                    AccessKind::Rmw { to, place, update, integer: Integer::LONG, operand, order }
                }
            }
            5 => {
                let until = binary(Operator::Equal, Expr::Local(to), Expr::Int(self.dice.roll(2) as i128));
                AccessKind::Wait { to, place: place(class), until, order: self.reading() }
            }
            _ => {
                let success = self.updating();
                let failure = match success {
                    Mode::SeqCst => Mode::SeqCst,
                    order if order.is_acquire() => self.dice.of(&[Mode::Relaxed, Mode::Acquire]),
                    _ => Mode::Relaxed,
                };
                let is_blocking = self.dice.one_in(2);
                AccessKind::Cas {
                    succeeded: None,
                    found: Some(to),
                    place: place(class),
                    expected: Expr::Int(self.dice.roll(2) as i128),
                    desired: value,
                    success,
                    failure,
                    is_weak: false,
                    is_blocking,
                }
            }
        };
        self.access(kind)
    }

    /// A pointer to the newest node, a node's value, and perhaps the node before.
    fn published_nodes(&mut self) {
        self.library.records.push(Record { name: "node".to_owned() });
        let head = self.class("head");
        let value = self.class("node.value");
        let next = self.class("node.next");
        for field in [value, next] {
            self.library.classes[field.0 as usize].record = Some(RecordId(0));
            self.library.classes[field.0 as usize].is_atomic = self.dice.one_in(2);
        }
        let field = |class: ClassId, base: u32| Place { class, base: Some(local(base)), index: None };
        let mut body = vec![
            self.access(AccessKind::Allocate { to: LocalId(1), record: RecordId(0), is_zeroed: true }),
            self.access(AccessKind::Store { place: field(value, 1), value: local(0), order: Mode::Relaxed }),
        ];
        let swaps = self.dice.one_in(2);
        if swaps {
            let order = self.reading();
            body.push(self.access(AccessKind::Load { to: LocalId(2), place: place(head), order }));
            body.push(self.access(AccessKind::Store {
                place: field(next, 1),
                value: local(2),
                order: Mode::Relaxed,
            }));
            let success = self.updating();
            body.push(self.swap(head, local(2), local(1), success));
        } else {
            if self.dice.one_in(3) {
                body.push(self.fence());
            }
            let order = self.writing();
            body.push(self.access(AccessKind::Store { place: place(head), value: local(1), order }));
        }
        self.method("put", 1, 3, body);
        let order = self.reading();
        let mut body = vec![self.access(AccessKind::Load { to: LocalId(0), place: place(head), order })];
        if self.dice.one_in(3) {
            body.push(self.fence());
        }
        let mut then = vec![self.access(AccessKind::Load {
            to: LocalId(1),
            place: field(value, 0),
            order: Mode::Relaxed,
        })];
        if swaps {
            then.push(self.access(AccessKind::Load {
                to: LocalId(2),
                place: field(next, 0),
                order: Mode::Relaxed,
            }));
            let success = self.updating();
            then.push(self.swap(head, local(0), local(2), success));
        }
        body.push(Statement::If { condition: local(0), then, otherwise: vec![] });
        self.method("get", 0, 3, body);
    }

    fn swap(&mut self, class: ClassId, expected: Expr, desired: Expr, success: Mode) -> Statement {
        let failure = if success == Mode::SeqCst { Mode::SeqCst } else { Mode::Relaxed };
        self.access(AccessKind::Cas {
            succeeded: None,
            found: None,
            place: place(class),
            expected,
            desired,
            success,
            failure,
            is_weak: false,
            is_blocking: true,
        })
    }

    /// A cell array between two counters, of one thread each or of all.
    fn counters(&mut self) {
        let (head, tail, cells) = (self.class("head"), self.class("tail"), self.class("cells[]"));
        self.library.classes[cells.0 as usize].cells = Some(Some(4));
        self.library.classes[cells.0 as usize].is_atomic = self.dice.one_in(2);
        let is_single = !self.dice.one_in(3);
        let cell = |index: u32| Place { class: cells, base: None, index: Some(local(index)) };
        let next = |k: u32| binary(Operator::Add, local(k), Expr::Int(1));
        let mut body = Vec::new();
        if is_single {
            body.push(self.access(AccessKind::Load {
                to: LocalId(1),
                place: place(tail),
                order: Mode::Relaxed,
            }));
            body.push(self.access(AccessKind::Store {
                place: cell(1),
                value: local(0),
                order: Mode::Relaxed,
            }));
            let order = self.writing();
            body.push(self.access(AccessKind::Store { place: place(tail), value: next(1), order }));
        } else {
            let order = self.updating();
            let (to, place, operand) = (Some(LocalId(1)), place(tail), Expr::Int(1));
            body.push(self.access(AccessKind::Rmw {
                to,
                place,
                update: Update::Add,
                integer: Integer::LONG,
                operand,
                order,
            }));
            let order = if self.library.classes[2].is_atomic { self.writing() } else { Mode::Relaxed };
            body.push(self.access(AccessKind::Store { place: cell(1), value: local(0), order }));
        }
        self.method("put", 1, 2, body);
        let mut body = Vec::new();
        let reading = if self.library.classes[2].is_atomic { self.reading() } else { Mode::Relaxed };
        if is_single || self.dice.one_in(2) {
            body.push(self.access(AccessKind::Load {
                to: LocalId(0),
                place: place(head),
                order: Mode::Relaxed,
            }));
            let order = self.reading();
            body.push(self.access(AccessKind::Load { to: LocalId(1), place: place(tail), order }));
            let mut then =
                vec![self.access(AccessKind::Load { to: LocalId(2), place: cell(0), order: reading })];
            let order = self.writing();
            then.push(self.access(AccessKind::Store { place: place(head), value: next(0), order }));
            let condition = binary(Operator::Less, local(0), local(1));
            body.push(Statement::If { condition, then, otherwise: vec![] });
        } else {
            let order = self.updating();
            let (to, place, operand) = (Some(LocalId(0)), place(head), Expr::Int(1));
            body.push(self.access(AccessKind::Rmw {
                to,
                place,
                update: Update::Add,
                integer: Integer::LONG,
                operand,
                order,
            }));
            let until = binary(Operator::NotEqual, local(1), Expr::Int(0));
            body.push(self.access(AccessKind::Wait {
                to: LocalId(1),
                place: cell(0),
                until,
                order: reading,
            }));
        }
        self.method("get", 0, 3, body);
        if is_single {
            self.library.contract.one_thread = vec![vec!["put".to_owned()], vec!["get".to_owned()]];
        }
    }
}
