/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a program and reads what its ELF file says about it. */
#include "launcher/program.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/symbols/elf_image.h"

void gmt_program_find(const char *name, char path[static PATH_MAX])
{
    path[0] = '\0';
    if (strchr(name, '/') != NULL) {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    const char *search = getenv("PATH");
    for (const char *at = search != NULL ? search : "/usr/bin:/bin"; *at != '\0';) {
        size_t length = strcspn(at, ":");
        (void)snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length != 0 ? "/" : "", name);
        if (access(path, X_OK) == 0) {
            return;
        }
        at += length + (at[length] == ':');
    }
    path[0] = '\0';
}

/* The ASan runtime must be the first library of a process: put before ours, it is. */
static void find_asan(const struct gmt_elf *image, char *asan, size_t bytes)
{
    static const char prefix[] = "libasan.so";
    const char *name;
    for (size_t i = 0; (name = gmt_elf_dynamic_text(image, DT_NEEDED, i)) != NULL; i++) {
        if (strncmp(name, prefix, sizeof(prefix) - 1) == 0 && strlen(name) < bytes) {
            (void)snprintf(asan, bytes, "%s", name);
            return;
        }
    }
}

static struct gmt_program look_at(const struct gmt_elf *image, const char *path)
{
    struct gmt_program program = {0};
    GElf_Phdr segment;
    uint64_t flags = 0;
    const char *loader = NULL;
    if (gmt_elf_segment(image, PT_INTERP, &segment)) {
        loader = gmt_elf_part(image, segment.p_offset, segment.p_filesz);
    } else {
        /* The dynamic loader itself is no position-independent executable and does preload. */
        (void)gmt_elf_dynamic(image, DT_FLAGS_1, 0, &flags);
        program.is_static = image->header.e_type == ET_EXEC ||
                            (image->header.e_type == ET_DYN && (flags & DF_1_PIE) != 0);
    }
    program.is_musl = loader != NULL && memmem(loader, segment.p_filesz, "/ld-musl-", 9) != NULL;
    find_asan(image, program.asan, sizeof(program.asan));
    gmt_program_look_for_cuda(image, path, &program.cuda);
    return program;
}

struct gmt_program gmt_program_look(const char *name)
{
    char path[PATH_MAX];
    struct gmt_program program = {0};
    gmt_program_find(name, path);
    memcpy(program.path, path, sizeof(path));
    struct gmt_elf image;
    if (gmt_elf_open(&image, path) == 0) {
        program = look_at(&image, path);
        program.is_elf = true;
        memcpy(program.path, path, sizeof(path));
        gmt_elf_close(&image);
    }
    return program;
}
