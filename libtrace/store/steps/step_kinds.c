/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the step tables. */
#include "libtrace/store/steps/step_kinds.h"

#include <stddef.h>

const char *gmt_step_kind_word(enum gmt_step_kind kind)
{
#define WORD(id, word) word,
    static const char *const words[] = {GMT_STEP_KINDS(WORD)};
#undef WORD
    return kind < GMT_STEP_KIND_COUNT ? words[kind] : NULL;
}

const char *gmt_step_source_word(enum gmt_step_source source)
{
    static const char *const words[] = {"range", "pattern", "slice"};
    return source <= GMT_STEP_SLICE ? words[source] : NULL;
}

const char *gmt_collective_source_word(enum gmt_collective_source source)
{
    static const char *const words[] = {"range", "launch", "device"};
    return source < GMT_COLLECTIVE_SOURCES ? words[source] : NULL;
}
