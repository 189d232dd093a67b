/* SPDX-License-Identifier: Apache-2.0 */
/* GM105: uploads of bytes that the device holds already. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/content_sites.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/redundant_elsewhere.h"
#include "analyzer/rules/common/unhashed.h"
#include "libtrace/base/format.h"

struct site {
    struct gmt_copy_sum sum, sure;
    size_t first, places;
    size_t verified, doubtful;
    int32_t doubt;
    bool in_doubt;  /* any of them, or of those that were not hashed */
    double uploads; /* all copies from there */
    struct gmt_unhashed unhashed;
};

struct upload_scan {
    struct gmt_analysis *analysis;
    const struct gmt_copy_content *contents;
    struct gmt_cover kernels;
    struct gmt_elsewhere elsewhere;
    size_t *chosen;                 /* room for all copies */
    struct gmt_unhashed_copy *rows; /* the same; of one place at a time */
    uint64_t *read_back;            /* device addresses from which copies start, ascending */
    size_t read_back_count;
};

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int find_read_back(struct upload_scan *look)
{
    const struct gmt_timeline *tl = look->analysis->timeline;

    look->read_back = calloc(tl->copy_count + 1, sizeof(*look->read_back));
    if (look->read_back == NULL) {
        return -1;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (tl->copies[i].direction != GMT_DIR_H2D && tl->copies[i].src != 0) {
            look->read_back[look->read_back_count++] = tl->copies[i].src;
        }
    }
    qsort(look->read_back, look->read_back_count, sizeof(*look->read_back), compare_addresses);
    return 0;
}

static bool is_read_back(const struct upload_scan *look, const struct gmt_tl_copy *copy)
{
    size_t low = 0, high = look->read_back_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (look->read_back[middle] < copy->dst) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < look->read_back_count && look->read_back[low] - copy->dst < (uint64_t)copy->bytes;
}

static bool is_redundant(const struct upload_scan *look, size_t i)
{
    const struct gmt_copy_content *content = &look->contents[i];

    return content->place == GMT_CONTENT_SAME &&
           !gmt_content_is_left_out(look->analysis->timeline, content->place_doubt) &&
           !gmt_content_is_round_trip(look->analysis->timeline, look->contents, i) &&
           !(content->place_doubt != GMT_DOUBT_NONE &&
             is_read_back(look, &look->analysis->timeline->copies[i]));
}

/* Whether equal bytes would make it redundant, where hashing had no time. */
static bool is_open(const struct upload_scan *look, size_t i)
{
    const struct gmt_copy_content *content = &look->contents[i];
    const struct gmt_tl_copy *copy = &look->analysis->timeline->copies[i];
    const struct gmt_print *before = &look->contents[content->before].print;

    return content->place == GMT_CONTENT_UNKNOWN && gmt_prints_lack_time(before, &content->print) &&
           (content->source < 0 || content->trip == GMT_CONTENT_OTHER) &&
           !gmt_content_is_left_out(look->analysis->timeline, content->place_doubt) &&
           !(content->place_doubt != GMT_DOUBT_NONE && is_read_back(look, copy));
}

static enum gmt_hashed hashed_state(const struct upload_scan *look, size_t i)
{
    const struct gmt_tl_copy *copies = look->analysis->timeline->copies;
    const struct gmt_copy_content *content = &look->contents[i];

    /* What another place sent there says nothing of what this one sends again. */
    if (content->before < 0 || copies[content->before].call.site != copies[i].call.site) {
        return GMT_HASHED_OTHERWISE;
    }
    if (content->place == GMT_CONTENT_OTHER) {
        return GMT_HASHED_NEW;
    }
    if (is_redundant(look, i)) {
        return GMT_HASHED_REPEATED;
    }
    return is_open(look, i) ? GMT_HASHED_OPEN : GMT_HASHED_OTHERWISE;
}

static void add_open(void *context, size_t i, struct gmt_copy_sum *sum)
{
    const struct upload_scan *look = context;
    double low_ns = sum->low_ns;

    gmt_copy_sum_add(sum, look->analysis, &look->kernels, &look->analysis->timeline->copies[i],
                     &look->contents[i].print);
    if (look->contents[i].place_doubt != GMT_DOUBT_NONE) {
        sum->low_ns = low_ns;
    }
}

/* Of the uploads of one place, those that hashing had no time for. */
static void estimate(struct upload_scan *look, struct site *site, const size_t *members, size_t n)
{
    struct gmt_unhashed_ask ask = {.timeline = look->analysis->timeline,
                                   .contents = look->contents,
                                   .in_a_row = true,
                                   .add = add_open,
                                   .context = look};

    for (size_t i = 0; i < n; i++) {
        look->rows[i] = (struct gmt_unhashed_copy){members[i], ask.timeline->copies[members[i]].dst,
                                                   hashed_state(look, members[i])};
    }
    site->unhashed = gmt_unhashed_estimate(&ask, look->rows, n);
    site->in_doubt = site->doubtful > 0;
    for (size_t i = 0; i < n; i++) {
        int32_t doubt = look->contents[look->rows[i].index].place_doubt;

        if (look->rows[i].state == GMT_HASHED_OPEN && doubt != GMT_DOUBT_NONE) {
            site->doubt = doubt;
            site->in_doubt = true;
        }
    }
}

