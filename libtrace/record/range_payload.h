/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL says about an operation, in the payload of its NVTX range: the third text of a GMT_REC_RANGE record, in the form
 * "COMMUNICATOR,BYTES,RANKS,RANK", hexadecimal numbers, empty where NCCL does not say it.
 */
#ifndef GMT_RECORD_RANGE_PAYLOAD_H
#define GMT_RECORD_RANGE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_range_field {
    GMT_RANGE_COMMUNICATOR, /* NCCL's hash of it: the same in all of its ranks                  */
    GMT_RANGE_BYTES,        /* of the message: the count that the call was given                */
    GMT_RANGE_RANKS,        /* of the communicator, where it is made                            */
    GMT_RANGE_RANK,         /* of the caller in it, where it is made                            */
    GMT_RANGE_FIELDS
};

struct gmt_range_payload {
    uint64_t value[GMT_RANGE_FIELDS];
    uint32_t known; /* bit 1 << field */
};

static inline bool gmt_range_payload_has(const struct gmt_range_payload *payload,
                                         enum gmt_range_field field)
{
    return (payload->known >> field & 1u) != 0;
}

/* The longest text, with its NUL. */
enum { GMT_RANGE_PAYLOAD_BYTES = GMT_RANGE_FIELDS * 17 + 1 };

/* "" where nothing is known. Returns `text`. */
const char *gmt_range_payload_write(const struct gmt_range_payload *payload,
                                    char text[static GMT_RANGE_PAYLOAD_BYTES]);
/* Of `bytes` without a NUL at the end, or up to one. What is no such text says nothing. */
void gmt_range_payload_read(struct gmt_range_payload *payload, const char *text, size_t bytes);
/* What `more` knows, too. */
void gmt_range_payload_add(struct gmt_range_payload *payload, const struct gmt_range_payload *more);

#endif
