/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the symbol table of a cubin, an ELF file of 64 bits, in memory (cubin_symbols.h). */
#include "libtrace/cupti/code/cubin_symbols.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
    MACHINE_CUDA = 190,
    /* Types of symbols that are CUDA's own. */
    TYPE_TEXTURE = 10,
    TYPE_SAMPLER = 11,
    TYPE_SURFACE = 12, /* bound by the host: which memory a store goes to is not known */
    TYPE_OBJECT = 13,
    MOST_STORES = 8, /* sections of variables; there are three */
};

static_assert(sizeof(Elf64_Shdr) == 64 && sizeof(Elf64_Sym) == 24, "as ELF says");

/* Undefined symbols, by the beginning of their name or by all of it. */
static const struct {
    const char *name;
    bool is_prefix;
    bool allocates; /* memory of the device's heap, perhaps */
    int means;
} known[] = {
    {"vprintf", false, false, -EPERM},
    {"malloc", false, true, -EPERM},
    {"free", false, true, -EPERM},
    {"__assertfail", false, false, 0}, /* at the first execution, and then the context is lost */
    {"__cuda_syscall", true, true, -EPERM},
    {"__cudaCDP2", true, true, -EPERM},
    {"cudaLaunchDevice", true, true, -EPERM},
    {"cudaGetParameterBuffer", true, true, -EPERM},
    {"cnp", true, true, -EPERM}, /* the device runtime of old */
    {".nv.reservedSmem", true, false, 0},
    /* Tables of functions and data that nvlink makes for -rdc=true. */
    {"__UFT", true, false, 0},
    {"__UDT", true, false, 0},
};

/* ---- tables ----------------------------------------------------------------------------------- */

static bool inside(size_t bytes, uint64_t offset, uint64_t length)
{
    return offset <= bytes && length <= bytes - offset;
}

Elf64_Shdr gmt_cubin_section(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    Elf64_Shdr section;
    memcpy(&section, symbols->sections.at + index * sizeof(section), sizeof(section));
    return section;
}

Elf64_Sym gmt_cubin_symbol(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, symbols->symbols.at + index * sizeof(symbol), sizeof(symbol));
    return symbol;
}

