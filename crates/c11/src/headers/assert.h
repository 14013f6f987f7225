/* assert is known to the reader by name: it evaluates its argument. */
#ifdef static_assert
#undef static_assert
#endif
#define static_assert _Static_assert
