#ifndef SEQCST_STDALIGN_H
#define SEQCST_STDALIGN_H
#define alignas _Alignas
#define alignof _Alignof
#endif
