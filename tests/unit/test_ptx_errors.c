/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused as PTX, with which words and at which line. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/ptx_fixture.h"

static const struct refusal {
    uint32_t line;
    char part[48];
    char text[96];
} refusals[] = {
    {2, "'%q' is not declared", ".entry k() {\nmov.u32 %q, 1; }"},
    {3, "'L' is not declared", ".entry k() {\n\nbra L; }"},
    {2, "is declared twice", ".entry k() { .reg .b32 a;\n.reg .b64 a; }"},
    {1, "is defined twice", ".entry k() { ret; } .entry k() { ret; }"},
    {1, "declared differently", ".func f(.param .b32 a); .func f(.param .b64 a) { ret; }"},
    {1, "not a predicate", ".entry k() { .reg .b32 a; @a bra L; L: }"},
    {2, "unexpected end", ".entry k() {\n"},
    {1, "comment without end", "/* "},
    {1, "string without end", ".file 1 \"x"},
    {1, "is too large", ".global .b8 x[1000000][1000000][1000000];"},
    {1, "has no size", ".global .b8 x[];"},
    {1, "at most 16777216 registers", ".entry k() { .reg .b32 %r<1000000000>; }"},
    {1, "power of two", ".global .align 3 .b8 x;"},
    {1, "64 bits", ".global .b64 x = 0x10000000000000000;"},
    {1, "'@'", ".entry k() { .reg .b32 a; mov.u32 a, @; }"},
    {1, "directive of modules", "add.u32 a, b, c;"},
    {1, "only the first dimension", ".global .b8 x[2][] = {1};"},
    {1, "before predicates", ".entry k() { .reg .b32 a; mov.u32 a, !k; }"},
    {1, "'}'", ".section .debug_info { .b8 1 "},
    {1, "unexpected byte 0x01", "\x01"},
    {1, "has no component '.q'", ".entry k() { .reg .b32 a; mov.u32 a.q, 1; }"},
};

Test(ptx_errors, errors_name_line_and_cause)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        gmt_ptx_refused(refusals[i].text, refusals[i].line, refusals[i].part);
    }
}

Test(ptx_errors, what_is_not_ptx_is_said_to_be_none)
{
    static const char *const texts[] = {"", "\177ELF", "int main(void) {}", ".target sm_90"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct ptx_error error;

        cr_expect_null(ptx_parse(texts[i], strlen(texts[i]), &error));
        cr_expect_neq(error.text[0], '\0');
    }
}

Test(ptx_errors, deep_nesting_is_refused_not_followed)
{
    static char text[100000];

    for (unsigned i = 0; i < 3; i++) {
        static const char *const starts[] = {
            ".global .b32 x = ", ".global .b32 x = ", ".entry k() { .reg .b32 a; mov.b32 a, "};
        size_t start = strlen(starts[i]);

        memset(text, "(-{"[i], sizeof(text) - 1);
        memcpy(text, starts[i], start);
        gmt_ptx_refused(text, 1, "deep");
    }
    static const char entry[] = ".entry k() ";

    memset(text, '{', sizeof(text) - 1);
    for (size_t i = 0; entry[i] != '\0'; i++) {
        text[i] = entry[i];
    }
    gmt_ptx_refused(text, 1, "braces in one another");
}
