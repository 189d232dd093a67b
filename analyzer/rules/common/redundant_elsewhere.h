/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads of bytes that another buffer of the device holds: a part of GM105. */
#ifndef GMT_ANALYZER_RULES_COMMON_REDUNDANT_ELSEWHERE_H
#define GMT_ANALYZER_RULES_COMMON_REDUNDANT_ELSEWHERE_H

#include "analyzer/rules/common/content_sites.h"

struct gmt_elsewhere {
    struct gmt_analysis *analysis;
    const struct gmt_copy_content *contents;
    const struct gmt_cover *kernels;
    struct gmt_devices devices;
    size_t *chosen; /* room for as many copies as one place has */
};

/* Reports those of the uploads of one place, if any. all_bytes: of all uploads of the trace. */
void gmt_elsewhere_report(const struct gmt_elsewhere *look, const size_t *members, size_t n,
                          double all_bytes);

#endif
