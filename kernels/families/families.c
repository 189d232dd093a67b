/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all families. */
#include "kernels/families/families.h"

const struct gmt_family *const gmt_families[] = {
#define GMT_ROW(name) &gmt_family_##name,
    GMT_FAMILIES(GMT_ROW)
#undef GMT_ROW
};

const size_t gmt_family_count = sizeof(gmt_families) / sizeof(gmt_families[0]);
