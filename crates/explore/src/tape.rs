//! Tapes as people see them: `0x5,1x3,?1,0` is five turns of thread 0, three of thread 1, of which the last takes way 1 of
//! those that it can choose from, and one of thread 0.

use crate::{CHOICE, ThreadId};

/// The most turns that a tape can have.
const LONGEST: usize = 1 << 24;

/// A tape in short.
pub fn show(tape: &[ThreadId]) -> String {
    let runs = tape.chunk_by(|a, b| a == b);
    let shown = runs.map(|run| {
        let entry = match run[0] & CHOICE {
            0 => run[0].to_string(),
            _ => format!("?{}", run[0] & !CHOICE),
        };
        if run.len() == 1 { entry } else { format!("{entry}x{}", run.len()) }
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Reads what [`show`] wrote; else says what is wrong with it, and where (columns from 1).
pub fn read(text: &str) -> Result<Vec<ThreadId>, String> {
    let mut tape = Vec::new();
    let mut at = 0;
    for part in text.split([',', ' ', '\n', '\r', '\t']) {
        let column = text[..at].chars().count() + 1;
        at += part.len() + 1;
        if part.is_empty() {
            continue;
        }
        let (entry, many) = part.split_once('x').unwrap_or((part, "1"));
        let (number, choice) = entry.strip_prefix('?').map_or((entry, 0), |number| (number, CHOICE));
        let bad = || format!("`{part}` at column {column} is no turn: a tape looks like 0x5,1x3,0");
        let number: ThreadId = number.parse().map_err(|_| bad())?;
        let many: usize = many.parse().map_err(|_| bad())?;
        if number & CHOICE != 0 {
            return Err(bad());
        }
        if many > LONGEST - tape.len() {
            return Err(format!("the tape has more than {LONGEST} turns"));
        }
        tape.extend(std::iter::repeat_n(number | choice, many));
    }
    Ok(tape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read() {
        for tape in [&[][..], &[0], &[0, 0, 0], &[3, 1, 1, 0, 0, 17], &[0, CHOICE | 2, 0, CHOICE]] {
            assert_eq!(read(&show(tape)), Ok(tape.to_vec()));
        }
        assert_eq!(show(&[0, 0, 1, 0]), "0x2,1,0");
        assert_eq!(read(" 0x2,\n1 "), Ok(vec![0, 0, 1]));
        assert_eq!(show(&[0, CHOICE | 3, 0]), "0,?3,0");
        assert!(read("0x2, 1y").is_err_and(|error| error.contains("`1y` at column 6")));
        for bad in [
            "x",
            "0x",
            "a",
            "1x-1",
            "-1",
            "0x99999999",
            "1;2",
            "99999999999",
            "?",
            "x?1",
            "4294967295",
            "?2147483648",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
