/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the unit of an address, its function, and what was inlined there. */
#include "libtrace/store/symbols/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/symbols/symbolize.h"

/* Deeper nesting of namespaces and classes than people write; bounds damaged files, too. */
#define MAX_NESTING 32
/* Entries of debug information to look at in one module: more than the largest units of one hold, and an
 * end for damaged ones that lead in circles. */
#define MAX_ENTRIES 64000000u

struct code_range {
    Dwarf_Addr low, high; /* without the module's bias */
    Dwarf_Die die;
};

struct code_ranges {
    struct code_range *range; /* by `low` */
    size_t count, room;
};

struct unit {
    Dwarf_Off offset;
    Dwarf_Die die;      /* the whole unit: the split file's, where there is one */
    Dwarf_Die skeleton; /* what the module itself holds; has the lines */
    struct code_ranges functions;
};

struct gmt_source {
    Dwfl_Module *module;
    bool has_units; /* `units_by_address` is filled */
    struct code_ranges units_by_address;
    struct unit *units;
    size_t unit_count, without_split, last;
    uint32_t entries_left;
};

struct gmt_source *gmt_source_open(Dwfl_Module *module)
{
    struct gmt_source *source = calloc(1, sizeof(*source));
    if (source != NULL) {
        source->module = module;
        source->entries_left = MAX_ENTRIES;
    }
    return source;
}

void gmt_source_close(struct gmt_source *source)
{
    if (source == NULL) {
        return;
    }
    for (size_t i = 0; i < source->unit_count; i++) {
        free(source->units[i].functions.range);
    }
    free(source->units);
    free(source->units_by_address.range);
    free(source);
}

size_t gmt_source_units_without_split(const struct gmt_source *source)
{
    return source->without_split;
}

/* ---- ranges of code --------------------------------------------------------------------------- */

static bool add_range(struct code_ranges *ranges, Dwarf_Addr low, Dwarf_Addr high,
                      const Dwarf_Die *die)
{
    if (low >= high || low == 0) {
        return true; /* 0: the linker dropped the code and left what described it */
    }
    if (ranges->count == ranges->room) {
        size_t room = ranges->room != 0 ? 2 * ranges->room : 64;
        struct code_range *grown = realloc(ranges->range, room * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        ranges->range = grown;
        ranges->room = room;
    }
    ranges->range[ranges->count++] = (struct code_range){low, high, *die};
    return true;
}

static bool add_ranges(struct code_ranges *ranges, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    bool added = true;
    for (ptrdiff_t at = 0; added && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        added = add_range(ranges, low, high, die);
    }
    return added;
}

static int by_low(const void *a, const void *b)
{
    const struct code_range *left = a, *right = b;
    return (left->low > right->low) - (left->low < right->low);
}

static void sort_ranges(struct code_ranges *ranges)
{
    if (ranges->count > 1) {
        qsort(ranges->range, ranges->count, sizeof(ranges->range[0]), by_low);
    }
}

static Dwarf_Die *die_at(struct code_ranges *ranges, Dwarf_Addr address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->range[middle].low <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && address < ranges->range[low - 1].high ? &ranges->range[low - 1].die : NULL;
}

/* ---- units ------------------------------------------------------------------------------------ */

/* The entry behind `entry`, on the same level. */
static bool next_entry(struct gmt_source *source, Dwarf_Die *entry)
{
    if (source->entries_left == 0) {
        return false;
    }
    source->entries_left--;
    return dwarf_siblingof(entry, entry) == 0;
}

/* Only C++ has lambdas: elsewhere nobody has to look for functions inside of functions. */
static bool has_lambdas(Dwarf_Die *unit)
{
    static const int languages[] = {DW_LANG_C_plus_plus,
                                    DW_LANG_C_plus_plus_03,
                                    DW_LANG_C_plus_plus_11,
                                    DW_LANG_C_plus_plus_14,
                                    0x2a,
                                    0x2b,
                                    0x3a}; /* of 2017, 2020 and 2023 */
    bool found = false;
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        found |= dwarf_srclang(unit) == languages[i];
    }
    return found;
}

/* Functions can be written inside of namespaces, classes, functions (a lambda is a class in one) and,
 * in some languages, modules. */
static bool add_functions(struct gmt_source *source, struct code_ranges *functions,
                          Dwarf_Die *parent, bool lambdas, int nesting)
{
    Dwarf_Die child;
    bool added = true;
    if (nesting == MAX_NESTING || dwarf_child(parent, &child) != 0) {
        return true;
    }
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
            added = add_ranges(functions, &child) &&
                    (!lambdas || add_functions(source, functions, &child, lambdas, nesting + 1));
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            added = add_functions(source, functions, &child, lambdas, nesting + 1);
            break;
        default: break;
        }
    } while (added && next_entry(source, &child));
    return added;
}

static bool has_split_name(Dwarf_Die *skeleton)
{
    return dwarf_hasattr(skeleton, DW_AT_dwo_name) || dwarf_hasattr(skeleton, DW_AT_GNU_dwo_name);
}

