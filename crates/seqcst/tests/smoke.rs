use seqcst::sync::Arc;
use seqcst::sync::atomic::{AtomicUsize, Ordering::*};
use seqcst::{Builder, thread};

#[test]
fn sb() {
    for (a, b) in [(Relaxed, Relaxed), (Release, Acquire), (SeqCst, SeqCst)] {
        let e = Builder::new().explore(|| {
            let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (x2, y2) = (x.clone(), y.clone());
            let t1 = thread::spawn(move || {
                x.store(1, a);
                y.load(b)
            });
            let t2 = thread::spawn(move || {
                y2.store(1, a);
                x2.load(b)
            });
            let (a, b) = (t1.join().unwrap(), t2.join().unwrap());
            assert!(a == 1 || b == 1);
        });
        println!("{}", e.summary());
        println!("{}", e.report().unwrap_or("fine"));
    }
}
