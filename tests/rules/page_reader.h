/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a page as a browser does, with code of its own: base64, gzip, head and columns. */
#ifndef GMT_TESTS_RULES_PAGE_READER_H
#define GMT_TESTS_RULES_PAGE_READER_H

#include <jansson.h>
#include <stddef.h>

#include "tests/rules/fixture.h"

struct gmt_page_read {
    char *html; /* the whole file */
    unsigned char *raw;
    size_t raw_bytes, body; /* the columns start at raw + body */
    json_t *head;
};

/* Each fails the running test when anything is not as docs/page.md says. */
void gmt_page_of_fixture(struct gmt_fixture *fixture, struct gmt_page_read *page);
void gmt_page_unpack(struct gmt_page_read *page, char *html); /* takes html over */
void gmt_page_read_free(struct gmt_page_read *page);

size_t gmt_page_rows(const struct gmt_page_read *page, const char *table);
/* One value per row, NAN: not known; strings by their index. The caller frees. */
double *gmt_page_column(const struct gmt_page_read *page, const char *table, const char *column);

#endif
