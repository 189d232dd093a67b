/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files are read as they are; of files that lie about themselves nothing is found that is not in them. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/symbols/elf_cuda.h"
#include "libtrace/store/symbols/elf_image.h"

static char path[] = "/tmp/gmt-elf-XXXXXX";
static unsigned char *file; /* this program */
static size_t file_bytes;
static Elf64_Ehdr *header;

static void read_this_program(void)
{
    FILE *in = fopen("/proc/self/exe", "rb");
    cr_assert_not_null(in);
    cr_assert_eq(fseek(in, 0, SEEK_END), 0);
    file_bytes = (size_t)ftell(in);
    rewind(in);
    file = malloc(file_bytes);
    cr_assert_not_null(file);
    cr_assert_eq(fread(file, 1, file_bytes, in), file_bytes);
    cr_assert_eq(fclose(in), 0);
    header = (Elf64_Ehdr *)(void *)file;
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    (void)close(fd);
}

static void forget(void)
{
    free(file);
    (void)unlink(path);
}

TestSuite(elf_image, .init = read_this_program, .fini = forget);

static void write_file(size_t bytes)
{
    FILE *out = fopen(path, "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(file, 1, bytes, out), bytes);
    cr_assert_eq(fclose(out), 0);
}

static Elf64_Phdr *segment(Elf64_Word type)
{
    Elf64_Phdr *all = (Elf64_Phdr *)(void *)(file + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (all[i].p_type == type) {
            return &all[i];
        }
    }
    cr_assert_fail("no segment of type %u", type);
    return NULL;
}

static Elf64_Shdr *section(const char *name)
{
    Elf64_Shdr *all = (Elf64_Shdr *)(void *)(file + header->e_shoff);
    const char *names = (const char *)file + all[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + all[i].sh_name, name) == 0) {
            return &all[i];
        }
    }
    cr_assert_fail("no section %s", name);
    return NULL;
}

static unsigned count_symbols(const struct gmt_elf *image, const char *wanted)
{
    struct gmt_elf_symbols symbols = gmt_elf_symbols(image);
    const char *name;
    bool is_import;
    unsigned count = 0;
    while ((name = gmt_elf_next_symbol(&symbols, &is_import)) != NULL) {
        count += is_import && strcmp(name, wanted) == 0;
    }
    return count;
}

/* Everything that is asked of a file. Sanitizers watch; the answers are the caller's. */
static int look(struct gmt_elf *image)
{
    const char *needed;
    size_t bytes;
    GElf_Phdr found;
    int error = gmt_elf_open(image, path);
    if (error != 0) {
        return error;
    }
    (void)gmt_elf_cuda_runtime(image, path, &needed);
    (void)gmt_elf_has_device_code(image);
    (void)gmt_elf_is_build(image, "00");
    (void)gmt_elf_section(image, ".rodata", &bytes);
    if (gmt_elf_segment(image, PT_INTERP, &found)) {
        (void)gmt_elf_part(image, found.p_offset, found.p_filesz);
    }
    return 0;
}

Test(elf_image, a_program_is_read)
{
    struct gmt_elf image;
    GElf_Phdr found;
    size_t bytes = 0;
    uint64_t value;
    unsigned names = 0;

    write_file(file_bytes);
    cr_assert_eq(look(&image), 0);
    cr_assert(gmt_elf_segment(&image, PT_INTERP, &found));
    const char *loader = gmt_elf_part(&image, found.p_offset, found.p_filesz);
    cr_assert_not_null(loader);
    cr_expect_not_null(strstr(loader, "/ld-"));
    cr_assert_not_null(gmt_elf_section(&image, ".rodata", &bytes));
    cr_expect_eq(bytes, section(".rodata")->sh_size);
    cr_expect_null(gmt_elf_section(&image, ".bss", &bytes), "it has no content");
    cr_expect_null(gmt_elf_section(&image, ".none", &bytes));
    cr_expect(gmt_elf_dynamic(&image, DT_STRSZ, 0, &value));
    cr_expect_not(gmt_elf_dynamic(&image, DT_STRSZ, 1, &value));
    const char *text;
    for (size_t i = 0; (text = gmt_elf_dynamic_text(&image, DT_NEEDED, i)) != NULL; i++) {
        names += strncmp(text, "libc.so", 7) == 0;
    }
    cr_expect_eq(names, 1);
    cr_expect_eq(count_symbols(&image, "mkstemp"), 1);
    cr_expect_eq(count_symbols(&image, "read_this_program"), 0);
    gmt_elf_close(&image);
}

