/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of reference kernels: every good and bad variant with the counters it must show. */
#ifndef GMT_KERNELS_VARIANTS_VARIANTS_H
#define GMT_KERNELS_VARIANTS_VARIANTS_H

#include <math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "Not defined for this variant", as what was not measured (libtrace/base/unknown.h): null in files, "-" in tables. */
#define GMT_UNDEFINED NAN

/*
 * X(family, variant, kernel, parameter, width, quality, reference, sectors, efficiency, ways,
 *   rule, doc)
 *
 *   kernel      body that runs, one of GMT_KERNELS
 *   parameter   what varies within the family: elements, words, blocks per multiprocessor, lanes
 *   width       bytes per lane of the access that is studied
 *   quality     good, bad, or neutral (neither: a step between them, or there to check counters)
 *   reference   good variant whose time relative_time is measured against
 *   sectors     expected 32-byte sectors per global load request (a full warp, or what is active)
 *   efficiency  expected global load efficiency in %, bytes asked / (32 x sectors)
 *   ways        expected shared wavefronts / ideal wavefronts for that width; 1 is conflict-free
 *   rule        bad: the rule that must have the first word about it. Others: the one that may speak,
 *               because the access is so on purpose, or because more of what the family varies would
 *               still help; NULL: none may
 */
#include "kernels/variants/variants_access.h"
#include "kernels/variants/variants_launch.h"
#include "kernels/variants/variants_layout.h"
#include "kernels/variants/variants_mapped.h"
#include "kernels/variants/variants_memory.h"
#include "kernels/variants/variants_rate.h"
#include "kernels/variants/variants_shared.h"

#define GMT_OF_ALL(kind, X) \
    kind##_OF_ACCESS(X) kind##_OF_LAUNCH(X) kind##_OF_LAYOUT(X) kind##_OF_MAPPED(X) \
        kind##_OF_MEMORY(X) kind##_OF_RATE(X) kind##_OF_SHARED(X)
#define GMT_FAMILIES(X) GMT_OF_ALL(GMT_FAMILIES, X)
#define GMT_KERNELS(X) GMT_OF_ALL(GMT_KERNELS, X)
#define GMT_VARIANTS(X) GMT_OF_ALL(GMT_VARIANTS, X)

enum gmt_variant_kernel {
#define GMT_ROW(name) GMT_KERNEL_##name,
    GMT_KERNELS(GMT_ROW)
#undef GMT_ROW
};

enum gmt_quality { GMT_QUALITY_good, GMT_QUALITY_bad, GMT_QUALITY_neutral };

struct gmt_variant {
    const char *family;
    const char *name;
    const char *kernel_name;
    const char *reference;
    const char *rule; /* NULL: no rule should speak */
    const char *doc;
    enum gmt_variant_kernel kernel;
    enum gmt_quality quality;
    unsigned parameter;
    unsigned width_bytes;
    double sectors_per_request; /* these three may be GMT_UNDEFINED */
    double efficiency_percent;
    double ways;
};

extern const struct gmt_variant gmt_variants[];
extern const size_t gmt_variant_count;

const char *gmt_quality_name(enum gmt_quality quality);

/* NULL when the table has no such row. */
const struct gmt_variant *gmt_variant_find(const char *family, const char *name);

/* True when some row belongs to that family. */
int gmt_family_known(const char *family);

#ifdef __cplusplus
}
#endif

#endif