static const char *text_at(const struct gmt_cubin_table *texts, uint64_t offset)
{
    return offset < texts->count ? (const char *)texts->at + offset : NULL;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool find_table(const struct gmt_cubin_symbols *symbols, const Elf64_Shdr *section,
                       size_t size, struct gmt_cubin_table *table)
{
    if (section->sh_type == SHT_NOBITS || section->sh_size % size != 0 ||
        !inside(symbols->bytes, section->sh_offset, section->sh_size)) {
        return false;
    }
    *table = (struct gmt_cubin_table){.at = symbols->image + section->sh_offset,
                                      .count = section->sh_size / size};
    return true;
}

/* The last byte of a table of texts ends the last of them: no text leaves it then. */
static bool find_texts(const struct gmt_cubin_symbols *symbols, uint64_t index,
                       struct gmt_cubin_table *table)
{
    if (index >= symbols->sections.count) {
        return false;
    }
    Elf64_Shdr section = gmt_cubin_section(symbols, index);
    return find_table(symbols, &section, 1, table) && table->count != 0 &&
           table->at[table->count - 1] == '\0';
}

/* Where their numbers do not fit the header they are in the first section. */
static bool find_sections(struct gmt_cubin_symbols *symbols, uint64_t *names)
{
    Elf64_Ehdr header;
    if (symbols->bytes < sizeof(header)) {
        return false;
    }
    memcpy(&header, symbols->image, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != MACHINE_CUDA ||
        header.e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(symbols->bytes, header.e_shoff, sizeof(Elf64_Shdr))) {
        return false;
    }
    symbols->sections = (struct gmt_cubin_table){.at = symbols->image + header.e_shoff, .count = 1};
    Elf64_Shdr first = gmt_cubin_section(symbols, 0);
    symbols->sections.count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    *names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    return symbols->sections.count <= (symbols->bytes - header.e_shoff) / sizeof(Elf64_Shdr);
}

/* One symbol table, and one of large section numbers for it at most. */
static bool find_symbols(struct gmt_cubin_symbols *symbols)
{
    uint64_t table = 0, indexed = 0;
    for (uint64_t i = 1; i < symbols->sections.count; i++) {
        Elf64_Shdr section = gmt_cubin_section(symbols, i);
        if (section.sh_type == SHT_SYMTAB) {
            if (table != 0 || section.sh_entsize != sizeof(Elf64_Sym) ||
                !find_table(symbols, &section, sizeof(Elf64_Sym), &symbols->symbols) ||
                !find_texts(symbols, section.sh_link, &symbols->names)) {
                return false;
            }
            table = i;
        } else if (section.sh_type == SHT_SYMTAB_SHNDX) {
            if (indexed != 0 ||
                !find_table(symbols, &section, sizeof(uint32_t), &symbols->indexes)) {
                return false;
            }
            indexed = section.sh_link;
        }
    }
    return table != 0 && (indexed == 0 || indexed == table);
}

/* ---- symbols ---------------------------------------------------------------------------------- */

/* UINT64_MAX: there is no such section. Numbers that are reserved stay as they are. */
static uint64_t section_of(const struct gmt_cubin_symbols *symbols, const Elf64_Sym *symbol,
                           uint64_t index)
{
    if (symbol->st_shndx != SHN_XINDEX) {
        bool reserved = symbol->st_shndx == SHN_ABS || symbol->st_shndx == SHN_COMMON;
        return reserved || symbol->st_shndx < symbols->sections.count ? symbol->st_shndx
                                                                      : UINT64_MAX;
    }
    if (index >= symbols->indexes.count) {
        return UINT64_MAX;
    }
    uint32_t section;
    memcpy(&section, symbols->indexes.at + index * sizeof(section), sizeof(section));
    return section < symbols->sections.count ? section : UINT64_MAX;
}

static const char *section_name(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    return text_at(&symbols->section_names, gmt_cubin_section(symbols, index).sh_name);
}

/* Of the program: kernels do not write these, but they may find addresses there. (Others are arguments, and what the
 * compiler put in.) */
static bool is_constants(const char *section)
{
    return starts_with(section, ".nv.constant3");
}

/* What is not in memory that ends with a kernel is in device memory. */
static bool holds_variables(const struct gmt_cubin_symbols *symbols, const Elf64_Sym *symbol,
                            uint64_t section)
{
    if (symbol->st_shndx == SHN_COMMON || symbol->st_shndx == SHN_ABS) {
        return true;
    }
    const char *name = section_name(symbols, section);
    return name == NULL || is_constants(name) ||
           (!starts_with(name, ".nv.constant") && !starts_with(name, ".nv.shared") &&
            !starts_with(name, ".nv.local"));
}

static bool is_object(unsigned type)
{
    return type == STT_OBJECT || type == STT_COMMON || type == TYPE_OBJECT;
}

static int undefined(unsigned type, const char *name, bool *may_allocate)
{
    if (name[0] == '\0' || type == TYPE_TEXTURE || type == TYPE_SAMPLER) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].is_prefix ? starts_with(name, known[i].name)
                               : strcmp(name, known[i].name) == 0) {
            *may_allocate |= known[i].allocates;
            return known[i].means;
        }
    }
    return -ENOENT;
}

/* Types that mean nothing else than they do on a processor, and textures, which are only read. */
static int of_type(unsigned type)
{
    return type <= STT_COMMON || type == TYPE_TEXTURE || type == TYPE_SAMPLER || type == TYPE_OBJECT
               ? 0
               : -ENOENT;
}

/* ---- variables that have lost their names ------------------------------------------------------ */

struct stores {
    uint64_t sections[MOST_STORES];
    bool named[MOST_STORES];
    size_t count;
    bool too_many;
};

static struct stores find_stores(const struct gmt_cubin_symbols *symbols)
{
    struct stores stores = {.count = 0};
    for (uint64_t i = 1; i < symbols->sections.count; i++) {
        Elf64_Shdr section = gmt_cubin_section(symbols, i);
        const char *name = section.sh_size != 0 ? text_at(&symbols->section_names, section.sh_name)
                                                : NULL;
        bool writable = (section.sh_flags & SHF_WRITE) != 0;
        if (name != NULL && ((writable && starts_with(name, ".nv.global")) || is_constants(name))) {
            stores.too_many |= stores.count == MOST_STORES;
            stores.sections[stores.too_many ? 0 : stores.count++] = i;
        }
    }
    return stores;
}

