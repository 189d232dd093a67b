/* SPDX-License-Identifier: Apache-2.0 */
/* GM106: results that go to the host and come back unchanged. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/content_sites.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/parked_results.h"
#include "analyzer/rules/common/unhashed.h"
#include "libtrace/base/format.h"

struct site {
    struct gmt_copy_sum up, down, sure; /* sure: of `up` */
    size_t first, verified, in_place, doubtful;
    int32_t doubt;
    struct gmt_unhashed unhashed;
    bool parked; /* the buffer was freed and allocated again meanwhile */
};

struct trip_scan {
    struct gmt_analysis *analysis;
    const struct gmt_copy_content *contents;
    struct gmt_cover kernels;
    struct gmt_devices devices;
    size_t *chosen;                 /* room for all copies */
    struct gmt_unhashed_copy *rows; /* the same; of one place at a time */
    bool *counted;                  /* by copy: a download that was counted already */
};

/* Upload `i`, from memory that a download filled: whether it can be judged, if it brings the same bytes. */
static bool can_be_pair(const struct trip_scan *look, size_t i)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    const struct gmt_tl_copy *up = &tl->copies[i];

    return up->direction == GMT_DIR_H2D &&
           !gmt_content_is_left_out(tl, look->contents[i].trip_doubt) &&
           gmt_devices_of(&look->devices, up->dst_allocation) ==
               gmt_devices_of(&look->devices, tl->copies[look->contents[i].source].src_allocation);
}

static bool is_pair(const struct trip_scan *look, size_t i)
{
    return gmt_content_is_round_trip(look->analysis->timeline, look->contents, i) &&
           can_be_pair(look, i);
}

static enum gmt_hashed hashed_state(const struct trip_scan *look, size_t i)
{
    const struct gmt_copy_content *content = &look->contents[i];
    const struct gmt_print *down = &look->contents[content->source].print;
    bool again = content->place == GMT_CONTENT_SAME &&
                 look->analysis->timeline->copies[content->before].direction == GMT_DIR_H2D;

    if (is_pair(look, i)) {
        return GMT_HASHED_REPEATED;
    }
    if (gmt_print_compare(down, &content->print) == GMT_CONTENT_OTHER) {
        return GMT_HASHED_NEW;
    }
    return content->trip_open && !again && can_be_pair(look, i) ? GMT_HASHED_OPEN
                                                                : GMT_HASHED_OTHERWISE;
}

static void add_open(void *context, size_t i, struct gmt_copy_sum *sum)
{
    const struct trip_scan *look = context;
    const struct gmt_tl_copy *copies = look->analysis->timeline->copies;
    size_t from = (size_t)look->contents[i].source;
    double low_ns = sum->low_ns;

    gmt_copy_sum_add(sum, look->analysis, &look->kernels, &copies[i], &look->contents[i].print);
    if (look->contents[i].trip_doubt == GMT_DOUBT_NONE) {
        low_ns = sum->low_ns;
    }
    double bytes = sum->bytes; /* they are said once, of both ways */
    if (!look->counted[from]) {
        gmt_copy_sum_add(sum, look->analysis, &look->kernels, &copies[from],
                         &look->contents[from].print);
    }
    look->counted[from] = true;
    sum->low_ns = low_ns; /* the host may need the download */
    sum->bytes = bytes;
}

/* Of the uploads of one place, from memory that downloads filled, those that hashing had no time for. */
static void estimate(struct trip_scan *look, struct site *site, const size_t *members, size_t n)
{
    struct gmt_unhashed_ask ask = {.timeline = look->analysis->timeline,
                                   .contents = look->contents,
                                   .add = add_open,
                                   .context = look};

    for (size_t i = 0; i < n; i++) {
        int32_t from = look->contents[members[i]].source;

        look->rows[i] = (struct gmt_unhashed_copy){members[i], ask.timeline->copies[from].src,
                                                   hashed_state(look, members[i])};
    }
    site->unhashed = gmt_unhashed_estimate(&ask, look->rows, n);
    for (size_t i = 0; i < n; i++) {
        int32_t doubt = look->contents[look->rows[i].index].trip_doubt;

        if (look->rows[i].state == GMT_HASHED_OPEN && doubt != GMT_DOUBT_NONE) {
            site->doubt = doubt;
        }
    }
}

