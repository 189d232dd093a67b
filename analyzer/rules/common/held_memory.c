/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is held in vain, by call site: what GM204, GM205, GM206 and GM208 have in common. */
#include "analyzer/rules/common/held_memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/price/modelled_times.h"
#include "analyzer/price/untimed_waits.h"
#include "libtrace/base/format.h"

/* What a run of a rule needs room for; all by index of the row. */
struct work {
    struct gmt_interval *lives, *after;
    size_t *order, *chosen;
};

struct held_row {
    uint64_t site;
    size_t row;
};

static int compare_places(const void *a, const void *b)
{
    const struct held_row *x = a, *y = b;

    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* Memory of one device relieves no other; page-locked memory is one for all. */
static bool is_meant(const struct gmt_memory_row *row, bool host, int64_t device)
{
    return row->host == host && (host || row->device_id == device);
}

/* Rows of the rule's kind by place, oldest first. -ENOMEM as SIZE_MAX. */
static size_t order_rows(const struct gmt_memory *memory, bool host, int64_t device, size_t *order)
{
    struct held_row *places = calloc(memory->count + 1, sizeof(*places));
    size_t n = 0;

    if (places == NULL) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < memory->count; i++) {
        if (is_meant(&memory->rows[i], host, device) && memory->rows[i].bytes > 0) {
            places[n++] = (struct held_row){memory->rows[i].site, i};
        }
    }
    qsort(places, n, sizeof(*places), compare_places);
    for (size_t i = 0; i < n; i++) {
        order[i] = places[i].row;
    }
    free(places);
    return n;
}

static bool lives_at(const struct gmt_interval *life, int64_t at_ns)
{
    return life->begin_ns <= at_ns && at_ns < life->end_ns;
}

/* What the peak has to be lower by to be worth a finding. */
static double least_bytes(const struct gmt_held_site *site, bool host)
{
    return fmax(host ? GMT_PINNED_MIN_BYTES : GMT_PEAK_MIN_BYTES,
                GMT_PEAK_MIN_SHARE * (double)site->peak.bytes);
}

/* How much lower the peak is if the chosen rows live as `after` has it; `lives` is put back. NAN: by
 * too little to matter. */
static double saved_bytes(const struct gmt_memory *memory, struct work *work,
                          const struct gmt_held_site *site, const struct gmt_held_rule *rule)
{
    struct gmt_memory_peak peak;
    double in_question = 0, kept = 0;

    for (size_t i = 0; i < site->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[site->rows[i]];

        if (!lives_at(&work->lives[site->rows[i]], site->peak.at_ns)) {
            continue;
        }
        in_question += (double)row->bytes;
        kept += rule->kept_bytes != NULL ? rule->kept_bytes(row) : 0;
    }
    /* Looking for the new peak costs a sort: not for what cannot be enough. */
    if (in_question < least_bytes(site, rule->host)) {
        return NAN;
    }
    for (size_t i = 0; i < site->count; i++) {
        size_t row = site->rows[i];
        struct gmt_interval life = work->lives[row];

        work->lives[row] = work->after[row];
        work->after[row] = life;
    }
    int rc = gmt_memory_peak(memory, work->lives, rule->host, &peak);
    for (size_t i = 0; i < site->count; i++) {
        work->lives[site->rows[i]] = work->after[site->rows[i]];
    }
    return rc == 0 ? fmax(0, (double)(site->peak.bytes - peak.bytes) - kept) : 0;
}

/* Memory that nobody lacks is no finding, unless the time of its calls makes it one. */
static void judge(struct gmt_analysis *analysis, const struct gmt_held_site *site, bool host,
                  struct gmt_finding *finding)
{
    const struct gmt_report *report = analysis->report;
    double least = least_bytes(site, host);
    bool scarce = report->failure_count > 0 ||
                  site->saved_bytes >= GMT_PEAK_DEVICE_SHARE * report->memory_bytes;

