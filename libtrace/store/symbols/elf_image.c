/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF file that anyone may have made, with libelf (elf_image.h). */
#include "libtrace/store/symbols/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *gmt_elf_part(const struct gmt_elf *image, uint64_t offset, uint64_t bytes)
{
    size_t all = 0;
    const char *file = elf_rawfile(image->elf, &all);
    return file != NULL && offset <= all && bytes <= all - offset ? file + offset : NULL;
}

static bool segment_at(const struct gmt_elf *image, size_t index, GElf_Phdr *segment)
{
    size_t count = 0;
    return elf_getphdrnum(image->elf, &count) == 0 && index < count &&
           gelf_getphdr(image->elf, (int)index, segment) != NULL;
}

bool gmt_elf_segment(const struct gmt_elf *image, GElf_Word type, GElf_Phdr *segment)
{
    for (size_t i = 0; segment_at(image, i, segment); i++) {
        if (segment->p_type == type) {
            return true;
        }
    }
    return false;
}

/* What the loader would have at `address`, up to the end of what the file holds of that segment. */
static const char *loaded(const struct gmt_elf *image, uint64_t address, size_t *bytes)
{
    GElf_Phdr segment;
    for (size_t i = 0; segment_at(image, i, &segment); i++) {
        const char *content = segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                                      address - segment.p_vaddr < segment.p_filesz
                                  ? gmt_elf_part(image, segment.p_offset, segment.p_filesz)
                                  : NULL;
        if (content != NULL) {
            *bytes = segment.p_filesz - (address - segment.p_vaddr);
            return content + (address - segment.p_vaddr);
        }
    }
    return NULL;
}

/* By its segment: who strips a file may leave no sections. */
static void find_dynamic(struct gmt_elf *image)
{
    GElf_Phdr segment;
    uint64_t strings_at;
    if (gmt_elf_segment(image, PT_DYNAMIC, &segment) &&
        gmt_elf_part(image, segment.p_offset, segment.p_filesz) != NULL) {
        image->dynamic = elf_getdata_rawchunk(image->elf, (int64_t)segment.p_offset,
                                              segment.p_filesz, ELF_T_DYN);
    }
    if (gmt_elf_dynamic(image, DT_STRTAB, 0, &strings_at)) {
        image->strings = loaded(image, strings_at, &image->string_bytes);
    }
}

/* A device may do something when it is opened. */
static int open_file(const char *path)
{
    struct stat status;
    int fd = stat(path, &status) == 0 && S_ISREG(status.st_mode)
                 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                 : -1;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
                    status.st_size < (off_t)sizeof(Elf64_Ehdr))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

int gmt_elf_open(struct gmt_elf *image, const char *path)
{
    *image = (struct gmt_elf){.fd = open_file(path)};
    if (image->fd < 0) {
        return -EIO;
    }
    (void)elf_version(EV_CURRENT);
    image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
    if (image->elf == NULL || elf_kind(image->elf) != ELF_K_ELF ||
        gelf_getclass(image->elf) != ELFCLASS64 ||
        gelf_getehdr(image->elf, &image->header) == NULL ||
        image->header.e_phentsize != sizeof(Elf64_Phdr)) {
        gmt_elf_close(image);
        return -ENOEXEC;
    }
    find_dynamic(image);
    return 0;
}

void gmt_elf_close(struct gmt_elf *image)
{
    (void)elf_end(image->elf);
    (void)close(image->fd);
}

