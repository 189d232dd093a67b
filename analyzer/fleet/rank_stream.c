/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives one rank: a head, its strings, its arrays. */
#include "analyzer/fleet/rank_stream.h"

#include <errno.h>
#include <string.h>

/* trace, rank, host, trouble, remark, traits */
enum { STRINGS = 5 + GMT_FLEET_TRAITS, STRING_MOST = 1 << 20 };
#define MAGIC UINT64_C(0x4b4e415254454c46)
#define STEPS_MOST 10000000
#define COLLECTIVES_MOST 100000

struct head {
    uint64_t magic;
    uint64_t lengths[STRINGS]; /* with their zero; 0: NULL */
    uint64_t first_step, step_count, collective_count;
    uint64_t has_wall_clock, has_device_times;
};

static void strings_of(struct gmt_fleet_rank *rank, const char **strings[STRINGS])
{
    size_t n = 0;

    strings[n++] = &rank->trace;
    strings[n++] = &rank->rank;
    strings[n++] = &rank->host;
    strings[n++] = &rank->trouble;
    strings[n++] = &rank->remark;
    for (int i = 0; i < GMT_FLEET_TRAITS; i++) {
        strings[n++] = &rank->traits[i];
    }
}

static bool put(FILE *out, const void *data, size_t size, size_t n)
{
    return n == 0 || fwrite(data, size, n, out) == n;
}

int gmt_fleet_rank_send(const struct gmt_fleet_rank *rank, FILE *out)
{
    struct gmt_fleet_rank copy = *rank;
    const char **strings[STRINGS];
    struct head head = {.magic = MAGIC,
                        .first_step = rank->first_step,
                        .step_count = rank->values != NULL ? rank->step_count : 0,
                        .collective_count = rank->collective_count,
                        .has_wall_clock = rank->has_wall_clock,
                        .has_device_times = rank->has_device_times};

    strings_of(&copy, strings);
    for (int i = 0; i < STRINGS; i++) {
        head.lengths[i] = *strings[i] != NULL ? strlen(*strings[i]) + 1 : 0;
    }
    bool whole = put(out, &head, sizeof(head), 1);
    for (int i = 0; i < STRINGS; i++) {
        whole = whole && put(out, *strings[i], 1, head.lengths[i]);
    }
    whole = whole && put(out, rank->values, GMT_FLEET_MEASURES * sizeof(double), head.step_count) &&
            put(out, rank->collectives, sizeof(*rank->collectives), rank->collective_count);
    return whole && fflush(out) == 0 ? 0 : -EIO;
}

/* Memory for n elements, filled. */
static void *take(FILE *in, size_t size, size_t n, struct gmt_arena *arena, int *rc)
{
    void *data = *rc == 0 && n > 0 ? gmt_arena_alloc(arena, size * n) : NULL;

    if (*rc != 0 || n == 0) {
        return NULL;
    }
    if (data == NULL) {
        *rc = -ENOMEM;
    } else if (fread(data, size, n, in) != n) {
        *rc = -EIO;
    }
    return data;
}

int gmt_fleet_rank_receive(struct gmt_fleet_rank *rank, FILE *in, struct gmt_arena *arena)
{
    const char **strings[STRINGS];
    struct head head;
    int rc = 0;

    if (fread(&head, sizeof(head), 1, in) != 1 || head.magic != MAGIC ||
        head.step_count > STEPS_MOST || head.collective_count > COLLECTIVES_MOST) {
        return -EIO;
    }
    strings_of(rank, strings);
    for (int i = 0; i < STRINGS && rc == 0; i++) {
        char *text = head.lengths[i] <= STRING_MOST ? take(in, 1, head.lengths[i], arena, &rc)
                                                    : NULL;

        if (text != NULL) {
            text[head.lengths[i] - 1] = '\0';
        }
        *strings[i] = text;
    }
    rank->values = take(in, GMT_FLEET_MEASURES * sizeof(double), head.step_count, arena, &rc);
    rank->collectives = take(in, sizeof(*rank->collectives), head.collective_count, arena, &rc);
    if (rc != 0) {
        return rc;
    }
    rank->first_step = head.first_step;
    rank->step_count = head.step_count;
    rank->collective_count = head.collective_count;
    rank->has_wall_clock = head.has_wall_clock != 0;
    rank->has_device_times = head.has_device_times != 0;
    return 0;
}
