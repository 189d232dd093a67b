/* SPDX-License-Identifier: Apache-2.0 */
/* Plain data out of pickles, and what is refused: by name, at once, and in memory that the file's size bounds. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/snapshot/pickle.h"

static char message[256];

static int read_bytes(struct gmt_pickle *pickle, const void *data, size_t bytes)
{
    message[0] = '\0';
    return gmt_pickle_read(pickle, data, bytes, message, sizeof(message));
}

/* A literal may hold zeros; its end is none of it. */
#define READ(pickle, text) read_bytes((pickle), (text), sizeof(text) - 1)

static void refuses(const void *data, size_t bytes, const char *why)
{
    struct gmt_pickle pickle;

    cr_expect_eq(read_bytes(&pickle, data, bytes), -EINVAL, "%s", why);
    cr_expect_not_null(strstr(message, why), "%s: %s", why, message);
    gmt_pickle_free(&pickle);
}

#define REFUSES(text, why) refuses((text), sizeof(text) - 1, (why))

/* {"a": [1, -2, 1.5, None, True], "b": ("x", b"y")} as pickle.dumps(..., 4) writes it. */
static const char plain[] = "\x80\x04\x95\x2d\0\0\0\0\0\0\0}\x94(\x8c\x01"
                            "a\x94]\x94(K\x01J\xfe\xff\xff\xffG\x3f\xf8\0\0\0\0\0\0N\x88"
                            "e\x8c\x01"
                            "b\x94\x8c\x01x\x94"
                            "C\x01y\x94\x86\x94u.";

Test(pickle, reads_plain_data)
{
    struct gmt_pickle pickle;

    cr_assert_eq(READ(&pickle, plain), 0, "%s", message);
    const struct gmt_pickle_value *root = gmt_pickle_root(&pickle);
    const struct gmt_pickle_value *a = gmt_pickle_get(&pickle, root, "a");
    const struct gmt_pickle_value *b = gmt_pickle_get(&pickle, root, "b");

    cr_assert_eq(gmt_pickle_length(a), 5);
    cr_expect_eq(gmt_pickle_item(&pickle, a, 0)->integer, 1);
    cr_expect_eq(gmt_pickle_item(&pickle, a, 1)->integer, -2);
    cr_expect_float_eq(gmt_pickle_item(&pickle, a, 2)->real, 1.5, 0);
    cr_expect_eq(gmt_pickle_item(&pickle, a, 3)->type, GMT_PICKLE_NONE);
    cr_expect_eq(gmt_pickle_item(&pickle, a, 4)->type, GMT_PICKLE_BOOL);
    cr_assert_eq(gmt_pickle_length(b), 2);
    cr_expect(gmt_pickle_is_text(gmt_pickle_item(&pickle, b, 0), "x"));
    cr_expect_eq(gmt_pickle_item(&pickle, b, 1)->type, GMT_PICKLE_BYTES);
    cr_expect_null(gmt_pickle_get(&pickle, root, "c"));
    gmt_pickle_free(&pickle);
}

Test(pickle, refuses_every_file_that_ends_early)
{
    for (size_t bytes = 0; bytes < sizeof(plain) - 1; bytes++) {
        char *copy = malloc(bytes +
                            1); /* its own block: a read behind the end is found by a sanitizer */
        struct gmt_pickle pickle;

        memcpy(copy, plain, bytes);
        cr_expect_eq(read_bytes(&pickle, copy, bytes), -EINVAL, "%zu bytes", bytes);
        cr_expect_neq(message[0], '\0');
        gmt_pickle_free(&pickle);
        free(copy);
    }
    REFUSES("\x80\x04N.N", "byte 4: the file goes on after STOP");
}

Test(pickle, names_each_opcode_that_is_not_plain_data)
{
    static const struct {
        unsigned char code;
        const char *name;
    } refused[] = {
#define GMT_PICKLE_PLAIN(code, opcode, function)
#define GMT_PICKLE_REFUSED(code, opcode) {code, #opcode},
#include "analyzer/snapshot/pickle_opcodes.def"
    };

    cr_assert_eq(sizeof(refused) / sizeof(refused[0]), 31);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        unsigned char data[] = {0x80, 4, refused[i].code, 'o', 's', '\n', 's', '\n', '.'};
        char wanted[64];

        snprintf(wanted, sizeof(wanted), "byte 2: opcode %s makes more", refused[i].name);
        refuses(data, sizeof(data), wanted);
    }
    REFUSES("\x80\x04\xff.", "byte 2: 0xff is no opcode");
}

