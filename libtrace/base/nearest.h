/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GMT_BASE_NEAREST_H
#define GMT_BASE_NEAREST_H

#include <stddef.h>

/* Of n words the one that `word` was most likely meant to be: at most a third of its letters, and at most
 * three, inserted, left out, replaced or exchanged with their neighbour (optimal string alignment). NULL:
 * none, or several equally near. Words are ASCII. */
const char *gmt_nearest(const char *word, const char *const *words, size_t n);

#endif
