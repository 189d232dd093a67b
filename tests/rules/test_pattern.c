/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a kernel, as a GPU counts them, show its pattern of access; what they cannot show is left open. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

#include "analyzer/price/pattern.h"

/* What a kernel does, and what it got pointers to. */
struct kernel {
    const char *what;
    enum gmt_pattern_kind kind;
    double struct_bytes;      /* expected; 0: none */
    int shape[4];             /* grid, block */
    double load[3], store[3]; /* per thread; bytes of each; sectors per request */
    double beyond;            /* bytes that pass L1 per byte loaded; 0: not measured */
    double lanes;             /* active, of instructions; 0: not measured */
    double arrays[2];         /* bytes per thread; 0: none */
};

#define LINE (4096, 1, 256, 1)
#define PLANE (128, 512, 32, 8)
#define SQUARE (64, 64, 16, 16)

/* X(what, pattern, struct, shape, loads, stores, beyond, lanes, arrays). Columns: struct kernel. */
#define KERNELS_OF(X) \
    X("float copy", ORDERED, 0, LINE, (1, 4, 4), (1, 4, 4), 1, 32, (4, 4)) \
    X("float4 copy", ORDERED, 0, LINE, (1, 16, 16), (1, 16, 16), 1, 32, (16, 16)) \
    X("permutation, 8 words apart", STRIDED, 0, LINE, (1, 4, 32), (1, 4, 4), 8, 32, (4, 4)) \
    X("one word of 3", FIELD, 12, LINE, (1, 4, 12), (1, 4, 4), 3, 32, (12, 4)) \
    X("one word of 12", FIELD, 48, LINE, (1, 4, 32), (1, 4, 4), 8, 32, (48, 4)) \
    X("two words of 4", FIELD, 16, LINE, (2, 4, 16), (1, 4, 4), 2, 32, (16, 4)) \
    X("two words of 12", FIELD, 48, LINE, (2, 4, 32), (1, 4, 4), 4, 32, (48, 4)) \
    X("one word of 4, beside an array", STRIDED, 0, LINE, (2, 4, 10), (1, 4, 4), 2.5, 32, (16, 4)) \
    X("one double of 2", FIELD, 16, LINE, (1, 8, 16), (1, 8, 8), 2, 32, (16, 8)) \
    X("one word of 4, in place", FIELD, 16, LINE, (1, 4, 16), (1, 4, 16), 4, 32, (16, 0)) \
    X("one word of 4, in a pool", STRIDED, 0, LINE, (1, 4, 16), (1, 4, 4), 4, 32, (9e3, 0)) \
    X("one word of 4, no arguments", STRIDED, 0, LINE, (1, 4, 16), (1, 4, 4), 4, 32, (0, 0)) \
    X("a column in lines", STRIDED, 0, LINE, (1, 4, 32), (1, 4, 4), 8, 32, (4e3, 4)) \
    X("words of 12 bytes", FIELDS, 12, LINE, (3, 4, 12), (1, 4, 4), 1, 32, (12, 4)) \
    X("words of 16 bytes", PIECES, 16, LINE, (4, 4, 16), (1, 4, 4), 1, 32, (16, 4)) \
    X("words of 32 bytes", FIELDS, 32, LINE, (8, 4, 32), (1, 4, 4), 1, 32, (32, 4)) \
    X("12 bytes moved", PIECES, 12, LINE, (3, 4, 12), (3, 4, 12), 1, 32, (0, 0)) \
    X("pairs of doubles moved", PIECES, 16, LINE, (2, 8, 16), (2, 8, 16), 1, 32, (0, 0)) \
    X("a piece per thread", STRIDED, 0, LINE, (64, 4, 32), (1, 4, 4), 1, 32, (256, 4)) \
    X("stores only", SCATTERED, 0, LINE, (1, 4, 4), (1, 4, 16), 1, 32, (4, 4)) \
    X("sum down columns", TRANSPOSED, 0, PLANE, (2, 4, 32), (1, 4, 32), 1, 32, (4, 4)) \
    X("one operand down columns", TRANSPOSED, 0, PLANE, (2, 4, 18), (1, 4, 4), 4, 32, (4, 4)) \
    X("transpose by stores", TRANSPOSED, 0, PLANE, (1, 4, 4), (1, 4, 32), 1, 32, (4, 4)) \
    X("the same in 16 x 16", TRANSPOSED, 0, SQUARE, (1, 4, 4), (1, 4, 16), 1, 32, (4, 4)) \
    X("a channel of an image", FIELD, 16, SQUARE, (1, 4, 16), (1, 4, 4), 4, 32, (16, 4)) \
    X("bytes", NARROW, 0, LINE, (1, 1, 1), (1, 1, 1), 1, 32, (1, 1)) \
    X("bytes or idle lanes", ORDERED, 0, LINE, (1, 1, 1), (1, 1, 1), 1, 0, (1, 1)) \
    X("half of the lanes", ORDERED, 0, LINE, (1, 2, 2), (1, 2, 2), 1, 24, (2, 2)) \
    X("offset by a word", MISALIGNED, 0, LINE, (1, 4, 5), (1, 4, 4), 1, 32, (4, 4)) \
    X("offset in aligned rows", MISALIGNED, 0, PLANE, (1, 4, 5), (1, 4, 4), 1, 32, (4, 4))

