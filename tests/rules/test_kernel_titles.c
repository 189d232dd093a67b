/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of kernels: by real names, in doubt, and never the same of two kernels. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_title.h"
#include "analyzer/findings/kernel_origin.h"
#include "tests/rules/fixture.h"

/* tests/data/kernel_names.txt: whose, title, name, with tabs between. */
Test(kernel_titles, are_what_a_person_would_say)
{
    char *text = gmt_fixture_read(GMT_SOURCE_DIR "/tests/data/kernel_names.txt"), *rest = text;
    size_t names = 0;

    cr_assert_not_null(text);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *whose = strsep(&line, "\t"), *title = strsep(&line, "\t");
        struct gmt_arena arena = {0};

        if (line == NULL) {
            continue;
        }
        const char *made = gmt_kernel_title(&arena, line, strcmp(whose, "library") == 0,
                                            GMT_TITLE_SHORT);
        cr_expect_str_eq(made, title, "'%s', not '%s': %.80s", made, title, line);
        names++;
        gmt_arena_free(&arena);
    }
    cr_expect_geq(names, 60);
    free(text);
}

/* A library's kernels of one short title: what stands around the operation or behind the tile, then numbers. */
Test(kernel_titles, of_a_library_keep_the_operation)
{
#define ELEMENTS(n, f) \
    "void at::native::vectorized_elementwise_kernel<" n ", at::native::" f ">(int)"
#define ON(f) "CUDAFunctor" f "_add<c10::Half>"
#define OF(f) f "<c10::Half, c10::Half, c10::Half, at::native::MulFunctor<float> >"
    static const struct {
        const char *name, *variant, *arguments;
    } names[] = {
        {ELEMENTS("8", ON("")), "vectorized_elementwise<add, f16>",
         "vectorized_elementwise<8, add, f16>"},
        {ELEMENTS("8", ON("OnSelf")), "vectorized_elementwise<OnSelf add, f16>",
         "vectorized_elementwise<8, OnSelf add, f16>"},
        {ELEMENTS("4", OF("BinaryFunctor")), "vectorized_elementwise<mul, f16>",
         "vectorized_elementwise<4, mul, f16>"},
        {ELEMENTS("4", OF("AUnaryFunctor")), "vectorized_elementwise<AUnary mul, f16>",
         "vectorized_elementwise<4, AUnary mul, f16>"},
        {"nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_bias_NNT",
         "gemm 64x8x64 f16 4x1_v_bz_splitK_bias_NNT",
         "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_bias_NNT"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct gmt_arena arena = {0};

        cr_expect_str_eq(gmt_kernel_title(&arena, names[i].name, true, GMT_TITLE_VARIANT),
                         names[i].variant);
        cr_expect_str_eq(gmt_kernel_title(&arena, names[i].name, true, GMT_TITLE_ARGUMENTS),
                         names[i].arguments);
        gmt_arena_free(&arena);
    }
}

/* What is no name of C++, is cut, or has brackets that nothing closes is taken as it stands. */
Test(kernel_titles, survive_what_is_no_name)
{
    static const char *const names[] = {"",
                                        " ",
                                        "<",
                                        ">>>",
                                        "::",
                                        "f<",
                                        "f<(",
                                        "a::<b>::",
                                        "((",
                                        "))",
                                        "f<a,,>",
                                        "void ",
                                        "void f<int",
                                        "{lambda(",
                                        "x::{lambda(int)#1}",
                                        "operator()",
                                        "operator<<<int>(int)",
                                        "f<&>",
                                        "f<const>",
                                        "k(int) [clone .1]",
                                        "_Z",
                                        "_ZN",
                                        "cutlass::Kernel2<>",
                                        "triton_",
                                        "__nv_dl_wrapper_t<__nv_dl_tag<>>"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int library = 0; library < 2; library++) {
            for (int detail = 0; detail <= GMT_TITLE_ARGUMENTS; detail++) {
                struct gmt_arena arena = {0};

                cr_expect_not_null(gmt_kernel_title(&arena, names[i], library != 0,
                                                    (enum gmt_title_detail)detail));
                gmt_arena_free(&arena);
            }
        }
    }
}

