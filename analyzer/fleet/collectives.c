/* SPDX-License-Identifier: Apache-2.0 */
/* From rows of step_collective to what is matched over the ranks. */
#include "analyzer/fleet/collectives.h"

#include <math.h>
#include <string.h>

static const char *const words[GMT_FLEET_OPERATIONS] = {
#define GMT_FLEET_OPERATION(NAME, name, size, bus, senders) name,
#include "analyzer/fleet/collectives.def"
#undef GMT_FLEET_OPERATION
};

const char *gmt_fleet_operation_word(enum gmt_fleet_operation operation)
{
    return words[operation];
}

double gmt_fleet_bus_bandwidth(enum gmt_fleet_operation operation, double bytes, double ranks,
                               double ns)
{
    const double n = ranks;

    if (!(ns > 0) || !(n > 0)) {
        return NAN;
    }
    switch (operation) {
#define GMT_FLEET_OPERATION(NAME, name, size, bus, senders) \
    case GMT_FLEET_OPERATION_##NAME: \
        return bytes * (size) / ns * 1e9 * (bus);
#include "analyzer/fleet/collectives.def"
#undef GMT_FLEET_OPERATION
    default: return NAN;
    }
}

bool gmt_fleet_all_send(enum gmt_fleet_operation operation)
{
    enum { ALL, SOME };
    static const int senders_of[GMT_FLEET_OPERATIONS] = {
#define GMT_FLEET_OPERATION(NAME, name, size, bus, senders) senders,
#include "analyzer/fleet/collectives.def"
#undef GMT_FLEET_OPERATION
    };

    return senders_of[operation] == ALL;
}

static enum gmt_fleet_operation operation_of(const char *name)
{
    int operation = 0;

    while (operation < GMT_FLEET_OPERATION_OTHER &&
           (name == NULL || strstr(name, words[operation]) == NULL)) {
        operation++;
    }
    return (enum gmt_fleet_operation)operation;
}

static uint64_t hash_on(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3); /* FNV-1a */
    }
    return hash;
}

/* Only what is the same operation on as many bytes is the same collective. */
static void set_key(struct gmt_fleet_collective *one, const char *name)
{
    const uint64_t start = UINT64_C(0xCBF29CE484222325);

    if (one->communicator == 0) {
        one->key = hash_on(start, name, name != NULL ? strlen(name) : 0);
        return;
    }
    one->key = hash_on(start, &one->communicator, sizeof(one->communicator));
    one->key = hash_on(one->key, &one->operation, sizeof(one->operation));
    one->key = hash_on(one->key, &one->bytes, sizeof(one->bytes));
}

bool gmt_fleet_collective_of(struct gmt_fleet_collective *one, const struct gmt_collective_row *row,
                             int64_t to_wall_clock_ns)
{
    bool is_numbered = row->number != 0 && row->communicator != 0;

    *one = (struct gmt_fleet_collective){.position = is_numbered ? row->number : row->position,
                                         .communicator = is_numbered ? (uint64_t)row->communicator
                                                                     : 0,
                                         .bytes = (uint64_t)row->bytes,
                                         .ranks = (uint32_t)row->ranks,
                                         .operation = operation_of(row->name)};
    set_key(one, row->name);
    return !__builtin_add_overflow(row->begin_ns, to_wall_clock_ns, &one->begin_ns) &&
           !__builtin_add_overflow(row->end_ns, to_wall_clock_ns, &one->end_ns);
}
