//! What must hold for every input, whatever the format.

use seqcst_model::Model;
use seqcst_program::{lower, parse, print};

/// Parses as if the file had this name; whatever is accepted must lower for every model, and print and parse back to
/// an equal tree.
pub fn survives(source: &[u8], name: &str) {
    let parsed = match parse(source, name) {
        Ok(parsed) => parsed,
        Err(error) => {
            let span = error.span();
            assert!(span.start <= span.end && span.end <= source.len(), "{error}: {span:?} is outside the source");
            return;
        }
    };
    for model in Model::WATCHED {
        lower(&parsed.program, model).expect("programs are checked against this model");
    }
    let printed = print(&parsed.program);
    let again = parse(printed.as_bytes(), "printed.tpl").unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.program, parsed.program, "printing changed the program\n{printed}");
}
