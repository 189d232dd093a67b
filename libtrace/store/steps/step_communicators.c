/* SPDX-License-Identifier: Apache-2.0 */
/* A small table: a process has few communicators. */
#include "libtrace/store/steps/step_communicators.h"

#include <stddef.h>
#include <string.h>

/* nccl.h to 2.28. Of later ones the payload shows that they are one. */
static const struct {
    const char *name;
    bool all_ranks;
} operations[] = {
    {"ncclAllReduce", true}, {"ncclAllGather", true}, {"ncclReduceScatter", true},
    {"ncclBroadcast", true}, {"ncclBcast", true},     {"ncclReduce", true},
    {"ncclAlltoAll", true},  {"ncclGather", true},    {"ncclScatter", true},
    {"ncclSend", false},     {"ncclRecv", false},
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static size_t operation_of(const char *name)
{
    size_t i = 0;
    while (i < OPERATIONS && strcmp(operations[i].name, name) != 0) {
        i++;
    }
    return i;
}

bool gmt_step_is_operation(const char *name, const struct gmt_range_payload *payload)
{
    return operation_of(name) < OPERATIONS || gmt_range_payload_has(payload, GMT_RANGE_BYTES);
}

static struct gmt_step_communicator *find(struct gmt_step_communicators *communicators, uint64_t id)
{
    for (unsigned i = communicators->count; i-- > 0;) {
        if (communicators->item[i].id == id) {
            return &communicators->item[i];
        }
    }
    if (communicators->count == GMT_STEP_COMMUNICATORS) {
        return NULL;
    }
    struct gmt_step_communicator *added = &communicators->item[communicators->count++];
    *added = (struct gmt_step_communicator){.id = id};
    return added;
}

const struct gmt_step_communicator *
gmt_step_communicators_take(struct gmt_step_communicators *communicators, const char *name,
                            const struct gmt_range_payload *payload, uint64_t *number)
{
    size_t operation = operation_of(name);
    *number = 0;
    /* 0: the call was given none. */
    if (!gmt_range_payload_has(payload, GMT_RANGE_COMMUNICATOR) ||
        payload->value[GMT_RANGE_COMMUNICATOR] == 0) {
        return NULL;
    }
    struct gmt_step_communicator *of = find(communicators, payload->value[GMT_RANGE_COMMUNICATOR]);
    if (of == NULL) {
        return NULL;
    }
    if (gmt_range_payload_has(payload, GMT_RANGE_RANKS)) {
        of->ranks = (uint32_t)payload->value[GMT_RANGE_RANKS];
    }
    if (gmt_step_is_operation(name, payload) &&
        (operation == OPERATIONS || operations[operation].all_ranks)) {
        *number = ++of->operations;
    }
    return of;
}

bool gmt_step_communicators_group(struct gmt_step_communicators *communicators, const char *name,
                                  uint32_t thread)
{
    struct gmt_step_group *group = NULL;
    for (size_t i = 0; i < GMT_STEP_GROUPS; i++) {
        struct gmt_step_group *each = &communicators->group[i];
        if (each->depth != 0 && each->thread == thread) {
            group = each;
            break;
        }
        group = group == NULL && each->depth == 0 ? each : group;
    }
    if (group != NULL && strcmp(name, "ncclGroupStart") == 0) {
        group->thread = thread;
        group->depth++;
    } else if (group != NULL && group->depth != 0 && strcmp(name, "ncclGroupEnd") == 0) {
        group->depth--;
    }
    return group != NULL && group->depth != 0;
}
