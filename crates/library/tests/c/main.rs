//! The C front end: what comes out of it, what it refuses, and that nothing makes it panic.

mod corpus;
