/* SPDX-License-Identifier: Apache-2.0 */
/* Which hazard a generated program has. */
#include "repeat/repeat.h"

#include <stdlib.h>
#include <string.h>

static const struct hazard hazards[] = {
#define HAZARD(name, place, reach, way, needs, prefix) {#name, place, reach, way, needs, prefix},
#include "repeat/hazards.def"
#undef HAZARD
};
enum { HAZARDS = sizeof hazards / sizeof hazards[0] };

/* REPEAT_WITHOUT=name,name leaves some out, to look for the one that disturbs the programs after it. */
static bool is_left_out(const char *name)
{
    const char *list = getenv("REPEAT_WITHOUT");
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

const struct hazard *hazard_of(uint64_t seed, unsigned can)
{
    const struct hazard *possible[HAZARDS];
    unsigned count = 0;
    for (unsigned i = 0; i < HAZARDS; i++) {
        if ((hazards[i].needs & ~can) == 0 && !is_left_out(hazards[i].name)) {
            possible[count++] = &hazards[i];
        }
    }
    return seed % 5 < 2 && count != 0 ? possible[(seed / 5 * 2 + seed % 5) % count] : NULL;
}
