/* SPDX-License-Identifier: Apache-2.0 */
/* Faults and migrations of managed memory (managed.h). */
#include "libtrace/cupti/base/managed.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libtrace/cupti/base/refusal.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"

/* What a record costs: docs/cupti-notes.md, "Managed memory". */
#define RECORD_NS UINT64_C(3500)
#define BUDGET_PART 4u /* of the allowance of measuring */
#define UNCHARGED_NS UINT64_C(5000000)
/* Times further from the present are of another clock. */
#define FAR_NS UINT64_C(3600000000000)
/* CUPTI of CUDA 11 may refuse the kinds behind these. */
#define FIRST_KINDS 4u

#define LOSS "managed memory"

/* A newer CUPTI writes a longer record, whose fields lie in the same places. */
#define SAME(field) \
    static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter2, field) == \
                      offsetof(CUpti_ActivityUnifiedMemoryCounter3, field), \
                  "record of an older CUPTI");
SAME(counterKind)
SAME(value)
SAME(start)
SAME(end)
SAME(address)
SAME(srcId)
SAME(dstId)
SAME(flags)
static_assert(CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID == GMT_MANAGED_HOST, "the host");

enum progress {
    OFF,    /* there is no managed memory */
    WANTED, /* to be switched on */
    ON,
    SPENT, /* to be switched off */
    ENDED, /* they have cost what they may */
    REFUSED,
};

static const struct gmt_cupti_api *cupti;
static bool asked_for;
static uint64_t began_ns, start_allowance_ns;
static double share;
static _Atomic uint32_t state;
static _Atomic uint64_t spent_ns, charged_ns;
static _Atomic uint64_t beyond, strange; /* records that were not kept */

static const CUpti_ActivityUnifiedMemoryCounterKind counters[] = {
#define COUNTER(id, name, counter) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##counter,
    GMT_MANAGED_KINDS(COUNTER)
#undef COUNTER
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

void gmt_managed_start(const struct gmt_cupti_api *api, const struct gmt_collector_config *config)
{
    cupti = api;
    asked_for = config->counters;
    began_ns = gmt_clock_monotonic_ns();
    start_allowance_ns = config->overhead_start_ns;
    share = config->overhead_share;
}

static uint64_t allowed_ns(uint64_t now_ns)
{
    double elapsed_ns = now_ns > began_ns ? (double)(now_ns - began_ns) : 0.0;
    double all_ns = (double)start_allowance_ns + share * elapsed_ns;
    return all_ns < 9e18 ? (uint64_t)all_ns / BUDGET_PART : UINT64_MAX;
}

static bool change(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&state, &from, to);
}

void gmt_managed_want(void)
{
    (void)change(OFF, WANTED);
}

bool gmt_managed_is_due(void)
{
    uint32_t now = atomic_load_explicit(&state, memory_order_relaxed);
    return now == WANTED || now == SPENT ||
           (now == ON &&
            atomic_load_explicit(&spent_ns, memory_order_relaxed) >
                atomic_load_explicit(&charged_ns, memory_order_relaxed) + UNCHARGED_NS);
}

/* All kinds where CUPTI has them. */
static CUptiResult configure(void)
{
    CUpti_ActivityUnifiedMemoryCounterConfig configs[COUNTERS];
    for (size_t i = 0; i < COUNTERS; i++) {
        configs[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
            .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
            .kind = counters[i],
            .enable = 1,
        };
    }
    CUptiResult result = cupti->cuptiActivityConfigureUnifiedMemoryCounter(configs, COUNTERS);
    return result == CUPTI_ERROR_INVALID_PARAMETER
               ? cupti->cuptiActivityConfigureUnifiedMemoryCounter(configs, FIRST_KINDS)
               : result;
}

