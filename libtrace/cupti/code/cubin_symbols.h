/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the symbol table of a cubin says of its code: functions, variables in device memory, and whether
 * the code does what no copy of memory takes back.
 *
 * Nothing of the image is believed: every offset is checked, and what is odd is "not known". As nvcc, ptxas
 * and nvlink of CUDA 13.0 write it for sm_75, sm_90 and sm_100:
 *
 * - Kernels are STT_FUNC symbols, global, weak, or (static ones after -rdc=true) local. Device functions that
 *   were not inlined are, too; those of one kernel are named $kernel$function.
 * - Variables are STT_OBJECT, before linking of -rdc=true type 13, in .nv.global and .nv.global.init, and
 *   local unless -rdc=true. Managed ones lie there, too. String literals are variables, $str and
 *   __unnamed_1. Constants of the program are in .nv.constant3, shared variables in .nv.shared*.
 * - vprintf, malloc, free and __assertfail are undefined symbols, which the driver defines. A launch from the
 *   device is __cudaCDP2LaunchDeviceV2, after linking with cudadevrt __cuda_syscall_cnpv2LaunchDeviceV2.
 * - Calls through pointers go to functions of the same cubin, so their effects are among its symbols. A
 *   pointer to a function of another module, which CUDA does not support, is not seen here.
 * - What -rdc=true left to be linked is an undefined symbol of its own name.
 */
#ifndef GMT_CUPTI_CODE_CUBIN_SYMBOLS_H
#define GMT_CUPTI_CODE_CUBIN_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of the image. */
struct gmt_cubin_table {
    const unsigned char *at;
    uint64_t count;
};

/* Views into an image, which has to stay. */
struct gmt_cubin_symbols {
    const unsigned char *image;
    size_t bytes;
    struct gmt_cubin_table sections, symbols;    /* of 64 and of 24 bytes each */
    struct gmt_cubin_table section_names, names; /* bytes; the last one is 0 */
    struct gmt_cubin_table indexes; /* section of each symbol where its own field is too small */
    bool allocates;                 /* some code may allocate memory of the device's heap */
    int without_effects; /* what is to be said of code that has no effect: 0 or -ENOENT, as below */
};

/* What there is; `name` is inside the image. Either function may be NULL. */
struct gmt_cubin_visitor {
    /* With a body, which is in that section. */
    void (*function)(void *data, const char *name, uint64_t section);
    void (*variable)(void *data, const char *name); /* in device memory, constants too */
    void *data;
};

/*
 * Find the symbols of the cubin in `bytes` bytes at `image` (any alignment), and look at all of them.
 * Returns 0: its code reads and writes memory, no more (an assertion that fails ends the context: nothing is executed
 * again); -EPERM: some of it prints, allocates or frees memory, or launches kernels (cubin_effects.h finds out which);
 * -ENOENT: it refers to what is not known (a function, a surface), or has variables without a name; -EINVAL: this cannot
 * be read, nothing may be concluded and nothing visited.
 */
int gmt_cubin_symbols_read(struct gmt_cubin_symbols *symbols, const void *image, size_t bytes);

/* In the order of the symbol table. Names may come twice. */
void gmt_cubin_symbols_visit(const struct gmt_cubin_symbols *symbols,
                             const struct gmt_cubin_visitor *visitor);

/* For readers of further sections. Indexes are below the counts of the tables. */
Elf64_Shdr gmt_cubin_section(const struct gmt_cubin_symbols *symbols, uint64_t index);
Elf64_Sym gmt_cubin_symbol(const struct gmt_cubin_symbols *symbols, uint64_t index);
/* Of a section, and of a symbol; empty where there is none. */
const char *gmt_cubin_section_name(const struct gmt_cubin_symbols *symbols, uint64_t index);
const char *gmt_cubin_symbol_name(const struct gmt_cubin_symbols *symbols, uint64_t index);
/* Which section a symbol is in: below their count, or SHN_ABS or SHN_COMMON, or UINT64_MAX: in none that there is. */
uint64_t gmt_cubin_section_of(const struct gmt_cubin_symbols *symbols, uint64_t index);
/* False: the section is not a whole number of entries of `size` bytes inside the image. */
bool gmt_cubin_table_of(const struct gmt_cubin_symbols *symbols, uint64_t index, size_t size,
                        struct gmt_cubin_table *table);
/* Is this symbol a function of the driver that does what no copy of memory takes back? */
bool gmt_cubin_is_effect(const struct gmt_cubin_symbols *symbols, uint64_t index);

#endif
