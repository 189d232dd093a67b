/* SPDX-License-Identifier: Apache-2.0 */
/* Columns on their way into the page: whichever way each is compressed, they come out as they went in, and in few bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/pack.h"

enum { BYTES = 3 << 20 };

/* The same number for the same index each time. */
static uint64_t scrambled(size_t i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1;

    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

/* As low bytes of times: nothing repeats, and a quarter of the values are more frequent. */
static void fill_noise(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t number = scrambled(i);

        bytes[i] = (unsigned char)(i % 2 == 0 ? number & 63 : number & 255);
    }
}

/* A loop of a program: the same 2000 numbers again and again. */
static void fill_loop(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)(scrambled(i % 2000) & 255);
    }
}

/* Noise with a long stretch of zeros that the samples see. */
static void fill_mixed(unsigned char *bytes, size_t n)
{
    fill_noise(bytes, n);
    memset(bytes + n / 4, 0, n / 2);
}

static size_t packed_bytes(const unsigned char *all, const size_t *sizes, size_t n,
                           struct gmt_payload_bytes *packed)
{
    struct gmt_packer packer;
    size_t used = packed->used;

    cr_assert_eq(gmt_packer_begin(&packer, gmt_pack_append, packed), 0);
    for (size_t i = 0; i < n; all += sizes[i], i++) {
        gmt_packer_choose(&packer, all, sizes[i]);
        gmt_packer_give(&packer, all, sizes[i] / 3);
        gmt_packer_give(&packer, all + sizes[i] / 3, sizes[i] - sizes[i] / 3);
    }
    cr_assert_eq(gmt_packer_end(&packer, true), 0);
    return packed->used - used;
}

/* The size of one column. */
static size_t alone(void (*fill)(unsigned char *bytes, size_t n))
{
    struct gmt_payload_bytes packed = {0};
    unsigned char *bytes = malloc(BYTES);

    cr_assert_not_null(bytes);
    fill(bytes, BYTES);
    size_t size = packed_bytes(bytes, (size_t[]){BYTES}, 1, &packed);
    free(packed.data);
    free(bytes);
    return size;
}

Test(pack, columns_come_out_as_they_went_in)
{
    static const size_t sizes[] = {BYTES, BYTES, 1000, BYTES, 0, BYTES, BYTES};
    enum { COLUMNS = sizeof(sizes) / sizeof(sizes[0]), ALL = 5 * BYTES + 1000 };
    static void (*const fills[COLUMNS])(unsigned char *, size_t) = {
        fill_noise, fill_loop, fill_noise, fill_mixed, fill_noise, fill_noise, fill_loop};
    unsigned char *all = malloc(ALL), *out = malloc(ALL), *at = all;
    struct gmt_payload_bytes packed = {0};
    z_stream stream = {.next_out = out, .avail_out = ALL};

    cr_assert(all != NULL && out != NULL);
    for (size_t i = 0; i < COLUMNS; at += sizes[i], i++) {
        fills[i](at, sizes[i]);
    }
    (void)packed_bytes(all, sizes, COLUMNS, &packed);
    cr_assert_eq(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    stream.next_in = packed.data;
    stream.avail_in = (uInt)packed.used;
    cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    cr_assert_eq(stream.total_out, ALL);
    cr_expect_eq(memcmp(all, out, ALL), 0, "other bytes came out");
    (void)inflateEnd(&stream);
    free(packed.data);
    free(all);
    free(out);
}

Test(pack, repeats_are_used_and_noise_takes_what_it_must)
{
    cr_expect_lt(alone(fill_loop), (size_t)BYTES / 50);
    cr_expect_lt(alone(fill_mixed), (size_t)BYTES / 2);
    /* 64 values of 5 in 512, and 192 of 1 in 512: 7.55 bits each. */
    cr_expect_lt(alone(fill_noise), (size_t)BYTES / 100 * 95);
}
