/* SPDX-License-Identifier: Apache-2.0 */
/* Distinguishes patterns of global accesses by the sums that counters are. */
#include "analyzer/price/pattern.h"

#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"

enum { WARP_LANES = 32, ARRAYS = 32, MIXED_MOST = 4 };

/* Sizes of what the kernel's pointers point to: up to the next pointer, or the allocation's end. */
struct array_shares {
    double bytes[ARRAYS], total;
    size_t n;
};

static bool alike(double a, double b, double tolerance)
{
    return fabs(a / b - 1) <= tolerance;
}

static void load_arrays(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                        struct array_shares *arrays)
{
    struct gmt_query query;
    int64_t set = gmt_class_launch(tl, class)->argument_set;

    *arrays = (struct array_shares){.n = 0};
    if (set == 0 || tl->db == NULL) {
        return;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT coalesce(lead(p.at) OVER (PARTITION BY p.id ORDER BY p.at), p.bytes) - p.at FROM "
        "(SELECT DISTINCT a.allocation_id AS id, a.allocation_offset AS at, "
        "coalesce(d.bytes, h.bytes) AS bytes FROM launch_argument a "
        "LEFT JOIN allocation d ON d.id = a.allocation_id "
        "LEFT JOIN host_allocation h ON h.id = a.allocation_id WHERE a.set_id = ?1) p "
        "WHERE p.bytes IS NOT NULL");
    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, set);
    }
    while (rc == 0 && arrays->n < ARRAYS && gmt_query_next(&query)) {
        double bytes = gmt_query_real(&query, 0);

        arrays->bytes[arrays->n++] = bytes;
        arrays->total += bytes;
    }
    gmt_query_close(&query, rc);
}

/* What loads (or stores) of the class are judged by. */
struct access_side {
    struct gmt_access access;
    double width;    /* NAN: mixed */
    double distinct; /* bytes of distinct sectors; NAN: not counted                  */
    double beyond;   /* bytes that pass L1, NAN: not measured; of stores always NAN: all do */
    double others;   /* bytes that the other kind of access asks for                 */
};

static struct access_side side_of(const struct gmt_tl_class *class, bool loads)
{
    const double *c = class->counter;
    struct gmt_access load = gmt_access_of_loads(class), store = gmt_access_of_stores(class);
    struct access_side side = {.access = loads ? load : store};

    side.width = gmt_access_width(class, &side.access);
    side.distinct = c[loads ? GMT_M_footprint_read_bytes : GMT_M_footprint_write_bytes];
    side.beyond = loads ? c[GMT_M_l2_read_sectors] * GMT_SECTOR_BYTES : NAN;
    side.others = gmt_known(loads ? store.bytes : load.bytes);
    return side;
}

/* Sectors per ideal sector when each lane has a sector of its own. */
static double most_ratio(const struct access_side *side)
{
    return GMT_SECTOR_BYTES / side->width;
}

/* The array whose size that is, or all of them together less what else is accessed; 0: none. */
static double array_of_size(const struct array_shares *arrays, double bytes, double others)
{
    for (size_t i = 0; i < arrays->n; i++) {
        if (alike(bytes, arrays->bytes[i], GMT_ARRAY_MATCH)) {
            return arrays->bytes[i];
        }
    }
    double rest = arrays->total - others;
    return arrays->n > 0 && alike(bytes, rest, GMT_ARRAY_MATCH) ? rest : 0;
}

/* Whether the sectors that so many requests per thread share are fetched once. */
static bool once(const struct access_side *side, const struct array_shares *arrays, double shared)
{
    double touched = side->access.sectors * GMT_SECTOR_BYTES / shared;

    if (isfinite(side->distinct)) {
        return side->distinct >= touched * (1 - GMT_ARRAY_MATCH);
    }
    return array_of_size(arrays, touched, side->others) > 0;
}

/* Bytes of a struct so large that each lane has a sector of its own: an array's, per struct. */
static double struct_of_array(const struct access_side *side, const struct array_shares *arrays,
                              double structs)
{
    for (size_t i = 0; i < arrays->n; i++) {
        double bytes = arrays->bytes[i] / structs;
        double whole = side->width * round(bytes / side->width);

        if (bytes >= GMT_SECTOR_BYTES * (1 - GMT_ARRAY_MATCH) && bytes <= GMT_STRUCT_MOST_BYTES &&
            alike(bytes, whole, GMT_STRUCT_MATCH)) {
            return whole;
        }
    }
    return NAN;
}

/*
 * Bytes from one struct to the next where that many fields of each are accessed, one per request;
 * NAN: that is not so.
 */
static double struct_of_fields(const struct access_side *side, const struct array_shares *arrays,
                               double fields)
{
    double ratio = gmt_access_ratio(&side->access), words = side->access.bytes / side->width;

    if (isnan(side->width) || !(fields >= 1) || fields >= most_ratio(side)) {
        return NAN;
    }
    if (ratio >= most_ratio(side) * (1 - GMT_ARRAY_MATCH)) {
        bool again = side->distinct * fields <
                     side->access.sectors * GMT_SECTOR_BYTES * (1 - GMT_ARRAY_MATCH);

        return again ? NAN : struct_of_array(side, arrays, words / fields);
    }
    /* A mean of several patterns is no size of a struct. */
    if (!alike(ratio, round(ratio), GMT_STRUCT_MATCH) || fields >= round(ratio)) {
        return NAN;
    }
    return once(side, arrays, fields) ? round(ratio) * side->width : NAN;
}

