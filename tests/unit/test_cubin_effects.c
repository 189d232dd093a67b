/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels of a cubin have effects: of cubins that nvcc made, and of images made here, whole and damaged. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_fixture.h"
#include "libtrace/cupti/code/cubin_effects.h"

enum { KERNEL = 1, OTHER, PART, PRINTS }; /* numbers of the symbols that all images here have */

/* Marks of the list of calls. */
#define CALLS 0, 0xffffffff
#define TAKEN 0, 0xfffffffe
#define BY_POINTER 0, 0xfffffffd
#define TAKEN_BY 0, 0xfffffffc

static char found[4096];

struct looking {
    const struct gmt_cubin_symbols *symbols;
    const bool *effects;
};

static void note(void *data, const char *name, uint64_t section)
{
    const struct looking *looking = data;
    size_t used = strlen(found);
    cr_assert_lt(section, looking->symbols->sections.count);
    if (looking->effects[section]) {
        (void)snprintf(found + used, sizeof(found) - used, "%s ", name);
    }
}

/* The functions with effects; "all". It is in a block of exactly that size: the sanitizer sees what is read beyond. */
static const char *look_at(const void *bytes, size_t size)
{
    struct gmt_cubin_symbols symbols;
    void *image = malloc(size != 0 ? size : 1);
    memcpy(image, bytes, size);
    found[0] = '\0';
    if (gmt_cubin_symbols_read(&symbols, image, size) != -EINVAL) {
        struct looking looking = {.symbols = &symbols, .effects = gmt_cubin_effects(&symbols)};
        if (looking.effects != NULL) {
            gmt_cubin_symbols_visit(
                &symbols, &(struct gmt_cubin_visitor){.function = note, .data = &looking});
        } else {
            (void)snprintf(found, sizeof(found), "all");
        }
        free((void *)looking.effects);
    }
    free(image);
    return found;
}

static const char *of_image(struct cubin_image image)
{
    (void)look_at(image.bytes, image.size);
    free(image.bytes);
    return found;
}

static struct cubin_image make(const struct cubin_symbol *more, size_t count)
{
    struct cubin_symbol symbols[8] = {{"kernel", CUBIN_KERNEL, CUBIN_TEXT},
                                      {"other", CUBIN_KERNEL, CUBIN_TEXT2},
                                      {"part", STT_FUNC, CUBIN_TEXT3},
                                      {"vprintf", STT_FUNC, SHN_UNDEF}};
    cr_assert_leq(count, 4);
    if (count != 0) {
        memcpy(symbols + 4, more, count * sizeof(*more));
    }
    return cubin_make(symbols, 4 + count);
}

static const char *with(const char *name, unsigned type, unsigned section)
{
    return of_image(make(&(struct cubin_symbol){name, type, section}, 1));
}

static void set_calls(const uint32_t *numbers, size_t bytes)
{
    static uint32_t kept[512];
    cr_assert_leq(bytes, sizeof(kept));
    memcpy(kept, numbers, bytes);
    cubin_calls = (struct cubin_part){kept, bytes};
}

#define SET_CALLS(...) \
    set_calls((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))
#define OF_CALLS(...) (SET_CALLS(__VA_ARGS__), of_image(make(NULL, 0)))

static void set_info(const uint8_t *bytes, size_t size)
{
    static uint8_t kept[64];
    cr_assert_leq(size, sizeof(kept));
    memcpy(kept, bytes, size);
    cubin_info = (struct cubin_part){kept, size};
}

#define OF_INFO(...) \
    (set_info((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})), \
     of_image(make(NULL, 0)))

/* ---- what nvcc made ------------------------------------------------------------------------------ */

Test(cubin_effects, distinguishes_the_kernels_of_a_whole_program)
{
    cr_expect_str_eq(of_image(cubin_read("calls_90.cubin")), "_Z6printsPi ");
}

Test(cubin_effects, follows_calls_of_what_was_compiled_apart)
{
    cr_expect_str_eq(of_image(cubin_read("calls_linked.cubin")), "_Z3sayi _Z4saysPi ");
    cr_expect_str_eq(of_image(cubin_read("launches.cubin")), "_Z8launchesPi ");
}

Test(cubin_effects, says_nothing_of_single_functions_where_a_pointer_may_lead_to_one)
{
    cr_expect_str_eq(of_image(cubin_read("calls_pointer.cubin")), "all", "of its own section");
    cr_expect_str_eq(of_image(cubin_read("effects.cubin")), "all", "a copy in a kernel's section");
}

