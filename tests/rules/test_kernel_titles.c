/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of kernels: by real names, and in doubt. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_title.h"
#include "tests/rules/fixture.h"

/* tests/data/kernel_names.txt: whose, title, name; parted by tabs. */
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
