/* SPDX-License-Identifier: Apache-2.0 */
/* Where else the bytes of a copy are: in a buffer of the host, or in another buffer of a device. */
#include "analyzer/base/thresholds.h"
#include "analyzer/memory/content_scan.h"

/* ---- on the host ------------------------------------------------------------------------------ */

void gmt_content_note_host(struct gmt_content_scan *scan, size_t i, uint64_t address)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_content_range place = {
        .bytes = copy->bytes, .copy = (int32_t)i, .serial = scan->serial};
    bool known = copy->linear && address != 0 && address <= GMT_CONTENT_MOST_BYTES &&
                 copy->bytes > 0 && copy->bytes <= GMT_CONTENT_MOST_BYTES;

    if (!known && copy->direction != GMT_DIR_H2D) {
        scan->host.count = 0;
    }
    if (!known) {
        return;
    }
    place.offset = (int64_t)address;
    if (!gmt_content_ranges_remember(&scan->host, &place)) {
        scan->failed = true;
    }
}

/* Whether copy `last` moved the bytes that download `i` brings again, where hashing had no time to show it: it is
 * the copy before, or has brought them from there since. */
static bool is_of_same_place(const struct gmt_content_scan *scan, int32_t last, size_t i)
{
    const struct gmt_copy_content *content = &scan->contents[i], *other = &scan->contents[last];
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i], *a = &scan->timeline->copies[last];

    if (!gmt_prints_lack_time(&scan->contents[content->before].print, &content->print)) {
        return false;
    }
    return last == content->before ||
           (a->direction == GMT_DIR_D2H && a->src == copy->src && a->bytes == copy->bytes &&
            a->src_allocation == copy->src_allocation && other->before == content->before &&
            other->place_doubt == GMT_DOUBT_NONE);
}

/* Whether, by the last copy, the host has the bytes of copy `i` there, in memory that was not given
 * back and that no kernel gets. */
static bool host_has(const struct gmt_content_scan *scan, size_t i, uint64_t address,
                     int64_t allocation)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    const struct gmt_content_memory *memory = gmt_content_memory_find(scan, allocation);

    if (address == 0 || address > GMT_CONTENT_MOST_BYTES ||
        (memory != NULL && (memory->handed || memory->free_ns <= copy->call.begin_ns))) {
        return false;
    }
    const struct gmt_content_range *place = gmt_content_ranges_find(&scan->host, (int64_t)address,
                                                                    copy->bytes);
    if (place == NULL) {
        return false;
    }
    const struct gmt_tl_copy *last = &scan->timeline->copies[place->copy];
    int64_t known = last->direction == GMT_DIR_H2D ? last->src_allocation : last->dst_allocation;
    return known == allocation && (is_of_same_place(scan, place->copy, i) ||
                                   gmt_print_compare(&scan->contents[place->copy].print,
                                                     &scan->contents[i].print) == GMT_CONTENT_SAME);
}

enum gmt_host_holds gmt_content_host_holds(const struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    const struct gmt_tl_copy *before = &scan->timeline->copies[scan->contents[i].before];
    bool up = before->direction == GMT_DIR_H2D;

    if (host_has(scan, i, copy->dst, copy->dst_allocation)) {
        return GMT_HOST_THERE;
    }
    return host_has(scan, i, up ? before->src : before->dst,
                    up ? before->src_allocation : before->dst_allocation)
               ? GMT_HOST_ELSEWHERE
               : GMT_HOST_UNKNOWN;
}

/* ---- the same bytes elsewhere on a device ----------------------------------------------------- */

static int32_t *print_slot(const struct gmt_content_scan *scan, const struct gmt_print *print)
{
    size_t at = (size_t)((print->high ^ print->low) % scan->arrival_slots);

    while (scan->prints[at] != 0 && gmt_print_compare(&scan->contents[scan->prints[at] - 1].print,
                                                      print) != GMT_CONTENT_SAME) {
        at = (at + 1) % scan->arrival_slots;
    }
    return &scan->prints[at];
}

void gmt_content_note_print(struct gmt_content_scan *scan, size_t i)
{
    if (scan->contents[i].print.whole >= 0) {
        *print_slot(scan, &scan->contents[i].print) = (int32_t)i + 1;
    }
}

void gmt_content_find_twin(struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_copy_content *content = &scan->contents[i];
    int32_t found = content->print.whole >= 0 ? *print_slot(scan, &content->print) - 1 : -1;

    if (found < 0 || !copy->linear || copy->bytes <= 0) {
        return;
    }
    const struct gmt_tl_copy *other = &scan->timeline->copies[found];
    bool up = other->direction == GMT_DIR_H2D;
    const struct gmt_content_memory *memory = gmt_content_memory_find(
        scan, up ? other->dst_allocation : other->src_allocation);
    int64_t offset = memory != NULL ? gmt_content_offset_in(memory, up ? other->dst : other->src)
                                    : -1;
    if (offset < 0 || other->bytes != copy->bytes || memory->foreign ||
        memory->free_ns <= copy->call.begin_ns) {
        return;
    }
    /* Equal samples of two buffers of the host prove less than those of one. */
    if (content->print.whole != 1 &&
        (!up || other->src != copy->src || other->src_allocation != copy->src_allocation)) {
        return;
    }
    const struct gmt_content_range *place = gmt_content_ranges_find(&memory->places, offset,
                                                                    copy->bytes);
    bool racing = gmt_content_is_pending(scan, &memory->writes) &&
                  memory->writes.stream != copy->call.stream;
    if (place != NULL && !racing && gmt_content_doubt_of(scan, memory, place) == GMT_DOUBT_NONE &&
        gmt_print_compare(&scan->contents[place->copy].print, &content->print) ==
            GMT_CONTENT_SAME) {
        content->twin = found;
    }
}
