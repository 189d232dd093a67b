/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel's code by its name: of one cubin, of several, and when something was missed. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_fixture.h"
#include "libtrace/cupti/code/code_index.h"

static char variables[4096];

static void note(void *data, const char *name)
{
    size_t used = strlen(variables);
    cr_expect_str_eq(data, "data");
    (void)snprintf(variables + used, sizeof(variables) - used, "%s ", name);
}

static int reach(const char *kernel)
{
    variables[0] = '\0';
    return gmt_code_index_reach(kernel, note, "data");
}

static void add(struct cubin_image image)
{
    gmt_code_index_add(image.bytes, image.size);
    memset(image.bytes, 0, image.size); /* it is gone when the module is loaded */
    free(image.bytes);
}

static void add_kernel(const char *kernel, const char *name, unsigned type, unsigned section)
{
    add(cubin_make(
        (const struct cubin_symbol[]){{kernel, STT_FUNC, CUBIN_TEXT}, {name, type, section}}, 2));
}

/* Criterion runs each test in a process of its own: the index is empty. */
Test(code_index, knows_no_kernel_of_no_cubin)
{
    cr_expect_eq(reach("k"), -ENOENT);
    add_kernel("k", "f", STT_FUNC, CUBIN_TEXT);
    cr_expect_eq(reach("k"), 0);
    cr_expect_str_eq(variables, "");
    cr_expect_eq(reach("kk"), -ENOENT);
    cr_expect_eq(reach(""), -ENOENT);
    cr_expect_eq(reach(NULL), -ENOENT);
}

Test(code_index, keeps_what_cubins_of_nvcc_hold)
{
    add(cubin_read("variables_75.cubin"));
    add(cubin_read("effects.cubin"));
    cr_expect_eq(reach("_Z6kernelPi"), 0);
    cr_expect_not_null(strstr(variables, "plain "));
    cr_expect_not_null(strstr(variables, "managed_initialized "));
    cr_expect_eq(reach("_Z7in_filePi"), 0, "a static one");
    cr_expect_eq(reach("_Z6printsPi"), -EPERM);
    cr_expect_str_eq(variables, "");
    cr_expect_eq(reach("_Z7assertsPi"), -EPERM, "there is a pointer to what prints");
    cr_expect_eq(reach("$_Z6printsPi$_Z3sayi"), -ENOENT, "no kernel");
}

Test(code_index, joins_the_variables_of_cubins_with_a_kernel_of_one_name)
{
    add_kernel("k", "one", STT_OBJECT, CUBIN_GLOBAL);
    add_kernel("k", "f", STT_FUNC, CUBIN_TEXT);
    add_kernel("k", "two", STT_OBJECT, CUBIN_GLOBAL);
    cr_expect_eq(reach("k"), 0);
    cr_expect(strstr(variables, "one ") != NULL && strstr(variables, "two ") != NULL, "%s",
              variables);
}

Test(code_index, lets_the_worst_of_them_decide)
{
    add_kernel("k", "one", STT_OBJECT, CUBIN_GLOBAL);
    add_kernel("k", "away", STT_FUNC, SHN_UNDEF);
    cr_expect_eq(reach("k"), -ENOENT);
    add_kernel("k", "vprintf", STT_FUNC, SHN_UNDEF);
    cr_expect_eq(reach("k"), -EPERM);
    add_kernel("k", "two", STT_OBJECT, CUBIN_GLOBAL);
    cr_expect_eq(reach("k"), -EPERM);
    cr_expect_str_eq(variables, "");
}

Test(code_index, takes_a_cubin_that_comes_again_for_one)
{
    for (int i = 0; i < 20000; i++) { /* more than there is room for lists of variables */
        add_kernel("k", "one", STT_OBJECT, CUBIN_GLOBAL);
    }
    cr_expect_eq(reach("k"), 0);
    cr_expect_str_eq(variables, "one ");
}

Test(code_index, finds_all_of_many_kernels)
{
    char name[32], variable[32];
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "kernel_%d", i);
        (void)snprintf(variable, sizeof(variable), "variable_%d", i / 2);
        add_kernel(name, variable, STT_OBJECT, CUBIN_GLOBAL);
    }
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "kernel_%d", i);
        (void)snprintf(variable, sizeof(variable), "variable_%d ", i / 2);
        cr_assert_eq(reach(name), 0);
        cr_assert_str_eq(variables, variable);
    }
}

Test(code_index, refuses_only_the_kernels_of_a_cubin_that_have_effects)
{
    add(cubin_read("calls_90.cubin"));
    cr_expect_eq(reach("_Z6printsPi"), -EPERM);
    cr_expect_str_eq(variables, "");
    cr_expect_eq(reach("_Z7dividesPx"), 0);
    cr_expect_str_eq(variables, "$str ");
    add(cubin_read("calls_linked.cubin"));
    cr_expect_eq(reach("_Z4saysPi"), -EPERM);
    cr_expect_eq(reach("_Z6countsPi"), 0);
}

