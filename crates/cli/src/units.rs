//! Durations and sizes as users write them: `10`, `1.5`, `2m`; `2GB`, `500MB`, `4GiB`.

use std::time::Duration;

/// A duration: a positive number of seconds, or of the unit that follows it.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = "expected a number of seconds like 10 or 1.5, or with a unit: 500ms, 30s, 2m, 1h";
    let (number, unit) = split(text).ok_or(expected)?;
    let seconds = match unit.as_str() {
        "" | "s" | "sec" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected.to_owned()),
    };
    let duration = Duration::try_from_secs_f64(number * seconds).map_err(|_| "too long")?;
    if duration.is_zero() { Err("must be more than 0".to_owned()) } else { Ok(duration) }
}

/// A size in bytes: a positive number, with a decimal or binary unit.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let expected = "expected a size like 500MB, 2GB or 4GiB";
    let (number, unit) = split(text).ok_or(expected)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(expected.to_owned()),
    };
    let bytes = number * factor as f64;
    if bytes < 1.0 {
        return Err("must be at least one byte".to_owned());
    }
    if bytes >= u64::MAX as f64 { Err("too large".to_owned()) } else { Ok(bytes as u64) }
}

/// A number without sign or exponent, and what follows it.
fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ms = |text| parse_duration(text).map(|d| d.as_millis());
        assert_eq!(ms("10"), Ok(10_000));
        assert_eq!(ms("1.5"), Ok(1500));
        assert_eq!(ms("2m"), Ok(120_000));
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("1 h"), Ok(3_600_000));
        for bad in ["", "0", "-1", "1e9", "nan", "inf", "2x", "1.2.3", "m", "99999999999999999999999999"] {
            assert!(ms(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("2GB"), Ok(2_000_000_000));
        assert_eq!(parse_size("500mb"), Ok(500_000_000));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1.5k"), Ok(1500));
        assert_eq!(parse_size("123"), Ok(123));
        for bad in ["", "0", "-5", "2XB", "GB", "999999999999TB", "1..5k"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
