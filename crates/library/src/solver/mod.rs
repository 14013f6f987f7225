//! Z3 behind a pipe: questions in SMT-LIB, answers with models and cores.