static void add(const struct upload_scan *look, struct site *site, size_t i)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    const struct gmt_copy_content *content = &look->contents[i];
    bool verified = content->print.whole == 1;

    if (site->sum.copies == 0) {
        site->first = i;
    }
    gmt_copy_sum_add(&site->sum, look->analysis, &look->kernels, &tl->copies[i], &content->print);
    /* The first repeat to a place: the copy before it was the one that is needed. */
    site->places += !is_redundant(look, (size_t)content->before);
    site->verified += verified;
    if (content->place_doubt != GMT_DOUBT_NONE) {
        site->doubtful++;
        site->doubt = content->place_doubt;
    } else if (verified) {
        gmt_copy_sum_add(&site->sure, look->analysis, &look->kernels, &tl->copies[i],
                         &content->print);
    }
}

static void describe(const struct upload_scan *look, const struct site *site, const size_t *members,
                     struct gmt_finding *finding)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    double n = (double)site->sum.copies + site->unhashed.copies;
    double cost_ns = site->sum.cost_ns + site->unhashed.cost_ns;
    char size[GMT_FORMAT_BYTES], each[GMT_FORMAT_BYTES];

    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->headline = gmt_text(
        analysis, "%s%.0f of %.0f uploads (%s) bring bytes that the device %s%s%s%s%s",
        site->unhashed.open > 0 ? "about " : "", n, site->uploads,
        gmt_format_bytes(size, site->sum.bytes + site->unhashed.bytes),
        site->in_doubt ? "may still hold" : "holds already",
        site->verified < site->sum.copies ? ", judged by samples" : "",
        gmt_unhashed_words(analysis, &site->unhashed), isnan(cost_ns) ? "" : ": ",
        isnan(cost_ns) ? "" : gmt_time_words(analysis, cost_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(
        analysis, "Upload the %s once, before the loop, and then only after a change.%s",
        gmt_format_bytes(each, (double)copy->bytes), gmt_doubt_text(analysis, site->doubt));
    finding->sketch = gmt_text(
        analysis,
        "cudaMemcpy%s(device, host, %" PRId64 ", cudaMemcpyHostToDevice%s);  // once\n"
        "for (...)\n    %s<<<grid, block>>>(device, ...);  // %.0f copies less",
        copy->blocking ? "" : "Async", copy->bytes, copy->blocking ? "" : ", stream",
        gmt_kernel_from(analysis, copy->call.begin_ns), n);
    finding->sql = gmt_text(
        analysis,
        "SELECT count(*), sum(bytes), sum(ns) FROM (SELECT t.id, t.bytes, t.end_ns - t.begin_ns AS "
        "ns, f.hash = lag(f.hash) OVER (PARTITION BY t.dst_allocation_id, t.dst, "
        "t.bytes ORDER BY t.begin_ns, t.id) AS again FROM transfer t JOIN fingerprint f ON "
        "f.transfer_id = t.id WHERE t.direction = 'h2d' AND t.result = 0 AND t.capturing = 0) q "
        "WHERE again AND %s",
        gmt_copy_group_condition(analysis, "q.id", members, site->sum.copies));
}

static void evidence(const struct upload_scan *look, const struct site *site,
                     struct gmt_finding *finding)
{
    gmt_finding_evidence(finding, "repeated_copies", "count", (double)site->sum.copies);
    gmt_finding_evidence(finding, "uploads", "count", site->uploads);
    gmt_finding_evidence(finding, "bytes", "bytes", site->sum.bytes);
    gmt_finding_evidence(finding, "places", "count", (double)site->places);
    gmt_finding_evidence(finding, "verified_copies", "count", (double)site->verified);
    gmt_finding_evidence(finding, "doubtful_copies", "count", (double)site->doubtful);
    gmt_unhashed_evidence(&site->unhashed, finding);
    if (gmt_timeline_is_untimed(look->analysis->timeline)) {
        return;
    }
    gmt_finding_evidence(finding, "time", "ns", site->sum.cost_ns);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", site->sum.hidden_ns);
    gmt_finding_evidence(finding, "added_by_tracing", "ns", site->sum.traced_ns);
}

static void report_site(const struct upload_scan *look, const struct site *site,
                        const size_t *members, double all_bytes)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    finding->cost_ns = site->sum.cost_ns + site->unhashed.most_cost_ns;
    finding->excess_bytes = site->sum.bytes + site->unhashed.bytes;
    describe(look, site, members, finding);
    evidence(look, site, finding);
    for (size_t i = 0; i < site->sum.copies; i++) {
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[members[i]]));
    }
    gmt_unhashed_claim(analysis, &site->unhashed, look->rows, (size_t)site->uploads, finding);
    bool all_sure = site->sure.copies == site->sum.copies && site->unhashed.open == 0;
    finding->confidence = all_sure && !tl->simulated ? GMT_CONFIDENCE_MEASURED
                                                     : GMT_CONFIDENCE_HEURISTIC;
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
    } else {
        finding->method = gmt_text(analysis,
                                   "measured time of the repeated copies, without waiting for "
                                   "kernels, less what tracing added%s%s",
                                   gmt_copy_sum_hidden(analysis, &site->sum),
                                   gmt_unhashed_method(&site->unhashed));
        gmt_finding_saving(finding, site->sure.low_ns + site->unhashed.low_ns,
                           site->sum.best_ns + site->unhashed.best_ns,
                           gmt_copy_sum_high(&site->sum) + site->unhashed.high_ns);
    }
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

