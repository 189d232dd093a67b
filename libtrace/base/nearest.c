/* SPDX-License-Identifier: Apache-2.0 */
/* The word that a mistyped one was meant to be. */
#include "libtrace/base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance of words of at most LONGEST letters. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1], m = strlen(a), n = strlen(b);
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= n; j++) {
        above[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[n];
}

const char *gmt_nearest(const char *word, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    size_t length = strlen(word), best = least(length / 3, 3) + 1;

    if (length > LONGEST) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        size_t far = strlen(words[i]) <= LONGEST ? distance(word, words[i]) : LONGEST;

        if (far < best) {
            best = far;
            nearest = words[i];
        } else if (far == best && nearest != NULL) {
            nearest = NULL;
        }
    }
    return nearest;
}
