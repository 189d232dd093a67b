/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of cubins that nvcc made, and of images made here, whole and damaged. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_fixture.h"
#include "libtrace/cupti/code/cubin_symbols.h"

static char functions[2048], variables[2048];

static void append(char *list, const char *name)
{
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof(functions) - used, "%s ", name);
}

static void note_function(void *data, const char *name, uint64_t section)
{
    (void)data, (void)section;
    append(functions, name);
}

static void note_variable(void *data, const char *name)
{
    (void)data;
    append(variables, name);
}

/* All of it is in a block of exactly that size: the sanitizer sees what is read beyond. */
static int read_all(const void *bytes, size_t size)
{
    struct gmt_cubin_symbols symbols;
    const struct gmt_cubin_visitor visitor = {.function = note_function, .variable = note_variable};
    functions[0] = variables[0] = '\0';
    void *image = malloc(size != 0 ? size : 1);
    memcpy(image, bytes, size);
    int result = gmt_cubin_symbols_read(&symbols, image, size);
    if (result != -EINVAL) {
        gmt_cubin_symbols_visit(&symbols, &visitor);
    }
    free(image);
    return result;
}

static int read_file(const char *name)
{
    struct cubin_image image = cubin_read(name);
    int result = read_all(image.bytes, image.size);
    free(image.bytes);
    return result;
}

static bool has(const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at = strstr(list, name);
    while (at != NULL && ((at != list && at[-1] != ' ') || at[length] != ' ')) {
        at = strstr(at + 1, name);
    }
    return at != NULL;
}

static void expect_all_kinds(const char *file)
{
    cr_assert_eq(read_file(file), 0, "%s", file);
    cr_expect(has(functions, "_Z6kernelPi"), "%s", functions);
    cr_expect(has(functions, "_Z7in_filePi"), "%s", functions);
    static const char *const all[] = {"plain",
                                      "internal",
                                      "managed",
                                      "constant_table",
                                      "_ZN5named5innerE",
                                      "_Z11of_templateIiE",
                                      "managed_initialized",
                                      "_ZZ6kernelPiE6inside"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        cr_expect(has(variables, all[i]), "%s: %s in %s", file, all[i], variables);
    }
    cr_expect_not_null(strstr(variables, "7unnamedE "));
    cr_expect(has(variables, "constant"), "%s", variables);
    cr_expect_null(strstr(variables, "shared"), "%s", variables);
}

Test(cubin_symbols, names_variables_of_each_kind_in_device_memory)
{
    expect_all_kinds("variables_75.cubin");
    expect_all_kinds("variables_90.cubin");
}

Test(cubin_symbols, reads_what_is_compiled_for_blackwell)
{
    cr_assert_eq(read_file("variables_100.cubin"), 0);
    cr_expect_str_eq(functions, "_Z6kernelPi ");
    cr_expect_str_eq(variables, "plain internal managed constant ");
}

Test(cubin_symbols, reads_what_is_to_be_linked_and_what_was)
{
    cr_assert_eq(read_file("variables_rdc.cubin"), 0);
    cr_expect_str_eq(functions, "_Z6kernelPi ");
    cr_expect(has(variables, "plain") && has(variables, "managed"), "%s", variables);
    cr_expect_not_null(strstr(variables, "_internal "));
    cr_expect_null(strstr(variables, "shared"), "%s", variables);
    cr_expect(has(variables, "constant"), "%s", variables);
    cr_assert_eq(read_file("variables_linked.cubin"), 0);
    cr_expect_str_eq(functions, "_Z6kernelPi ");
    cr_expect(has(variables, "plain") && has(variables, "managed"), "%s", variables);
    cr_expect_not_null(strstr(variables, "_internal "));
}

Test(cubin_symbols, finds_code_that_does_more_than_memory)
{
    cr_expect_eq(read_file("effects.cubin"), -EPERM);
    cr_expect(has(functions, "_Z6printsPi"));
    cr_expect(has(variables, "pointer") && has(variables, "$str"), "literals are variables");
    cr_expect_eq(read_file("launches.cubin"), -EPERM);
    cr_expect_eq(read_file("bare.cubin"), 0);
}