static void add(const struct trip_scan *look, struct site *site, size_t i)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    const struct gmt_print *print = &look->contents[i].print;
    size_t from = (size_t)look->contents[i].source;

    if (site->up.copies == 0) {
        site->first = i;
    }
    gmt_copy_sum_add(&site->up, look->analysis, &look->kernels, &tl->copies[i], print);
    site->verified += print->whole == 1;
    if (look->contents[i].trip_doubt != GMT_DOUBT_NONE) {
        site->doubtful++;
        site->doubt = look->contents[i].trip_doubt;
    } else if (print->whole == 1) {
        gmt_copy_sum_add(&site->sure, look->analysis, &look->kernels, &tl->copies[i], print);
    }
    site->in_place += tl->copies[i].dst == tl->copies[from].src;
    if (!look->counted[from]) {
        gmt_copy_sum_add(&site->down, look->analysis, &look->kernels, &tl->copies[from],
                         &look->contents[from].print);
    }
    look->counted[from] = true;
}

static void describe(const struct trip_scan *look, const struct site *site, const size_t *members,
                     struct gmt_finding *finding)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_tl_copy *up = &analysis->timeline->copies[site->first];
    double cost_ns = site->up.cost_ns + site->down.cost_ns + site->unhashed.cost_ns;
    double all = (double)site->up.copies + site->unhashed.copies;
    char size[GMT_FORMAT_BYTES];
    size_t n = site->up.copies;
    const struct gmt_tl_copy *down = &analysis->timeline->copies[look->contents[members[0]].source];
    const char *first = gmt_kernel_before(analysis, down->call.begin_ns);
    const char *next = gmt_kernel_from(analysis, up->call.begin_ns);

    finding->where = gmt_where_of_call(analysis, &up->call);
    finding->headline = gmt_text(
        analysis, "%s%.0f result%s (%s) go%s to the host and come%s back unchanged%s%s%s%s",
        site->unhashed.open > 0 ? "about " : "", all, all < 1.5 ? "" : "s",
        gmt_format_bytes(size, site->up.bytes + site->unhashed.bytes), all < 1.5 ? "es" : "",
        all < 1.5 ? "s" : "", site->verified < n ? ", judged by samples" : "",
        gmt_unhashed_words(analysis, &site->unhashed), isnan(cost_ns) ? "" : ": ",
        isnan(cost_ns) ? "" : gmt_time_words(analysis, cost_ns));
    finding->effort = GMT_EFFORT_MEDIUM;
    gmt_format_bytes(size, (double)up->bytes);
    if (site->parked) {
        finding->fix = gmt_text(analysis,
                                "Keep the buffer of the %s, which is freed and allocated again in "
                                "between, and drop both copies: the peak of device memory stays as "
                                "it is. If the host reads them, drop the upload.",
                                size);
        finding->sketch = gmt_text(analysis,
                                   "%s<<<grid, block>>>(buffer);  // leaves its %" PRId64
                                   " bytes there\n"
                                   "// no cudaMemcpy, cudaFree, cudaMalloc, cudaMemcpy\n"
                                   "%s<<<grid, block>>>(buffer);",
                                   first, up->bytes, next);
    } else if (site->in_place == n) {
        finding->fix = gmt_text(
            analysis,
            "Drop both copies: the %s come back to where they were. If the host "
            "reads them, drop the upload.%s",
            size, gmt_doubt_text(analysis, site->doubt));
        finding->sketch = gmt_text(analysis,
                                   "%s<<<grid, block>>>(buffer);  // leaves its %" PRId64
                                   " bytes there\n"
                                   "%s<<<grid, block>>>(buffer);  // no cudaMemcpy in between",
                                   first, up->bytes, next);
    } else {
        finding->fix = gmt_text(analysis,
                                "Let the next step read the %s where they are, or copy them on the "
                                "device. If the host reads them, drop the upload.%s",
                                size, gmt_doubt_text(analysis, site->doubt));
        finding->sketch = gmt_text(
            analysis,
            "%s<<<grid, block>>>(result);  // made by %s, no cudaMemcpy in between; or\n"
            "cudaMemcpyAsync(input, result, %" PRId64 ", cudaMemcpyDeviceToDevice, stream);",
            next, first, up->bytes);
    }
    /* Of a buffer of the host, the copy before it: once over the trace, however long that is. */
    finding->sql = gmt_text(
        analysis,
        "SELECT count(*), sum(bytes), sum(ns) FROM (SELECT t.id, t.direction, t.bytes, t.end_ns - "
        "t.begin_ns AS ns, f.hash = lag(f.hash) OVER (PARTITION BY CASE t.direction WHEN 'h2d' "
        "THEN t.src ELSE t.dst END, t.bytes ORDER BY t.begin_ns, t.id) AS back FROM transfer t "
        "LEFT JOIN fingerprint f ON f.transfer_id = t.id WHERE t.direction IN ('h2d', 'd2h') AND "
        "t.result = 0 AND t.capturing = 0) q WHERE back AND direction = 'h2d' AND %s",
        gmt_copy_group_condition(analysis, "q.id", members, n));
}

