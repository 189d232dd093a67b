/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for debug files by build id and by name, and believes none that is not the module's. */
#include "libtrace/store/symbols/debug_files.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEX 129

/* What a file must be to be taken. */
struct wanted_file {
    const char *build_id; /* hex; "": the checksum decides */
    uint32_t checksum;
    bool has_checksum;
    bool has_lines; /* a stripped copy of the module is of the right build, too, and of no use */
};

static void hex_of(const void *bits, size_t bytes, char hex[static MAX_HEX])
{
    const uint8_t *at = bits;
    hex[0] = '\0';
    for (size_t i = 0; i < bytes && 2 * i + 2 < MAX_HEX; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", at[i]);
    }
}

static void build_id_of(Dwfl_Module *module, char hex[static MAX_HEX])
{
    const unsigned char *bits;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(module, &bits, &address);
    hex_of(bits, bytes > 0 ? (size_t)bytes : 0, hex);
}

bool gmt_debug_files_match(Dwfl_Module *module, const char *build_id)
{
    char hex[MAX_HEX];
    build_id_of(module, hex);
    return build_id == NULL || build_id[0] == '\0' || hex[0] == '\0' || strcmp(hex, build_id) == 0;
}

static bool has_lines(Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return false;
    }
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) != NULL && header.sh_type != SHT_NOBITS
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name != NULL &&
            (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0)) {
            return true;
        }
    }
    return false;
}

static bool has_build_id(int fd, const struct wanted_file *wanted)
{
    char hex[MAX_HEX] = "";
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *bits;
    ssize_t bytes = elf != NULL ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    if (bytes > 0) {
        hex_of(bits, (size_t)bytes, hex);
    }
    bool same = hex[0] != '\0' && strcmp(hex, wanted->build_id) == 0 &&
                (!wanted->has_lines || has_lines(elf));
    (void)elf_end(elf);
    return same;
}

/* The checksum of .gnu_debuglink: CRC-32 as in ISO 3309, polynomial 0x04c11db7, bits reversed. */
static uint32_t crc32_of(const uint8_t *at, size_t bytes)
{
    uint32_t table[256], crc = ~0u;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? 0xedb88320u : 0);
        }
    }
    for (size_t i = 0; i < bytes; i++) {
        crc = table[(crc ^ at[i]) & 0xff] ^ (crc >> 8);
    }
    return ~crc;
}

static bool has_checksum(int fd, size_t bytes, uint32_t checksum)
{
    void *data = bytes != 0 ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (data == MAP_FAILED) {
        return false;
    }
    bool same = crc32_of(data, bytes) == checksum;
    (void)munmap(data, bytes);
    return same;
}

/* The file opened, or -1 if it is none or another's. */
static int open_wanted(const char *path, const struct wanted_file *wanted)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        (wanted->build_id[0] != '\0'
             ? has_build_id(fd, wanted)
             : wanted->has_checksum &&
                   has_checksum(fd, (size_t)status.st_size, wanted->checksum))) {
        return fd;
    }
    close(fd);
    return -1;
}

/* The places of one folder, in the order of how sure they are. `link`: what .gnu_debuglink says, or
 * NULL. False: there is no place of that number. A place that does not apply is "". */
static bool place_in(const char *dir, unsigned number, const char *path, const char *link,
                     const char *build_id, char place[static PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    int folder = slash != NULL ? (int)(slash - path) : 0;
    place[0] = '\0';
    if (number < 4 && strlen(build_id) < 4) {
        return true;
    }
    if ((number == 4 || number == 5) && link == NULL) {
        return true;
    }
    switch (number) {
    case 0:
    case 1:
    case 2:
    case 3:
        (void)snprintf(place, PATH_MAX, "%s%s/%.2s/%s%s", dir, number < 2 ? "/.build-id" : "",
                       build_id, build_id + 2, number % 2 == 0 ? ".debug" : "");
        return true;
    case 4: (void)snprintf(place, PATH_MAX, "%s%.*s/%s", dir, folder, path, link); return true;
    case 5: (void)snprintf(place, PATH_MAX, "%s/%s", dir, link); return true;
    case 6: (void)snprintf(place, PATH_MAX, "%s%s.debug", dir, path); return true;
    case 7: (void)snprintf(place, PATH_MAX, "%s/%s.debug", dir, file); return true;
    case 8: (void)snprintf(place, PATH_MAX, "%s%s", dir, path); return true;
    case 9: (void)snprintf(place, PATH_MAX, "%s/%s", dir, file); return true;
    default: return false;
    }
}

static int find_in(const char *dir, const char *path, const char *link,
                   const struct wanted_file *wanted, char place[static PATH_MAX])
{
    for (unsigned i = 0; place_in(dir, i, path, link, wanted->build_id, place); i++) {
        int fd = place[0] != '\0' ? open_wanted(place, wanted) : -1;
        if (fd >= 0) {
            return fd;
        }
    }
    return -1;
}

int gmt_debug_files_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                         const char *file, const char *debuglink, GElf_Word checksum,
                         char **found_path)
{
    const struct gmt_debug_dirs *dirs = *userdata;
    char hex[MAX_HEX], place[PATH_MAX];
    int fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file, debuglink, checksum,
                                          found_path);
    /* Without a file it is what .gnu_debugaltlink names, whose build id is not the module's. */
    if (fd >= 0 || dirs == NULL || file == NULL) {
        return fd;
    }
    build_id_of(module, hex);
    const struct wanted_file wanted = {.build_id = hex,
                                       .checksum = checksum,
                                       .has_checksum = debuglink != NULL,
                                       .has_lines = true};
    for (size_t i = 0; fd < 0 && i < dirs->count; i++) {
        fd = find_in(dirs->dirs[i], name, debuglink, &wanted, place);
    }
    if (fd >= 0) {
        *found_path = strdup(place);
    }
    return fd;
}

char *gmt_debug_files_main(const struct gmt_debug_dirs *dirs, const char *path,
                           const char *build_id)
{
    const struct wanted_file wanted = {.build_id = build_id != NULL ? build_id : ""};
    char place[PATH_MAX];
    int fd = -1;
    if (wanted.build_id[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; fd < 0 && i < dirs->count; i++) {
        fd = find_in(dirs->dirs[i], path, NULL, &wanted, place);
    }
    if (fd < 0) {
        fd = find_in("/usr/lib/debug", path, NULL, &wanted, place);
    }
    if (fd < 0) {
        return NULL;
    }
    close(fd);
    return strdup(place);
}