Test(cubin_effects, finds_none_where_there_is_none)
{
    cr_expect_str_eq(of_image(cubin_read("bare.cubin")), "");
}

/* ---- images made here --------------------------------------------------------------------------- */

Test(cubin_effects, finds_the_kernel_that_calls)
{
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, BY_POINTER, TAKEN_BY), "kernel ");
    cr_expect_str_eq(OF_CALLS(CALLS, OTHER, PRINTS), "other ");
}

Test(cubin_effects, follows_calls_to_the_end_and_in_circles)
{
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PART, PART, PRINTS), "kernel part ");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PART, PART, PART, OTHER, PRINTS), "other ");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PART, PART, KERNEL, OTHER, PRINTS), "other ");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PART, PART, KERNEL, PART, PRINTS), "kernel part ");
}

Test(cubin_effects, takes_the_attribute_of_a_kernel_for_a_call)
{
    SET_CALLS(CALLS);
    cr_expect_str_eq(OF_INFO(4, 0x0f, 4, 0, PRINTS, 0, 0, 0), "kernel ");
    cr_expect_str_eq(OF_INFO(3, 0x1b, 0xff, 0, 4, 0x0f, 8, 0, PART, 0, 0, 0, PRINTS, 0, 0, 0),
                     "kernel ", "behind another attribute");
    SET_CALLS(CALLS, OTHER, PRINTS);
    cr_expect_str_eq(of_image(make(NULL, 0)), "kernel other ", "both count");
}

Test(cubin_effects, takes_a_kernel_that_passes_a_function_on_for_one_that_calls_it)
{
    cr_expect_str_eq(OF_CALLS(CALLS, OTHER, PRINTS, TAKEN_BY, KERNEL, OTHER), "kernel other ");
}

Test(cubin_effects, takes_all_functions_for_called_where_a_pointer_may_lead_to_an_effect)
{
    cr_expect_str_eq(OF_CALLS(CALLS, PART, PRINTS, BY_POINTER, KERNEL, 1), "part ",
                     "not to `part`");
    cr_expect_str_eq(OF_CALLS(CALLS, PART, PRINTS, TAKEN, PART, 1), "all");
    cr_expect_str_eq(OF_CALLS(CALLS, PART, PRINTS, TAKEN_BY, KERNEL, PART), "all");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, PART, 1, TAKEN_BY, OTHER, PART),
                     "kernel ", "`part` has no effect");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, PRINTS, 1), "all");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, KERNEL, 1), "kernel ",
                     "kernels are launched");
}

Test(cubin_effects, takes_a_function_in_the_section_of_a_kernel_for_one_that_a_pointer_may_lead_to)
{
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cr_expect_str_eq(with("$kernel$_Z3sayi", STT_FUNC, CUBIN_TEXT), "all");
    cr_expect_str_eq(with("$other$_Z3sayi", STT_FUNC, CUBIN_TEXT2), "kernel ", "without an effect");
    cr_expect_str_eq(with("$__internal_0_$__cuda_sm20_div_s64", STT_FUNC, CUBIN_TEXT),
                     "kernel $__internal_0_$__cuda_sm20_div_s64 ", "the compiler's");
    cr_expect_str_eq(with("$kernel$__internal_trig", STT_FUNC, CUBIN_TEXT),
                     "kernel $kernel$__internal_trig ", "the compiler's");
    cr_expect_str_eq(with("__internal_mine", STT_FUNC, CUBIN_TEXT), "all");
    cr_expect_str_eq(with("my$__internal_one", STT_FUNC, CUBIN_TEXT), "all");
}

Test(cubin_effects, takes_an_effect_that_nobody_calls_for_one_of_all)
{
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cr_expect_str_eq(with("malloc", STT_FUNC, SHN_UNDEF), "all");
    cr_expect_str_eq(with("__assertfail", STT_FUNC, SHN_UNDEF), "kernel ", "that is none");
    SET_CALLS(CALLS, KERNEL, PRINTS, OTHER, 5);
    cr_expect_str_eq(with("malloc", STT_FUNC, SHN_UNDEF), "kernel other ");
}