bool gmt_elf_dynamic(const struct gmt_elf *image, GElf_Sxword tag, size_t skip, uint64_t *value)
{
    GElf_Dyn entry;
    for (int i = 0; image->dynamic != NULL && gelf_getdyn(image->dynamic, i, &entry) != NULL &&
                    entry.d_tag != DT_NULL;
         i++) {
        if (entry.d_tag == tag && skip-- == 0) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

const char *gmt_elf_dynamic_text(const struct gmt_elf *image, GElf_Sxword tag, size_t skip)
{
    uint64_t offset;
    size_t available = image->string_bytes;
    if (image->strings == NULL || !gmt_elf_dynamic(image, tag, skip, &offset) ||
        offset >= available ||
        strnlen(image->strings + offset, available - offset) == available - offset) {
        return NULL;
    }
    return image->strings + offset;
}

/* NULL: there is none of that name. */
static Elf_Scn *find_section(const struct gmt_elf *image, const char *name, GElf_Shdr *header)
{
    size_t names = 0;
    if (elf_getshdrstrndx(image->elf, &names) != 0) {
        return NULL;
    }
    for (Elf_Scn *section = elf_nextscn(image->elf, NULL); section != NULL;
         section = elf_nextscn(image->elf, section)) {
        const char *text = gelf_getshdr(section, header) != NULL && header->sh_type != SHT_NOBITS
                               ? elf_strptr(image->elf, names, header->sh_name)
                               : NULL;
        if (text != NULL && strcmp(text, name) == 0) {
            return section;
        }
    }
    return NULL;
}

const char *gmt_elf_section(const struct gmt_elf *image, const char *name, size_t *bytes)
{
    GElf_Shdr header;
    Elf_Scn *section = find_section(image, name, &header);
    Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
    if (data == NULL || data->d_size == 0) {
        return NULL;
    }
    *bytes = data->d_size;
    return data->d_buf;
}

struct gmt_elf_symbols gmt_elf_symbols(const struct gmt_elf *image)
{
    GElf_Shdr header;
    struct gmt_elf_symbols symbols = {.elf = image->elf};
    Elf_Scn *section = find_section(image, ".dynsym", &header);
    if (section != NULL && header.sh_type == SHT_DYNSYM) {
        symbols.symbols = elf_getdata(section, NULL);
        symbols.strings = header.sh_link;
    }
    return symbols;
}

const char *gmt_elf_next_symbol(struct gmt_elf_symbols *symbols, bool *is_import)
{
    GElf_Sym symbol;
    while (symbols->symbols != NULL &&
           gelf_getsym(symbols->symbols, symbols->at++, &symbol) != NULL) {
        const char *name = elf_strptr(symbols->elf, symbols->strings, symbol.st_name);
        if (name != NULL && name[0] != '\0') {
            *is_import = symbol.st_shndx == SHN_UNDEF;
            return name;
        }
    }
    symbols->symbols = NULL;
    return NULL;
}

bool gmt_elf_is_build(const struct gmt_elf *image, const char *text)
{
    GElf_Shdr header;
    GElf_Nhdr note;
    size_t name_at, id_at;
    Elf_Scn *section = find_section(image, ".note.gnu.build-id", &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL || data->d_size < sizeof(Elf64_Nhdr) || text[0] == '\0') {
        return true;
    }
    if (gelf_getnote(data, 0, &note, &name_at, &id_at) == 0 ||
        strlen(text) != (size_t)note.n_descsz * 2) {
        return false;
    }
    const unsigned char *id = (const unsigned char *)data->d_buf + id_at;
    for (size_t i = 0; i < note.n_descsz; i++) {
        char hex[3];
        (void)snprintf(hex, sizeof(hex), "%02x", id[i]);
        if (strncmp(hex, text + 2 * i, 2) != 0) {
            return false;
        }
    }
    return true;
}

void gmt_elf_build_id(const struct gmt_elf *image, char *hex, size_t bytes)
{
    GElf_Shdr header;
    GElf_Nhdr note;
    size_t name_at, id_at;
    Elf_Scn *section = find_section(image, ".note.gnu.build-id", &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    hex[0] = '\0';
    if (data == NULL || data->d_size < sizeof(Elf64_Nhdr) ||
        gelf_getnote(data, 0, &note, &name_at, &id_at) == 0 ||
        (size_t)note.n_descsz * 2 + 1 > bytes) {
        return;
    }
    const unsigned char *id = (const unsigned char *)data->d_buf + id_at;
    for (size_t i = 0; i < note.n_descsz; i++) {
        (void)snprintf(hex + 2 * i, bytes - 2 * i, "%02x", id[i]);
    }
}