/* ---- images made here --------------------------------------------------------------------------- */

static int with(const char *name, unsigned type, unsigned section)
{
    const struct cubin_symbol symbols[] = {{"kernel", STT_FUNC, CUBIN_TEXT}, {name, type, section}};
    struct cubin_image image = cubin_make(symbols, 2);
    int result = read_all(image.bytes, image.size);
    free(image.bytes);
    return result;
}

Test(cubin_symbols, knows_each_effect_by_its_name)
{
    static const char *const effects[] = {"vprintf",
                                          "malloc",
                                          "free",
                                          "cudaLaunchDevice",
                                          "cudaLaunchDeviceV2",
                                          "cudaGetParameterBufferV2",
                                          "__cudaCDP2LaunchDeviceV2",
                                          "__cuda_syscall_cnpv2LaunchDeviceV2",
                                          "cnpLaunchDevice"};
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
        cr_expect_eq(with(effects[i], STT_FUNC, SHN_UNDEF), -EPERM, "%s", effects[i]);
    }
    cr_expect_eq(with("malloc", STT_FUNC, CUBIN_TEXT), 0, "one of the module's own");
    cr_expect_eq(with("__assertfail", STT_FUNC, SHN_UNDEF), 0, "after it nothing is executed");
}

Test(cubin_symbols, knows_nothing_of_other_undefined_symbols)
{
    cr_expect_eq(with("mallocs", STT_FUNC, SHN_UNDEF), -ENOENT);
    cr_expect_eq(with("away", STT_FUNC, SHN_UNDEF), -ENOENT);
    cr_expect_eq(with("away", STT_NOTYPE, SHN_UNDEF), -ENOENT);
    cr_expect_eq(with("away", 13, SHN_UNDEF), -ENOENT, "a variable of another file");
    cr_expect_eq(with(".nv.reservedSmem.offset0", STT_OBJECT, SHN_UNDEF), 0);
    cr_expect_eq(with("__UFT_OFFSET", STT_OBJECT, SHN_UNDEF), 0);
    cr_expect_eq(with("", STT_NOTYPE, SHN_UNDEF), 0);
}

Test(cubin_symbols, takes_what_is_certain_for_more_than_what_is_not)
{
    const struct cubin_symbol symbols[] = {{"away", STT_FUNC, SHN_UNDEF},
                                           {"vprintf", STT_FUNC, SHN_UNDEF},
                                           {"far", STT_FUNC, SHN_UNDEF}};
    struct cubin_image image = cubin_make(symbols, 3);
    cr_expect_eq(read_all(image.bytes, image.size), -EPERM);
    free(image.bytes);
}

Test(cubin_symbols, knows_textures_and_not_what_a_surface_is_bound_to)
{
    cr_expect_eq(with("texture", 10, SHN_UNDEF), 0);
    cr_expect_eq(with("sampler", 11, SHN_UNDEF), 0);
    cr_expect_eq(with("surface", 12, SHN_UNDEF), -ENOENT);
    cr_expect_eq(with("novelty", 14, CUBIN_GLOBAL), -ENOENT);
}

Test(cubin_symbols, finds_code_that_may_allocate_memory_of_the_heap)
{
    const struct cubin_symbol prints = {"vprintf", STT_FUNC, SHN_UNDEF},
                              allocates = {"malloc", STT_FUNC, SHN_UNDEF};
    struct gmt_cubin_symbols read;
    struct cubin_image image = cubin_make(&prints, 1);
    cr_expect_eq(gmt_cubin_symbols_read(&read, image.bytes, image.size), -EPERM);
    cr_expect_not(read.allocates);
    free(image.bytes);
    image = cubin_make(&allocates, 1);
    cr_expect_eq(gmt_cubin_symbols_read(&read, image.bytes, image.size), -EPERM);
    cr_expect(read.allocates);
    free(image.bytes);
}

