/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 that is not the software device's: what the runtime must not use. */
#include <stdlib.h>

__attribute__((visibility("default"))) int cuGetProcAddress_v2(void);

int cuGetProcAddress_v2(void)
{
    abort();
}