    if (isfinite(site->saved_bytes)) {
        finding->saved_peak_bytes = site->saved_bytes;
        finding->saved_peak_of = host ? "page-locked memory" : "device memory";
        gmt_finding_evidence(finding, "saved_peak", "bytes", site->saved_bytes);
    }
    gmt_finding_evidence(finding, "peak", "bytes", (double)site->peak.bytes);
    if (finding->note_why != NULL) {
        return;
    }
    if (site->saved_bytes >= least) {
        finding->severity = scarce && !host ? GMT_SEVERITY_MEDIUM : GMT_SEVERITY_LOW;
    } else if (isnan(finding->saving.best_ns)) {
        gmt_finding_note_small(finding, "the peak of memory would hardly be lower");
    }
}

/* The program may have given up for a reason of its own: its user knows. */
static void add_status(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    double code = analysis->report->exit_code;

    if (finding->fix != NULL && code > 0) {
        finding->fix = gmt_text(
            analysis,
            "%s The program ended with status %d: if it failed there, check a complete run first.",
            finding->fix, (int)code);
    }
}

static void report_site(struct gmt_analysis *analysis, const struct gmt_held_rule *rule,
                        struct work *work, const struct gmt_held_group *group)
{
    const struct gmt_memory *memory = group->memory;
    struct gmt_held_site site = {.rows = work->chosen, .peak = group->peak};

    for (size_t i = 0; i < group->count; i++) {
        size_t row = group->rows[i];

        site.unfreed += memory->rows[row].free_begin_ns == GMT_NO_TIME;
        if (group->cut_ns != INT64_MAX &&
            gmt_memory_freed_ns(&memory->rows[row]) >= group->cut_ns) {
            continue;
        }
        if (!rule->choose(group, i, &work->after[row])) {
            continue;
        }
        work->chosen[site.count++] = row;
        site.bytes += (double)memory->rows[row].bytes;
        if (site.example == NULL || memory->rows[row].bytes > site.example->bytes) {
            site.example = &memory->rows[row];
        }
    }
    if (site.count == 0) {
        return;
    }
    site.saved_bytes = saved_bytes(memory, work, &site, rule);
    struct gmt_finding *finding = gmt_finding_new(analysis);
    if (finding == NULL) {
        return;
    }
    struct gmt_tl_call call = gmt_memory_call(memory, site.example);
    finding->where = gmt_where_of_call(analysis, &call);
    gmt_finding_evidence(finding, "allocations", "count", (double)site.count);
    gmt_finding_evidence(finding, "bytes", "bytes", site.bytes);
    rule->describe(analysis, &site, finding);
    if (finding->headline == NULL) {
        return;
    }
    add_status(analysis, finding);
    judge(analysis, &site, rule->host, finding);
    gmt_finding_emit(analysis, finding);
}

static bool make_room(const struct gmt_memory *memory, struct work *work)
{
    work->lives = gmt_memory_lives(memory);
    work->after = gmt_memory_lives(memory);
    work->order = calloc(memory->count + 1, sizeof(*work->order));
    work->chosen = calloc(memory->count + 1, sizeof(*work->chosen));
    return work->lives != NULL && work->after != NULL && work->order != NULL &&
           work->chosen != NULL;
}

bool gmt_held_broke_off(const struct gmt_analysis *analysis)
{
    const struct gmt_report *report = analysis->report;
    const char *reason = analysis->timeline->end_reason;

    if (reason == NULL || strcmp(reason, "exit") != 0) {
        return true;
    }
    /* A signal, after the last of what the recorder saw of the end. */
    return report->exit_signal > 0 || (report->exit_code > 0 && analysis->memory->failed);
}

const char *gmt_held_end(struct gmt_analysis *analysis)
{
    const char *reason = analysis->timeline->end_reason;
    double status = analysis->report->exit_status;
    bool exited = reason != NULL && strcmp(reason, "exit") == 0;

    /* As wait(2) gives it: the lowest seven bits are a signal, the second byte is what was given to exit. */
    if (status > 0 && status < 256 && ((unsigned)status & 0x7f) != 0) {
        return gmt_text(analysis, "the program was ended by signal %u", (unsigned)status & 0x7f);
    }
    if (exited && status >= 256 && status < 65536) {
        return gmt_text(analysis, "the program ended with exit status %u after a call that failed",
                        (unsigned)status >> 8);
    }
    if (reason != NULL && strcmp(reason, "killed") == 0) {
        return "the program was killed";
    }
    if (reason != NULL && strcmp(reason, "exec") == 0) {
        return "the program became another one (exec)";
    }
    return "it is not known how the program ended";
}

