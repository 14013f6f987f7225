#ifndef SEQCST_STDNORETURN_H
#define SEQCST_STDNORETURN_H
#define noreturn _Noreturn
#endif