/* A name from a trace may nest as deep as it likes. */
Test(kernel_titles, survive_deep_names)
{
    enum { DEPTH = 5000 };
    char *name = malloc(3 * DEPTH + 16);
    struct gmt_arena arena = {0};
    size_t used = 0;

    cr_assert_not_null(name);
    for (int i = 0; i < DEPTH; i++) {
        name[used++] = 'a';
        name[used++] = '<';
    }
    memset(name + used, '>', DEPTH / 2);
    name[used + DEPTH / 2] = '\0';
    cr_expect_str_neq(gmt_kernel_title(&arena, name, true, GMT_TITLE_SHORT), "");
    gmt_arena_free(&arena);
    free(name);
}

static void rename_kernels(struct gmt_fixture *fixture, const char *const *names, size_t n)
{
    gmt_fixture_load(fixture, "fixtures/GM501_positive");
    for (size_t i = 0; i < n; i++) {
        char *sql = sqlite3_mprintf(
            "INSERT INTO kernel (id, name, mangled) VALUES (%d, %Q, %Q);"
            "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z, dynamic_shared_bytes) VALUES (%d, %d, 1, 1, 1, 32, 1, 1, 0);"
            "UPDATE launch SET kernel_id = %d, class_id = %d WHERE id = %d",
            (int)i + 10, names[i], names[i], (int)i + 10, (int)i + 10, (int)i + 10, (int)i + 10,
            900003 + (int)i);

        gmt_fixture_sql(fixture, sql);
        sqlite3_free(sql);
    }
}

static const char *title_of(const struct gmt_report *report, const char *name)
{
    for (size_t i = 0; i < report->kernel_count; i++) {
        if (strcmp(report->kernels[i].name, name) == 0) {
            return report->kernels[i].title;
        }
    }
    return "no such kernel";
}

/* Arguments distinguish them, then namespaces, then a number. */
Test(kernel_titles, are_of_one_kernel_each)
{
    static const char *const names[] = {"void one::k<float>(float*)",
                                        "void two::k<float>(float*)",
                                        "f(int)",
                                        "f(float)",
                                        "void g<1>(int*)",
                                        "void g<2>(int*)"};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    struct gmt_fixture fixture;

    rename_kernels(&fixture, names, NAMES);
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_str_eq(title_of(&fixture.report, names[0]), "one::k<f32>");
    cr_expect_str_eq(title_of(&fixture.report, names[1]), "two::k<f32>");
    cr_expect_str_eq(title_of(&fixture.report, names[2]), "f #2");
    cr_expect_str_eq(title_of(&fixture.report, names[3]), "f #1");
    cr_expect_str_eq(title_of(&fixture.report, names[4]), "g<1>");
    cr_expect_str_eq(title_of(&fixture.report, names[5]), "g<2>");
    for (size_t i = 0; i < fixture.report.kernel_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct gmt_kernel_row *a = &fixture.report.kernels[i],
                                        *b = &fixture.report.kernels[k];

            cr_expect(strcmp(a->name, b->name) == 0 || strcmp(a->title, b->title) != 0, "%s",
                      a->title);
        }
    }
    gmt_fixture_free(&fixture);
}

/* Both are nvjet's, of one tile and type. */
Test(kernel_titles, of_products_of_one_tile_say_what_is_behind_it)
{
    static const char *const names[] = {"nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_bias_NNT",
                                        "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_bias_NNT"};
    struct gmt_fixture fixture;

    rename_kernels(&fixture, names, 2);
    gmt_fixture_sql(&fixture, "UPDATE launch SET stack_id = NULL, caller = 0");
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect_str_eq(title_of(&fixture.report, names[0]),
                     "gemm 64x8x64 f16 4x1_v_bz_bias_NNT (cuBLAS)");
    cr_expect_str_eq(title_of(&fixture.report, names[1]),
                     "gemm 64x8x64 f16 4x1_v_bz_splitK_bias_NNT (cuBLAS)");
    gmt_fixture_free(&fixture);
}
