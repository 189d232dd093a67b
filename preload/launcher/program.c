/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a program and reads its ELF headers. Any file may be given: every offset is checked. */
#include "preload/launcher/program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *data;
    size_t bytes;
    Elf64_Ehdr header;
};

/* The file that execvp would take; "" if none. */
static void find_program(const char *name, char path[static PATH_MAX])
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

/* The `bytes` bytes at `offset` of the file, or NULL when they are not in it. */
static const char *part(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->bytes && bytes <= image->bytes - offset ? image->data + offset : NULL;
}

static bool segment_at(const struct image *image, unsigned index, Elf64_Phdr *segment)
{
    uint64_t offset = image->header.e_phoff + (uint64_t)index * sizeof(*segment);
    const char *at = image->header.e_phoff <= image->bytes ? part(image, offset, sizeof(*segment))
                                                           : NULL;
    if (index >= image->header.e_phnum || at == NULL) {
        return false;
    }
    memcpy(segment, at, sizeof(*segment));
    return true;
}

static bool find_segment(const struct image *image, Elf64_Word type, Elf64_Phdr *segment)
{
    for (unsigned i = 0; segment_at(image, i, segment); i++) {
        if (segment->p_type == type) {
            return true;
        }
    }
    return false;
}

/* What the loader would have at `address`, up to the end of what the file holds of that segment. */
static const char *loaded(const struct image *image, uint64_t address, size_t *bytes)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; segment_at(image, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz &&
            part(image, segment.p_offset, segment.p_filesz) != NULL) {
            *bytes = segment.p_filesz - (address - segment.p_vaddr);
            return image->data + segment.p_offset + (address - segment.p_vaddr);
        }
    }
    return NULL;
}

/* The `skip`-th entry with that tag of the dynamic section. */
static bool dynamic_value(const struct image *image, Elf64_Sxword tag, size_t skip, uint64_t *value)
{
    Elf64_Phdr segment;
    if (!find_segment(image, PT_DYNAMIC, &segment) ||
        part(image, segment.p_offset, segment.p_filesz) == NULL) {
        return false;
    }
    Elf64_Dyn entry;
    for (uint64_t at = 0; at + sizeof(entry) <= segment.p_filesz; at += sizeof(entry)) {
        memcpy(&entry, image->data + segment.p_offset + at, sizeof(entry));
        if (entry.d_tag == DT_NULL) {
            break;
        }
        if (entry.d_tag == tag && skip-- == 0) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

/* The ASan runtime must be the first library of a process: put before ours, it is. */
static void find_asan(const struct image *image, char *asan, size_t bytes)
{
    static const char prefix[] = "libasan.so";
    uint64_t strings_at, name_at;
    size_t available = 0;
    const char *strings = dynamic_value(image, DT_STRTAB, 0, &strings_at)
                              ? loaded(image, strings_at, &available)
                              : NULL;
    for (size_t i = 0; strings != NULL && dynamic_value(image, DT_NEEDED, i, &name_at); i++) {
        if (name_at >= available) {
            continue;
        }
        const char *name = strings + name_at;
        size_t length = strnlen(name, available - name_at);
        if (length < available - name_at && length < bytes &&
            strncmp(name, prefix, sizeof(prefix) - 1) == 0) {
            memcpy(asan, name, length + 1);
            return;
        }
    }
}

static struct gmt_program look_at(const struct image *image)
{
    struct gmt_program program = {0};
    Elf64_Phdr segment;
    uint64_t flags = 0;
    if (!find_segment(image, PT_INTERP, &segment)) {
        /* The dynamic loader itself is no position-independent executable and does preload. */
        (void)dynamic_value(image, DT_FLAGS_1, 0, &flags);
        program.is_static = image->header.e_type == ET_EXEC ||
                            (image->header.e_type == ET_DYN && (flags & DF_1_PIE) != 0);
    }
    find_asan(image, program.asan, sizeof(program.asan));
    return program;
}

struct gmt_program gmt_program_look(const char *name)
{
    char path[PATH_MAX];
    struct gmt_program program = {0};
    find_program(name, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0) {
        return program;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        close(fd);
        return program;
    }
    struct image image = {.bytes = (size_t)status.st_size};
    void *data = mmap(NULL, image.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED) {
        return program;
    }
    image.data = data;
    memcpy(&image.header, data, sizeof(image.header));
    if (memcmp(image.header.e_ident, ELFMAG, SELFMAG) == 0 &&
        image.header.e_ident[EI_CLASS] == ELFCLASS64 &&
        image.header.e_phentsize == sizeof(Elf64_Phdr)) {
        program = look_at(&image);
    }
    munmap(data, image.bytes);
    return program;
}
