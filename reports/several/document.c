/* SPDX-License-Identifier: Apache-2.0 */
/* Sections are added to a document as they are filled. */
#include "reports/several/document.h"

struct gmt_section *gmt_document_section(struct gmt_document *document, const char *title,
                                         const char *columns)
{
    struct gmt_section *section = GMT_PUSH(document->arena, document->sections, document->count);

    if (section != NULL) {
        *section = (struct gmt_section){.title = title,
                                        .table = {.arena = document->arena, .columns = columns}};
    }
    return section;
}
