/* SPDX-License-Identifier: Apache-2.0 */
/* --redact=paths: texts without folders, hosts and users. */
#ifndef GMT_ANALYZER_REDACT_REDACT_TEXT_H
#define GMT_ANALYZER_REDACT_REDACT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { GMT_PRIVATE_WORDS = 1024 };

/* Names of hosts and users that the trace itself has. */
struct gmt_private_words {
    char *words[GMT_PRIVATE_WORDS];
    size_t count;
    int error; /* 0; -E2BIG, -ENOMEM: not all of them are here */
};

/* The users in whose home folders the path, or those that a text names, lie. */
void gmt_private_users(struct gmt_private_words *words, const char *text);
void gmt_private_host(struct gmt_private_words *words, const char *name);
void gmt_private_free(struct gmt_private_words *words);

/* Each returns what may be shown, the caller's; NULL: no memory. */
char *gmt_shown_text(const struct gmt_private_words *words, const char *text);
char *gmt_shown_path(const struct gmt_private_words *words, const char *path);
char *gmt_shown_base(const struct gmt_private_words *words, const char *path);
/* Of "key=value;...", values that are paths become base names, relative ones as well. */
char *gmt_shown_settings(const struct gmt_private_words *words, const char *text);

/* What distinguishes a package's file from the program's own: "/site-packages/", ...; or "". */
const char *gmt_package_mark(const char *path);

#endif
