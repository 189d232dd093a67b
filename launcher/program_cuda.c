/* SPDX-License-Identifier: Apache-2.0 */
/* What an ELF file says about the CUDA in it: where its runtime comes from, whether it carries PTX. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/program.h"
#include "libtrace/record/entry_points.h"
#include "libtrace/store/symbols/elf_cuda.h"

#define FATBIN_MAGIC 0xba55ed50u
#define KIND_PTX 1u

/* A fat binary: this, then entries. Layout as read from what nvcc 13 writes. */
struct fatbin {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};
struct image_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* padded, behind the header */
    uint32_t compressed_bytes, options_at;
    uint16_t ptx_minor, ptx_major;
    uint32_t target; /* 90 = compute capability 9.0 */
};

/* The lowest target that there is PTX for, 0: none; `lowest` is what was found before. */
static unsigned entries_target(const char *at, size_t bytes, unsigned lowest)
{
    struct image_entry entry;
    while (bytes >= sizeof(entry)) {
        memcpy(&entry, at, sizeof(entry));
        if (entry.kind == KIND_PTX && (lowest == 0 || entry.target < lowest)) {
            lowest = entry.target;
        }
        if (entry.header_bytes < sizeof(entry) || entry.header_bytes > bytes ||
            entry.bytes > bytes - entry.header_bytes) {
            return lowest;
        }
        at += entry.header_bytes + entry.bytes;
        bytes -= entry.header_bytes + (size_t)entry.bytes;
    }
    return lowest;
}

/* The section holds one fat binary after another, with padding between. */
static unsigned section_target(const char *data, size_t bytes, unsigned lowest)
{
    struct fatbin head;
    for (size_t at = 0; at + sizeof(head) <= bytes; at += 8) {
        memcpy(&head, data + at, sizeof(head));
        if (head.magic != FATBIN_MAGIC || head.header_bytes < sizeof(head) ||
            head.header_bytes > bytes - at) {
            continue;
        }
        size_t room = bytes - at - head.header_bytes;
        size_t inside = head.bytes < room ? (size_t)head.bytes : room;
        lowest = entries_target(data + at + head.header_bytes, inside, lowest);
        at += (head.header_bytes + inside) / 8 * 8 - 8;
    }
    return lowest;
}

static bool has_file(const char *folder, size_t length, const char *origin, const char *file)
{
    static const char *const names[] = {"$ORIGIN", "${ORIGIN}"};
    char path[PATH_MAX * 2];
    for (size_t i = 0; i < 2; i++) {
        size_t used = strlen(names[i]);
        if (length >= used && strncmp(folder, names[i], used) == 0) {
            (void)snprintf(path, sizeof(path), "%s%.*s/%s", origin, (int)(length - used),
                           folder + used, file);
            return access(path, F_OK) == 0;
        }
    }
    (void)snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, file);
    return access(path, F_OK) == 0;
}

/* DT_RPATH is searched before LD_LIBRARY_PATH, unless there is a DT_RUNPATH, too. */
static bool finds_other(const struct gmt_elf *image, const char *program, const char *runtime)
{
    const char *folders = gmt_elf_dynamic_text(image, DT_RPATH, 0);
    char real[PATH_MAX];
    if (folders == NULL || gmt_elf_dynamic_text(image, DT_RUNPATH, 0) != NULL ||
        realpath(program, real) == NULL) {
        return false;
    }
    const char *origin = dirname(real);
    for (const char *at = folders; *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (has_file(at, length, origin, runtime) || has_file(at, length, origin, "libcuda.so.1")) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

static bool is_hooked(const char *name)
{
    static const char *const hooks[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) #symbol,
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    };
    size_t i = 0;
    while (i < sizeof(hooks) / sizeof(hooks[0]) && strcmp(hooks[i], name) != 0) {
        i++;
    }
    return i < sizeof(hooks) / sizeof(hooks[0]);
}

/* The first function whose calls would be missed in a recording. */
static const char *find_unhooked(const struct gmt_elf *image)
{
    struct gmt_elf_symbols symbols = gmt_elf_symbols(image);
    bool is_import;
    const char *name;
    while ((name = gmt_elf_next_symbol(&symbols, &is_import)) != NULL) {
        enum gmt_entry_class class = gmt_entry_class(name);
        if (is_import && class != GMT_ENTRY_UNKNOWN && gmt_entry_matters(class) &&
            !is_hooked(name)) {
            break;
        }
    }
    return name;
}

void gmt_program_look_for_cuda(const struct gmt_elf *image, const char *path,
                               struct gmt_program_cuda *cuda)
{
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    const char *needed, *unhooked = find_unhooked(image);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        size_t bytes = 0;
        const char *code = gmt_elf_section(image, sections[i], &bytes);
        if (code != NULL && bytes > 0) {
            cuda->ptx_target = section_target(code, bytes, cuda->ptx_target);
        }
    }
    cuda->has_code = gmt_elf_has_device_code(image);
    cuda->static_runtime = gmt_elf_cuda_runtime(image, path, &needed) == GMT_CUDA_STATIC;
    (void)snprintf(cuda->unhooked, sizeof(cuda->unhooked), "%s", unhooked != NULL ? unhooked : "");
    if (needed != NULL) {
        (void)snprintf(cuda->runtime, sizeof(cuda->runtime), "%s", needed);
        cuda->finds_other = finds_other(image, path, needed);
    }
}