static void evidence(const struct trip_scan *look, const struct site *site,
                     struct gmt_finding *finding)
{
    gmt_finding_evidence(finding, "round_trips", "count", (double)site->up.copies);
    gmt_finding_evidence(finding, "bytes", "bytes", site->up.bytes);
    gmt_finding_evidence(finding, "downloads", "count", (double)site->down.copies);
    gmt_finding_evidence(finding, "verified", "count", (double)site->verified);
    gmt_finding_evidence(finding, "doubtful", "count", (double)site->doubtful);
    gmt_finding_evidence(finding, "back_to_the_same_place", "count", (double)site->in_place);
    gmt_finding_evidence(finding, "freed_meanwhile", "count",
                         site->parked ? (double)site->up.copies : 0);
    gmt_unhashed_evidence(&site->unhashed, finding);
    if (gmt_timeline_is_untimed(look->analysis->timeline)) {
        return;
    }
    gmt_finding_evidence(finding, "upload_time", "ns", site->up.cost_ns);
    gmt_finding_evidence(finding, "download_time", "ns", site->down.cost_ns);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns",
                         site->up.hidden_ns + site->down.hidden_ns);
    gmt_finding_evidence(finding, "added_by_tracing", "ns",
                         site->up.traced_ns + site->down.traced_ns);
}

/* The downloads of open trips too; of all rows of the place. */
static void claim_open(const struct trip_scan *look, const struct site *site, size_t rows,
                       struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = look->analysis->timeline;

    gmt_unhashed_claim(look->analysis, &site->unhashed, look->rows, rows, finding);
    for (size_t i = 0; site->unhashed.open > 0 && i < rows; i++) {
        size_t from = (size_t)look->contents[look->rows[i].index].source;

        if (look->rows[i].state == GMT_HASHED_OPEN) {
            gmt_finding_claim(look->analysis, finding, gmt_copy_interval(tl, &tl->copies[from]));
        }
    }
}

static void report_site(const struct trip_scan *look, const struct site *site,
                        const size_t *members, size_t rows, double all_bytes)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    struct gmt_copy_sum both = {
        .cost_ns = site->up.cost_ns + site->down.cost_ns,
        .best_ns = site->up.best_ns + site->down.best_ns,
        .traced_ns = site->up.traced_ns + site->down.traced_ns,
    };

    if (finding == NULL) {
        return;
    }
    finding->cost_ns = both.cost_ns + site->unhashed.most_cost_ns;
    finding->excess_bytes = site->up.bytes + site->down.bytes + 2 * site->unhashed.bytes;
    describe(look, site, members, finding);
    evidence(look, site, finding);
    for (size_t i = 0; i < site->up.copies; i++) {
        size_t from = (size_t)look->contents[members[i]].source;

        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[members[i]]));
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[from]));
    }
    claim_open(look, site, rows, finding);
    bool sure = site->sure.copies == site->up.copies && site->unhashed.open == 0;
    finding->confidence = sure && !tl->simulated ? GMT_CONFIDENCE_MEASURED
                                                 : GMT_CONFIDENCE_HEURISTIC;
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
    } else {
        finding->method = gmt_text(analysis,
                                   "measured time of both copies, at least of the upload, without "
                                   "waiting for kernels, less what tracing added%s%s",
                                   gmt_copy_sum_hidden(analysis, &both),
                                   gmt_unhashed_method(&site->unhashed));
        gmt_finding_saving(finding, site->sure.low_ns + site->unhashed.low_ns,
                           both.best_ns + site->unhashed.best_ns,
                           gmt_copy_sum_high(&both) + site->unhashed.high_ns);
    }
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

