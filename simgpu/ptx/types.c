/* SPDX-License-Identifier: Apache-2.0 */
/* The table of PTX's fundamental types. */
#include <string.h>

#include "simgpu/ptx/ptx.h"

const struct ptx_type_info ptx_types[PTX_TYPES] = {
    [PTX_NO_TYPE] = {"", 0, PTX_KIND_NONE},
#define PTX_TYPE(name, spelling, bytes, kind) [PTX_##name] = {spelling, bytes, PTX_KIND_##kind},
#include "simgpu/ptx/types.def"
#undef PTX_TYPE
};

enum ptx_type ptx_type_of(const char *word)
{
    for (unsigned i = PTX_NO_TYPE + 1; i < PTX_TYPES; i++) {
        if (strcmp(ptx_types[i].spelling, word) == 0) {
            return (enum ptx_type)i;
        }
    }
    return PTX_NO_TYPE;
}
