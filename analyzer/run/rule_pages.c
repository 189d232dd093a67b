/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the rules (rule_pages.h). */
#include "analyzer/run/rule_pages.h"

#include <string.h>

const char *gmt_rule_page(const char *id)
{
    for (const struct gmt_rule_page_text *page = gmt_rule_page_texts; page->id != NULL; page++) {
        if (strcmp(page->id, id) == 0) {
            return page->text;
        }
    }
    return "";
}
