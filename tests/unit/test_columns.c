/* SPDX-License-Identifier: Apache-2.0 */
/* Tables stay aligned whatever the names of kernels are written in: what counts is the columns that a terminal needs. */
#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "libtrace/base/format.h"
#include "reports/text/grid.h"

static const struct {
    const char *name;
    size_t columns;
} names[] = {
    {"transpose<float>", 16},
    {"行列の転置", 10},   /* Japanese */
    {"행렬_전치", 9},     /* Korean */
    {"kernel_🚀", 9},      /* an emoji */
    {"größe", 5},         /* one column each */
    {"nai\xcc\x88ve", 5}, /* the diaeresis is a mark of its own */
    {"bad\xff", 4},       /* shown as U+FFFD */
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static char *printed_of(const char *text, size_t max_columns, size_t *columns)
{
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);

    cr_assert_not_null(out);
    *columns = gmt_print_clean(out, text, max_columns);
    cr_assert_eq(fclose(out), 0);
    return printed;
}

Test(columns, are_what_a_terminal_needs)
{
    for (size_t i = 0; i < NAMES; i++) {
        size_t columns;

        free(printed_of(names[i].name, 0, &columns));
        cr_expect_eq(columns, names[i].columns, "%s: %zu", names[i].name, columns);
        cr_expect_eq(gmt_clean_length(names[i].name), names[i].columns, "%s", names[i].name);
    }
}

Test(columns, of_what_is_cut_are_all_taken)
{
    static const struct {
        size_t most;
        const char *printed;
    } cuts[] = {{10, "行列の転置"}, {9, "行列の転…"}, {8, "行列の… "}, {2, "… "}, {1, "…"}};

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        size_t columns;
        char *printed = printed_of("行列の転置", cuts[i].most, &columns);

        cr_expect_eq(columns, cuts[i].most);
        cr_expect_str_eq(printed, cuts[i].printed);
        free(printed);
    }
}

/* Asked in the test's own way, in the locale of the process. */
static size_t columns_before(const char *line, const char *word)
{
    wchar_t wide[256];
    char copy[256];
    const char *end = strstr(line, word);

    cr_assert_not_null(end, "%s", line);
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)(end - line), line);
    cr_assert_neq(mbstowcs(wide, copy, 256), (size_t)-1);
    int columns = wcswidth(wide, 256);
    cr_assert_geq(columns, 0);
    return (size_t)columns;
}

Test(columns, of_a_table_begin_one_below_the_other)
{
    struct gmt_arena arena = {0};
    struct gmt_grid grid = {.arena = &arena, .columns = "tr"};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct gmt_text_out t = {.out = out, .columns = GMT_TEXT_COLUMNS};

    cr_assert_not_null(out);
    gmt_grid_add(&grid, &(struct gmt_grid_row){.cells = {"kernel", "time"}});
    for (size_t i = 0; i < NAMES; i++) {
        gmt_grid_add(&grid, &(struct gmt_grid_row){.cells = {names[i].name, "1 ms"}});
    }
    gmt_grid_text(&t, &grid);
    cr_assert_eq(fclose(out), 0);
    cr_assert_not_null(setlocale(LC_CTYPE, "C.UTF-8"));
    char *rest = text;
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        cr_expect_eq(columns_before(line, line == text ? "time" : "1 ms"), 2 + 16 + 2, "%s", line);
    }
    free(text);
    gmt_arena_free(&arena);
}

/* The library asks in a locale of its own and leaves the program's alone. */
Test(columns, leave_the_locale_as_it_was)
{
    locale_t before = uselocale((locale_t)0);

    (void)gmt_clean_length("行列の転置");
    cr_expect_eq(uselocale((locale_t)0), before);
    cr_expect_str_eq(setlocale(LC_ALL, NULL), "C");
}
