/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of NCCL's ranges as texts. */
#include "libtrace/record/range_payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *gmt_range_payload_write(const struct gmt_range_payload *payload,
                                    char text[static GMT_RANGE_PAYLOAD_BYTES])
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; payload->known != 0 && i < GMT_RANGE_FIELDS; i++) {
        bool is_known = gmt_range_payload_has(payload, (enum gmt_range_field)i);
        const char *comma = i + 1 < GMT_RANGE_FIELDS ? "," : "";
        int length = is_known ? snprintf(text + at, GMT_RANGE_PAYLOAD_BYTES - at, "%" PRIx64 "%s",
                                         payload->value[i], comma)
                              : snprintf(text + at, GMT_RANGE_PAYLOAD_BYTES - at, "%s", comma);
        at += (size_t)length;
    }
    return text;
}

/* -1: no hexadecimal digit. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void gmt_range_payload_read(struct gmt_range_payload *payload, const char *text, size_t bytes)
{
    unsigned field = 0, digits = 0;
    size_t length = strnlen(text, bytes);
    *payload = (struct gmt_range_payload){0};
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i]);
        bool is_comma = text[i] == ',' && field + 1 < GMT_RANGE_FIELDS;
        if (!is_comma && (digit < 0 || digits == 16)) {
            *payload = (struct gmt_range_payload){0};
            return;
        }
        if (is_comma) {
            field++;
            digits = 0;
            continue;
        }
        payload->value[field] = payload->value[field] << 4 | (unsigned)digit;
        payload->known |= 1u << field;
        digits++;
    }
}

void gmt_range_payload_add(struct gmt_range_payload *payload, const struct gmt_range_payload *more)
{
    for (unsigned i = 0; i < GMT_RANGE_FIELDS; i++) {
        if (gmt_range_payload_has(more, (enum gmt_range_field)i)) {
            payload->value[i] = more->value[i];
        }
    }
    payload->known |= more->known;
}
