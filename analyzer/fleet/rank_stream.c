/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives one rank: a head, its strings, its arrays. */
#include "analyzer/fleet/rank_stream.h"

#include <errno.h>
#include <string.h>

/* trace, rank, host, trouble, remark, end_reason, traits */
enum { STRINGS = 6 + GMT_FLEET_TRAITS, FINDING_STRINGS = 4, STRING_MOST = 1 << 20 };
#define MAGIC UINT64_C(0x324b4e4152544c46)
#define STEPS_MOST 10000000
#define COLLECTIVES_MOST 100000
#define FINDINGS_MOST 100000
#define PLACES_MOST 100000

struct head {
    uint64_t magic;
    uint64_t lengths[STRINGS]; /* with their zero; 0: NULL */
    uint64_t first_step, step_count, collective_count;
    struct gmt_fleet_life life;
    uint64_t has_wall_clock, has_device_times;
    uint64_t has_findings, finding_count;
    uint64_t content_count, place_count;
    struct gmt_fleet_copied copied;
    uint64_t exported_count, flow_count;
    struct gmt_fleet_sharing sharing;
};

static void strings_of(struct gmt_fleet_rank *rank, const char **strings[STRINGS])
{
    size_t n = 0;

    strings[n++] = &rank->trace;
    strings[n++] = &rank->rank;
    strings[n++] = &rank->host;
    strings[n++] = &rank->trouble;
    strings[n++] = &rank->remark;
    strings[n++] = &rank->end_reason;
    for (int i = 0; i < GMT_FLEET_TRAITS; i++) {
        strings[n++] = &rank->traits[i];
    }
}

struct finding_head {
    uint64_t lengths[FINDING_STRINGS]; /* as above */
    double saves_ns;
    uint64_t is_modelled;
};

static void finding_strings_of(struct gmt_fleet_finding *finding,
                               const char **strings[FINDING_STRINGS])
{
    strings[0] = &finding->fingerprint;
    strings[1] = &finding->rule;
    strings[2] = &finding->title;
    strings[3] = &finding->place;
}

static bool put(FILE *out, const void *data, size_t size, size_t n)
{
    return n == 0 || fwrite(data, size, n, out) == n;
}

static bool put_finding(FILE *out, const struct gmt_fleet_finding *finding)
{
    struct gmt_fleet_finding copy = *finding;
    const char **strings[FINDING_STRINGS];
    struct finding_head head = {.saves_ns = finding->saves_ns, .is_modelled = finding->is_modelled};

    finding_strings_of(&copy, strings);
    for (int i = 0; i < FINDING_STRINGS; i++) {
        head.lengths[i] = *strings[i] != NULL ? strlen(*strings[i]) + 1 : 0;
    }
    bool whole = put(out, &head, sizeof(head), 1);
    for (int i = 0; i < FINDING_STRINGS; i++) {
        whole = whole && put(out, *strings[i], 1, head.lengths[i]);
    }
    return whole;
}

static bool put_place(FILE *out, const char *place)
{
    uint64_t length = strlen(place) + 1;

    return put(out, &length, sizeof(length), 1) && put(out, place, 1, length);
}