static struct unit *add_unit(struct gmt_source *source, Dwarf_Die *skeleton)
{
    struct unit *grown = realloc(source->units, (source->unit_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return NULL;
    }
    source->units = grown;
    struct unit *unit = &grown[source->unit_count];
    *unit = (struct unit){
        .offset = dwarf_dieoffset(skeleton), .die = *skeleton, .skeleton = *skeleton};
    if (has_split_name(skeleton)) {
        Dwarf_Die split = {0};
        uint8_t type = 0;
        if (dwarf_cu_info(skeleton->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
            split.addr != NULL) {
            unit->die = split;
        } else {
            source->without_split++;
        }
    }
    (void)add_functions(source, &unit->functions, &unit->die, has_lambdas(&unit->die), 0);
    sort_ranges(&unit->functions);
    source->last = source->unit_count++;
    return unit;
}

static struct unit *unit_of(struct gmt_source *source, Dwarf_Die *skeleton)
{
    Dwarf_Off offset = dwarf_dieoffset(skeleton);
    if (source->unit_count > 0 && source->units[source->last].offset == offset) {
        return &source->units[source->last];
    }
    for (size_t i = 0; i < source->unit_count; i++) {
        if (source->units[i].offset == offset) {
            source->last = i;
            return &source->units[i];
        }
    }
    return add_unit(source, skeleton);
}

/* The unit whose code lies at `address`; *bias is what the module adds to its addresses. */
static Dwarf_Die *find_unit(struct gmt_source *source, GElf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(source->module, address, bias);
    if (unit != NULL) {
        return unit;
    }
    if (dwfl_module_getdwarf(source->module, bias) == NULL) {
        return NULL;
    }
    if (!source->has_units) {
        source->has_units = true;
        while ((unit = dwfl_module_nextcu(source->module, unit, bias)) != NULL &&
               add_ranges(&source->units_by_address, unit)) {
        }
        sort_ranges(&source->units_by_address);
        (void)dwfl_module_getdwarf(source->module, bias);
    }
    return die_at(&source->units_by_address, address - *bias);
}

/* ---- what was inlined ------------------------------------------------------------------------- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *name_of(Dwarf_Die *die)
{
    const char *name = text_of(die, DW_AT_linkage_name);
    if (name == NULL) {
        name = text_of(die, DW_AT_MIPS_linkage_name);
    }
    return name != NULL ? name : dwarf_diename(die);
}

/* The file that an attribute gives the number of, in the table of the unit of `die`. (dwarf_decl_file
 * ends the process where that table has not been read.) */
static const char *file_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) != 0 ||
        dwarf_diecu(die, &unit, NULL, NULL) == NULL ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count) {
        return NULL;
    }
    return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* A function that the compiler made (a lambda's) is declared nowhere: the place that it calls from decides. */
static bool is_librarys(Dwarf_Die *die, const struct gmt_source_frame *frame)
{
    const char *declared = die != NULL ? file_of(die, DW_AT_decl_file) : NULL;
    return gmt_symbol_is_library_header(declared != NULL ? declared : frame->file);
}

/* What the inlined function `die` is an instance of; NULL: not known. */
static Dwarf_Die *origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), origin);
}

/* Where the inlined function `die` is called. */
static void find_call(Dwarf_Die *die, struct gmt_source_frame *caller)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line;
    *caller = (struct gmt_source_frame){.file = file_of(die, DW_AT_call_file)};
    if (caller->file != NULL &&
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0) {
        caller->line = (int)line;
    }
}

/* The inlined functions around an address of `function`, outermost first. */
static size_t inlined_at(struct gmt_source *source, Dwarf_Die *function, Dwarf_Addr address,
                         Dwarf_Die inlined[static GMT_SOURCE_DEPTH])
{
    Dwarf_Die scope = *function, child;
    size_t count = 0;
    while (count + 1 < GMT_SOURCE_DEPTH && dwarf_child(&scope, &child) == 0) {
        bool found = false;
        do {
            int tag = dwarf_tag(&child);
            found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
                    dwarf_haspc(&child, address) == 1;
        } while (!found && next_entry(source, &child));
        if (!found) {
            break;
        }
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) {
            inlined[count++] = child;
        }
        scope = child;
    }
    return count;
}

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, struct gmt_source_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (line != NULL && dwarf_lineno(line, &frame->line) == 0) {
        frame->file = dwarf_linesrc(line, NULL, NULL);
    }
}

/* Frames by debug information; the outermost has no name yet where it has none there. */
static size_t frames_of_unit(struct gmt_source *source, Dwarf_Die *skeleton, Dwarf_Addr address,
                             struct gmt_source_frame *frames)
{
    struct unit *unit = unit_of(source, skeleton);
    Dwarf_Die inlined[GMT_SOURCE_DEPTH], origin;
    find_line(skeleton, address, &frames[0]);
    Dwarf_Die *function = unit != NULL ? die_at(&unit->functions, address) : NULL;
    if (function == NULL) {
        return 1;
    }
    size_t count = inlined_at(source, function, address, inlined);
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *die = &inlined[count - 1 - i];
        frames[i].function = name_of(die);
        frames[i].from_library = is_librarys(origin_of(die, &origin), &frames[i]);
        find_call(die, &frames[i + 1]);
    }
    frames[count].function = name_of(function);
    frames[count].from_library = is_librarys(function, &frames[count]);
    return count + 1;
}

size_t gmt_source_frames(struct gmt_source *source, GElf_Addr address,
                         struct gmt_source_frame frames[static GMT_SOURCE_DEPTH])
{
    GElf_Off offset;
    GElf_Sym entry;
    Dwarf_Addr bias = 0;
    size_t count = 1;
    frames[0] = (struct gmt_source_frame){0};
    Dwarf_Die *unit = find_unit(source, address, &bias);
    if (unit != NULL) {
        count = frames_of_unit(source, unit, address - bias, frames);
    }
    /* The symbol is what the linker calls the function, whatever its source does. */
    const char *symbol = dwfl_module_addrinfo(source->module, address, &offset, &entry, NULL, NULL,
                                              NULL);
    if (symbol != NULL) {
        frames[count - 1].function = symbol;
    }
    return count;
}