/* `members`: of `parked` ones, what is reported; else all uploads from memory that downloads filled. */
static void report_all(struct trip_scan *look, size_t *members, size_t n, bool parked,
                       double all_bytes)
{
    const struct gmt_timeline *tl = look->analysis->timeline;

    gmt_copies_sort_by_site(tl, members, n);
    for (size_t i = 0, end; i < n; i = end) {
        struct site site = {.parked = parked};
        uint64_t where = tl->copies[members[i]].call.site;

        for (end = i; end < n && tl->copies[members[end]].call.site == where; end++) {
            if (parked || is_pair(look, members[end])) {
                look->chosen[site.up.copies] = members[end];
                add(look, &site, members[end]);
            }
        }
        if (site.up.copies == 0) {
            continue;
        }
        if (!parked) {
            estimate(look, &site, members + i, end - i);
        }
        report_site(look, &site, look->chosen, end - i, all_bytes);
    }
}

static enum gmt_outcome look_at(struct trip_scan *look, size_t *members)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    size_t n = 0, compared = 0, open = 0, left_out = 0;
    double all_bytes = 0;
    uint8_t skipped = GMT_PRINT_NONE;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_copy_content *content = &look->contents[i];

        all_bytes += (double)tl->copies[i].bytes;
        if (content->source < 0) {
            continue;
        }
        compared += content->trip != GMT_CONTENT_UNKNOWN;
        left_out += content->trip == GMT_CONTENT_SAME &&
                    gmt_content_is_left_out(tl, content->trip_doubt);
        if (content->trip == GMT_CONTENT_UNKNOWN) {
            open++;
            skipped = look->contents[content->source].print.skipped;
        }
        members[n++] = i;
    }
    report_all(look, members, n, false, all_bytes);
    n = 0;
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (look->contents[i].parked) {
            members[n++] = i;
        }
    }
    report_all(look, members, gmt_parked_kept(look->analysis, look->contents, members, n), true,
               all_bytes);
    return gmt_content_outcome(look->analysis, compared, open, skipped, left_out,
                               "uploads from memory that a copy from the device had filled have");
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_copy_content *contents = gmt_analysis_contents(analysis);
    struct trip_scan look = {.analysis = analysis, .contents = contents};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome;

    look.counted = calloc(tl->copy_count + 1, sizeof(*look.counted));
    look.chosen = calloc(tl->copy_count + 1, sizeof(*look.chosen));
    look.rows = calloc(tl->copy_count + 1, sizeof(*look.rows));
    if (contents == NULL || members == NULL || look.counted == NULL || look.chosen == NULL ||
        look.rows == NULL || gmt_cover_make(&look.kernels, tl, GMT_COVER_KERNELS) != 0 ||
        gmt_devices_load(&look.devices, tl) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace is damaged");
    } else {
        outcome = look_at(&look, members);
    }
    free(members);
    free(look.counted);
    free(look.chosen);
    free(look.rows);
    gmt_cover_free(&look.kernels);
    gmt_devices_free(&look.devices);
    return outcome;
}

extern const struct gmt_rule gmt_rule_round_trip;
const struct gmt_rule gmt_rule_round_trip = {.id = "GM106",
                                             .slug = "round-trip",
                                             .title = "Results that go to the host and come back",
                                             .category = "transfers",
                                             .needs = GMT_NEED_COPIES | GMT_NEED_ALL_CALLS,
                                             .run = run};
