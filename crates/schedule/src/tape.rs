//! Tapes as people see them: `0x5,1x3,0` is five turns of thread 0, three of thread 1, one of thread 0.

use crate::ThreadId;

/// The most turns that a tape can have.
const LONGEST: usize = 1 << 24;

/// A tape in short.
pub fn show(tape: &[ThreadId]) -> String {
    let runs = tape.chunk_by(|a, b| a == b);
    let shown = runs.map(|run| match run.len() {
        1 => run[0].to_string(),
        many => format!("{}x{many}", run[0]),
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Reads what [`show`] wrote; else says what is wrong with it.
pub fn read(text: &str) -> Result<Vec<ThreadId>, String> {
    let mut tape = Vec::new();
    let mut parts = text.split([',', ' ', '\n', '\r', '\t']).filter(|part| !part.is_empty());
    parts.try_for_each(|part| {
        let (thread, many) = part.split_once('x').unwrap_or((part, "1"));
        let bad = || format!("`{part}` is no turn: a tape looks like 0x5,1x3,0");
        let thread: ThreadId = thread.parse().map_err(|_| bad())?;
        let many: usize = many.parse().map_err(|_| bad())?;
        if many > LONGEST - tape.len() {
            return Err(format!("the tape has more than {LONGEST} turns"));
        }
        tape.extend(std::iter::repeat_n(thread, many));
        Ok(())
    })?;
    Ok(tape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read() {
        for tape in [&[][..], &[0], &[0, 0, 0], &[3, 1, 1, 0, 0, 17]] {
            assert_eq!(read(&show(tape)), Ok(tape.to_vec()));
        }
        assert_eq!(show(&[0, 0, 1, 0]), "0x2,1,0");
        assert_eq!(read(" 0x2,\n1 "), Ok(vec![0, 0, 1]));
        for bad in ["x", "0x", "a", "1x-1", "-1", "0x99999999", "1;2", "99999999999"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