static void note_named(struct stores *stores, uint64_t section)
{
    for (size_t i = 0; i < stores->count; i++) {
        stores->named[i] |= stores->sections[i] == section;
    }
}

static int unnamed(const struct stores *stores)
{
    bool all = !stores->too_many;
    for (size_t i = 0; i < stores->count; i++) {
        all = all && stores->named[i];
    }
    return all ? 0 : -ENOENT;
}

/* ---- the seam --------------------------------------------------------------------------------- */

static int look_at_all(struct gmt_cubin_symbols *symbols)
{
    struct stores stores = find_stores(symbols);
    bool effects = false;
    int others = 0; /* an effect that is certain counts for more than what is not known */
    for (uint64_t i = 1; i < symbols->symbols.count; i++) {
        Elf64_Sym symbol = gmt_cubin_symbol(symbols, i);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        const char *name = text_at(&symbols->names, symbol.st_name);
        uint64_t section = section_of(symbols, &symbol, i);
        if (name == NULL || section == UINT64_MAX) {
            return -EINVAL;
        }
        int means = section == SHN_UNDEF ? undefined(type, name, &symbols->allocates) : 0;
        effects |= means == -EPERM;
        others = means == -ENOENT || of_type(type) != 0 ? -ENOENT : others;
        if (section == SHN_UNDEF) {
            continue;
        }
        if (is_object(type) && name[0] != '\0') {
            note_named(&stores, section);
        }
    }
    symbols->without_effects = others != 0 ? others : unnamed(&stores);
    return effects ? -EPERM : symbols->without_effects;
}

int gmt_cubin_symbols_read(struct gmt_cubin_symbols *symbols, const void *image, size_t bytes)
{
    uint64_t names = 0;
    *symbols = (struct gmt_cubin_symbols){.image = image, .bytes = bytes};
    if (!find_sections(symbols, &names) || !find_texts(symbols, names, &symbols->section_names) ||
        !find_symbols(symbols)) {
        return -EINVAL;
    }
    return look_at_all(symbols);
}

void gmt_cubin_symbols_visit(const struct gmt_cubin_symbols *symbols,
                             const struct gmt_cubin_visitor *visitor)
{
    for (uint64_t i = 1; i < symbols->symbols.count; i++) {
        Elf64_Sym symbol = gmt_cubin_symbol(symbols, i);
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        const char *name = text_at(&symbols->names, symbol.st_name);
        uint64_t section = section_of(symbols, &symbol, i);
        if (name == NULL || section == UINT64_MAX || section == SHN_UNDEF || name[0] == '\0') {
            continue;
        }
        if (type == STT_FUNC && visitor->function != NULL) {
            visitor->function(visitor->data, name, section);
        } else if (is_object(type) && visitor->variable != NULL &&
                   holds_variables(symbols, &symbol, section)) {
            visitor->variable(visitor->data, name);
        }
    }
}

/* ---- for readers of further sections ----------------------------------------------------------- */

const char *gmt_cubin_section_name(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    const char *name = section_name(symbols, index);
    return name != NULL ? name : "";
}

const char *gmt_cubin_symbol_name(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    const char *name = text_at(&symbols->names, gmt_cubin_symbol(symbols, index).st_name);
    return name != NULL ? name : "";
}

uint64_t gmt_cubin_section_of(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    Elf64_Sym symbol = gmt_cubin_symbol(symbols, index);
    return section_of(symbols, &symbol, index);
}

bool gmt_cubin_table_of(const struct gmt_cubin_symbols *symbols, uint64_t index, size_t size,
                        struct gmt_cubin_table *table)
{
    Elf64_Shdr section = gmt_cubin_section(symbols, index);
    return find_table(symbols, &section, size, table);
}

bool gmt_cubin_is_effect(const struct gmt_cubin_symbols *symbols, uint64_t index)
{
    Elf64_Sym symbol = gmt_cubin_symbol(symbols, index);
    bool unused = false;
    return symbol.st_shndx == SHN_UNDEF &&
           undefined(ELF64_ST_TYPE(symbol.st_info), gmt_cubin_symbol_name(symbols, index),
                     &unused) == -EPERM;
}