int gmt_fleet_rank_send(const struct gmt_fleet_rank *rank, FILE *out)
{
    struct gmt_fleet_rank copy = *rank;
    const char **strings[STRINGS];
    struct head head = {.magic = MAGIC,
                        .first_step = rank->first_step,
                        .step_count = rank->values != NULL ? rank->step_count : 0,
                        .collective_count = rank->collective_count,
                        .life = rank->life,
                        .has_wall_clock = rank->has_wall_clock,
                        .has_findings = rank->has_findings,
                        .finding_count = rank->finding_count,
                        .content_count = rank->content_count,
                        .place_count = rank->place_count,
                        .copied = rank->copied,
                        .exported_count = rank->exported_count,
                        .flow_count = rank->flow_count,
                        .sharing = rank->sharing,
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
    for (size_t i = 0; i < rank->finding_count; i++) {
        whole = whole && put_finding(out, &rank->findings[i]);
    }
    whole = whole && put(out, rank->contents, sizeof(*rank->contents), rank->content_count);
    for (size_t i = 0; i < rank->place_count; i++) {
        whole = whole && put_place(out, rank->places[i]);
    }
    whole = whole && put(out, rank->exported, sizeof(*rank->exported), rank->exported_count) &&
            put(out, rank->flows, sizeof(*rank->flows), rank->flow_count);
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

static const char *take_text(FILE *in, uint64_t length, struct gmt_arena *arena, int *rc)
{
    char *text = length <= STRING_MOST ? take(in, 1, length, arena, rc) : NULL;

    if (length > STRING_MOST && *rc == 0) {
        *rc = -EIO;
    }
    if (text != NULL) {
        text[length - 1] = '\0';
    }
    return text;
}

static void take_finding(FILE *in, struct gmt_fleet_finding *finding, struct gmt_arena *arena,
                         int *rc)
{
    const char **strings[FINDING_STRINGS];
    struct finding_head head;

    if (*rc != 0 || fread(&head, sizeof(head), 1, in) != 1) {
        *rc = *rc != 0 ? *rc : -EIO;
        return;
    }
    finding->saves_ns = head.saves_ns;
    finding->is_modelled = head.is_modelled;
    finding_strings_of(finding, strings);
    for (int i = 0; i < FINDING_STRINGS; i++) {
        *strings[i] = take_text(in, head.lengths[i], arena, rc);
    }
}

/* Every finding has a fingerprint, or it is none of this program. */
static void take_findings(FILE *in, struct gmt_fleet_rank *rank, uint64_t count,
                          struct gmt_arena *arena, int *rc)
{
    rank->findings = *rc == 0 && count > 0 ? gmt_arena_alloc(arena, count * sizeof(*rank->findings))
                                           : NULL;
    if (*rc == 0 && count > 0 && rank->findings == NULL) {
        *rc = -ENOMEM;
    }
    for (uint64_t i = 0; i < count && *rc == 0; i++) {
        take_finding(in, &rank->findings[i], arena, rc);
        *rc = *rc == 0 && rank->findings[i].fingerprint == NULL ? -EIO : *rc;
    }
}

/* Copies name places by their number. */
static bool is_in_range(const struct gmt_fleet_copy *copy, uint64_t places)
{
    return copy->end_ns == 0 || copy->place < places;
}

static void take_contents(FILE *in, struct gmt_fleet_rank *rank, const struct head *head,
                          struct gmt_arena *arena, int *rc)
{
    rank->contents = take(in, sizeof(*rank->contents), head->content_count, arena, rc);
    rank->places = *rc == 0 && head->place_count > 0
                       ? gmt_arena_alloc(arena, head->place_count * sizeof(*rank->places))
                       : NULL;
    if (*rc == 0 && head->place_count > 0 && rank->places == NULL) {
        *rc = -ENOMEM;
    }
    for (uint64_t i = 0; i < head->place_count && *rc == 0; i++) {
        uint64_t length = 0;

        if (fread(&length, sizeof(length), 1, in) != 1 || length == 0) {
            *rc = -EIO;
        }
        rank->places[i] = take_text(in, length, arena, rc);
    }
    for (uint64_t i = 0; i < head->content_count && *rc == 0; i++) {
        const struct gmt_fleet_content *content = &rank->contents[i];

        if (!is_in_range(&content->down, head->place_count) ||
            !is_in_range(&content->up, head->place_count)) {
            *rc = -EIO;
        }
    }
}

int gmt_fleet_rank_receive(struct gmt_fleet_rank *rank, FILE *in, struct gmt_arena *arena)
{
    const char **strings[STRINGS];
    struct head head;
    int rc = 0;

    if (fread(&head, sizeof(head), 1, in) != 1 || head.magic != MAGIC ||
        head.step_count > STEPS_MOST || head.collective_count > COLLECTIVES_MOST ||
        head.finding_count > FINDINGS_MOST || head.content_count > GMT_FLEET_CONTENTS_MOST ||
        head.place_count > PLACES_MOST || head.exported_count > GMT_FLEET_HANDLES_MOST ||
        head.flow_count > GMT_FLEET_HANDLES_MOST) {
        return -EIO;
    }
    strings_of(rank, strings);
    for (int i = 0; i < STRINGS && rc == 0; i++) {
        *strings[i] = take_text(in, head.lengths[i], arena, &rc);
    }
    rank->values = take(in, GMT_FLEET_MEASURES * sizeof(double), head.step_count, arena, &rc);
    rank->collectives = take(in, sizeof(*rank->collectives), head.collective_count, arena, &rc);
    take_findings(in, rank, head.finding_count, arena, &rc);
    take_contents(in, rank, &head, arena, &rc);
    rank->exported = take(in, sizeof(*rank->exported), head.exported_count, arena, &rc);
    rank->flows = take(in, sizeof(*rank->flows), head.flow_count, arena, &rc);
    if (rc != 0) {
        return rc;
    }
    rank->content_count = head.content_count;
    rank->place_count = head.place_count;
    rank->copied = head.copied;
    rank->exported_count = head.exported_count;
    rank->flow_count = head.flow_count;
    rank->sharing = head.sharing;
    rank->finding_count = head.finding_count;
    rank->has_findings = head.has_findings != 0;
    rank->life = head.life;
    rank->first_step = head.first_step;
    rank->step_count = head.step_count;
    rank->collective_count = head.collective_count;
    rank->has_wall_clock = head.has_wall_clock != 0;
    rank->has_device_times = head.has_device_times != 0;
    return 0;
}
