/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for CUPTI that refuses everything: cupti_sass.c, linked beside it, takes back some of that.
 * Without CUPTI's headers, so that all functions can look alike; none reads its arguments. */
enum { NOT_SUPPORTED = 27 };

#define GMT_CUPTI_FUNCTION(set, name) \
    __attribute__((weak)) int name(void); \
    int name(void) \
    { \
        return NOT_SUPPORTED; \
    }
#include "libtrace/cupti/base/functions.def"
