/* SPDX-License-Identifier: Apache-2.0 */
/* GM117: downloads of bytes that the host has, and that nothing has changed on the device since. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/rules/common/content_sites.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/unhashed.h"
#include "libtrace/base/format.h"

/* Of the downloads of one place, those to one kind of buffer. */
struct site {
    struct gmt_copy_sum sum;
    size_t first, verified, sent; /* sent: the host had sent the bytes, not got them */
    enum gmt_host_holds host;
    double downloads; /* all copies from there */
    struct gmt_unhashed unhashed;
};

struct download_scan {
    struct gmt_analysis *analysis;
    const struct gmt_copy_content *contents;
    struct gmt_cover kernels;
    size_t *chosen;                 /* room for all copies */
    struct gmt_unhashed_copy *rows; /* the same; of one place at a time */
};

static bool brings_nothing_new(const struct gmt_copy_content *content)
{
    return content->there == GMT_CONTENT_SAME && content->host != GMT_HOST_UNKNOWN;
}

static bool is_redundant(const struct gmt_copy_content *content, enum gmt_host_holds host)
{
    return brings_nothing_new(content) && content->place_doubt == GMT_DOUBT_NONE &&
           content->host == host;
}

static enum gmt_hashed hashed_state(const struct download_scan *look, size_t i)
{
    const struct gmt_copy_content *content = &look->contents[i];

    if (is_redundant(content, GMT_HOST_THERE)) {
        return GMT_HASHED_REPEATED;
    }
    if (content->before < 0 || content->place_doubt != GMT_DOUBT_NONE) {
        return GMT_HASHED_OTHERWISE;
    }
    if (content->there == GMT_CONTENT_OTHER) {
        return GMT_HASHED_NEW;
    }
    return content->host == GMT_HOST_THERE && content->there == GMT_CONTENT_UNKNOWN &&
                   gmt_prints_lack_time(&look->contents[content->before].print, &content->print)
               ? GMT_HASHED_OPEN
               : GMT_HASHED_OTHERWISE;
}

static void add_open(void *context, size_t i, struct gmt_copy_sum *sum)
{
    const struct download_scan *look = context;

    gmt_copy_sum_add(sum, look->analysis, &look->kernels, &look->analysis->timeline->copies[i],
                     &look->contents[i].print);
}

/* Of the downloads of one place, those that hashing had no time for. */
static void estimate(struct download_scan *look, struct site *site, const size_t *members, size_t n)
{
    struct gmt_unhashed_ask ask = {.timeline = look->analysis->timeline,
                                   .contents = look->contents,
                                   .add = add_open,
                                   .context = look};

    for (size_t i = 0; i < n; i++) {
        look->rows[i] = (struct gmt_unhashed_copy){members[i], ask.timeline->copies[members[i]].src,
                                                   hashed_state(look, members[i])};
    }
    site->unhashed = gmt_unhashed_estimate(&ask, look->rows, n);
}

static void add(const struct download_scan *look, struct site *site, size_t i)
{
    const struct gmt_timeline *tl = look->analysis->timeline;
    const struct gmt_copy_content *content = &look->contents[i];

    if (site->sum.copies == 0) {
        site->first = i;
    }
    gmt_copy_sum_add(&site->sum, look->analysis, &look->kernels, &tl->copies[i], &content->print);
    site->verified += content->print.whole == 1;
    site->sent += tl->copies[content->before].direction == GMT_DIR_H2D;
}

static void describe(const struct download_scan *look, const struct site *site,
                     const size_t *members, struct gmt_finding *finding)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    const struct gmt_tl_copy *before =
        &analysis->timeline->copies[look->contents[site->first].before];
    char size[GMT_FORMAT_BYTES], each[GMT_FORMAT_BYTES];
    size_t n = site->sum.copies;
    double all = (double)n + site->unhashed.copies;
    double cost_ns = site->sum.cost_ns + site->unhashed.cost_ns;

    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->headline = gmt_text(
        analysis, "%s%.0f of %.0f downloads (%s) bring%s bytes that the host %s%s%s%s%s",
        site->unhashed.open > 0 ? "about " : "", all, site->downloads,
        gmt_format_bytes(size, site->sum.bytes + site->unhashed.bytes), all < 1.5 ? "s" : "",
        site->host == GMT_HOST_THERE ? "has already" : "has in another buffer",
        site->verified < n ? ", judged by samples" : "",
        gmt_unhashed_words(analysis, &site->unhashed), isnan(cost_ns) ? "" : ": ",
        isnan(cost_ns) ? "" : gmt_time_words(analysis, cost_ns));
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(
        analysis,
        "Drop the copy of the %s: the host %s them at %s, and nothing has written there on the "
        "device since. This holds only while the host does not change its buffer.",
        gmt_format_bytes(each, (double)copy->bytes),
        before->direction == GMT_DIR_H2D ? "sent" : "got",
        gmt_where_of_call(analysis, &before->call).label);
    finding->sketch = gmt_text(analysis,
                               "// cudaMemcpy%s(host, device, %" PRId64
                               ", cudaMemcpyDeviceToHost%s);  // %.0f times: nothing new",
                               copy->blocking ? "" : "Async", copy->bytes,
                               copy->blocking ? "" : ", stream", all);
    if (site->host == GMT_HOST_ELSEWHERE) {
        finding->note_why = "the host may have given that buffer back, or changed it";
    }
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                            "WHERE %s",
                            gmt_copy_group_condition(analysis, "id", members, n));
}

