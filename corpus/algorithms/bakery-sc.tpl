// The bakery for two threads, two critical sections and one, as designed for SC (Lamport, A new solution of Dijkstra's concurrent programming problem, CACM 1974).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 4;
global choosing1, choosing2, number1, number2, inside_id;

fn t1 {
    local section, mine, theirs, inside;
    while (section < 2) {
        choosing1.store(1);
        theirs = number2.load();
        mine = theirs + 1;
        number1.store(mine);
        choosing1.store(0);
        wait(choosing2, 0);
        theirs = number2.load();
        while (theirs != 0 && theirs < mine) {
            theirs = number2.load();
        }

        inside_id.store(1);
        inside = inside_id.load();
        assert(inside == 1);

        number1.store(0);
        section = section + 1;
    }
}

fn t2 {
    local section, mine, theirs, inside;
    while (section < 1) {
        choosing2.store(1);
        theirs = number1.load();
        mine = theirs + 1;
        number2.store(mine);
        choosing2.store(0);
        wait(choosing1, 0);
        theirs = number1.load();
        while (theirs != 0 && theirs <= mine) {
            theirs = number1.load();
        }

        inside_id.store(2);
        inside = inside_id.load();
        assert(inside == 2);

        number2.store(0);
        section = section + 1;
    }
}
