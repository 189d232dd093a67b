/* SPDX-License-Identifier: Apache-2.0 */
/* Makes small cubins, and reads those of tests/data/cubin. */
#include "cubin_fixture.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, MOST_BYTES = 1 << 20, MOST_SECTIONS = 256 };

struct cubin_part cubin_calls, cubin_calls2, cubin_info;
unsigned cubin_calls_link = CUBIN_SYMBOLS, cubin_info_of = CUBIN_TEXT;
size_t cubin_more_sections;
size_t cubin_global_bytes;
bool cubin_large_numbers;

static const char *const names[CUBIN_SECTIONS] = {
    [0] = "",
    [CUBIN_NAMES] = ".shstrtab",
    [CUBIN_STRINGS] = ".strtab",
    [CUBIN_SYMBOLS] = ".symtab",
    [CUBIN_INDEXES] = ".symtab_shndx",
    [CUBIN_TEXT] = ".text.kernel",
    [CUBIN_GLOBAL] = ".nv.global",
    [CUBIN_CONSTANT] = ".nv.constant3",
    [CUBIN_ARGUMENTS] = ".nv.constant0.kernel",
    [CUBIN_SHARED] = ".nv.shared.kernel",
    [CUBIN_OTHER] = ".nv.novelty",
    [CUBIN_TEXT2] = ".text.other",
    [CUBIN_TEXT3] = ".text.part",
    [CUBIN_CALLS] = ".nv.callgraph",
    [CUBIN_CALLS2] = ".nv.callgraph",
    [CUBIN_INFO] = ".nv.info.kernel",
};

static size_t put(struct cubin_image *image, const void *bytes, size_t size)
{
    size_t at = image->size;
    cr_assert_leq(at + size, MOST_BYTES);
    memcpy(image->bytes + at, bytes, size);
    image->size += size;
    return at;
}