/* The device after `device` in the order of ids; INT64_MAX: there is none. */
static int64_t next_device(const struct gmt_memory *memory, bool host, int64_t device)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        if (row->host == host && row->bytes > 0 && row->device_id > device &&
            row->device_id < next) {
            next = row->device_id;
        }
    }
    return next;
}

/* Memory of other devices does not live. False: not enough memory. */
static bool run_device(struct gmt_analysis *analysis, const struct gmt_held_rule *rule,
                       struct work *work, struct gmt_held_group group, int64_t device)
{
    const struct gmt_memory *memory = group.memory;
    size_t n = order_rows(memory, rule->host, device, work->order);

    for (size_t i = 0; i < memory->count; i++) {
        const struct gmt_memory_row *row = &memory->rows[i];

        work->lives[i] = (struct gmt_interval){row->lives_ns, is_meant(row, rule->host, device)
                                                                  ? gmt_memory_freed_ns(row)
                                                                  : row->lives_ns};
        work->after[i] = work->lives[i];
    }
    if (n == SIZE_MAX || gmt_memory_peak(memory, work->lives, rule->host, &group.peak) != 0) {
        return false;
    }
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t site = memory->rows[work->order[i]].site;

        for (end = i + 1; end < n && memory->rows[work->order[end]].site == site; end++) {
        }
        group.rows = work->order + i;
        group.count = end - i;
        group.lost = 0;
        for (size_t k = 0; k < group.count; k++) {
            group.lost += gmt_held_is_lost(&group, k);
        }
        report_site(analysis, rule, work, &group);
    }
    return true;
}

enum gmt_outcome gmt_held_run(struct gmt_analysis *analysis, const struct gmt_held_rule *rule)
{
    const struct gmt_memory *memory = analysis->memory;
    struct gmt_held_group group = {.memory = memory, .cut_ns = INT64_MAX};
    bool cut = gmt_held_broke_off(analysis), any = false;
    struct work work;
    bool room = make_room(memory, &work);
    int64_t device = next_device(memory, rule->host, INT64_MIN);

    if (cut) {
        group.cut_ns = memory->last_failure_ns != GMT_NO_TIME ? memory->last_failure_ns
                                                              : analysis->timeline->end_ns;
    }
    while (room && device != INT64_MAX) {
        room = run_device(analysis, rule, &work, group, device);
        any = true;
        device = rule->host ? INT64_MAX : next_device(memory, rule->host, device);
    }
    free(work.lives);
    free(work.after);
    free(work.order);
    free(work.chosen);
    if (!room) {
        return gmt_could_not(analysis, "not enough memory");
    }
    if (cut && any && analysis->pending_count == 0) {
        return gmt_could_not(analysis, "%s: what it would still have used and freed is not known",
                             gmt_held_end(analysis));
    }
    return GMT_OUTCOME_PASS;
}

bool gmt_held_is_lost(const struct gmt_held_group *group, size_t i)
{
    const struct gmt_memory *memory = group->memory;
    const struct gmt_memory_row *row = &memory->rows[group->rows[i]];

    return row->free_begin_ns == GMT_NO_TIME && i + 1 < group->count &&
           row->first_use_ns != GMT_NO_TIME &&
           gmt_memory_needed(memory, row).end_ns <= memory->rows[group->rows[i + 1]].lives_ns;
}

static void add_call(struct gmt_analysis *analysis, int64_t begin_ns, int64_t end_ns,
                     int64_t wait_ns, struct gmt_finding *finding, struct gmt_held_cost *cost)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (begin_ns == GMT_NO_TIME || end_ns <= begin_ns || tl->simulated) {
        return;
    }
    wait_ns = wait_ns > end_ns - begin_ns ? end_ns - begin_ns : wait_ns;
    struct gmt_interval call = {begin_ns + wait_ns, end_ns};
    cost->wait_ns += (double)wait_ns;
    cost->total_ns += (double)(call.end_ns - call.begin_ns);
    cost->hidden_ns += gmt_intervals_overlap(tl->maybe_busy, tl->maybe_busy_count, call);
    gmt_finding_claim(analysis, finding, call);
}