/* One field, or as many as each thread makes requests. */
static double struct_of_field(const struct gmt_tl_class *class, const struct access_side *side,
                              const struct array_shares *arrays, double *fields)
{
    double one = struct_of_fields(side, arrays, 1);

    *fields = isfinite(one) ? 1 : round(gmt_access_per_thread(class, &side->access));
    return isfinite(one) ? one : struct_of_fields(side, arrays, *fields);
}

/* The same where each thread accesses all words of its struct, one by one. */
static double struct_of_words(const struct gmt_tl_class *class, const struct access_side *side,
                              const struct array_shares *arrays)
{
    double ratio = gmt_access_ratio(&side->access), most = most_ratio(side);
    double each = gmt_access_per_thread(class, &side->access), asked = side->access.bytes;
    double seen = isfinite(side->distinct) ? side->distinct : side->beyond;
    bool once = isfinite(seen) ? seen <= asked * GMT_ONCE_SLACK
                               : array_of_size(arrays, asked, side->others) > 0;

    if (isnan(side->width) || !once || each < ratio * (1 - GMT_ARRAY_MATCH)) {
        return NAN;
    }
    /* Sectors say no more than that a struct fills one: the loads show whether it is just one. */
    if (ratio >= most * (1 - GMT_ARRAY_MATCH)) {
        return alike(each, most, GMT_ARRAY_MATCH) ? GMT_SECTOR_BYTES : NAN;
    }
    return round(ratio) * side->width;
}

/* A sector per lane along threadIdx.x: of all accesses, or of some beside ordered or uniform ones. */
static bool is_transposed(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                          const struct access_side *side, bool loads)
{
    double lanes = (double)(class->block[0] < WARP_LANES ? class->block[0] : WARP_LANES);
    double per_request = side->access.sectors / side->access.requests;
    double mixed = round(gmt_access_per_thread(class, &side->access));
    const double ordered[] = {WARP_LANES * 4.0 / GMT_SECTOR_BYTES, 1};

    if (class->block[1] < 2 || class->block[0] < 2 || class->grid[1] < 2) {
        return false;
    }
    double lone = gmt_pattern_lone_share(tl, class, loads, lanes);

    if (isfinite(lone)) {
        return lone >= 1 - GMT_ARRAY_MATCH;
    }
    if (alike(per_request, lanes, GMT_ARRAY_MATCH)) {
        return true;
    }
    for (int n = 1; n < mixed && mixed <= MIXED_MOST; n++) {
        for (size_t i = 0; i < sizeof(ordered) / sizeof(ordered[0]); i++) {
            if (alike(per_request, (n * lanes + (mixed - n) * ordered[i]) / mixed,
                      GMT_STRUCT_MATCH)) {
                return true;
            }
        }
    }
    return false;
}

/* Words of 8 and 16 bytes have a type of their size; 12 bytes are worth padding only to be moved. */
static bool is_one_word(double bytes, bool loads, bool stores)
{
    return bytes == 8 || bytes == 16 || (bytes == 12 && loads && stores);
}

static void judge_far_apart(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                            const struct access_side sides[2], struct gmt_pattern *pattern)
{
    const bool wastes[2] = {pattern->loads, pattern->stores};
    double field = NAN, words = NAN;
    bool fields = true, whole = true, transposed = true;
    struct array_shares arrays;

    load_arrays(tl, class, &arrays);
    for (size_t i = 0; i < 2; i++) {
        if (!wastes[i]) {
            continue;
        }
        double one = struct_of_field(class, &sides[i], &arrays, &pattern->fields);
        double all = struct_of_words(class, &sides[i], &arrays);

        pattern->counted = isfinite(sides[i].distinct);
        pattern->width_bytes = sides[i].width;
        /* Stores pass L1 one by one: where loads go by whole structs, stores alike do, too. */
        if (i == 1 && isnan(all) && isnan(sides[i].distinct) && pattern->loads &&
            alike(gmt_access_ratio(&sides[0].access), gmt_access_ratio(&sides[1].access),
                  GMT_ARRAY_MATCH)) {
            all = words;
        }
        fields &= isfinite(one);
        whole &= isfinite(all);
        transposed &= is_transposed(tl, class, &sides[i], i == 0);
        field = fmax(field, one);
        words = fmax(words, all);
    }
    if (fields) {
        pattern->kind = GMT_PATTERN_FIELD;
        pattern->struct_bytes = field;
    } else if (whole) {
        pattern->kind = is_one_word(words, pattern->loads, pattern->stores) ? GMT_PATTERN_PIECES
                                                                            : GMT_PATTERN_FIELDS;
        pattern->struct_bytes = words;
    } else if (transposed) {
        pattern->kind = GMT_PATTERN_TRANSPOSED;
    } else {
        pattern->kind = pattern->loads ? GMT_PATTERN_STRIDED : GMT_PATTERN_SCATTERED;
    }
}

