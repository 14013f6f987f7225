//! Random scripts.

use super::{Do, Script};
use seqcst_model::sample::Random as Rng;

fn below(rng: &mut Rng, many: usize) -> usize {
    rng.pick(many as u32) as usize
}

/// A script of two to four threads; what it is about depends on the seed.
pub fn script(seed: u64) -> Script {
    let mut rng = Rng::new(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let threads = 2 + below(&mut rng, 2) + usize::from(below(&mut rng, 5) == 0);
    let about = below(&mut rng, 10);
    let mut script: Vec<Vec<Do>> = (0..threads).map(|_| body(&mut rng, about, threads)).collect();
    if about == 7 {
        // Thread 0 creates the last one, and may wait for its end.
        let last = threads as u32 - 1;
        let at = below(&mut rng, script[0].len() + 1);
        script[0].insert(at, Do::Spawn(last));
        if below(&mut rng, 2) == 0 {
            let later = at + 1 + below(&mut rng, script[0].len() - at);
            script[0].insert(later, Do::Join(last));
        }
    }
    // What comes after trying must stay where it is.
    if about != 2 && below(&mut rng, 4) == 0 {
        let (by, at) = (below(&mut rng, threads), below(&mut rng, threads - 1));
        let target = if at < by { at } else { at + 1 };
        let at = below(&mut rng, script[by].len() + 1);
        script[by].insert(at, Do::Everywhere(target as u32));
    }
    Script(script)
}

fn body(rng: &mut Rng, about: usize, threads: usize) -> Vec<Do> {
    let mut body = Vec::new();
    let parts = 1 + below(rng, if threads > 2 { 2 } else { 3 });
    for _ in 0..parts {
        let (x, y) = (below(rng, 2) as u8, below(rng, 2) as u8);
        let access = [Do::Load(x), Do::Store(x), Do::Rmw(x), Do::Cas(x)][below(rng, 4)];
        let other = [Do::Load(y), Do::Store(y)][below(rng, 2)];
        match (about, below(rng, 4)) {
            (_, 0) => body.push(access),
            // Locks, nested or tried.
            (1, 1) => body.extend([Do::Lock(x), Do::Lock(x + 2), access, Do::Unlock(x + 2), Do::Unlock(x)]),
            (1, 2) => body.extend([Do::Lock(x + 2), Do::Lock(x), Do::Unlock(x), Do::Unlock(x + 2)]),
            (1, _) => body.extend([Do::Lock(x), other, Do::Unlock(x)]),
            (2, 1) => body.extend([Do::TryLock(0), access, Do::Unlock(0)]),
            (2, 2) => body.extend([Do::ReadLock(0), access, Do::ReadUnlock(0)]),
            (2, _) => body.extend([Do::Lock(0), Do::Unlock(0)]),
            // Semaphores.
            (3, 1) => body.extend([Do::Post(x), access]),
            (3, 2) => body.extend([Do::Take(x), other]),
            (3, _) => body.extend([Do::Post(x), Do::Take(y)]),
            (9, 1 | 2) => body.extend([Do::Send(0), access]),
            (9, _) => body.extend([Do::Take(0), other]),
            // Condition variables.
            (4, 1) => body.extend([Do::Lock(0), Do::Wait(0), Do::Unlock(0)]),
            (4, 2) => body.extend([Do::Lock(0), Do::TimedWait(0), Do::Unlock(0)]),
            (4, _) => body.push([Do::Signal(0), Do::SignalAny(0), Do::Broadcast(0)][below(rng, 3)]),
            // Barriers, spin loops, yields.
            (5, 1) => body.extend([Do::Arrive(0), Do::Pass(0)]),
            (5, _) => body.extend([other, access]),
            (6, 1) => body.push(Do::Spin(x)),
            (6, 2) => body.push(Do::SpinTwo(0, 1)),
            (6, _) => body.push(Do::Store(y)),
            // The end of it all.
            (8, 1) => body.push(Do::Exit),
            (8, 2) => body.push(Do::Check(x)),
            (8, _) => body.extend([other, Do::Yield]),
            _ => body.extend([access, other]),
        }
    }
    body
}