void gmt_held_add_calls(struct gmt_analysis *analysis, const struct gmt_memory_row *row,
                        struct gmt_finding *finding, struct gmt_held_cost *cost)
{
    bool freed = row->free_begin_ns != GMT_NO_TIME;

    if (analysis->timeline->modelled) {
        double pair_ns = gmt_modelled_pair_ns(analysis->model, row);

        cost->total_ns += pair_ns;
        gmt_finding_claim_modelled(analysis, finding, pair_ns);
        return;
    }
    add_call(analysis, row->begin_ns, row->end_ns, 0, finding, cost);
    if (freed && gmt_waits_are_unknown(analysis->timeline)) {
        cost->unknown_ns += (double)(row->free_end_ns - row->free_begin_ns);
        return;
    }
    add_call(analysis, row->free_begin_ns, row->free_end_ns,
             freed ? gmt_timeline_wait_ns(analysis->timeline, row->free_begin_ns) : 0, finding,
             cost);
}

void gmt_held_price(struct gmt_analysis *analysis, const struct gmt_held_cost *cost,
                    struct gmt_finding *finding)
{
    char hidden[GMT_FORMAT_BYTES];

    if (gmt_timeline_is_untimed(analysis->timeline)) {
        finding->method = "n/a: no times (software device); calls and bytes are exact";
        return;
    }
    double open_ns = cost->total_ns - cost->hidden_ns;
    finding->cost_ns = cost->total_ns + cost->unknown_ns;
    finding->confidence = GMT_CONFIDENCE_MEASURED;
    gmt_finding_evidence(finding, "calls", "ns", cost->total_ns);
    gmt_finding_evidence(finding, "hidden_behind_gpu_work", "ns", cost->hidden_ns);
    gmt_finding_evidence(finding, "waiting_for_kernels", "ns", cost->wait_ns);
    /* The host may be what the device waits for next: then hidden time counts after all. */
    gmt_finding_saving(finding, open_ns / 2, open_ns, cost->total_ns + cost->unknown_ns);
    finding->method = "measured time of the calls to remove, without waiting for kernels and "
                      "without the time that device work hides";
    if (cost->unknown_ns > 0) {
        gmt_finding_evidence(finding, "releases", "ns", cost->unknown_ns);
        finding->method = "time of the calls to remove; how long the releases waited for kernels "
                          "is not known: they count at the upper end only";
    }
    if (cost->hidden_ns > 0) {
        finding->method = gmt_text(analysis,
                                   "%s (%s: removing them there saves nothing, unless the device "
                                   "waits for the host afterwards)",
                                   finding->method, gmt_format_ns(hidden, cost->hidden_ns));
    }
}

const char *gmt_held_unknown(const struct gmt_analysis *analysis)
{
    const struct gmt_memory *memory = analysis->memory;

    if (memory->shared) {
        return "other processes may use the memory: it is shared with them";
    }
    if (memory->doubt_count > 0 && memory->doubt_count == analysis->timeline->launch_count) {
        return "the arguments of all launches are unknown, and so is the memory that they use";
    }
    return NULL;
}

const char *gmt_held_from(struct gmt_analysis *analysis, const struct gmt_held_site *site,
                          const char *condition)
{
    const struct gmt_memory_row *rows = analysis->memory->rows, *example = site->example;
    int64_t *ids = calloc(site->count + 1, sizeof(*ids));
    const char *place = gmt_text(
        analysis, "%s%s%s",
        gmt_call_condition(analysis, example->stack_id,
                           example->caller != GMT_UNKNOWN ? example->caller : 0),
        condition[0] != '\0' ? " AND " : "", condition);

    for (size_t i = 0; ids != NULL && i < site->count; i++) {
        ids[i] = rows[site->rows[i]].id;
    }
    place = gmt_id_condition(analysis, "id", ids, site->count, place);
    free(ids);
    return gmt_text(analysis, "%s WHERE %s", example->host ? "host_allocation" : "allocation",
                    place);
}