/* A pass over the list goes one call further where the callers stand first. */
static const char *of_chain(uint32_t length, bool callers_first)
{
    struct cubin_symbol symbols[200];
    uint32_t calls[2 + 2 * 200] = {CALLS};
    cubin_more_sections = length;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t caller = callers_first ? i + 1 : length - i;
        symbols[i] = (struct cubin_symbol){"f", CUBIN_KERNEL, CUBIN_SECTIONS + i};
        calls[2 + 2 * i] = caller;
        calls[3 + 2 * i] = caller + 1;
    }
    symbols[length] = (struct cubin_symbol){"vprintf", STT_FUNC, SHN_UNDEF};
    set_calls(calls, (2 + 2 * (size_t)length) * sizeof(calls[0]));
    return of_image(cubin_make(symbols, length + 1));
}

Test(cubin_effects, gives_up_on_chains_that_would_take_long)
{
    cr_expect_eq(strlen(of_chain(150, false)), 300);
    cr_expect_eq(strlen(of_chain(60, true)), 120);
    cr_expect_str_eq(of_chain(150, true), "all");
}

/* ---- damaged ones ------------------------------------------------------------------------------- */

Test(cubin_effects, says_nothing_of_single_functions_without_a_list_of_calls)
{
    static const uint32_t calls[] = {CALLS, KERNEL, PRINTS};
    cr_expect_str_eq(of_image(make(NULL, 0)), "all");
    cr_expect_str_eq(OF_INFO(4, 0x0f, 4, 0, PRINTS, 0, 0, 0), "all", "with attributes, too");
    cubin_info.bytes = NULL, cubin_info.size = 0;
    cubin_calls = cubin_calls2 = (struct cubin_part){calls, sizeof(calls)};
    cr_expect_str_eq(of_image(make(NULL, 0)), "all", "two of them");
    cubin_calls2.size = 0;
    cr_expect_str_eq(of_image(make(NULL, 0)), "kernel ");
    cubin_calls_link = CUBIN_STRINGS;
    cr_expect_str_eq(of_image(make(NULL, 0)), "all", "of other symbols");
    cubin_calls_link = CUBIN_SYMBOLS;
    cubin_calls.size -= 4;
    cr_expect_str_eq(of_image(make(NULL, 0)), "all", "half a pair");
}

Test(cubin_effects, takes_no_list_of_calls_of_another_form)
{
    cr_expect_str_eq(OF_CALLS(KERNEL, PRINTS), "all", "before any mark");
    cr_expect_str_eq(OF_CALLS(KERNEL, PRINTS, CALLS), "all", "before any mark");
    cr_expect_str_eq(OF_CALLS(KERNEL, OTHER, CALLS, KERNEL, PRINTS), "all", "before any mark");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, 0, 0xfffffffb), "all", "a mark of its own");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, 0, OTHER), "all", "nobody calls");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, KERNEL, 0), "all", "nothing is called");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, KERNEL, 5), "all", "no such symbol");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, 5, KERNEL), "all", "no such symbol");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, 5, 1), "all", "no such symbol");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, TAKEN, 0, 1), "all");
    cr_expect_str_eq(OF_CALLS(CALLS, KERNEL, PRINTS, PRINTS, OTHER), "all", "it has no body");
}

Test(cubin_effects, takes_only_functions_for_what_calls_and_is_called)
{
    SET_CALLS(CALLS, KERNEL, PRINTS, KERNEL, 5);
    cr_expect_str_eq(with("v", STT_OBJECT, CUBIN_GLOBAL), "all");
    cr_expect_str_eq(with("v", STT_OBJECT, CUBIN_TEXT2), "all");
    SET_CALLS(CALLS, KERNEL, PRINTS, 5, OTHER);
    cr_expect_str_eq(with("v", STT_OBJECT, CUBIN_TEXT), "all");
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cr_expect_str_eq(with("f", STT_FUNC, CUBIN_GLOBAL), "all", "in no section of code");
    cr_expect_str_eq(with("f", STT_FUNC, SHN_ABS), "all");
    cr_expect_str_eq(with("f", STT_FUNC, SHN_COMMON), "all");
}

