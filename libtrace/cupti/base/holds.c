/* SPDX-License-Identifier: Apache-2.0 */
/* What of CUPTI the program has switched on and not off again (holds.h). */
#include "libtrace/cupti/base/holds.h"

#include <stddef.h>

#define HOLDS 256u

static struct {
    uint64_t key;
    enum gmt_held held;
} holds[HOLDS];
static size_t count;
static bool too_many; /* who holds more than can be counted holds it for good */

static size_t find(enum gmt_held held, uint64_t key)
{
    size_t at = 0;
    while (at < count && (holds[at].held != held || holds[at].key != key)) {
        at++;
    }
    return at;
}

void gmt_holds_add(enum gmt_held held, uint64_t key)
{
    if (held == GMT_HELD_KIND && find(held, key) < count) {
        return;
    }
    if (count == HOLDS) {
        too_many = true;
        return;
    }
    holds[count].held = held;
    holds[count++].key = key;
}

void gmt_holds_drop(enum gmt_held held, uint64_t key)
{
    size_t at = find(held, key);
    if (at < count) {
        holds[at] = holds[--count];
    }
}

void gmt_holds_clear(void)
{
    count = 0;
    too_many = false;
}

bool gmt_holds_any(void)
{
    return count != 0 || too_many;
}
