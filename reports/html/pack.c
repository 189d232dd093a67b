/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of one gzip stream (pack.h). */
#include "reports/html/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With Z_FILTERED as small as level 6 without, in half of its time: columns repeat little. */
enum { GMT_LEVEL = 4, GMT_MEMORY_LEVEL = 9 };

int gmt_packer_begin(struct gmt_packer *packer, gmt_pack_out out, void *context)
{
    *packer = (struct gmt_packer){
        .out = out, .context = context, .check = (uint32_t)crc32(0, NULL, 0)};
    packer->stream.next_out = packer->chunk;
    packer->stream.avail_out = sizeof(packer->chunk);
    /* Negative: without a header, which all parts share. */
    return deflateInit2(&packer->stream, GMT_LEVEL, Z_DEFLATED, -MAX_WBITS, GMT_MEMORY_LEVEL,
                        Z_FILTERED) == Z_OK
               ? 0
               : -ENOMEM;
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