static void report_site(const struct download_scan *look, const struct site *site,
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
    gmt_finding_evidence(finding, "redundant_copies", "count", (double)site->sum.copies);
    gmt_finding_evidence(finding, "downloads", "count", site->downloads);
    gmt_finding_evidence(finding, "bytes", "bytes", site->sum.bytes);
    gmt_finding_evidence(finding, "sent_by_the_host", "count", (double)site->sent);
    gmt_finding_evidence(finding, "verified_copies", "count", (double)site->verified);
    gmt_unhashed_evidence(&site->unhashed, finding);
    for (size_t i = 0; i < site->sum.copies; i++) {
        gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[members[i]]));
    }
    gmt_unhashed_claim(analysis, &site->unhashed, look->rows, (size_t)site->downloads, finding);
    finding->confidence = site->verified == site->sum.copies && !tl->simulated &&
                                  site->unhashed.open == 0
                              ? GMT_CONFIDENCE_MEASURED
                              : GMT_CONFIDENCE_HEURISTIC;
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
    } else {
        gmt_finding_evidence(finding, "time", "ns", site->sum.cost_ns);
        gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", site->sum.hidden_ns);
        gmt_finding_evidence(finding, "added_by_tracing", "ns", site->sum.traced_ns);
        finding->method = gmt_text(analysis,
                                   "measured time of the copies, without waiting for kernels, "
                                   "less what tracing added%s%s",
                                   gmt_copy_sum_hidden(analysis, &site->sum),
                                   gmt_unhashed_method(&site->unhashed));
        gmt_finding_saving(finding, 0, site->sum.best_ns + site->unhashed.best_ns,
                           gmt_copy_sum_high(&site->sum) + site->unhashed.high_ns);
    }
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

/* `members`: the downloads of one site. */
static void look_at_site(struct download_scan *look, const size_t *members, size_t n,
                         double all_bytes)
{
    static const enum gmt_host_holds kinds[] = {GMT_HOST_THERE, GMT_HOST_ELSEWHERE};

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct site site = {.host = kinds[k], .downloads = (double)n};

        for (size_t i = 0; i < n; i++) {
            if (!is_redundant(&look->contents[members[i]], kinds[k])) {
                continue;
            }
            look->chosen[site.sum.copies] = members[i];
            add(look, &site, members[i]);
        }
        if (site.sum.copies > 0 && kinds[k] == GMT_HOST_THERE) {
            estimate(look, &site, members, n);
        }
        if (site.sum.copies > 0) {
            report_site(look, &site, look->chosen, all_bytes);
        }
    }
}

/* Whether all that is known against the download is that something unknown may have written there. */
static bool is_open_doubt(int32_t doubt)
{
    return doubt < GMT_DOUBT_NONE;
}

static enum gmt_outcome look_at(struct download_scan *look, size_t *members)
{
    struct gmt_analysis *analysis = look->analysis;
    const struct gmt_timeline *tl = analysis->timeline;
    size_t n = 0, compared = 0, open = 0, doubtful = 0;
    double all_bytes = 0;
    uint8_t skipped = GMT_PRINT_NONE;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_copy_content *content = &look->contents[i];

        if (tl->copies[i].direction != GMT_DIR_D2H) {
            continue;
        }
        members[n++] = i;
        all_bytes += (double)tl->copies[i].bytes;
        doubtful += brings_nothing_new(content) && is_open_doubt(content->place_doubt);
        if (content->before < 0) {
            continue;
        }
        compared += content->there != GMT_CONTENT_UNKNOWN;
        /* What a kernel may have written needs no comparison: it counts as new. */
        if (content->there == GMT_CONTENT_UNKNOWN && content->place_doubt == GMT_DOUBT_NONE) {
            open++;
            skipped = content->print.skipped;
        }
    }
    gmt_copies_sort_by_site(tl, members, n);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t where = tl->copies[members[i]].call.site;

        for (end = i + 1; end < n && tl->copies[members[end]].call.site == where; end++) {
        }
        look_at_site(look, members + i, end - i, all_bytes);
    }
    if (doubtful > 0 && analysis->pending_count == 0) {
        return gmt_could_not(analysis,
                             "%zu downloads bring bytes that the host has, but work that is not in "
                             "the trace may have written there before",
                             doubtful);
    }
    return gmt_content_outcome(analysis, compared, open, skipped, 0,
                               "downloads of bytes that an earlier copy moved have");
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_copy_content *contents = gmt_analysis_contents(analysis);
    struct download_scan look = {.analysis = analysis, .contents = contents};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome;

    look.chosen = calloc(tl->copy_count + 1, sizeof(*look.chosen));
    look.rows = calloc(tl->copy_count + 1, sizeof(*look.rows));
    if (contents == NULL || members == NULL || look.chosen == NULL || look.rows == NULL ||
        gmt_cover_make(&look.kernels, tl, GMT_COVER_KERNELS) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace is damaged");
    } else {
        outcome = look_at(&look, members);
    }
    free(members);
    free(look.chosen);
    free(look.rows);
    gmt_cover_free(&look.kernels);
    return outcome;
}

extern const struct gmt_rule gmt_rule_redundant_download;
const struct gmt_rule gmt_rule_redundant_download = {
    .id = "GM117",
    .slug = "redundant-download",
    .title = "Downloads of bytes that the host has",
    .category = "transfers",
    .needs = GMT_NEED_COPIES | GMT_NEED_ALL_USES,
    .run = run};