Test(pickle, refuses_what_no_pickler_writes)
{
    REFUSES("", "not a pickle");
    REFUSES("(dp0\n.", "not a pickle of protocol 2 to 5");
    REFUSES("\x80\x01N.", "protocol 1");
    REFUSES("\x80\x06N.", "protocol 6");
    REFUSES("\x80\x04.", "STOP finds too few");
    REFUSES("\x80\x04NN.", "STOP with 1 values left over");
    REFUSES("\x80\x04h\x05.", "memo 5, which was not put");
    REFUSES("\x80\x04Nr\xff\xff\xff\xff.", "memo 4294967295 where the next is 0");
    REFUSES("\x80\x04X\xff\xff\xff\xffx.", "the file ends within BINUNICODE");
    REFUSES("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffx.", "the file ends within BINUNICODE8");
    REFUSES("\x80\x04\x8b\xff\xff\xff\xffx.", "the file ends within LONG4");
    REFUSES("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff.", "the file ends within FRAME");
    REFUSES("\x80\x04"
            "a.",
            "APPEND finds too few");
    REFUSES("\x80\x04NNa.", "APPEND finds no list");
    REFUSES("\x80\x04]NNs.", "SETITEM finds no dict");
    REFUSES("\x80\x04}(Nu.", "a key without a value");
    REFUSES("\x80\x04}(]Nu.", "a key of a dict is a list");
    REFUSES("\x80\x04t.", "TUPLE without MARK");
    REFUSES("\x80\x04N(\x85.", "TUPLE1 finds too few values");
}

Test(pickle, reads_integers_of_any_length)
{
    static const struct {
        const char *data;
        size_t bytes;
        int64_t value;
    } cases[] = {
#define CASE(text, value) {text, sizeof(text) - 1, value}
        CASE("\x80\x02\x8a\0.", 0),
        CASE("\x80\x02\x8a\x01\xff.", -1),
        CASE("\x80\x02\x8a\x02\xff\0.", 255),
        CASE("\x80\x02\x8a\x06\0\0\0\0\0\x7f.", INT64_C(0x7f0000000000)),
        CASE("\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", INT64_MAX),
        CASE("\x80\x02\x8a\x08\0\0\0\0\0\0\0\x80.", INT64_MIN),
        CASE("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0.", INT64_MAX), /* SIZE_MAX */
        CASE("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\xff.", INT64_MIN),
        CASE("\x80\x02\x8b\x01\0\0\0\x05.", 5),
        CASE("\x80\x02M\xff\xff.", 65535),
#undef CASE
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_pickle pickle;

        cr_assert_eq(read_bytes(&pickle, cases[i].data, cases[i].bytes), 0, "%zu: %s", i, message);
        cr_expect_eq(gmt_pickle_root(&pickle)->integer, cases[i].value, "%zu", i);
        gmt_pickle_free(&pickle);
    }
}

/* Each list holds the one before it twice: 2^N if it were copied. */
Test(pickle, keeps_shared_values_shared)
{
    enum { LEVELS = 200 };
    unsigned char data[2 + 8 * LEVELS + 8] = {0x80, 4, ']', 0x94};
    size_t used = 4;
    struct gmt_pickle pickle;

    for (unsigned i = 0; i < LEVELS; i++) {
        const unsigned char memo = (unsigned char)i;
        const unsigned char level[] = {']', '(', 'h', memo, 'h', memo, 'e', 0x94};

        memcpy(data + used, level, sizeof(level));
        used += sizeof(level);
    }
    data[used++] = 0x85;
    data[used++] = '.';
    /* The lists below are left over: they are only in the memo. */
    cr_assert_eq(read_bytes(&pickle, data, used), -EINVAL);
    cr_expect_not_null(strstr(message, "left over"), "%s", message);
    cr_expect_leq(pickle.count, LEVELS + 2);
    gmt_pickle_free(&pickle);
    /* l = []; l.append(l) */
    cr_assert_eq(READ(&pickle, "\x80\x04]\x94h\0a."), 0, "%s", message);
    cr_expect_eq(gmt_pickle_item(&pickle, gmt_pickle_root(&pickle), 0), gmt_pickle_root(&pickle));
    gmt_pickle_free(&pickle);
}

Test(pickle, is_as_deep_as_it_likes_without_recursion)
{
    enum { DEEP = 1000000 };
    unsigned char *data = malloc(2 * DEEP + 4);
    struct gmt_pickle pickle;

    data[0] = 0x80;
    data[1] = 4;
    memset(data + 2, ']', DEEP);
    memset(data + 2 + DEEP, 'a', DEEP - 1);
    data[2 * DEEP + 1] = '.';
    cr_expect_eq(read_bytes(&pickle, data, 2 * DEEP + 2), 0, "%s", message);
    cr_expect_eq(pickle.count, DEEP);
    gmt_pickle_free(&pickle);
    memset(data + 2, '(', DEEP);
    refuses(data, DEEP, "more than 1,024 containers within each other");
    free(data);
}

/* Of a dict with very many keys only the last are looked at, so that many look-ups of it are cheap. */
Test(pickle, takes_the_last_value_of_a_key)
{
    struct gmt_pickle pickle;

    cr_assert_eq(READ(&pickle, "\x80\x04}(\x8c\x01"
                               "aK\x01\x8c\x01"
                               "aK\x02u."),
                 0, "%s", message);
    cr_expect_eq(gmt_pickle_get(&pickle, gmt_pickle_root(&pickle), "a")->integer, 2);
    gmt_pickle_free(&pickle);
}
