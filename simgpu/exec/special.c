/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers: what a thread reads as %tid.x, %laneid, %clock64 and so on. */
#include <string.h>
#include <time.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/warp.h"

enum how { UNIFORM, LANE, FRESH };

enum {
#define SIM_SPECIAL(name, spelling, bytes, how, value) SPECIAL_##name,
#include "simgpu/exec/special.def"
#undef SIM_SPECIAL
    SPECIALS, /* stands for all environment and performance registers: zero */
};

_Static_assert(SPECIAL_TID_X == 0 && SPECIAL_TID_Z == 2, "the coordinates come first");

static const struct special {
    const char *spelling;
    uint8_t bytes;
    uint8_t how;
} specials[] = {
#define SIM_SPECIAL(name_, spelling_, bytes_, how_, value_) {spelling_, bytes_, how_},
#include "simgpu/exec/special.def"
#undef SIM_SPECIAL
};

static uint64_t host_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int sim_special_find(const char *name)
{
    for (int i = 0; i < SPECIALS; i++) {
        if (strcmp(specials[i].spelling, name) == 0) {
            return i;
        }
    }
    return strncmp(name, "envreg", 6) == 0 || strncmp(name, "pm", 2) == 0 ? SPECIALS : -1;
}

unsigned sim_special_bytes(uint32_t special)
{
    return special < SPECIALS ? specials[special].bytes : 4;
}

bool sim_special_is_fresh(uint32_t special)
{
    return special < SPECIALS && specials[special].how == FRESH;
}

static uint64_t value_of(uint32_t special, const struct sim_warp *warp, unsigned lane,
                         const uint32_t tid[3])
{
    const struct sim_block *block = warp->block;
    const struct sim_launch *launch = block->launch;

    switch (special) {
#define SIM_SPECIAL(name, spelling, bytes, how, value) \
    case SPECIAL_##name: \
        return (uint64_t)(value);
#include "simgpu/exec/special.def"
#undef SIM_SPECIAL
    default: return 0;
    }
}

/* Values go to the frame in the width they are read with. */
static void store(uint8_t *frame, const struct sim_special_slot *slot, const uint64_t *values)
{
    uint8_t *to = frame + slot->offset;

    switch (slot->bytes) {
    case 2:
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            ((uint16_t *)(void *)to)[lane] = (uint16_t)values[lane];
        }
        break;
    case 4:
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            ((uint32_t *)(void *)to)[lane] = (uint32_t)values[lane];
        }
        break;
    case 8: memcpy(to, values, SIM_LANES * sizeof(*values)); break;
    default:
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            memcpy(to + (size_t)lane * slot->bytes, &values[lane], sizeof(*values));
        }
    }
}

/* Coordinates of the warp's threads. */
static void fill_lanes(const struct sim_warp *warp, uint32_t special, uint64_t *values)
{
    const uint32_t *block = warp->block->launch->block;
    const uint32_t first = warp->number * SIM_LANES;
    uint32_t tid[3] = {first % block[0], first / block[0] % block[1], first / block[0] / block[1]};

    for (unsigned lane = 0; lane < SIM_LANES; lane++) {
        values[lane] = special <= SPECIAL_TID_Z ? tid[special - SPECIAL_TID_X]
                                                : (uint32_t)value_of(special, warp, lane, tid);
        if (++tid[0] == block[0]) {
            tid[0] = 0;
            if (++tid[1] == block[1]) {
                tid[1] = 0;
                tid[2]++;
            }
        }
    }
}

void sim_special_fill(const struct sim_warp *warp, const struct sim_special_slot *slot,
                      uint8_t *frame)
{
    static const uint32_t no_tid[3];
    uint64_t values[SIM_LANES];

    if (slot->special < SPECIALS && specials[slot->special].how == LANE) {
        fill_lanes(warp, slot->special, values);
    } else {
        uint64_t value = value_of(slot->special, warp, 0, no_tid);

        if (slot->bytes == 0) {
            const uint32_t word = value != 0 ? SIM_FULL_MASK : 0;

            memcpy(frame + slot->offset, &word, sizeof(word));
            return;
        }
        value = sim_special_bytes(slot->special) == 4 ? (uint32_t)value : value;
        for (unsigned lane = 0; lane < SIM_LANES; lane++) {
            values[lane] = value;
        }
    }
    store(frame, slot, values);
}
