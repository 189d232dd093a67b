/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF file that anyone may have made, with libelf: what lies outside of the file is not there. */
#ifndef GMT_STORE_SYMBOLS_ELF_IMAGE_H
#define GMT_STORE_SYMBOLS_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_elf {
    int fd;
    Elf *elf;
    GElf_Ehdr header;
    Elf_Data *dynamic;   /* NULL: none             */
    const char *strings; /* that it names, or NULL */
    size_t string_bytes;
};

/* 0; -EIO: no regular file that can be read; -ENOEXEC: no ELF file with addresses of 64 bits. Only after 0 the file is to
 * be closed. All that is found in it is valid until then. */
int gmt_elf_open(struct gmt_elf *image, const char *path);
void gmt_elf_close(struct gmt_elf *image);

/* The `bytes` bytes at `offset` of the file, or NULL when they are not in it. */
const char *gmt_elf_part(const struct gmt_elf *image, uint64_t offset, uint64_t bytes);

bool gmt_elf_segment(const struct gmt_elf *image, GElf_Word type, GElf_Phdr *segment);

/* The `skip`-th entry with that tag of the dynamic section. */
bool gmt_elf_dynamic(const struct gmt_elf *image, GElf_Sxword tag, size_t skip, uint64_t *value);
/* The same for an entry that names a string; NULL: none, or it is not in the file. */
const char *gmt_elf_dynamic_text(const struct gmt_elf *image, GElf_Sxword tag, size_t skip);

/* A section's content; NULL: there is none of that name, or it is empty. */
const char *gmt_elf_section(const struct gmt_elf *image, const char *name, size_t *bytes);

/* The symbols that the loader deals with, one after another. */
struct gmt_elf_symbols {
    Elf *elf;
    Elf_Data *symbols; /* NULL: none */
    size_t strings;    /* the section */
    int at;
};
struct gmt_elf_symbols gmt_elf_symbols(const struct gmt_elf *image);
/* NULL: no more. *is_import: the loader has to find it elsewhere. */
const char *gmt_elf_next_symbol(struct gmt_elf_symbols *symbols, bool *is_import);

/* Is `text` the build id, in hex? True for "" and for a file that has none: nothing says otherwise. */
bool gmt_elf_is_build(const struct gmt_elf *image, const char *text);
/* Its build id in hex; "": it has none, or one that does not fit. */
void gmt_elf_build_id(const struct gmt_elf *image, char *hex, size_t bytes);

#endif
