/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF file that anyone may have made: every offset is checked. */
#ifndef GMT_STORE_SYMBOLS_ELF_IMAGE_H
#define GMT_STORE_SYMBOLS_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_elf {
    const char *data;
    size_t bytes;
    Elf64_Ehdr header;
};

/* The `bytes` bytes at `offset` of the file, or NULL when they are not in it. */
const char *gmt_elf_part(const struct gmt_elf *image, uint64_t offset, uint64_t bytes);

bool gmt_elf_segment(const struct gmt_elf *image, Elf64_Word type, Elf64_Phdr *segment);

/* What the loader would have at `address`, up to the end of what the file holds of that segment. */
const char *gmt_elf_loaded(const struct gmt_elf *image, uint64_t address, size_t *bytes);

/* The `skip`-th entry with that tag of the dynamic section. */
bool gmt_elf_dynamic(const struct gmt_elf *image, Elf64_Sxword tag, size_t skip, uint64_t *value);
/* The same for an entry that names a string; NULL: none, or it is not in the file. */
const char *gmt_elf_dynamic_text(const struct gmt_elf *image, Elf64_Sxword tag, size_t skip);

/* A section's content; NULL: there is none of that name. */
const char *gmt_elf_section(const struct gmt_elf *image, const char *name, size_t *bytes);

/* The symbols that the loader deals with, one after another. */
struct gmt_elf_symbols {
    const char *symbols, *texts;
    size_t symbol_bytes, text_bytes, at;
};
struct gmt_elf_symbols gmt_elf_symbols(const struct gmt_elf *image);
/* NULL: no more. *is_import: the loader has to find it elsewhere. */
const char *gmt_elf_next_symbol(struct gmt_elf_symbols *symbols, bool *is_import);

/* Does the loader have to find this symbol elsewhere? */
bool gmt_elf_imports(const struct gmt_elf *image, const char *name);

/* Is `text` the build id, in hex? True for "" and for a file that has none: nothing says otherwise. */
bool gmt_elf_is_build(const struct gmt_elf *image, const char *text);

#endif