bool gmt_access_is_misaligned(const struct gmt_access *access)
{
    double extra = (access->sectors - access->ideal) / access->requests;

    return gmt_access_ratio(access) < GMT_STRIDED_RATIO && extra >= GMT_MISALIGNED_MIN_EXTRA &&
           extra <= GMT_MISALIGNED_EXTRA_SECTORS;
}

static bool is_narrow(const struct access_side *side)
{
    return side->width < 4 && gmt_access_ratio(&side->access) < GMT_STRIDED_RATIO;
}

struct gmt_pattern gmt_pattern_of_class(const struct gmt_timeline *tl,
                                        const struct gmt_tl_class *class)
{
    const struct access_side sides[2] = {side_of(class, true), side_of(class, false)};
    const struct gmt_access *load = &sides[0].access, *store = &sides[1].access;
    struct gmt_pattern pattern = {.kind = GMT_PATTERN_ORDERED,
                                  .loads = gmt_access_ratio(load) >= GMT_STRIDED_RATIO,
                                  .stores = gmt_access_ratio(store) >= GMT_STRIDED_RATIO,
                                  .width_bytes = NAN,
                                  .struct_bytes = NAN,
                                  .row_bytes = NAN,
                                  .rows = NAN};

    if (pattern.loads || pattern.stores) {
        judge_far_apart(tl, class, sides, &pattern);
        return pattern;
    }
    pattern.loads = gmt_access_is_misaligned(load);
    pattern.stores = gmt_access_is_misaligned(store);
    if (pattern.loads || pattern.stores) {
        pattern.kind = gmt_pattern_rows(class, pattern.loads ? load : store, &pattern)
                           ? GMT_PATTERN_ROWS
                           : GMT_PATTERN_MISALIGNED;
        return pattern;
    }
    pattern.loads = is_narrow(&sides[0]) && gmt_pattern_has_narrow_words(tl, class, true);
    pattern.stores = is_narrow(&sides[1]) && gmt_pattern_has_narrow_words(tl, class, false);
    if (pattern.loads || pattern.stores) {
        pattern.kind = GMT_PATTERN_NARROW;
        pattern.width_bytes = pattern.loads ? sides[0].width : sides[1].width;
    }
    return pattern;
}

double gmt_access_per_thread(const struct gmt_tl_class *class, const struct gmt_access *access)
{
    double blocks = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2];
    double threads = (double)class->block[0] * (double)class->block[1] * (double)class->block[2];

    return access->requests / (blocks * ceil(threads / WARP_LANES));
}

double gmt_access_width(const struct gmt_tl_class *class, const struct gmt_access *access)
{
    const double *c = class->counter;
    double lanes = c[GMT_M_thread_instructions] / c[GMT_M_instructions];
    double bytes = access->bytes / access->requests / WARP_LANES;

    /* Half as many bytes: half as many lanes, or words half as wide? Only lanes show it. */
    if (bytes < 3.9 && !(lanes >= GMT_FULL_WARP_LANES)) {
        return NAN;
    }
    for (int width = 1; width <= 16; width *= 2) {
        if (alike(bytes, width, GMT_STRUCT_MATCH)) {
            return width;
        }
    }
    return NAN;
}

double gmt_access_stride(const struct gmt_tl_class *class, const struct gmt_access *access,
                         double lines, bool *at_least)
{
    const double *c = class->counter;
    double width = gmt_access_width(class, access),
           per_request = access->sectors / access->requests;
    double stride = per_request / width, most = GMT_SECTOR_BYTES / width;

    *at_least = stride >= most * (1 - GMT_STRUCT_MATCH);
    if (isnan(stride)) {
        return NAN;
    }
    if (!*at_least) {
        /* The mean of several requests need not be the stride of any; lines show that it is. */
        bool same = isfinite(lines) ? alike(lines / access->requests,
                                            fmax(1, round(stride) * width / 4), GMT_STRUCT_MATCH)
                                    : gmt_access_per_thread(class, access) < 2;

        return same && alike(stride, round(stride), GMT_STRUCT_MATCH) ? round(stride) : NAN;
    }
    if (isfinite(lines)) {
        /* Lines of 128 bytes distinguish strides up to one line. */
        stride = round(lines / access->requests * 4 / width);
        *at_least = lines / access->requests >= WARP_LANES * (1 - GMT_STRUCT_MATCH);
        return stride;
    }
    /*
     * Device memory hands out two sectors at a time: twice the bytes, the second one unused. Sectors
     * that are written in part are read for it as well, so beside such stores that shows nothing.
     */
    struct gmt_access stores = gmt_access_of_stores(class);
    bool alone = !(gmt_access_ratio(&stores) >= GMT_STRIDED_RATIO) &&
                 c[GMT_M_dram_read_bytes] >=
                     GMT_LONE_SECTOR_RATIO * c[GMT_M_l2_read_sectors] * GMT_SECTOR_BYTES;
    return alone ? 2 * most : most;
}