/* `members`: all uploads. */
static void report_all(struct upload_scan *look, size_t *members, size_t n, double all_bytes)
{
    const struct gmt_timeline *tl = look->analysis->timeline;

    gmt_copies_sort_by_site(tl, members, n);
    for (size_t i = 0, end; i < n; i = end) {
        struct site site = {0};
        uint64_t where = tl->copies[members[i]].call.site;

        for (end = i; end < n && tl->copies[members[end]].call.site == where; end++) {
            size_t copy = members[end];

            if (!is_redundant(look, copy)) {
                continue;
            }
            look->chosen[site.sum.copies] = copy;
            add(look, &site, copy);
        }
        site.uploads = (double)(end - i);
        /* Where the same bytes come again and again, that is what to repair. */
        if (site.sum.copies == 0) {
            gmt_elsewhere_report(&look->elsewhere, members + i, end - i, all_bytes);
        } else {
            estimate(look, &site, members + i, end - i);
            report_site(look, &site, look->chosen, all_bytes);
        }
    }
}

static enum gmt_outcome look_at(struct upload_scan *look, size_t *members)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    size_t n = 0, compared = 0, open = 0, left_out = 0, unknown = 0;
    double all_bytes = 0;
    uint8_t skipped = GMT_PRINT_NONE, lost = GMT_PRINT_NONE;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_copy_content *content = &look->contents[i];

        if (tl->copies[i].direction != GMT_DIR_H2D) {
            continue;
        }
        members[n++] = i;
        all_bytes += (double)tl->copies[i].bytes;
        compared += content->before >= 0 && content->place != GMT_CONTENT_UNKNOWN;
        left_out += content->place == GMT_CONTENT_SAME &&
                    gmt_content_is_left_out(tl, content->place_doubt);
        if (content->before >= 0 && content->place == GMT_CONTENT_UNKNOWN) {
            open++;
            skipped = content->print.skipped;
        }
        if (content->print.whole < 0 && content->print.skipped != GMT_PRINT_NONE) {
            unknown++;
            lost = content->print.skipped;
        }
    }
    report_all(look, members, n, all_bytes);
    /* No place was filled twice: what is left is whether two places were filled alike. */
    if (compared + open == 0 && unknown > 0 && n > 1) {
        return gmt_content_outcome(look->analysis, n - unknown, unknown, lost, left_out,
                                   "uploads have");
    }
    return gmt_content_outcome(look->analysis, compared, open, skipped, left_out,
                               "uploads to memory that an earlier copy filled have");
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_copy_content *contents = gmt_analysis_contents(analysis);
    struct upload_scan look = {.analysis = analysis, .contents = contents};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome;

    look.chosen = calloc(tl->copy_count + 1, sizeof(*look.chosen));
    look.rows = calloc(tl->copy_count + 1, sizeof(*look.rows));
    look.elsewhere = (struct gmt_elsewhere){.analysis = analysis,
                                            .contents = contents,
                                            .kernels = &look.kernels,
                                            .chosen = look.chosen};
    if (contents == NULL || members == NULL || look.chosen == NULL || look.rows == NULL ||
        gmt_cover_make(&look.kernels, tl, GMT_COVER_KERNELS) != 0 || find_read_back(&look) != 0 ||
        gmt_devices_load(&look.elsewhere.devices, tl) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace is damaged");
    } else {
        outcome = look_at(&look, members);
    }
    free(members);
    gmt_cover_free(&look.kernels);
    free(look.read_back);
    free(look.chosen);
    free(look.rows);
    gmt_devices_free(&look.elsewhere.devices);
    return outcome;
}

extern const struct gmt_rule gmt_rule_redundant_transfer;
const struct gmt_rule gmt_rule_redundant_transfer = {
    .id = "GM105",
    .slug = "redundant-transfer",
    .title = "Uploads of bytes that the device has",
    .category = "transfers",
    .needs = GMT_NEED_COPIES | GMT_NEED_ALL_CALLS,
    .run = run};
