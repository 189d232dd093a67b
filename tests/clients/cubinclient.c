/* SPDX-License-Identifier: Apache-2.0 */
/* cubinclient FILE: prints the functions of a cubin that have effects, one a line; "all" where that is not known of single ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libtrace/cupti/code/cubin_effects.h"

static const bool *effects;

static void print(void *data, const char *name, uint64_t section)
{
    (void)data;
    if (effects[section]) {
        puts(name);
    }
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "rb");
    long end = in != NULL && fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    void *image = end > 0 ? malloc((size_t)end) : NULL;
    if (image == NULL || fseek(in, 0, SEEK_SET) != 0 || fread(image, (size_t)end, 1, in) != 1) {
        perror(path);
        exit(2);
    }
    (void)fclose(in);
    *bytes = (size_t)end;
    return image;
}

int main(int argc, char **argv)
{
    struct gmt_cubin_symbols symbols;
    size_t bytes = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: cubinclient FILE\n");
        return 2;
    }
    void *image = read_file(argv[1], &bytes);
    if (gmt_cubin_symbols_read(&symbols, image, bytes) == -EINVAL) {
        fprintf(stderr, "%s: no cubin\n", argv[1]);
        return 1;
    }
    bool *found = gmt_cubin_effects(&symbols);
    effects = found;
    if (found != NULL) {
        gmt_cubin_symbols_visit(&symbols, &(struct gmt_cubin_visitor){.function = print});
    } else {
        puts("all");
    }
    free(found);
    free(image);
    return 0;
}
