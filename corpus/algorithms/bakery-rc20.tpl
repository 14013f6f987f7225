// The bakery with explicit modes and fences after each announcement, critical section not atomic (Lamport, A new solution of Dijkstra's concurrent programming problem, CACM 1974).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 4;
global choosing1, choosing2, number1, number2;
na inside_id;

fn t1 {
    local section, mine, theirs, inside;
    while (section < 2) {
        choosing1.store(1, rel);
        fence;
        theirs = number2.load(acq);
        mine = theirs + 1;
        number1.store(mine, rel);
        choosing1.store(0, rel);
        fence;
        wait(choosing2, 0, acq);
        theirs = number2.load(acq);
        while (theirs != 0 && theirs < mine) {
            theirs = number2.load(acq);
        }

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        number1.store(0, rel);
        section = section + 1;
    }
}

fn t2 {
    local section, mine, theirs, inside;
    while (section < 1) {
        choosing2.store(1, rel);
        fence;
        theirs = number1.load(acq);
        mine = theirs + 1;
        number2.store(mine, rel);
        choosing2.store(0, rel);
        fence;
        wait(choosing1, 0, acq);
        theirs = number1.load(acq);
        while (theirs != 0 && theirs <= mine) {
            theirs = number1.load(acq);
        }

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        number2.store(0, rel);
        section = section + 1;
    }
}
