/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of one gzip stream (pack.h). */
#include "reports/html/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With Z_FILTERED as small as level 6 without, in half of its time: columns repeat little. */
enum { GMT_LEVEL = 4, GMT_MEMORY_LEVEL = 9 };
/* Fewer bytes are compressed soon in any way; samples of more, of half a window each. */
enum { GMT_CHOOSE_BYTES = 1 << 20, GMT_SAMPLES = 4, GMT_SAMPLE_BYTES = 1 << 14 };

static int init(z_stream *stream, int strategy)
{
    /* Negative: without a header, which all parts share. */
    return deflateInit2(stream, GMT_LEVEL, Z_DEFLATED, -MAX_WBITS, GMT_MEMORY_LEVEL, strategy);
}

int gmt_packer_begin(struct gmt_packer *packer, gmt_pack_out out, void *context)
{
    *packer = (struct gmt_packer){.out = out,
                                  .context = context,
                                  .check = (uint32_t)crc32(0, NULL, 0),
                                  .strategy = Z_FILTERED};
    packer->stream.next_out = packer->chunk;
    packer->stream.avail_out = sizeof(packer->chunk);
    return init(&packer->stream, packer->strategy) == Z_OK ? 0 : -ENOMEM;
}

static void empty_chunk(struct gmt_packer *packer)
{
    size_t n = sizeof(packer->chunk) - packer->stream.avail_out;

    if (n > 0 && packer->rc == 0) {
        packer->rc = packer->out(packer->context, packer->chunk, n);
    }
    packer->stream.next_out = packer->chunk;
    packer->stream.avail_out = sizeof(packer->chunk);
}

/* Until it has taken all of its input and, if it is to flush, given all of its output. */
static void run(struct gmt_packer *packer, int flush)
{
    bool full;

    do {
        (void)deflate(&packer->stream, flush);
        full = packer->stream.avail_out == 0;
        if (full || flush != Z_NO_FLUSH) {
            empty_chunk(packer);
        }
    } while (full && packer->rc == 0);
}

/* How many bytes samples from all over a column become. SIZE_MAX: it could not be tried. */
static size_t sampled_bytes(const unsigned char *bytes, size_t n, int strategy)
{
    unsigned char packed[4096];
    z_stream stream = {.next_in = NULL};

    if (init(&stream, strategy) != Z_OK) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < GMT_SAMPLES; i++) {
        stream.next_in = bytes + i * (n / GMT_SAMPLES);
        stream.avail_in = GMT_SAMPLE_BYTES;
        do {
            stream.next_out = packed;
            stream.avail_out = sizeof(packed);
            (void)deflate(&stream, i + 1 == GMT_SAMPLES ? Z_FINISH : Z_NO_FLUSH);
        } while (stream.avail_out == 0);
    }
    size_t total = stream.total_out;
    (void)deflateEnd(&stream);
    return total;
}

void gmt_packer_choose(struct gmt_packer *packer, const void *bytes, size_t n)
{
    int strategy = Z_FILTERED;

    if (n >= GMT_CHOOSE_BYTES) {
        size_t by_repeats = sampled_bytes(bytes, n, Z_FILTERED);
        size_t by_counts = sampled_bytes(bytes, n, Z_HUFFMAN_ONLY);

        strategy = by_counts <= by_repeats + by_repeats / 100 ? Z_HUFFMAN_ONLY : Z_FILTERED;
    }
    if (strategy == packer->strategy) {
        return;
    }
    packer->strategy = strategy;
    /* It compresses what it has before it changes, for which there must be room. */
    while (packer->rc == 0 && deflateParams(&packer->stream, GMT_LEVEL, strategy) == Z_BUF_ERROR) {
        empty_chunk(packer);
    }
}

void gmt_packer_give(struct gmt_packer *packer, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    while (n > 0 && packer->rc == 0) {
        uInt part = n < UINT32_MAX ? (uInt)n : UINT32_MAX;

        packer->check = (uint32_t)crc32(packer->check, at, part);
        packer->given += part;
        packer->stream.next_in = at;
        packer->stream.avail_in = part;
        run(packer, Z_NO_FLUSH);
        at += part;
        n -= part;
    }
}

int gmt_packer_end(struct gmt_packer *packer, bool is_last)
{
    if (packer->rc == 0) {
        run(packer, is_last ? Z_FINISH : Z_FULL_FLUSH);
    }
    (void)deflateEnd(&packer->stream);
    return packer->rc;
}

int gmt_pack_append(void *context, const unsigned char *more, size_t n)
{
    struct gmt_payload_bytes *bytes = context;

    if (bytes->capacity - bytes->used < n) {
        size_t capacity = bytes->capacity + bytes->capacity / 2 + n;
        unsigned char *grown = realloc(bytes->data, capacity);

        if (grown == NULL) {
            return -ENOMEM;
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->used, more, n);
    bytes->used += n;
    return 0;
}
