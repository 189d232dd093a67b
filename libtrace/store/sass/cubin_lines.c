/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables of cubins, read with libdw. */
#include "libtrace/store/sass/cubin_lines.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* Every function of a cubin begins at address 0, and the relocations of the line table say which
 * function a sequence of it is about. Each gets a range of its own, so that libdw can distinguish them. */
#define RANGE_BITS 32
#define RELOCATION_64 2 /* a whole address: symbol + addend */
#define MAX_DEPTH 64    /* of inlined calls; what is deeper is a damaged table */

/* One row of the line table. */
struct line_row {
    uint64_t address; /* function's index + 1, then offset */
    Dwarf_Lines *table;
    size_t index, sequence; /* in the table; of the first row of its sequence */
    bool ends;
};

struct gmt_cubin {
    char *image;
    Elf *elf;
    Dwarf *dwarf;
    const char **functions; /* by symbol's index; NULL: no function */
    size_t function_count;
    struct line_row *rows; /* by address */
    size_t row_count, row_capacity;
};

static Elf_Scn *section_named(Elf *elf, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return NULL;
    }
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section)) {
        const char *found = gelf_getshdr(section, header) != NULL
                                ? elf_strptr(elf, names, header->sh_name)
                                : NULL;
        if (found != NULL && strcmp(found, name) == 0) {
            return section;
        }
    }
    return NULL;
}

static int load_functions(struct gmt_cubin *cubin)
{
    GElf_Shdr header;
    Elf_Scn *section = section_named(cubin->elf, ".symtab", &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL || header.sh_entsize == 0) {
        return -EBADMSG;
    }
    cubin->function_count = data->d_size / header.sh_entsize;
    cubin->functions = calloc(cubin->function_count + 1, sizeof(*cubin->functions));
    if (cubin->functions == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < cubin->function_count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) != NULL &&
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
            cubin->functions[i] = elf_strptr(cubin->elf, header.sh_link, symbol.st_name);
        }
    }
    return 0;
}

/* One address of the line table: of which function, and where in it. */
static int relocate_one(char *lines, size_t bytes, uint64_t info, uint64_t offset, uint64_t addend)
{
    if (GELF_R_TYPE(info) != RELOCATION_64 || bytes < sizeof(uint64_t) ||
        offset > bytes - sizeof(uint64_t)) {
        return -EBADMSG;
    }
    uint64_t address = ((GELF_R_SYM(info) + 1) << RANGE_BITS) + addend;
    memcpy(lines + offset, &address, sizeof(address));
    return 0;
}