#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
static const struct kernel kernels[] = {
#define ROW(what, kind, bytes, shape, load, store, beyond, lanes, arrays) \
    {what,  GMT_PATTERN_##kind, bytes, LIST shape, LIST load, LIST store, beyond, \
     lanes, LIST arrays},
    KERNELS_OF(ROW)
#undef ROW
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static void put_access(double *counter, unsigned bytes, unsigned sectors, unsigned requests,
                       double warps, const double per[3])
{
    counter[requests] = warps * per[0];
    counter[bytes] = counter[requests] * 32 * per[1];
    counter[sectors] = counter[requests] * per[2];
}

static void exec(sqlite3 *db, const char *sql)
{
    char *error = NULL;

    sqlite3_exec(db, sql, NULL, NULL, &error);
    cr_assert_null(error, "%s", error);
}

static void put_arrays(sqlite3 *db, const struct kernel *k, double threads)
{
    char sql[256];

    exec(db, "CREATE TABLE launch_argument (set_id, allocation_id, allocation_offset);"
             "CREATE TABLE allocation (id, bytes); CREATE TABLE host_allocation (id, bytes)");
    for (int i = 0; i < 2 && k->arrays[i] > 0; i++) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO allocation VALUES (%d, %.0f); INSERT INTO launch_argument VALUES (1, "
                 "%d, 0)",
                 i, k->arrays[i] * threads, i);
        exec(db, sql);
    }
}

static struct gmt_tl_class class_of(const struct kernel *k)
{
    struct gmt_tl_class class = {.grid = {k->shape[0], k->shape[1], 1},
                                 .block = {k->shape[2], k->shape[3], 1}};
    double warps = (double)k->shape[0] * k->shape[1] * k->shape[2] * k->shape[3] / 32;

    for (size_t i = 0; i < GMT_METRICS; i++) {
        class.counter[i] = NAN;
    }
    put_access(class.counter, GMT_M_global_load_bytes, GMT_M_global_load_sectors,
               GMT_M_global_load_requests, warps, k->load);
    put_access(class.counter, GMT_M_global_store_bytes, GMT_M_global_store_sectors,
               GMT_M_global_store_requests, warps, k->store);
    if (k->beyond > 0) {
        class.counter[GMT_M_l2_read_sectors] = class.counter[GMT_M_global_load_bytes] * k->beyond /
                                               32;
    }
    class.counter[GMT_M_instructions] = warps * 20;
    if (k->lanes > 0) {
        class.counter[GMT_M_thread_instructions] = warps * 20 * k->lanes;
    }
    return class;
}

static struct criterion_test_params every_kernel(void)
{
    static size_t index[KERNELS];

    for (size_t i = 0; i < KERNELS; i++) {
        index[i] = i;
    }
    return cr_make_param_array(size_t, index, KERNELS);
}

ParameterizedTestParameters(pattern, is_derived_from_sums)
{
    return every_kernel();
}

ParameterizedTest(size_t *parameter, pattern, is_derived_from_sums)
{
    const struct kernel *k = &kernels[*parameter];
    struct gmt_tl_launch launch = {.argument_set = 1};
    struct gmt_timeline timeline = {.launches = &launch, .launch_count = 1};
    struct gmt_tl_class class = class_of(k);
    class.alone = 1;

    cr_assert_eq(sqlite3_open(":memory:", &timeline.db), SQLITE_OK);
    put_arrays(timeline.db, k, (double)k->shape[0] * k->shape[1] * k->shape[2] * k->shape[3]);
    struct gmt_pattern pattern = gmt_pattern_of_class(&timeline, &class);
    cr_expect_eq(pattern.kind, k->kind, "%s: %d", k->what, (int)pattern.kind);
    if (k->struct_bytes > 0) {
        cr_expect_float_eq(pattern.struct_bytes, k->struct_bytes, 1e-9, "%s: %g bytes", k->what,
                           pattern.struct_bytes);
    }
    sqlite3_close(timeline.db);
}
