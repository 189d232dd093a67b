/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of real libraries compared with libdw's reading of them; rows from damaged tables. */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/unwind/cfi.h"
#include "preload/unwind/row.h"
#include "preload/unwind/rows.h"

#ifdef __x86_64__

struct module {
    struct gmt_cfi cfi;
    uintptr_t bias;
    char path[4096];
};
struct modules {
    struct module module[64];
    size_t count;
};

static int add_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct modules *all = argument;
    struct module *module = &all->module[all->count];
    (void)size;
    *module = (struct module){.bias = info->dlpi_addr};
    strncpy(module->path, info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe",
            sizeof(module->path) - 1);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            module->cfi.header = (const uint8_t *)(module->bias + info->dlpi_phdr[i].p_vaddr);
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *start = (const uint8_t *)(module->bias + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && module->cfi.header >= start &&
            module->cfi.header < start + segment->p_filesz) {
            module->cfi.start = start;
            module->cfi.end = start + segment->p_filesz;
        }
    }
    all->count += module->cfi.start != NULL && access(module->path, R_OK) == 0 &&
                  all->count + 1 < sizeof(all->module) / sizeof(all->module[0]);
    return 0;
}

static uint32_t frames_of(const struct module *module)
{
    uint32_t count;
    memcpy(&count, module->cfi.header + 8, sizeof(count));
    return count;
}

static uintptr_t frame_start(const struct module *module, uint32_t i)
{
    int32_t distance;
    memcpy(&distance, module->cfi.header + 12 + (size_t)i * 8, sizeof(distance));
    return (uintptr_t)module->cfi.header + (uintptr_t)(intptr_t)distance;
}

/* "register n + offset" as libdw writes it, or -1. */
static int base_of(const Dwarf_Op *op, int64_t *offset)
{
    if (op->atom == DW_OP_bregx) {
        *offset = (int64_t)op->number2;
        return (int)op->number;
    }
    *offset = (int64_t)op->number;
    return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 ? op->atom - DW_OP_breg0 : -1;
}

/* The row that says the same as libdw; GMT_ROW_NONE where it says what the test does not read. */
static uint64_t wanted_row(Dwarf_Frame *frame, uintptr_t pc)
{
    Dwarf_Op *cfa, *bp, memory[3], *ra, ra_memory[3];
    size_t cfa_count, bp_count, ra_count;
    int64_t offset, saved = 0;
    bool is_signal = false;
    Dwarf_Addr start, end;
    cr_assert_eq(dwarf_frame_cfa(frame, &cfa, &cfa_count), 0);
    cr_assert_eq(dwarf_frame_register(frame, 6, memory, &bp, &bp_count), 0);
    cr_assert_eq(dwarf_frame_register(frame, 16, ra_memory, &ra, &ra_count), 0);
    (void)dwarf_frame_info(frame, &start, &end, &is_signal);
    if (is_signal) {
        return GMT_ROW_SIGNAL;
    }
    if (ra_count == 0) {
        return GMT_ROW_END;
    }
    if (ra_count != 2 || ra[1].atom != DW_OP_plus_uconst || (int64_t)ra[1].number != -8) {
        return GMT_ROW_FRAME;
    }
    int number = cfa_count > 0 ? base_of(&cfa[0], &offset) : -1;
    enum gmt_row_base base = number == 7 ? GMT_BASE_SP : GMT_BASE_BP;
    if (cfa_count == 2 && cfa[1].atom == DW_OP_deref && number == 6) {
        base = GMT_BASE_AT_BP;
    } else if (cfa_count == 9 && number == 7 && cfa[1].atom == DW_OP_breg16) {
        base = GMT_BASE_SP; /* slots of a PLT */
        offset = (pc & 15) >= (unsigned)cfa[4].atom - DW_OP_lit0 ? 16 : 8;
    } else if (cfa_count != 1 || (number != 6 && number != 7)) {
        return GMT_ROW_FRAME;
    }
    enum gmt_row_bp rule = GMT_BP_SAME;
    /* An expression starts from the CFA, too. */
    if (bp_count == 2 && bp[1].atom == DW_OP_plus_uconst) {
        rule = GMT_BP_AT_CFA;
        saved = (int64_t)bp[1].number;
    } else if (bp_count == 2 && base_of(&bp[1], &saved) == 6) {
        rule = GMT_BP_AT_BP;
    } else if (bp_count != 0) {
        return GMT_ROW_NONE;
    }
    return gmt_row_make(base, (int32_t)offset, rule, (int16_t)(saved / 8));
}

struct tally {
    size_t rows, unknown, unread;
};

static void compare_at(const struct module *module, Dwarf_CFI *cfi, uintptr_t pc,
                       struct tally *tally)
{
    Dwarf_Frame *frame;
    if (dwarf_cfi_addrframe(cfi, pc - module->bias, &frame) != 0) {
        return;
    }
    uint64_t wanted = wanted_row(frame, pc), row = gmt_cfi_row(&module->cfi, pc);
    free(frame);
    tally->rows++;
    tally->unknown += gmt_row_kind(row) == GMT_ROW_FRAME;
    if (wanted == GMT_ROW_NONE) {
        tally->unread++;
        return;
    }
    cr_assert_eq(row, wanted, "%s+0x%lx: row %016lx, libdw says %016lx", module->path,
                 (unsigned long)(pc - module->bias), (unsigned long)row, (unsigned long)wanted);
}

