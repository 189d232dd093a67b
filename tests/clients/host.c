/* SPDX-License-Identifier: Apache-2.0 */
/* clienthost PLUGIN ARG...: runs driverclient's scenarios out of a plugin loaded with RTLD_DEEPBIND. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: clienthost PLUGIN SCENARIO [N]\n", stderr);
        return 2;
    }
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *symbol = plugin != NULL ? dlsym(plugin, "client_run") : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "clienthost: %s\n", dlerror());
        return 4;
    }
    int (*run)(int, char **);
    memcpy(&run, &symbol, sizeof run);
    return run(argc - 1, argv + 1);
}
