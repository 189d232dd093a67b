/* SPDX-License-Identifier: Apache-2.0 */
/* Follows calls in a cubin to functions of the driver that have effects (cubin_effects.h). */
#include "libtrace/cupti/code/cubin_effects.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRY = 0x10, /* in st_other: a kernel */
    SECTION_INFO = 0x70000000,
    SECTION_CALLS = 0x70000001,
    INFO_SIZED = 4, /* form of an attribute: its size follows; of the others, a value of 16 bits */
    INFO_EXTERNS = 0x0f, /* indexes of symbols */
    MOST_PASSES = 64,    /* a chain of calls may take one for each call */
};

/* Marks that begin a list in .nv.callgraph, after a 0. */
#define CALLS UINT32_C(0xffffffff)
#define TAKEN_FUNCTIONS UINT32_C(0xfffffffe)
#define CALLERS_BY_POINTER UINT32_C(0xfffffffd)
#define TAKEN_BY UINT32_C(0xfffffffc)

/* Beginnings of names of sections; a function's name follows. */
static const char info_prefix[] = ".nv.info.", code_prefix[] = ".text.";

struct effects {
    const struct gmt_cubin_symbols *of;
    struct gmt_cubin_table calls; /* of pairs */
    bool *in_section;             /* has an effect */
    bool *has_entry;              /* of sections */
    bool *is_effect;              /* of symbols, as the following */
    bool *is_called;
    bool *is_taken; /* somebody may call it through a pointer */
    bool changed;   /* in this pass */
};

static uint32_t number_at(const unsigned char *at)
{
    uint32_t number;
    memcpy(&number, at, sizeof(number));
    return number;
}

/* ---- one call ---------------------------------------------------------------------------------- */

static bool is_function(const struct effects *e, uint64_t symbol)
{
    return ELF64_ST_TYPE(gmt_cubin_symbol(e->of, symbol).st_info) == STT_FUNC;
}

static bool is_code(const struct effects *e, uint64_t section)
{
    return section != SHN_UNDEF && section < e->of->sections.count &&
           (gmt_cubin_section(e->of, section).sh_flags & SHF_EXECINSTR) != 0;
}

/* False: it is in none. */
static bool code_of(const struct effects *e, uint64_t symbol, uint64_t *section)
{
    *section = gmt_cubin_section_of(e->of, symbol);
    return is_code(e, *section);
}

/* From code in a section to a function. False: it is none. */
static bool note_call(struct effects *e, uint64_t from, uint32_t symbol)
{
    uint64_t section = 0;
    if (symbol >= e->of->symbols.count || !is_function(e, symbol)) {
        return false;
    }
    e->is_called[symbol] = true;
    bool effect = e->is_effect[symbol];
    if (gmt_cubin_symbol(e->of, symbol).st_shndx != SHN_UNDEF) {
        if (!code_of(e, symbol, &section)) {
            return false;
        }
        effect = e->in_section[section];
    }
    e->changed |= effect && !e->in_section[from];
    e->in_section[from] |= effect;
    return true;
}

/* ---- the list of calls ------------------------------------------------------------------------- */

static bool note_pair(struct effects *e, uint32_t list, uint32_t first, uint32_t second)
{
    uint64_t from = 0;
    if (first >= e->of->symbols.count || !is_function(e, first)) {
        return false;
    }
    switch (list) {
    case TAKEN_FUNCTIONS: e->is_taken[first] = true; return true;
    case CALLERS_BY_POINTER: return true;
    case TAKEN_BY:
    case CALLS:
        if (!code_of(e, first, &from) || !note_call(e, from, second)) {
            return false;
        }
        e->is_taken[second] |= list == TAKEN_BY;
        return true;
    default: return false;
    }
}

static bool follow_calls(struct effects *e)
{
    uint32_t list = 0;
    for (uint64_t i = 0; i < e->calls.count; i++) {
        uint32_t first = number_at(e->calls.at + i * 8),
                 second = number_at(e->calls.at + i * 8 + 4);
        if (first == 0 && second >= TAKEN_BY) {
            list = second;
        } else if (!note_pair(e, list, first, second)) {
            return false;
        }
    }
    return true;
}

/* There is one, and something in it. */
static bool find_calls(struct effects *e)
{
    for (uint64_t i = 1; i < e->of->sections.count; i++) {
        Elf64_Shdr section = gmt_cubin_section(e->of, i);
        if (section.sh_type != SECTION_CALLS) {
            continue;
        }
        if (e->calls.count != 0 || section.sh_link >= e->of->sections.count ||
            gmt_cubin_section(e->of, section.sh_link).sh_type != SHT_SYMTAB ||
            !gmt_cubin_table_of(e->of, i, 8, &e->calls)) {
            return false;
        }
    }
    return e->calls.count != 0;
}

/* ---- attributes -------------------------------------------------------------------------------- */

static bool follow_externs(struct effects *e, uint64_t from, const unsigned char *at,
                           uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 4) {
        if (bytes - i < 4 || !note_call(e, from, number_at(at + i))) {
            return false;
        }
    }
    return true;
}