Test(cubin_symbols, misses_no_variable)
{
    cr_expect_eq(with("v", STT_OBJECT, CUBIN_GLOBAL), 0);
    cr_expect_str_eq(variables, "v ");
    (void)with("v", 13, CUBIN_GLOBAL);
    cr_expect_str_eq(variables, "v ");
    (void)with("v", STT_OBJECT, SHN_COMMON);
    cr_expect_str_eq(variables, "v ");
    (void)with("v", STT_OBJECT, CUBIN_OTHER);
    cr_expect_str_eq(variables, "v ", "a section that is not known");
    (void)with("v", STT_OBJECT, CUBIN_CONSTANT);
    cr_expect_str_eq(variables, "v ", "it may hold addresses");
    (void)with("v", STT_OBJECT, CUBIN_ARGUMENTS);
    cr_expect_str_eq(variables, "");
    (void)with("v", STT_OBJECT, CUBIN_SHARED);
    cr_expect_str_eq(variables, "");
    (void)with("$kernel$part", STT_FUNC, CUBIN_TEXT);
    cr_expect_str_eq(functions, "kernel $kernel$part ");
}

Test(cubin_symbols, does_not_know_variables_whose_names_were_stripped)
{
    cr_expect_eq(with("f", STT_FUNC, CUBIN_TEXT), 0, "an empty section");
    cubin_global_bytes = 4;
    cr_expect_eq(with("f", STT_FUNC, CUBIN_TEXT), -ENOENT);
    cr_expect_eq(with("v", STT_OBJECT, CUBIN_GLOBAL), 0);
    cubin_global_bytes = 0;
}

Test(cubin_symbols, finds_sections_beyond_the_numbers_of_the_header)
{
    cubin_large_numbers = true;
    cr_expect_eq(with("v", STT_OBJECT, CUBIN_GLOBAL), 0);
    cr_expect_str_eq(functions, "kernel ");
    cr_expect_str_eq(variables, "v ");
    cr_expect_eq(with("vprintf", STT_FUNC, SHN_UNDEF), -EPERM);
    cubin_large_numbers = false;
}

/* ---- damaged images ------------------------------------------------------------------------------ */

Test(cubin_symbols, survives_every_beginning_of_a_file)
{
    struct cubin_image image = cubin_read("variables_75.cubin");
    for (size_t size = 0; size < image.size; size++) {
        int result = read_all(image.bytes, size);
        cr_assert(result == -EINVAL || result == 0, "%zu: %d", size, result);
    }
    free(image.bytes);
}

/* Every byte of the tables in turn: with a few values, and read to the end where it is taken. */
Test(cubin_symbols, survives_every_byte_that_is_another)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct cubin_image image = cubin_make(
        (const struct cubin_symbol[]){{"kernel", STT_FUNC, CUBIN_TEXT},
                                      {"v", STT_OBJECT, CUBIN_GLOBAL},
                                      {"vprintf", STT_FUNC, SHN_UNDEF}},
        3);
    for (size_t at = 0; at < image.size; at++) {
        unsigned char before = image.bytes[at];
        for (size_t i = 0; i < sizeof(values); i++) {
            image.bytes[at] = values[i];
            (void)read_all(image.bytes, image.size);
        }
        image.bytes[at] = before;
    }
    cr_expect_eq(read_all(image.bytes, image.size), -EPERM);
    free(image.bytes);
}

Test(cubin_symbols, reads_nothing_else)
{
    struct cubin_image image = cubin_read("variables_75.cubin");
    cr_expect_eq(read_all("", 0), -EINVAL);
    cr_expect_eq(read_all(".version 8.0", 12), -EINVAL);
    image.bytes[EI_CLASS] = ELFCLASS32;
    cr_expect_eq(read_all(image.bytes, image.size), -EINVAL);
    image.bytes[EI_CLASS] = ELFCLASS64;
    image.bytes[EI_DATA] = ELFDATA2MSB;
    cr_expect_eq(read_all(image.bytes, image.size), -EINVAL);
    image.bytes[EI_DATA] = ELFDATA2LSB;
    image.bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
    cr_expect_eq(read_all(image.bytes, image.size), -EINVAL);
    free(image.bytes);
}
