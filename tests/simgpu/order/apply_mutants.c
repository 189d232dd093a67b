/* SPDX-License-Identifier: Apache-2.0 */
/* Which fault is put into the fixes of the library that only tests build (preload/apply/state.h): GMT_TEST_MUTANT names it. */
#include <stdlib.h>
#include <string.h>

#include "preload/apply/state.h"

bool gmt_apply_is_mutant(const char *name)
{
    const char *wanted = getenv("GMT_TEST_MUTANT");
    return wanted != NULL && strcmp(wanted, name) == 0;
}
