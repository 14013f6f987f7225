//! The whole object, and text that needs escaping.

use super::super::found::Access;
use super::super::misuse::Misuse;
use super::*;
use crate::context::Site;
use crate::journal::EventKind;
use expect_test::expect;
use seqcst_model::Mode;

fn shown(what: EventKind, mode: Option<Mode>) -> Shown {
    let frame = Frame { function: "f<\"a\\b\">".into(), file: "/x.c".into(), line: 3, ..Frame::default() };
    let access = Access { thread: 1, what, mode, addr: 0x1000, size: 8, site: Site::UNKNOWN };
    Shown { access, stack: vec![frame], variable: Some("tab\there".into()) }
}

#[test]
fn whole_object() {
    let race = Report {
        kind: Kind::Race,
        fate: Fate::Error,
        count: 0,
        access: shown(EventKind::Store, None),
        other: Some(shown(EventKind::Load, Some(Mode::Acquire))),
        older: None,
        swap: None,
        freed: false,
        chain: Vec::new(),
        repair: String::new(),
    };
    let misuse = Report {
        kind: Kind::Misuse(Misuse::UseAfterFree),
        other: Some(shown(EventKind::Free, None)),
        older: Some(shown(EventKind::Allocate, None)),
        ..race.clone()
    };
    let hidden = Report { kind: Kind::Stale, fate: Fate::StdLock, other: None, ..race.clone() };
    let suppressed = Report { fate: Fate::Suppressed(0), ..race.clone() };
    let reports = [race, misuse, hidden, suppressed];
    let mut rules = crate::suppress::parse("s", "race:f").unwrap();
    let counts = Counts::of(&reports, &[4, 1, 2, 9], &mut rules);
    let process = Process {
        pid: 7,
        program: "/bin/p",
        model: "rc20",
        reports: &reports,
        occurrences: &[4, 1, 2, 9],
        counts: &counts,
        rules: &rules,
        notes: &["a note".to_owned()],
    };
    expect![[r#"
        {"tool":"seqcst","pid":7,"program":"/bin/p","model":"rc20","reports":[{"kind":"race","error":true,"count":4,"access":{"thread":1,"what":"store","mode":"plain","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]},
        "earlier":{"thread":1,"what":"load","mode":"acquire","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]},
        "freed":false},
        {"kind":"misuse","problem":"use after free","error":true,"count":1,"access":{"thread":1,"what":"store","mode":"plain","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]},
        "earlier":{"thread":1,"what":"free","mode":"plain","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]},
        "allocated":{"thread":1,"what":"allocation","mode":"plain","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]}},
        {"kind":"benign-wait","error":false,"origin":"std","count":2,"access":{"thread":1,"what":"store","mode":"plain","addr":"0x1000","size":8,"variable":"tab\u0009here","headline":0,"stack":[{"function":"f<\"a\\b\">","file":"/x.c","line":3,"column":0,"module":"","offset":"0x0","inlined":false}]},
        "chain":[],"repair":""}],"counts":{"violations":0,"races":1,"misuses":1,"benign_waits":0,"std_internal":1,"suppressed":1,"occurrences":5},
        "suppressed":[{"rule":"race:f","place":"s:1","reports":1,"occurrences":9}],"notes":["a note"]}
    "#]].assert_eq(&render(&process).replace("},", "},\n"));
}