Test(cubin_effects, takes_no_attributes_of_another_form)
{
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cr_expect_str_eq(OF_INFO(1, 0x1b, 0, 0, 2, 0x0e, 7, 7, 3, 0x1b, 0xff, 0), "kernel ");
    cr_expect_str_eq(OF_INFO(4, 0x0f), "all", "half a head");
    cr_expect_str_eq(OF_INFO(4, 0x11, 8, 0, 1, 0, 0, 0), "all", "more than there is");
    cr_expect_str_eq(OF_INFO(4, 0x11, 4, 1, 1, 0, 0, 0), "all", "more than there is");
    cr_expect_str_eq(OF_INFO(5, 0x11, 0, 0), "all", "a form of its own");
    cr_expect_str_eq(OF_INFO(0, 0x11, 0, 0), "all", "a form of its own");
    cr_expect_str_eq(OF_INFO(3, 0x0f, PRINTS, 0), "all", "not that attribute's form");
    cr_expect_str_eq(OF_INFO(4, 0x0f, 6, 0, PART, 0, 0, 0, PART, 0), "all", "half a number");
    cr_expect_str_eq(OF_INFO(4, 0x0f, 3, 0, PART, 0, 0), "all", "half a number, before a 0");
    cr_expect_str_eq(OF_INFO(4, 0x0f, 4, 0, 5, 0, 0, 0), "all", "no such symbol");
    cr_expect_str_eq(OF_INFO(4, 0x0f, 4, 0, 0, 0, 0, 0), "all");
    cubin_info_of = CUBIN_TEXT2;
    cr_expect_str_eq(OF_INFO(1, 0x1b, 0, 0), "all", "of another function");
    cubin_info_of = CUBIN_GLOBAL;
    cr_expect_str_eq(OF_INFO(1, 0x1b, 0, 0), "all", "of no code");
    cubin_info_of = 1000;
    cr_expect_str_eq(OF_INFO(1, 0x1b, 0, 0), "all", "of no section");
}

/* Sections that overlap would make a small image cost much: no compiler writes them. */
Test(cubin_effects, takes_no_attributes_that_are_those_of_many_functions)
{
    uint32_t info[256];
    for (size_t i = 0; i < 256; i++) {
        info[i] = 0x1b01; /* an attribute without a value */
    }
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cubin_info = (struct cubin_part){info, sizeof(info)};
    cubin_more_sections = 200;
    cr_expect_str_eq(of_image(make(NULL, 0)), "kernel ");
    struct cubin_image image = make(NULL, 0);
    Elf64_Ehdr *header = (void *)image.bytes;
    unsigned char *sections = image.bytes + header->e_shoff;
    for (size_t i = 0; i < 200; i++) {
        memcpy(sections + (CUBIN_SECTIONS + i) * sizeof(Elf64_Shdr),
               sections + CUBIN_INFO * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    }
    cr_expect_str_eq(of_image(image), "all");
}

Test(cubin_effects, reads_no_attribute_beyond_the_image)
{
    static const uint8_t info[] = {4, 0x11, 200, 0, 0, 0, 0, 0};
    SET_CALLS(CALLS, KERNEL, PRINTS);
    cubin_info = (struct cubin_part){info, sizeof(info)};
    struct cubin_image image = make(NULL, 0);
    Elf64_Ehdr *header = (void *)image.bytes;
    uint64_t offset = image.size;
    memcpy(image.bytes + header->e_shoff + CUBIN_INFO * sizeof(Elf64_Shdr) +
               offsetof(Elf64_Shdr, sh_offset),
           &offset, sizeof(offset));
    memcpy(image.bytes + image.size, info, sizeof(info));
    image.size += sizeof(info);
    cr_expect_str_eq(of_image(image), "all");
}

Test(cubin_effects, survives_every_beginning_of_a_file)
{
    struct cubin_image image = cubin_read("calls_90.cubin");
    for (size_t size = 0; size < image.size; size++) {
        const char *of = look_at(image.bytes, size);
        cr_assert(strcmp(of, "") == 0 || strcmp(of, "all") == 0 || strcmp(of, "_Z6printsPi ") == 0);
    }
    free(image.bytes);
}

Test(cubin_effects, survives_every_byte_that_is_another)
{
    static const unsigned char values[] = {0x00, 0x01, 0x04, 0x7f, 0x80, 0xff};
    static const uint8_t info[] = {3, 0x1b, 0xff, 0, 4, 0x0f, 4, 0, PRINTS, 0, 0, 0};
    SET_CALLS(CALLS, KERNEL, PART, PART, PRINTS, TAKEN, OTHER, 1, BY_POINTER, TAKEN_BY);
    cubin_info = (struct cubin_part){info, sizeof(info)};
    struct cubin_image image = make(NULL, 0);
    for (size_t at = 0; at < image.size; at++) {
        unsigned char before = image.bytes[at];
        for (size_t i = 0; i < sizeof(values); i++) {
            image.bytes[at] = values[i];
            (void)look_at(image.bytes, image.size);
        }
        image.bytes[at] = before;
    }
    cr_expect_str_eq(of_image(image), "kernel part ");
}
