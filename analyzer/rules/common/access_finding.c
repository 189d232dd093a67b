/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence, excess and price of findings about global accesses. */
#include "analyzer/rules/common/access_finding.h"

#include <inttypes.h>
#include <math.h>

#include "analyzer/base/thresholds.h"

struct gmt_access_subject gmt_access_subject_of(const struct gmt_analysis *analysis,
                                                const struct gmt_tl_class *class)
{
    struct gmt_access_subject subject = {
        .class = class,
        .load = gmt_access_of_loads(class),
        .store = gmt_access_of_stores(class),
        .pattern = gmt_pattern_of_class(analysis->timeline, class)};

    subject.loads = subject.pattern.loads;
    subject.stores = subject.pattern.stores;
    return subject;
}

double gmt_access_excess(const struct gmt_access_subject *subject)
{
    double loads = subject->loads ? subject->load.sectors - subject->load.ideal : 0;
    double stores = subject->stores ? subject->store.sectors - subject->store.ideal : 0;

    return loads + stores;
}

/* Of the kinds of access that the finding is about, over all classes. */
static double total_sectors(const struct gmt_timeline *tl, const struct gmt_access_subject *subject)
{
    double sum = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        struct gmt_access load = gmt_access_of_loads(&tl->classes[i]);
        struct gmt_access store = gmt_access_of_stores(&tl->classes[i]);

        sum += ((subject->loads ? gmt_known(load.sectors) : 0) +
                (subject->stores ? gmt_known(store.sectors) : 0)) *
               (double)tl->classes[i].launches;
    }
    return sum;
}

static void put_evidence(struct gmt_finding *finding, const struct gmt_access *access,
                         const char *const names[6])
{
    gmt_finding_evidence(finding, names[0], "bytes", access->bytes);
    gmt_finding_evidence(finding, names[1], "sectors", access->sectors);
    gmt_finding_evidence(finding, names[2], "sectors", access->ideal);
    gmt_finding_evidence(finding, names[3], "instructions", access->requests);
    gmt_finding_evidence(finding, names[4], "ratio", access->sectors / access->requests);
    gmt_finding_evidence(finding, names[5], "percent",
                         100 * access->bytes / (GMT_SECTOR_BYTES * access->sectors));
}

struct gmt_finding *gmt_access_finding(struct gmt_analysis *analysis,
                                       const struct gmt_access_subject *subject)
{
    static const char *const load_names[6] = {"load_bytes_asked",         "load_sectors",
                                              "load_ideal_sectors",       "load_requests",
                                              "load_sectors_per_request", "load_efficiency"};
    static const char *const store_names[6] = {"store_bytes_asked",         "store_sectors",
                                               "store_ideal_sectors",       "store_requests",
                                               "store_sectors_per_request", "store_efficiency"};
    const struct gmt_tl_class *class = subject->class;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    const char *kind = !subject->stores ? "load" : !subject->loads ? "store" : "";

    if (finding == NULL) {
        return NULL;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = class->total_ns;
    finding->excess_bytes = gmt_access_excess(subject) * GMT_SECTOR_BYTES * (double)class->launches;
    if (subject->loads) {
        put_evidence(finding, &subject->load, load_names);
    }
    if (subject->stores) {
        put_evidence(finding, &subject->store, store_names);
    }
    gmt_finding_evidence(finding, "launches", "count", (double)class->launches);
    gmt_finding_evidence(finding, "kernel_time", "ns", class->total_ns);
    finding->sql = gmt_text(analysis,
                            "SELECT metric, mean FROM v_counter WHERE class_id = %" PRId64
                            " AND metric LIKE 'global_%s%%'",
                            class->id, kind);
    gmt_finding_claim_class(analysis, finding, class);
    gmt_finding_lines(analysis, finding, class,
                      (subject->loads ? GMT_EXCESS_LOADS : 0u) |
                          (subject->stores ? GMT_EXCESS_STORES : 0u));
    return finding;
}

void gmt_access_put_gain(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const struct gmt_access_subject *subject, const struct gmt_gain *gain,
                         const char *method)
{
    if (isnan(gain->best_ns)) {
        finding->confidence = GMT_CONFIDENCE_HEURISTIC;
        finding->method = gmt_unpriced(analysis);
        return;
    }
    gmt_finding_saving_of_class(finding, subject->class, gain->low_ns, gain->best_ns,
                                gain->high_ns);
    finding->confidence = gain->from_family ? gmt_confidence_of_model(analysis->model)
                                            : GMT_CONFIDENCE_MODELLED;
    finding->method = method;
}

void gmt_access_judge_part(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_access_subject *subject)
{
    gmt_finding_judge_part(analysis, finding,
                           gmt_access_excess(subject) * (double)subject->class->launches,
                           total_sectors(analysis->timeline, subject));
}

const char *gmt_access_words(const struct gmt_access_subject *subject)
{
    if (subject->loads && subject->stores) {
        return "loads and stores";
    }
    return subject->loads ? "loads" : "stores";
}

const char *gmt_access_method(const struct gmt_gain *gain)
{
    return gain->from_family
               ? "kernel time minus that of the calibrated coalesced kernel for the same "
                 "useful bytes at this occupancy"
               : "kernel time minus the calibrated time of the useful bytes; time that "
                 "the sectors do not explain shrinks by the share of excess sectors";
}
