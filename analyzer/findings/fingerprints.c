/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints of findings: hashes of names and of source text. Lines and addresses move with every edit and build. */
#include "analyzer/findings/fingerprints.h"
#include "analyzer/findings/where.h"
#include "libtrace/base/base_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t mix_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * FNV_PRIME;
}

/* FNV-1a, 64 bits, with a separator so that "a" + "bc" differs from "ab" + "c". */
static uint64_t mix(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        hash = mix_byte(hash, (unsigned char)*text);
    }
    return mix_byte(hash, 0x1f);
}

/* Formatting a file anew changes no fingerprint of a statement that stays in one line. NULL: as before. */
static uint64_t mix_statement(uint64_t hash, const char *text)
{
    if (text == NULL) {
        return hash;
    }
    for (; *text != '\0'; text++) {
        if (strchr(" \t\r\v\f", *text) == NULL) {
            hash = mix_byte(hash, (unsigned char)*text);
        }
    }
    return mix_byte(hash, 0x1f);
}

static uint64_t place_of(const struct gmt_finding *finding)
{
    const struct gmt_where *where = &finding->where;
    const char *function = where->function != NULL ? where->function : gmt_base_name(where->module);
    uint64_t hash = mix(FNV_BASIS, finding->rule);

    hash = mix(hash, where->kernel != NULL ? where->kernel : function);
    hash = mix(hash, where->kernel != NULL ? NULL : gmt_base_name(where->file));
    return mix(hash, where->kernel != NULL ? NULL : where->api);
}

static bool is_numbered(const struct gmt_finding *findings, size_t n, const char *number)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(findings[i].fingerprint_v1, number) == 0) {
            return true;
        }
    }
    return false;
}

void gmt_finding_number(const struct gmt_report *report, struct gmt_finding *finding)
{
    uint64_t hash = place_of(finding);

    do {
        (void)snprintf(finding->fingerprint_v1, sizeof(finding->fingerprint_v1), "%016" PRIx64,
                       hash);
        hash = mix(hash, "again");
    } while (is_numbered(report->findings, report->finding_count, finding->fingerprint_v1) ||
             is_numbered(report->notes, report->note_count, finding->fingerprint_v1));
}

/* The line of the call. Of a kernel it is the line that causes most, which may be another in the next run. */
static const char *statement_of(const struct gmt_finding *finding)
{
    const struct gmt_source_quote *place = &finding->place;
    const struct gmt_where *where = &finding->where;
    bool is_here = where->kernel == NULL && place->line_count > 0 && place->line == where->line &&
                   where->file != NULL && strcmp(place->file, where->file) == 0;

    return is_here ? place->lines[place->line - place->first_line] : NULL;
}

struct known_by {
    struct gmt_finding *finding;
    uint64_t hash;
    bool note;
};

/* Without what is said of the thread: traces that do not have its name, and earlier releases, have no such words. */
static size_t length_of(const char *label)
{
    const char *words = strstr(label, GMT_WHERE_BACKWARD);

    return words != NULL ? (size_t)(words - label) : strlen(label);
}

/* Without a line, by the address behind the module's name: the shorter one is the lower one. */
static int compare_labels(const char *a, const char *b)
{
    size_t length_a = length_of(a), length_b = length_of(b);

    return length_a != length_b ? (length_a > length_b) - (length_a < length_b) : strcmp(a, b);
}

/* Equal ones together, in the order of their lines. A note gives no finding another number. */
static int compare_known(const void *a, const void *b)
{
    const struct known_by *x = a, *y = b;
    const struct gmt_where *p = &x->finding->where, *q = &y->finding->where;

    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    if (x->note != y->note) {
        return x->note ? 1 : -1;
    }
    if (p->line != q->line) {
        return p->line < q->line ? -1 : 1;
    }
    int order = compare_labels(p->label, q->label);
    return order != 0 ? order : strcmp(x->finding->fingerprint_v1, y->finding->fingerprint_v1);
}

static void add(struct known_by *known, struct gmt_finding *findings, size_t n, bool note)
{
    for (size_t i = 0; i < n; i++) {
        known[i] = (struct known_by){
            .finding = &findings[i],
            .hash = mix_statement(place_of(&findings[i]), statement_of(&findings[i])),
            .note = note};
    }
}

int gmt_findings_identify(struct gmt_report *report)
{
    size_t count = report->finding_count + report->note_count;
    struct known_by *known = calloc(count + 1, sizeof(*known));

    if (known == NULL) {
        return -ENOMEM;
    }
    add(known, report->findings, report->finding_count, false);
    add(known + report->finding_count, report->notes, report->note_count, true);
    qsort(known, count, sizeof(*known), compare_known);
    for (size_t i = 0, equal = 0; i < count; i++) {
        uint64_t hash = known[i].hash;

        equal = i > 0 && known[i - 1].hash == hash ? equal + 1 : 0;
        for (size_t k = 0; k < equal; k++) {
            hash = mix(hash, "again");
        }
        (void)snprintf(known[i].finding->fingerprint, sizeof(known[i].finding->fingerprint),
                       "%016" PRIx64, hash);
    }
    free(known);
    return 0;
}
