// Functions on memory and strings give what they should, called directly and by pointer.
#define _GNU_SOURCE
#include "check.h"
#include <string.h>
#include <strings.h>

// Kept from the compiler, which would work them out.
__attribute__((noinline)) static void *OPAQUE(const void *value) {
    __asm__("" : "+r"(value));
    return (void *)value;
}

int main(void) {
    char a[64] = "hello, world", b[64], *text = OPAQUE(a);
    CHECK(memcpy(OPAQUE(b), text, 13) == b && !memcmp(OPAQUE(b), text, 13));
    CHECK(memmove(OPAQUE(b + 1), OPAQUE(b), 13) == b + 1 && !strcmp(OPAQUE(b), "hhello, world"));
    CHECK(mempcpy(OPAQUE(b), text, 5) == b + 5);
    CHECK(memset(OPAQUE(b), 'z', 3) == b && b[2] == 'z' && b[3] == 'l');
    CHECK(memcmp(OPAQUE("abc"), OPAQUE("abd"), 3) < 0 && memcmp(OPAQUE("x"), OPAQUE("y"), 0) == 0);
    CHECK(bcmp(OPAQUE("abc"), OPAQUE("abc"), 3) == 0 && bcmp(OPAQUE("abc"), OPAQUE("abd"), 3) != 0);
    CHECK(memchr(text, 'w', 13) == a + 7 && memchr(text, '#', 13) == NULL);
    CHECK(strlen(text) == 12 && strnlen(text, 5) == 5 && strnlen(text, 50) == 12 && strnlen(text, 0) == 0);
    CHECK(strcpy(OPAQUE(b), text) == b && !strcmp(OPAQUE(b), text));
    CHECK(stpcpy(OPAQUE(b), OPAQUE("ab")) == b + 2);
    CHECK(strncpy(OPAQUE(b), text, 3) == b && !memcmp(b, "hel", 3));
    CHECK(strncpy(OPAQUE(b), OPAQUE("q"), 4) == b && !memcmp(b, "q\0\0\0", 4));
    strcpy(b, "ab");
    CHECK(strcat(OPAQUE(b), OPAQUE("cd")) == b && !strcmp(b, "abcd"));
    CHECK(strncat(OPAQUE(b), OPAQUE("efgh"), 2) == b && !strcmp(b, "abcdef"));
    CHECK(strncat(OPAQUE(b), OPAQUE("g"), 9) == b && !strcmp(b, "abcdefg"));
    CHECK(strcmp(OPAQUE("a"), OPAQUE("b")) < 0 && strcmp(OPAQUE("b"), OPAQUE("a")) > 0 && strcmp(OPAQUE(""), OPAQUE("")) == 0);
    CHECK(strncmp(OPAQUE("abx"), OPAQUE("aby"), 2) == 0 && strncmp(OPAQUE("abx"), OPAQUE("aby"), 3) < 0);
    CHECK(strchr(text, 'o') == a + 4 && strchr(text, '#') == NULL && strchr(text, 0) == a + 12);
    CHECK(strrchr(text, 'o') == a + 8 && strrchr(text, '#') == NULL);
    CHECK(strstr(text, OPAQUE("world")) == a + 7 && strstr(text, OPAQUE("word")) == NULL && strstr(text, OPAQUE("")) == a);
    char *copy = strdup(text), *part = strndup(text, 4);
    CHECK(!strcmp(copy, text) && !strcmp(part, "hell"));
    free(copy);
    free(part);
    void *(*volatile copying)(void *, const void *, size_t) = memcpy;
    CHECK(copying(b, a, 13) == b && !strcmp(b, a));
    char *large = malloc(1 << 20), *other = malloc(1 << 20);
    memset(large, 5, 1 << 20);
    memcpy(other, large, 1 << 20);
    CHECK(!memcmp(large, other, 1 << 20));
    memmove(other + 7, other, (1 << 20) - 7);
    CHECK(other[(1 << 20) - 1] == 5);
    free(large);
    free(other);
    puts("strings: ok");
    return 0;
}
