/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF file that anyone may have made: every offset is checked. */
#include "libtrace/store/symbols/elf_image.h"

#include <stdio.h>
#include <string.h>

const char *gmt_elf_part(const struct gmt_elf *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->bytes && bytes <= image->bytes - offset ? image->data + offset : NULL;
}

static bool segment_at(const struct gmt_elf *image, unsigned index, Elf64_Phdr *segment)
{
    uint64_t offset = image->header.e_phoff + (uint64_t)index * sizeof(*segment);
    const char *at = image->header.e_phoff <= image->bytes
                         ? gmt_elf_part(image, offset, sizeof(*segment))
                         : NULL;
    if (index >= image->header.e_phnum || at == NULL) {
        return false;
    }
    memcpy(segment, at, sizeof(*segment));
    return true;
}

bool gmt_elf_segment(const struct gmt_elf *image, Elf64_Word type, Elf64_Phdr *segment)
{
    for (unsigned i = 0; segment_at(image, i, segment); i++) {
        if (segment->p_type == type) {
            return true;
        }
    }
    return false;
}

const char *gmt_elf_loaded(const struct gmt_elf *image, uint64_t address, size_t *bytes)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; segment_at(image, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz &&
            gmt_elf_part(image, segment.p_offset, segment.p_filesz) != NULL) {
            *bytes = segment.p_filesz - (address - segment.p_vaddr);
            return image->data + segment.p_offset + (address - segment.p_vaddr);
        }
    }
    return NULL;
}

bool gmt_elf_dynamic(const struct gmt_elf *image, Elf64_Sxword tag, size_t skip, uint64_t *value)
{
    Elf64_Phdr segment;
    if (!gmt_elf_segment(image, PT_DYNAMIC, &segment) ||
        gmt_elf_part(image, segment.p_offset, segment.p_filesz) == NULL) {
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

const char *gmt_elf_dynamic_text(const struct gmt_elf *image, Elf64_Sxword tag, size_t skip)
{
    uint64_t strings_at, offset;
    size_t available = 0;
    const char *strings = gmt_elf_dynamic(image, DT_STRTAB, 0, &strings_at)
                              ? gmt_elf_loaded(image, strings_at, &available)
                              : NULL;
    if (strings == NULL || !gmt_elf_dynamic(image, tag, skip, &offset) || offset >= available ||
        strnlen(strings + offset, available - offset) == available - offset) {
        return NULL;
    }
    return strings + offset;
}

static bool section_at(const struct gmt_elf *image, unsigned index, Elf64_Shdr *section)
{
    uint64_t offset = image->header.e_shoff + (uint64_t)index * sizeof(*section);
    const char *at = image->header.e_shoff <= image->bytes
                         ? gmt_elf_part(image, offset, sizeof(*section))
                         : NULL;
    if (index >= image->header.e_shnum || at == NULL ||
        image->header.e_shentsize != sizeof(*section)) {
        return false;
    }
    memcpy(section, at, sizeof(*section));
    return true;
}

const char *gmt_elf_section(const struct gmt_elf *image, const char *name, size_t *bytes)
{
    Elf64_Shdr section, names;
    size_t length = strlen(name) + 1;
    if (!section_at(image, image->header.e_shstrndx, &names)) {
        return NULL;
    }
    for (unsigned i = 0; section_at(image, i, &section); i++) {
        const char *text = section.sh_name < names.sh_size
                               ? gmt_elf_part(image, names.sh_offset + section.sh_name, length)
                               : NULL;
        if (text != NULL && section.sh_type != SHT_NOBITS && memcmp(text, name, length) == 0) {
            *bytes = section.sh_size;
            return gmt_elf_part(image, section.sh_offset, section.sh_size);
        }
    }
    return NULL;
}

struct gmt_elf_symbols gmt_elf_symbols(const struct gmt_elf *image)
{
    struct gmt_elf_symbols symbols = {0};
    symbols.symbols = gmt_elf_section(image, ".dynsym", &symbols.symbol_bytes);
    symbols.texts = gmt_elf_section(image, ".dynstr", &symbols.text_bytes);
    return symbols;
}

const char *gmt_elf_next_symbol(struct gmt_elf_symbols *symbols, bool *is_import)
{
    Elf64_Sym symbol;
    while (symbols->symbols != NULL && symbols->texts != NULL &&
           symbols->at + sizeof(symbol) <= symbols->symbol_bytes) {
        memcpy(&symbol, symbols->symbols + symbols->at, sizeof(symbol));
        symbols->at += sizeof(symbol);
        size_t room = symbol.st_name < symbols->text_bytes ? symbols->text_bytes - symbol.st_name
                                                           : 0;
        const char *name = symbols->texts + (room != 0 ? symbol.st_name : 0);
        if (room != 0 && name[0] != '\0' && strnlen(name, room) < room) {
            *is_import = symbol.st_shndx == SHN_UNDEF;
            return name;
        }
    }
    return NULL;
}

bool gmt_elf_imports(const struct gmt_elf *image, const char *name)
{
    struct gmt_elf_symbols symbols = gmt_elf_symbols(image);
    const char *found;
    bool is_import;
    while ((found = gmt_elf_next_symbol(&symbols, &is_import)) != NULL) {
        if (is_import && strcmp(found, name) == 0) {
            return true;
        }
    }
    return false;
}

bool gmt_elf_is_build(const struct gmt_elf *image, const char *text)
{
    size_t bytes = 0;
    const char *note = gmt_elf_section(image, ".note.gnu.build-id", &bytes);
    Elf64_Nhdr head;
    if (note == NULL || bytes < sizeof(head) || text[0] == '\0') {
        return true;
    }
    memcpy(&head, note, sizeof(head));
    size_t name_bytes = ((size_t)head.n_namesz + 3) & ~(size_t)3;
    if (name_bytes > bytes - sizeof(head) || head.n_descsz > bytes - sizeof(head) - name_bytes ||
        strlen(text) != (size_t)head.n_descsz * 2) {
        return false;
    }
    const unsigned char *id = (const unsigned char *)note + sizeof(head) + name_bytes;
    for (size_t i = 0; i < head.n_descsz; i++) {
        char hex[3];
        (void)snprintf(hex, sizeof(hex), "%02x", id[i]);
        if (strncmp(hex, text + 2 * i, 2) != 0) {
            return false;
        }
    }
    return true;
}