static CUptiResult switch_on(const char **function)
{
    *function = cupti->missing_managed;
    if (*function != NULL) {
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    *function = "cuptiActivityConfigureUnifiedMemoryCounter";
    CUptiResult result = configure();
    if (result == CUPTI_SUCCESS) {
        *function = "cuptiActivityEnable";
        result = cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    }
    return result;
}

static void begin(void)
{
    const char *function = NULL;
    if (!asked_for) {
        atomic_store(&state, REFUSED);
        gmt_spool_capability("managed_memory", GMT_CAP_OFF, 0, "counters were not asked for",
                             "record with counters");
        return;
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    CUptiResult result = switch_on(&function);
    gmt_refusal_row("managed_memory", cupti, result, function);
    (void)change(WANTED, result == CUPTI_SUCCESS ? ON : REFUSED);
    atomic_fetch_add(&spent_ns, gmt_clock_monotonic_ns() - now_ns);
}

void gmt_managed_settle(void)
{
    uint32_t now = atomic_load(&state);
    if (now == WANTED) {
        begin();
    } else if (now == SPENT && change(SPENT, ENDED)) {
        (void)cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    }
}

uint64_t gmt_managed_take_cost_ns(void)
{
    uint64_t ns = atomic_load(&spent_ns);
    uint64_t before_ns = atomic_exchange(&charged_ns, ns);
    return ns > before_ns ? ns - before_ns : 0;
}

void gmt_managed_stand_back(void)
{
    if (change(ON, WANTED) || change(SPENT, ENDED)) {
        (void)cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    }
}

static enum gmt_managed_kind kind_of(CUpti_ActivityUnifiedMemoryCounterKind counter)
{
    unsigned kind = 0;
    while (kind < COUNTERS && counters[kind] != counter) {
        kind++;
    }
    return (enum gmt_managed_kind)kind;
}

static bool is_moment(enum gmt_managed_kind kind)
{
    return kind == GMT_MANAGED_HOST_FAULT || kind == GMT_MANAGED_THRASHING ||
           kind == GMT_MANAGED_REMOTE_MAP;
}

/* What only a migration says: the other end of it. */
static bool has_destination(enum gmt_managed_kind kind)
{
    return kind == GMT_MANAGED_H2D || kind == GMT_MANAGED_D2H || kind == GMT_MANAGED_D2D ||
           kind == GMT_MANAGED_REMOTE_MAP;
}

void gmt_managed_write(const CUpti_Activity *record)
{
    const CUpti_ActivityUnifiedMemoryCounter2 *counter = (const void *)record;
    uint64_t now_ns = gmt_clock_monotonic_ns();
    enum gmt_managed_kind kind = kind_of(counter->counterKind);
    uint32_t now = atomic_load(&state);
    if (kind == GMT_MANAGED_KIND_COUNT || now == OFF || now == REFUSED) {
        return;
    }
    if (now == SPENT || now == ENDED) {
        atomic_fetch_add(&beyond, 1);
        return;
    }
    if (counter->start > now_ns + FAR_NS ||
        now_ns > counter->start + FAR_NS + (now_ns - began_ns)) {
        atomic_fetch_add(&strange, 1);
        return;
    }
    struct gmt_managed_op op = {
        .start_ns = counter->start,
        .end_ns = is_moment(kind) ? 0 : counter->end,
        .address = counter->address,
        .value = counter->value,
        .src = kind == GMT_MANAGED_HOST_FAULT || kind == GMT_MANAGED_THRASHING ? GMT_MANAGED_HOST
                                                                               : counter->srcId,
        .dst = has_destination(kind) ? counter->dstId : GMT_MANAGED_HOST,
        .cause = counter->flags,
        .kind = (uint8_t)kind,
    };
    (void)gmt_spool_side(GMT_REC_MANAGED_OP, &op, sizeof(op), NULL, 0);
    if (atomic_fetch_add(&spent_ns, RECORD_NS) + RECORD_NS > allowed_ns(now_ns)) {
        (void)change(ON, SPENT);
    }
}

void gmt_managed_finish(void)
{
    uint64_t count = atomic_exchange(&beyond, 0), odd = atomic_exchange(&strange, 0);
    uint32_t now = atomic_load(&state);
    if (now == SPENT || now == ENDED) {
        gmt_spool_loss(LOSS, "faults and migrations beyond a quarter of the counter budget",
                       count != 0 ? count : 1);
        gmt_spool_capability("managed_memory", GMT_CAP_PARTIAL, 0,
                             "recording faults had cost a quarter of the counter budget",
                             "record with a larger --counter-budget");
    }
    if (odd != 0) {
        gmt_spool_loss(LOSS, "records with times of another clock", odd);
    }
}

void gmt_managed_abandon(void)
{
    atomic_store(&state, REFUSED);
}
