/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the table of reference kernels. */
#include "kernels/variants/variants.h"

#include <string.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): initializers, names among them */
const struct gmt_variant gmt_variants[] = {
#define GMT_ROW(family_, name_, kernel_, parameter_, width_, quality_, reference_, sectors_, \
                efficiency_, ways_, rule_, doc_) \
    { \
        .family = #family_, \
        .name = #name_, \
        .kernel_name = "gmt_kernel_" #kernel_, \
        .reference = #reference_, \
        .rule = rule_, \
        .doc = doc_, \
        .kernel = GMT_KERNEL_##kernel_, \
        .quality = GMT_QUALITY_##quality_, \
        .parameter = parameter_, \
        .width_bytes = width_, \
        .sectors_per_request = sectors_, \
        .efficiency_percent = efficiency_, \
        .ways = ways_, \
    },
    GMT_VARIANTS(GMT_ROW)
#undef GMT_ROW
};
/* NOLINTEND(bugprone-macro-parentheses) */

const size_t gmt_variant_count = sizeof(gmt_variants) / sizeof(gmt_variants[0]);

const char *gmt_quality_name(enum gmt_quality quality)
{
    switch (quality) {
    case GMT_QUALITY_good: return "good";
    case GMT_QUALITY_bad: return "bad";
    case GMT_QUALITY_neutral: break;
    }
    return "neutral";
}

const struct gmt_variant *gmt_variant_find(const char *family, const char *name)
{
    for (size_t i = 0; i < gmt_variant_count; i++) {
        if (strcmp(gmt_variants[i].family, family) == 0 &&
            strcmp(gmt_variants[i].name, name) == 0) {
            return &gmt_variants[i];
        }
    }
    return NULL;
}

int gmt_family_known(const char *family)
{
    for (size_t i = 0; i < gmt_variant_count; i++) {
        if (strcmp(gmt_variants[i].family, family) == 0) {
            return 1;
        }
    }
    return 0;
}