static void put_symbols(struct cubin_image *image, Elf64_Shdr *sections,
                        const struct cubin_symbol *symbols, size_t count)
{
    size_t name = 1;
    sections[CUBIN_SYMBOLS].sh_offset = put(image, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (size_t i = 0; i < count; i++) {
        bool escaped = cubin_large_numbers && symbols[i].section < MOST_SECTIONS &&
                       symbols[i].section != SHN_UNDEF;
        Elf64_Sym symbol = {
            .st_name = (Elf64_Word)name,
            .st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, symbols[i].type & 0xf),
            .st_other = (unsigned char)(symbols[i].type >> 8),
            .st_shndx = escaped ? SHN_XINDEX : (Elf64_Section)symbols[i].section};
        (void)put(image, &symbol, sizeof(symbol));
        name += strlen(symbols[i].name) + 1;
    }
    sections[CUBIN_INDEXES].sh_offset = put(image, &(uint32_t){0}, sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        (void)put(image, &(uint32_t){symbols[i].section}, sizeof(uint32_t));
    }
    sections[CUBIN_SYMBOLS].sh_size = (count + 1) * sizeof(Elf64_Sym);
    sections[CUBIN_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    sections[CUBIN_SYMBOLS].sh_link = CUBIN_STRINGS;
    sections[CUBIN_INDEXES].sh_size = (count + 1) * sizeof(uint32_t);
    sections[CUBIN_INDEXES].sh_link = CUBIN_SYMBOLS;
    sections[CUBIN_STRINGS].sh_offset = put(image, "", 1);
    for (size_t i = 0; i < count; i++) {
        (void)put(image, symbols[i].name, strlen(symbols[i].name) + 1);
    }
    sections[CUBIN_STRINGS].sh_size = name;
}

static void put_part(struct cubin_image *image, Elf64_Shdr *section, struct cubin_part part,
                     unsigned type, unsigned entry)
{
    if (part.size == 0) {
        return;
    }
    section->sh_type = type;
    section->sh_offset = put(image, part.bytes, part.size);
    section->sh_size = part.size;
    section->sh_entsize = entry;
}

/* Of calls, and what belongs to functions. */
static void put_parts(struct cubin_image *image, Elf64_Shdr *sections)
{
    put_part(image, &sections[CUBIN_CALLS], cubin_calls, 0x70000001, 8);
    put_part(image, &sections[CUBIN_CALLS2], cubin_calls2, 0x70000001, 8);
    put_part(image, &sections[CUBIN_INFO], cubin_info, 0x70000000, 0);
    sections[CUBIN_CALLS].sh_link = sections[CUBIN_CALLS2].sh_link = cubin_calls_link;
    sections[CUBIN_INFO].sh_info = cubin_info_of;
    sections[CUBIN_TEXT2] = sections[CUBIN_TEXT3] = sections[CUBIN_TEXT];
    for (size_t i = 0; i < cubin_more_sections; i++) {
        sections[CUBIN_SECTIONS + i] = sections[CUBIN_TEXT];
    }
}

struct cubin_image cubin_make(const struct cubin_symbol *symbols, size_t count)
{
    struct cubin_image image = {.bytes = malloc(MOST_BYTES)};
    size_t section_count = CUBIN_SECTIONS + cubin_more_sections;
    Elf64_Shdr sections[MOST_SECTIONS] = {
        [CUBIN_NAMES] = {.sh_type = SHT_STRTAB},
        [CUBIN_STRINGS] = {.sh_type = SHT_STRTAB},
        [CUBIN_SYMBOLS] = {.sh_type = SHT_SYMTAB},
        [CUBIN_INDEXES] = {.sh_type = cubin_large_numbers ? SHT_SYMTAB_SHNDX : SHT_NULL},
        [CUBIN_TEXT] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR},
        [CUBIN_GLOBAL] = {.sh_type = SHT_NOBITS,
                          .sh_flags = SHF_ALLOC | SHF_WRITE,
                          .sh_size = cubin_global_bytes},
        [CUBIN_CONSTANT] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC},
        [CUBIN_ARGUMENTS] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC},
        [CUBIN_SHARED] = {.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE},
        [CUBIN_OTHER] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE},
    };
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                         .e_type = ET_EXEC,
                         .e_machine = MACHINE_CUDA,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (Elf64_Half)section_count,
                         .e_shstrndx = CUBIN_NAMES};
    cr_assert_not_null(image.bytes);
    cr_assert_leq(section_count, MOST_SECTIONS);
    (void)put(&image, &header, sizeof(header));
    put_symbols(&image, sections, symbols, count);
    put_parts(&image, sections);
    sections[CUBIN_NAMES].sh_offset = image.size;
    for (size_t i = 0; i < CUBIN_SECTIONS; i++) {
        size_t at = put(&image, names[i], strlen(names[i]) + 1);
        sections[i].sh_name = (Elf64_Word)(at - sections[CUBIN_NAMES].sh_offset);
    }
    sections[CUBIN_NAMES].sh_size = image.size - sections[CUBIN_NAMES].sh_offset;
    if (cubin_large_numbers) {
        sections[0].sh_size = section_count;
        sections[0].sh_link = CUBIN_NAMES;
        header.e_shnum = 0;
        header.e_shstrndx = SHN_XINDEX;
    }
    header.e_shoff = put(&image, sections, section_count * sizeof(sections[0]));
    memcpy(image.bytes, &header, sizeof(header));
    return image;
}

struct cubin_image cubin_read(const char *name)
{
    char path[512];
    struct cubin_image image = {.bytes = malloc(MOST_BYTES)};
    (void)snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/data/cubin/%s", name);
    FILE *in = fopen(path, "re");
    cr_assert_not_null(in, "%s", path);
    cr_assert_not_null(image.bytes);
    image.size = fread(image.bytes, 1, MOST_BYTES, in);
    (void)fclose(in);
    return image;
}