static bool follow_info(struct effects *e, uint64_t from, const struct gmt_cubin_table *info)
{
    uint64_t at = 0;
    while (at != info->count) {
        if (info->count - at < 4) {
            return false;
        }
        unsigned form = info->at[at], attribute = info->at[at + 1];
        uint64_t bytes = form == INFO_SIZED ? info->at[at + 2] | (unsigned)info->at[at + 3] << 8
                                            : 0;
        at += 4;
        if (form == 0 || form > INFO_SIZED || bytes > info->count - at ||
            (attribute == INFO_EXTERNS &&
             (form != INFO_SIZED || !follow_externs(e, from, info->at + at, bytes)))) {
            return false;
        }
        at += bytes;
    }
    return true;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Those of odd images could overlap: `left` bytes of them are read. */
static bool follow_info_section(struct effects *e, uint64_t index, uint64_t *left)
{
    const char *name = gmt_cubin_section_name(e->of, index);
    uint64_t code = gmt_cubin_section(e->of, index).sh_info;
    struct gmt_cubin_table info;
    if (!is_code(e, code) || !gmt_cubin_table_of(e->of, index, 1, &info) || info.count >= *left) {
        return false;
    }
    *left -= info.count;
    size_t length = strnlen(name, *left);
    if (length == *left) {
        return false;
    }
    *left -= length;
    const char *code_name = gmt_cubin_section_name(e->of, code);
    return has_prefix(code_name, code_prefix) &&
           strcmp(name + sizeof(info_prefix) - 1, code_name + sizeof(code_prefix) - 1) == 0 &&
           follow_info(e, code, &info);
}

static bool follow_infos(struct effects *e)
{
    uint64_t left = e->of->bytes;
    for (uint64_t i = 1; i < e->of->sections.count; i++) {
        if (gmt_cubin_section(e->of, i).sh_type == SECTION_INFO &&
            has_prefix(gmt_cubin_section_name(e->of, i), info_prefix) &&
            !follow_info_section(e, i, &left)) {
            return false;
        }
    }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static bool look_at_symbols(struct effects *e)
{
    for (uint64_t i = 1; i < e->of->symbols.count; i++) {
        uint64_t section = 0;
        e->is_effect[i] = gmt_cubin_is_effect(e->of, i);
        if (!is_function(e, i) || gmt_cubin_symbol(e->of, i).st_shndx == SHN_UNDEF) {
            continue;
        }
        if (!code_of(e, i, &section)) {
            return false;
        }
        e->has_entry[section] |= (gmt_cubin_symbol(e->of, i).st_other & ENTRY) != 0;
    }
    return true;
}

static bool follow_all(struct effects *e)
{
    unsigned passes = 0;
    do {
        e->changed = false;
        if (passes++ == MOST_PASSES || !follow_calls(e) || !follow_infos(e)) {
            return false;
        }
    } while (e->changed);
    return true;
}

/* Slow paths of arithmetic, `$__internal_0_$name` or `$kernel$__internal_name`: nobody takes their address. Those of odd
 * images could overlap: `left` bytes of names are read. */
static bool is_compilers(const char *name, uint64_t *left)
{
    size_t length = strnlen(name, *left);
    *left -= length;
    return name[0] == '$' && *left != 0 && strstr(name, "$__internal_") != NULL;
}

/* No kernel, and has an effect. In a section of its own the list of calls says whether its address is taken; what is in
 * that of a kernel may be a copy of a function whose address is. */
static bool may_be_called_by_pointer(const struct effects *e, uint64_t symbol, uint64_t *left)
{
    uint64_t section = gmt_cubin_section_of(e->of, symbol);
    return (gmt_cubin_symbol(e->of, symbol).st_other & ENTRY) == 0 && e->in_section[section] &&
           (e->is_taken[symbol] ||
            (e->has_entry[section] && !is_compilers(gmt_cubin_symbol_name(e->of, symbol), left)));
}

/* Nothing may have an effect that is not marked. */
static bool is_complete(const struct effects *e)
{
    uint64_t left = 4 * e->of->names.count + 1;
    for (uint64_t i = 1; i < e->of->symbols.count; i++) {
        bool here = gmt_cubin_symbol(e->of, i).st_shndx != SHN_UNDEF;
        if (e->is_effect[i] ? !e->is_called[i] || e->is_taken[i]
                            : here && is_function(e, i) && may_be_called_by_pointer(e, i, &left)) {
            return false;
        }
    }
    return true;
}

bool *gmt_cubin_effects(const struct gmt_cubin_symbols *symbols)
{
    uint64_t sections = symbols->sections.count, count = symbols->symbols.count;
    struct effects e = {.of = symbols};
    e.in_section = calloc(2 * sections + 3 * count,
                          sizeof(bool)); /* less than the image has bytes */
    if (e.in_section == NULL) {
        return NULL;
    }
    e.has_entry = e.in_section + sections;
    e.is_effect = e.has_entry + sections;
    e.is_called = e.is_effect + count;
    e.is_taken = e.is_called + count;
    if (!find_calls(&e) || !look_at_symbols(&e) || !follow_all(&e) || !is_complete(&e)) {
        free(e.in_section);
        return NULL;
    }
    return e.in_section;
}
