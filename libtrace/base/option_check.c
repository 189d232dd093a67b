/* SPDX-License-Identifier: Apache-2.0 */
/* Long options that a program does not have. */
#include "libtrace/base/option_check.h"

#include <stdio.h>
#include <string.h>

#include "libtrace/base/nearest.h"
#include "libtrace/base/printable.h"

enum { MOST = 64, LONGEST_WORD = 80 };

/* What argp adds to every table. */
static const char *const common[] = {"help", "usage", "version"};
enum { COMMON = sizeof(common) / sizeof(common[0]) };

static bool is_last(const struct argp_option *row)
{
    return row->name == NULL && row->key == 0 && row->doc == NULL;
}

/* The row of that name or of an unambiguous beginning of it, or of that letter; NULL: none. */
static const struct argp_option *row_of(const struct argp_option *rows, const char *word,
                                        size_t length, bool *is_common)
{
    const struct argp_option *found = NULL;
    size_t matches = 0;

    for (const struct argp_option *row = rows; !is_last(row); row++) {
        if (row->name != NULL && strncmp(row->name, word, length) == 0) {
            if (row->name[length] == '\0') {
                return row;
            }
            found = row;
            matches++;
        }
    }
    for (size_t i = 0; i < COMMON; i++) {
        bool fits = strncmp(common[i], word, length) == 0;
        *is_common = *is_common || fits;
    }
    /* An ambiguous beginning is argp's to complain about. */
    *is_common = *is_common || matches > 1;
    return found;
}

/* Does the last letter of "-xyz" take the next word? */
static bool letters_take(const struct argp_option *rows, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        for (const struct argp_option *row = rows; !is_last(row); row++) {
            if (row->key == *letters && row->arg != NULL) {
                return letters[1] == '\0';
            }
        }
    }
    return false;
}

static void complain(const char *program, const struct argp_option *rows, const char *given,
                     size_t length)
{
    const char *names[MOST], *meant;
    char word[LONGEST_WORD];
    size_t n = 0;

    for (const struct argp_option *row = rows; !is_last(row) && n < MOST - COMMON; row++) {
        if (row->name != NULL && (row->flags & OPTION_HIDDEN) == 0) {
            names[n++] = row->name;
        }
    }
    for (size_t i = 0; i < COMMON; i++) {
        names[n++] = common[i];
    }
    (void)snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : 0), given);
    meant = gmt_nearest(word, names, n);
    gmt_say(stderr, "%s: no option '--%s'%s%s%s\n", program, word,
            meant != NULL ? "; did you mean '--" : "", meant != NULL ? meant : "",
            meant != NULL ? "'?" : "");
    gmt_say(stderr, "Try '%s --help' for more information.\n", program);
}

bool gmt_option_check(const char *program, const struct argp_option *rows, bool in_order, int argc,
                      char *const argv[])
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (strcmp(word, "--") == 0) {
            return false;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (in_order) {
                return false;
            }
            continue;
        }
        if (word[1] != '-') {
            i += letters_take(rows, word + 1);
            continue;
        }
        bool is_common = false;
        size_t length = strcspn(word + 2, "=");
        const struct argp_option *row = row_of(rows, word + 2, length, &is_common);
        if (row == NULL && !is_common) {
            complain(program, rows, word + 2, length);
            return true;
        }
        i += row != NULL && row->arg != NULL && word[2 + length] == '\0';
    }
    return false;
}
