/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of option --ring. */
#include "libtrace/record/ring_limits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NS UINT64_C(100000000)
#define MOST_NS (UINT64_C(7) * 24 * 3600 * 1000000000)
#define LEAST_BYTES (UINT64_C(1) << 20)
#define MOST_BYTES (UINT64_C(1) << 40)

static const struct gmt_ring_limits defaults = {.ns = UINT64_C(30000000000),
                                                .bytes = UINT64_C(256) << 20};

static const struct {
    const char *name;
    double factor;
} times[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}},
  sizes[] = {{"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}};

/* A number with a unit; `end` is where it must end. 0: it is none, or out of its limits. */
static uint64_t checked(double value, double least, double most)
{
    return value >= least && value <= most ? (uint64_t)value : 0;
}

static int read_part(const char *text, size_t length, struct gmt_ring_limits *limits)
{
    char *unit;
    double number = strtod(text, &unit);
    size_t unit_length = length - (size_t)(unit - text);
    if (unit == text || (size_t)(unit - text) >= length) {
        return -EINVAL;
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (strlen(times[i].name) == unit_length &&
            strncmp(unit, times[i].name, unit_length) == 0) {
            limits->ns = checked(number * times[i].factor, LEAST_NS, MOST_NS);
            return limits->ns != 0 ? 0 : -EINVAL;
        }
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (unit_length == 1 && *unit == *sizes[i].name) {
            limits->bytes = checked(number * sizes[i].factor, LEAST_BYTES, MOST_BYTES);
            return limits->bytes != 0 ? 0 : -EINVAL;
        }
    }
    return -EINVAL;
}

int gmt_ring_limits_read(const char *text, struct gmt_ring_limits *limits)
{
    struct gmt_ring_limits found = {0};
    *limits = defaults;
    for (const char *at = text; at != NULL;) {
        const char *comma = strchr(at, ',');
        struct gmt_ring_limits part = {0};
        if (read_part(at, comma != NULL ? (size_t)(comma - at) : strlen(at), &part) != 0 ||
            (part.ns != 0 && found.ns != 0) || (part.bytes != 0 && found.bytes != 0)) {
            return -EINVAL;
        }
        found.ns += part.ns;
        found.bytes += part.bytes;
        at = comma != NULL ? comma + 1 : NULL;
    }
    limits->ns = found.ns != 0 ? found.ns : limits->ns;
    limits->bytes = found.bytes != 0 ? found.bytes : limits->bytes;
    return 0;
}