/* Addends lie in the entries (Hopper and later), or in the table itself. */
static int relocate_by(struct gmt_cubin *cubin, const char *name, char *lines, size_t bytes)
{
    GElf_Shdr header;
    Elf_Scn *section = section_named(cubin->elf, name, &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    bool has_addend = section != NULL && header.sh_type == SHT_RELA;
    size_t count = data != NULL && header.sh_entsize != 0 ? data->d_size / header.sh_entsize : 0;
    int error = 0;
    for (size_t i = 0; error == 0 && i < count; i++) {
        GElf_Rela entry;
        GElf_Rel plain;
        uint64_t addend = 0;
        if (has_addend) {
            error = gelf_getrela(data, (int)i, &entry) != NULL
                        ? relocate_one(lines, bytes, entry.r_info, entry.r_offset,
                                       (uint64_t)entry.r_addend)
                        : -EBADMSG;
        } else if (gelf_getrel(data, (int)i, &plain) == NULL) {
            error = -EBADMSG;
        } else {
            if (plain.r_offset < bytes && bytes - plain.r_offset >= sizeof(addend)) {
                memcpy(&addend, lines + plain.r_offset, sizeof(addend));
            }
            error = relocate_one(lines, bytes, plain.r_info, plain.r_offset, addend);
        }
    }
    return error;
}

/* Puts the functions' ranges into the addresses of the line table, as a linker would. */
static int relocate(struct gmt_cubin *cubin, size_t bytes)
{
    GElf_Shdr header;
    Elf_Scn *section = section_named(cubin->elf, ".debug_line", &header);
    if (section == NULL || header.sh_type == SHT_NOBITS) {
        return -ENODATA;
    }
    if (header.sh_offset > bytes || header.sh_size > bytes - header.sh_offset) {
        return -EBADMSG;
    }
    char *lines = cubin->image + header.sh_offset;
    int error = relocate_by(cubin, ".rela.debug_line", lines, header.sh_size);
    return error == 0 ? relocate_by(cubin, ".rel.debug_line", lines, header.sh_size) : error;
}

static int grow(struct gmt_cubin *cubin)
{
    size_t capacity = cubin->row_capacity * 2 + 256;
    struct line_row *rows = realloc(cubin->rows, capacity * sizeof(*rows));
    if (rows == NULL) {
        return -ENOMEM;
    }
    cubin->rows = rows;
    cubin->row_capacity = capacity;
    return 0;
}

static int add_rows(struct gmt_cubin *cubin, Dwarf_Lines *table, size_t count)
{
    int error = 0;
    size_t sequence = 0;
    for (size_t i = 0; error == 0 && i < count; i++) {
        struct line_row row = {.table = table, .index = i, .sequence = sequence};
        Dwarf_Line *line = dwarf_onesrcline(table, i);
        if (cubin->row_count == cubin->row_capacity) {
            error = grow(cubin);
        }
        if (error == 0 && line != NULL && dwarf_lineaddr(line, &row.address) == 0 &&
            dwarf_lineendsequence(line, &row.ends) == 0) {
            cubin->rows[cubin->row_count++] = row;
            sequence = row.ends ? i + 1 : sequence;
        }
    }
    return error;
}

/* By address; where a sequence ends and another begins, the end comes first. Of rows of one address the
 * last is the instruction's: the ones before are the calls that it was inlined at. */
static int compare_rows(const void *a, const void *b)
{
    const struct line_row *x = a, *y = b;
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    if (x->ends != y->ends) {
        return x->ends ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static int load_rows(struct gmt_cubin *cubin)
{
    Dwarf_Off at = 0, next;
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *table;
    size_t file_count, line_count;
    int found = 0, error = 0;
    while (error == 0 && (found = dwarf_next_lines(cubin->dwarf, at, &next, &unit, &files,
                                                   &file_count, &table, &line_count)) == 0) {
        error = add_rows(cubin, table, line_count);
        if (next <= at) {
            break;
        }
        at = next;
    }
    if (error == 0 && found < 0) {
        error = -EBADMSG;
    }
    if (cubin->row_count > 1) {
        qsort(cubin->rows, cubin->row_count, sizeof(*cubin->rows), compare_rows);
    }
    return error == 0 && cubin->row_count == 0 ? -ENODATA : error;
}

static int open_image(struct gmt_cubin *cubin, const void *image, size_t bytes)
{
    GElf_Ehdr header;
    cubin->image = malloc(bytes + 1);
    if (cubin->image == NULL) {
        return -ENOMEM;
    }
    memcpy(cubin->image, image, bytes);
    (void)elf_version(EV_CURRENT);
    cubin->elf = elf_memory(cubin->image, bytes);
    if (cubin->elf == NULL || elf_kind(cubin->elf) != ELF_K_ELF ||
        gelf_getehdr(cubin->elf, &header) == NULL || header.e_machine != EM_CUDA ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return -EBADMSG;
    }
    int error = load_functions(cubin);
    error = error == 0 ? relocate(cubin, bytes) : error;
    if (error != 0) {
        return error;
    }
    cubin->dwarf = dwarf_begin_elf(cubin->elf, DWARF_C_READ, NULL);
    return cubin->dwarf != NULL ? load_rows(cubin) : -EBADMSG;
}

int gmt_cubin_open(const void *image, size_t bytes, struct gmt_cubin **cubin)
{
    *cubin = calloc(1, sizeof(**cubin));
    int error = *cubin != NULL ? open_image(*cubin, image, bytes) : -ENOMEM;
    if (error != 0) {
        gmt_cubin_close(*cubin);
        *cubin = NULL;
    }
    return error;
}

void gmt_cubin_close(struct gmt_cubin *cubin)
{
    if (cubin == NULL) {
        return;
    }
    if (cubin->dwarf != NULL) {
        (void)dwarf_end(cubin->dwarf);
    }
    if (cubin->elf != NULL) {
        (void)elf_end(cubin->elf);
    }
    free(cubin->functions);
    free(cubin->rows);
    free(cubin->image);
    free(cubin);
}

/* The row that covers `address`: the last one at or before it. */
static const struct line_row *row_at(const struct gmt_cubin *cubin, uint64_t address)
{
    size_t low = 0, high = cubin->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cubin->rows[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && !cubin->rows[low - 1].ends ? &cubin->rows[low - 1] : NULL;
}

/* Where `line` lies in its table, whose rows lie in memory in their order. */
static size_t index_of(Dwarf_Lines *table, size_t count, const Dwarf_Line *line)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf_onesrcline(table, middle) < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The row that `line` was inlined at, or NULL. NVIDIA numbers rows from the beginning of their sequence;
 * libdw takes the number for one of the whole table. */
static Dwarf_Line *call_of(const struct line_row *row, size_t from, Dwarf_Line *line)
{
    Dwarf_Line *counted = dwarf_linecontext(row->table, line);
    size_t number = counted != NULL ? index_of(row->table, from, counted) : from;
    return counted != NULL && row->sequence + number < from
               ? dwarf_onesrcline(row->table, row->sequence + number)
               : NULL;
}

static size_t chain_of(const struct gmt_cubin *cubin, const struct line_row *row,
                       struct gmt_cubin_frame *places, size_t limit)
{
    size_t depth = 0, from = row->index;
    for (Dwarf_Line *line = dwarf_onesrcline(row->table, from);
         line != NULL && depth < MAX_DEPTH;) {
        int number = 0, column = 0;
        const char *file = dwarf_linesrc(line, NULL, NULL);
        if (file == NULL || dwarf_lineno(line, &number) != 0 || number <= 0) {
            break;
        }
        (void)dwarf_linecol(line, &column);
        /* A call comes before what is inlined there, so that this ends. */
        Dwarf_Line *call = call_of(row, from, line);
        if (depth < limit) {
            places[depth] = (struct gmt_cubin_frame){
                .file = file,
                .function = call != NULL ? dwarf_linefunctionname(cubin->dwarf, line) : NULL,
                .line = (uint32_t)number,
                .column = (uint32_t)column,
            };
        }
        depth++;
        from = call != NULL ? index_of(row->table, from, call) : from;
        line = call;
    }
    return depth;
}

size_t gmt_cubin_frame(const struct gmt_cubin *cubin, const char *function, uint64_t offset,
                       struct gmt_cubin_frame *places, size_t limit)
{
    if (offset >> RANGE_BITS != 0) {
        return 0;
    }
    for (size_t i = 0; i < cubin->function_count; i++) {
        if (cubin->functions[i] == NULL || strcmp(cubin->functions[i], function) != 0) {
            continue;
        }
        const struct line_row *row = row_at(cubin, ((uint64_t)(i + 1) << RANGE_BITS) + offset);
        /* Beyond the last row of its function there is that of another. */
        return row != NULL && row->address >> RANGE_BITS == i + 1
                   ? chain_of(cubin, row, places, limit)
                   : 0;
    }
    return 0;
}