/* Without an effect, too, a kernel may call what is not known. */
Test(code_index, does_not_know_the_other_kernels_of_a_cubin_that_refers_to_the_unknown)
{
    static const uint32_t calls[] = {0, 0xffffffff, 1, 3};
    static const struct cubin_symbol symbols[] = {{"prints", CUBIN_KERNEL, CUBIN_TEXT},
                                                  {"other", CUBIN_KERNEL, CUBIN_TEXT2},
                                                  {"vprintf", STT_FUNC, SHN_UNDEF},
                                                  {"away", STT_FUNC, SHN_UNDEF}};
    cubin_calls = (struct cubin_part){calls, sizeof(calls)};
    add(cubin_make(symbols, 3));
    cr_expect_eq(reach("other"), 0);
    add(cubin_make(symbols, 4));
    cr_expect_eq(reach("prints"), -EPERM);
    cr_expect_eq(reach("other"), -ENOENT);
}

Test(code_index, refuses_a_kernel_of_a_name_that_has_an_effect_in_another_cubin)
{
    static const uint32_t calls[] = {0, 0xffffffff, 1, 3};
    cubin_calls = (struct cubin_part){calls, sizeof(calls)};
    add(cubin_make((const struct cubin_symbol[]){{"k", CUBIN_KERNEL, CUBIN_TEXT},
                                                 {"other", CUBIN_KERNEL, CUBIN_TEXT2},
                                                 {"vprintf", STT_FUNC, SHN_UNDEF}},
                   3));
    cr_expect_eq(reach("other"), 0);
    add(cubin_make((const struct cubin_symbol[]){{"other", CUBIN_KERNEL, CUBIN_TEXT},
                                                 {"k", CUBIN_KERNEL, CUBIN_TEXT2},
                                                 {"vprintf", STT_FUNC, SHN_UNDEF}},
                   3));
    cr_expect_eq(reach("k"), -EPERM);
    cr_expect_eq(reach("other"), -EPERM);
}

/* The unseen one may hold a kernel of that name as well. */
Test(code_index, knows_nothing_more_after_a_cubin_was_missed)
{
    add_kernel("k", "f", STT_FUNC, CUBIN_TEXT);
    cr_expect_eq(reach("k"), 0);
    gmt_code_index_missed();
    cr_expect_eq(reach("k"), -ENOENT);
    add_kernel("k", "f", STT_FUNC, CUBIN_TEXT);
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(code_index, takes_a_cubin_that_cannot_be_read_for_one_that_was_missed)
{
    add_kernel("k", "f", STT_FUNC, CUBIN_TEXT);
    gmt_code_index_add("no cubin", 8);
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(code_index, has_bounds)
{
    char variable[32];
    add_kernel("before", "f", STT_FUNC, CUBIN_TEXT);
    for (int i = 0; i <= 4096; i++) {
        cr_assert_eq(reach("before"), 0);
        (void)snprintf(variable, sizeof(variable), "variable_%d", i);
        add_kernel("k", variable, STT_OBJECT, CUBIN_GLOBAL);
    }
    cr_expect_eq(reach("before"), -ENOENT);
}

Test(code_index, does_not_know_a_kernel_of_too_many_cubins)
{
    char variable[32];
    for (int i = 0; i < 65; i++) {
        cr_assert_eq(reach("k"), i == 0 ? -ENOENT : 0);
        (void)snprintf(variable, sizeof(variable), "variable_%d", i);
        add_kernel("k", variable, STT_OBJECT, CUBIN_GLOBAL);
    }
    cr_expect_eq(reach("k"), -ENOENT);
    add_kernel("other", "f", STT_FUNC, CUBIN_TEXT);
    cr_expect_eq(reach("other"), 0);
}

/* Names that overlap would make a small image cost much: no compiler writes them. */
Test(code_index, takes_names_that_overlap_for_a_cubin_that_was_missed)
{
    struct cubin_symbol symbols[64];
    char name[1024];
    memset(name, 'k', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < 64; i++) {
        symbols[i] = (struct cubin_symbol){i == 0 ? name : "", STT_FUNC, CUBIN_TEXT};
    }
    struct cubin_image image = cubin_make(symbols, 64);
    for (size_t i = 2; i <= 64; i++) { /* the symbol table begins behind the header */
        Elf64_Sym *symbol = (void *)(image.bytes + sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Sym));
        symbol->st_name = 1;
    }
    add_kernel("other", "f", STT_FUNC, CUBIN_TEXT);
    add(image);
    cr_expect_eq(reach("other"), -ENOENT);
}

Test(code_index, forgets_all_in_a_forked_child)
{
    add_kernel("k", "one", STT_OBJECT, CUBIN_GLOBAL);
    gmt_code_index_missed();
    gmt_code_index_abandon();
    cr_expect_eq(reach("k"), -ENOENT);
    add_kernel("k", "two", STT_OBJECT, CUBIN_GLOBAL);
    cr_expect_eq(reach("k"), 0);
    cr_expect_str_eq(variables, "two ");
}