Test(elf_image, the_build_id_is_compared)
{
    struct gmt_elf image;
    char text[129] = "";
    const unsigned char *note = file + section(".note.gnu.build-id")->sh_offset;
    Elf64_Nhdr head;

    memcpy(&head, note, sizeof(head));
    cr_assert_leq(head.n_descsz, 64);
    for (unsigned i = 0; i < head.n_descsz; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", note[sizeof(head) + 4 + i]);
    }
    write_file(file_bytes);
    cr_assert_eq(gmt_elf_open(&image, path), 0);
    cr_expect(gmt_elf_is_build(&image, text));
    cr_expect(gmt_elf_is_build(&image, ""));
    text[0] = text[0] == '0' ? '1' : '0';
    cr_expect_not(gmt_elf_is_build(&image, text));
    text[2] = '\0';
    cr_expect_not(gmt_elf_is_build(&image, text), "shorter");
    gmt_elf_close(&image);
    /* A note that claims more than there is says nothing. */
    head.n_descsz = UINT32_MAX;
    memcpy(file + section(".note.gnu.build-id")->sh_offset, &head, sizeof(head));
    write_file(file_bytes);
    cr_assert_eq(gmt_elf_open(&image, path), 0);
    cr_expect_not(gmt_elf_is_build(&image, text));
    gmt_elf_close(&image);
}

Test(elf_image, without_sections_the_loaders_part_is_read)
{
    struct gmt_elf image;
    header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    write_file(file_bytes);
    cr_assert_eq(look(&image), 0);
    cr_expect_not_null(gmt_elf_dynamic_text(&image, DT_NEEDED, 0));
    cr_expect_eq(count_symbols(&image, "mkstemp"), 0);
    gmt_elf_close(&image);
}

Test(elf_image, what_is_no_file_of_this_kind_is_refused)
{
    struct gmt_elf image;
    const Elf64_Ehdr good = *header;

    cr_expect_eq(gmt_elf_open(&image, "/nonexistent"), -EIO);
    cr_expect_eq(gmt_elf_open(&image, "/tmp"), -EIO);
    cr_expect_eq(gmt_elf_open(&image, "/dev/null"), -EIO);
    write_file(sizeof(*header) - 1);
    cr_expect_eq(look(&image), -EIO);
    header->e_ident[EI_MAG0] = 0;
    write_file(file_bytes);
    cr_expect_eq(look(&image), -ENOEXEC);
    *header = good;
    header->e_ident[EI_CLASS] = ELFCLASS32;
    write_file(file_bytes);
    cr_expect_eq(look(&image), -ENOEXEC);
    *header = good;
    header->e_phentsize = 1;
    write_file(file_bytes);
    cr_expect_eq(look(&image), -ENOEXEC);
}

/* Wherever the file ends, what is behind its end is not read. */
Test(elf_image, a_file_that_ends_early_is_read_up_to_there)
{
    for (size_t bytes = sizeof(*header); bytes < file_bytes; bytes += file_bytes / 97) {
        struct gmt_elf image;
        write_file(bytes);
        if (look(&image) == 0) {
            (void)count_symbols(&image, "mkstemp");
            gmt_elf_close(&image);
        }
    }
}

/* Each of these lies outside of the file, or wraps. */
Test(elf_image, offsets_and_sizes_that_lie_are_refused)
{
    static const uint64_t lies[] = {UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 63,
                                    UINT64_C(1) << 40, 1};
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        uint64_t *const fields[] = {
            &header->e_phoff,
            &header->e_shoff,
            &segment(PT_DYNAMIC)->p_offset,
            &segment(PT_DYNAMIC)->p_filesz,
            &segment(PT_LOAD)->p_offset,
            &segment(PT_LOAD)->p_filesz,
            &section(".dynsym")->sh_offset,
            &section(".dynsym")->sh_size,
            &section(".dynsym")->sh_entsize,
            &section(".dynstr")->sh_offset,
            &section(".dynstr")->sh_size,
            &section(".rodata")->sh_offset,
            &section(".rodata")->sh_size,
            &section(".note.gnu.build-id")->sh_size,
        };
        for (size_t field = 0; field < sizeof(fields) / sizeof(fields[0]); field++) {
            struct gmt_elf image;
            uint64_t good = *fields[field];
            *fields[field] = lies[i];
            write_file(file_bytes);
            *fields[field] = good;
            if (look(&image) == 0) {
                (void)gmt_elf_dynamic_text(&image, DT_NEEDED, 0);
                (void)count_symbols(&image, "mkstemp");
                gmt_elf_close(&image);
            }
        }
    }
}

Test(elf_image, indices_that_lie_find_nothing)
{
    struct gmt_elf image;
    size_t bytes;
    header->e_shstrndx = 0xfeff;
    write_file(file_bytes);
    cr_assert_eq(look(&image), 0);
    cr_expect_null(gmt_elf_section(&image, ".rodata", &bytes));
    gmt_elf_close(&image);
    header->e_shstrndx = SHN_XINDEX; /* the index is in the first section, which says 0 */
    write_file(file_bytes);
    cr_assert_eq(look(&image), 0);
    cr_expect_null(gmt_elf_section(&image, ".rodata", &bytes));
    gmt_elf_close(&image);
}

Test(elf_image, a_table_of_strings_without_an_end_has_none_behind_it)
{
    struct gmt_elf image;
    const Elf64_Shdr *strings = section(".dynstr");
    memset(file + strings->sh_offset, 'x', strings->sh_size);
    write_file(file_bytes);
    cr_assert_eq(look(&image), 0);
    cr_expect_eq(count_symbols(&image, "mkstemp"), 0);
    gmt_elf_close(&image);
}
