//! Answers as JSON, each validated against the schema that users have.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::sync::LazyLock;

static SCHEMA: LazyLock<(Schemas, SchemaIndex)> = LazyLock::new(|| {
    let schema = include_str!("../../../../docs/answer.schema.json");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let schema = serde_json::from_str(schema).expect("docs/answer.schema.json is JSON");
    compiler.add_resource("answer.schema.json", schema).expect("a schema");
    let index = compiler.compile("answer.schema.json", &mut schemas).expect("a schema");
    (schemas, index)
});

/// The answer in a line.
#[track_caller]
pub fn answer(line: &str) -> Value {
    let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let (schemas, index) = &*SCHEMA;
    if let Err(error) = schemas.validate(&value, *index) {
        panic!("not what docs/answer.schema.json says: {error:#}\n{line}");
    }
    assert_eq!(value["schema"], 1);
    value
}
