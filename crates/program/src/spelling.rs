//! "Did you mean …?": the declared name nearest to an unknown one.

/// The candidate at the smallest edit distance, if it is near enough to be a slip of the pen.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a &'a str>) -> Option<&'a str> {
    let limit = name.len().min(9) / 3;
    let near =
        candidates.filter(|c| c.len().abs_diff(name.len()) <= limit).map(|c| (edit_distance(name, c), *c));
    near.filter(|(distance, _)| *distance <= limit).min().map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one name into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Three rows are enough: a swap looks two back.
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("strat", "start"), 1);
        assert_eq!(closest("conuter", ["x", "counter"].iter()), Some("counter"));
        assert_eq!(closest("a", ["b"].iter()), None);
    }
}
