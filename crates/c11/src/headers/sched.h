/* sched_yield is known to the reader by name. */
