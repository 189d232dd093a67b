/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of one gzip stream, each compressed by itself: in memory, beside other work, or on their way to a file. */
#ifndef GMT_REPORTS_HTML_PACK_H
#define GMT_REPORTS_HTML_PACK_H

#define ZLIB_CONST /* what it reads, it leaves */
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "reports/html/payload.h"

/* Where compressed bytes go. 0, or a negative errno. */
typedef int (*gmt_pack_out)(void *context, const unsigned char *bytes, size_t n);

struct gmt_packer {
    z_stream stream;
    gmt_pack_out out;
    void *context;
    uint32_t check; /* CRC-32 of what was given */
    uint64_t given; /* bytes                    */
    int strategy;   /* of zlib */
    int rc;
    unsigned char chunk[8192];
};

/* 0 or -ENOMEM. End it in the first case. */
int gmt_packer_begin(struct gmt_packer *packer, gmt_pack_out out, void *context);
/*
 * Chooses how the next bytes are compressed, which these are. Columns of times hardly repeat: to look for what does takes most of the
 * time, and where samples show that it gains no hundredth, it is left out.
 */
void gmt_packer_choose(struct gmt_packer *packer, const void *bytes, size_t n);
void gmt_packer_give(struct gmt_packer *packer, const void *bytes, size_t n);
/* is_last: of all parts. Else others may follow, which do not look back. What went wrong on the way, or 0. */
int gmt_packer_end(struct gmt_packer *packer, bool is_last);

/* Appends to a struct gmt_payload_bytes; a gmt_pack_out. */
int gmt_pack_append(void *bytes, const unsigned char *more, size_t n);

#endif