/* Every address of the test itself, a choice of those of libraries. */
static void compare_module(const struct module *module, bool all, struct tally *tally)
{
    int fd = open(module->path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    uint32_t count = frames_of(module), every = all ? 1 : 1 + count / 1500;
    cr_assert_not_null(cfi, "%s: %s", module->path, dwarf_errmsg(-1));
    for (uint32_t i = 0; i + 1 < count; i += every) {
        uintptr_t start = frame_start(module, i), end = frame_start(module, i + 1);
        for (uintptr_t pc = start; pc < end; pc += all ? 1 : 1 + (pc - start) / 8) {
            compare_at(module, cfi, pc, tally);
        }
    }
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
}

Test(unwind_rows, of_loaded_libraries_as_libdw_reads_them)
{
    static struct modules all;
    elf_version(EV_CURRENT);
    dl_iterate_phdr(add_module, &all);
    cr_assert_geq(all.count, 4);
    struct tally tally = {0};
    for (size_t i = 0; i < all.count; i++) {
        compare_module(&all.module[i], i == 0, &tally);
    }
    cr_assert_gt(tally.rows, 20000);
    cr_assert_leq(tally.unknown, tally.rows / 50, "%zu of %zu rows unknown", tally.unknown,
                  tally.rows);
    cr_assert_eq(tally.unread, 0);
}

/* A copy of a segment at the end (or start) of its pages, with nothing readable beside. */
struct copy {
    struct gmt_cfi cfi;
    size_t bytes, header;
    uint8_t *at;
};

static struct copy copy_of(const struct gmt_cfi *cfi, bool at_end)
{
    size_t bytes = (size_t)(cfi->end - cfi->start), page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (bytes + page - 1) / page * page;
    uint8_t *pages = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)pages, MAP_FAILED);
    cr_assert_eq(mprotect(pages + page, room, PROT_READ | PROT_WRITE), 0);
    uint8_t *at = pages + page + (at_end ? room - bytes : 0);
    memcpy(at, cfi->start, bytes);
    size_t header = (size_t)(cfi->header - cfi->start);
    return (struct copy){
        .cfi = {.header = at + header, .start = at, .end = at + bytes}, bytes, header, at};
}

static uint64_t state;
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void damage(struct copy *copy, size_t table_bytes)
{
    static const uint8_t odd[] = {0x00, 0xff, 0x7f, 0x80, 0x0f, 0x10, 0x0a, 0x0b, 0x2e, 0x0c};
    for (uint64_t n = 1 + next_random() % 6; n > 0; n--) {
        /* Mostly in the descriptions, sometimes in the table or elsewhere. */
        size_t from = next_random() % 4 == 0 ? 0 : table_bytes;
        size_t at = copy->header + from + next_random() % (copy->bytes - copy->header - from);
        copy->at[at] = next_random() % 2 == 0 ? odd[next_random() % sizeof(odd)]
                                              : (uint8_t)next_random();
    }
}

static size_t read_damaged(const struct module *module, bool at_end, unsigned rounds)
{
    struct copy copy = copy_of(&module->cfi, at_end);
    uintptr_t moved = (uintptr_t)copy.at - (uintptr_t)module->cfi.start;
    uint32_t count = frames_of(module);
    size_t table_bytes = 12 + (size_t)count * 8, changed = 0;
    for (unsigned i = 0; i < rounds; i++) {
        memcpy(copy.at + copy.header, module->cfi.header, copy.bytes - copy.header);
        damage(&copy, table_bytes);
        struct gmt_cfi cfi = copy.cfi;
        cfi.end -= i % 16 == 0 ? next_random() % (copy.bytes - copy.header) : 0;
        for (int k = 0; k < 50; k++) {
            uintptr_t pc = frame_start(module, (uint32_t)(next_random() % count)) +
                           next_random() % 64;
            uint64_t row = gmt_cfi_row(&cfi, pc + moved);
            cr_assert_neq(row, 0);
            cr_assert_leq(gmt_row_kind(row), GMT_ROW_END);
            changed += row != gmt_cfi_row(&module->cfi, pc);
        }
    }
    return changed;
}

Test(unwind_rows, of_damaged_tables_are_read_within_bounds)
{
    static struct modules all;
    dl_iterate_phdr(add_module, &all);
    /* A library without instrumentation, to be copied as a whole. */
    const struct module *module = NULL;
    for (size_t i = 1; i < all.count; i++) {
        module = strstr(all.module[i].path, "/libelf") != NULL ? &all.module[i] : module;
    }
    cr_assert_not_null(module);
    state = UINT64_C(0x9e3779b97f4a7c15);
    size_t changed = read_damaged(module, true, 3000) + read_damaged(module, false, 3000);
    cr_assert_gt(changed, 1000, "the damage was seen %zu times only", changed);
}

#endif

Test(unwind_rows, are_found_again_or_not_at_all)
{
    enum { KEYS = 40000 };
    size_t found = 0;
    for (uint64_t i = 1; i <= KEYS; i++) {
        gmt_rows_put(gmt_row_key(i * 5, false, 0), i);
        cr_assert_eq(gmt_rows_find(gmt_row_key(i * 5, false, 0)), i);
    }
    for (uint64_t i = 1; i <= KEYS; i++) {
        uint64_t row = gmt_rows_find(gmt_row_key(i * 5, false, 0));
        cr_assert(row == i || row == 0);
        found += row != 0;
        cr_assert_eq(gmt_rows_find(gmt_row_key(i * 5, true, 0)), 0);
        cr_assert_eq(gmt_rows_find(gmt_row_key(i * 5, false, UINT64_C(0x9e3779b97f4a7c15))), 0);
    }
    cr_assert_gt(found, GMT_ROW_SLOTS * 9 / 10);
    cr_assert_leq(found, GMT_ROW_SLOTS);
}
