//! States packed into as few bits as they need.

use seqcst_monitor::finite::Shape;

/// Where each word of a state goes in its packed form.
pub struct Layout {
    /// Index of the word and how many bits of it are used, for the words that use any.
    fields: Vec<(u32, u32)>,
    words: usize,
    packed: usize,
}

impl Layout {
    pub fn new(shape: &Shape, local_bits: u8, value_bits: u8) -> Layout {
        let mut widths = Vec::new();
        for _ in 0..shape.threads {
            widths.push(local_bits);
            widths.extend(&shape.thread_widths[1..]);
        }
        for location in &shape.location_widths {
            widths.push(value_bits);
            widths.extend(&location[1..]);
        }
        let fields: Vec<(u32, u32)> = widths
            .iter()
            .enumerate()
            .filter(|(_, width)| **width > 0)
            .map(|(word, width)| (word as u32, u32::from(*width)))
            .collect();
        let bits: u32 = fields.iter().map(|(_, width)| width).sum();
        Layout { fields, words: widths.len(), packed: (bits as usize).div_ceil(64).max(1) }
    }

    /// Words in a state.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Words in a packed state.
    pub fn packed(&self) -> usize {
        self.packed
    }

    pub fn pack(&self, state: &[u64], packed: &mut [u64]) {
        let (mut word, mut used, mut at) = (0u64, 0u32, 0);
        for &(field, width) in &self.fields {
            let value = state[field as usize];
            word |= value << used;
            used += width;
            if used >= 64 {
                packed[at] = word;
                at += 1;
                used -= 64;
                // The bits of `value` that did not fit any more.
                word = if used == 0 { 0 } else { value >> (width - used) };
            }
        }
        if used > 0 {
            packed[at] = word;
            at += 1;
        }
        packed[at..].fill(0);
    }

    pub fn unpack(&self, packed: &[u64], state: &mut [u64]) {
        state.fill(0);
        let (mut at, mut used) = (0, 0u32);
        for &(field, width) in &self.fields {
            let mut value = packed[at] >> used;
            let here = 64 - used;
            used += width;
            if used >= 64 {
                at += 1;
                used -= 64;
                if used > 0 {
                    value |= packed[at] << here;
                }
            }
            state[field as usize] = if width == 64 { value } else { value & ((1 << width) - 1) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_undoes_packing() {
        let shape = Shape {
            threads: 3,
            locations: 2,
            thread_widths: vec![0, 7, 64, 0, 33],
            location_widths: vec![vec![0, 5, 64, 1], vec![0, 0, 0, 0]],
        };
        let layout = Layout::new(&shape, 13, 8);
        let mut random = seqcst_model::sample::Random::new(1);
        for _ in 0..1000 {
            let mut state = vec![0; layout.words()];
            for &(field, width) in &layout.fields {
                let value = random.draw();
                state[field as usize] = if width == 64 { value } else { value & ((1 << width) - 1) };
            }
            let mut packed = vec![0; layout.packed()];
            layout.pack(&state, &mut packed);
            let mut again = vec![1; layout.words()];
            layout.unpack(&packed, &mut again);
            assert_eq!(state, again);
        }
    }
}
