//! Several libraries as one, to try clients that call all of them.

use crate::code::{
    Access, AccessKind, ClassId, Contract, Label, Library, Method, Place, RecordId, Site, Statement,
};

/// What the numbers of one library have to be raised by.
#[derive(Clone, Copy)]
struct Shift {
    files: u32,
    classes: u32,
    records: u32,
    labels: u32,
}

/// All methods on all locations. Names of methods are different: libraries are disjoint.
pub fn merge(libraries: &[&Library]) -> Library {
    let mut out = Library::default();
    let mut labels = 0;
    for library in libraries {
        let shift = Shift {
            files: out.files.len() as u32,
            classes: out.classes.len() as u32,
            records: out.records.len() as u32,
            labels,
        };
        out.files.extend(library.files.iter().cloned());
        out.records.extend(library.records.iter().cloned());
        for class in &library.classes {
            let mut class = class.clone();
            class.record = class.record.map(|record| shift.record(record));
            out.classes.push(class);
        }
        for method in &library.methods {
            let mut method = method.clone();
            shift.method(&mut method, &mut labels);
            out.methods.push(method);
        }
        let Contract { one_thread, setup, points, .. } = &library.contract;
        out.contract.one_thread.extend(one_thread.iter().cloned());
        out.contract.setup.extend(setup.iter().cloned());
        out.contract.points.extend(points.iter().map(|label| Label(label.0 + shift.labels)));
    }
    out
}

impl Shift {
    fn record(self, RecordId(id): RecordId) -> RecordId {
        RecordId(id + self.records)
    }

    fn site(self, site: &mut Site) {
        site.file += self.files;
    }

    /// `labels` becomes larger than all labels.
    fn method(self, method: &mut Method, labels: &mut u32) {
        self.site(&mut method.site);
        for local in &mut method.locals {
            local.points_to = local.points_to.map(|record| self.record(record));
        }
        self.block(&mut method.body, labels);
    }

    fn block(self, block: &mut [Statement], labels: &mut u32) {
        for statement in block {
            match statement {
                Statement::Access(access) => self.access(access, labels),
                Statement::If { then, otherwise, .. } => {
                    self.block(then, labels);
                    self.block(otherwise, labels);
                }
                Statement::Loop { body, site } => {
                    self.site(site);
                    self.block(body, labels);
                }
                Statement::Assign { .. }
                | Statement::Break(_)
                | Statement::Continue(_)
                | Statement::Return(_)
                | Statement::Assume(_) => {}
            }
        }
    }

    fn access(self, access: &mut Access, labels: &mut u32) {
        access.label.0 += self.labels;
        *labels = (*labels).max(access.label.0 + 1);
        self.site(&mut access.site);
        match &mut access.kind {
            AccessKind::Load { place, .. }
            | AccessKind::Wait { place, .. }
            | AccessKind::Store { place, .. }
            | AccessKind::Rmw { place, .. }
            | AccessKind::Cas { place, .. } => self.place(place),
            AccessKind::Allocate { record, .. } | AccessKind::Free { record, .. } => {
                *record = self.record(*record)
            }
            AccessKind::Fence { .. } => {}
        }
    }

    fn place(self, place: &mut Place) {
        let ClassId(id) = place.class;
        place.class = ClassId(id + self.classes);
    }
}
