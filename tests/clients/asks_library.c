/* SPDX-License-Identifier: Apache-2.0 */
/* Looks a name up for asks_client, from a library of its own: what dlsym finds depends on who asks. */
#include <dlfcn.h>

void *ASKS_FUNCTION(void *handle, const char *name);

void *ASKS_FUNCTION(void *handle, const char *name)
{
    void *volatile found = dlsym(handle, name); /* volatile: no jump, this library is the caller */
    return found;
}
