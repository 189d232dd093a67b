/* SPDX-License-Identifier: Apache-2.0 */
/* printf and assert of kernels. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_print, .timeout = 60, .init = cr_redirect_stdout);

#define DECLARE \
    ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);\n" \
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,\n" \
    ".param .b64 c);\n"
/* Calls vprintf(format, arguments) with the arguments in the local variable `room`. */
#define CALL \
    "mov.u64 %rd8, room;\ncvta.local.u64 %rd9, %rd8;\nmov.u64 %rd10, format;\n" \
    "cvta.global.u64 %rd11, %rd10;\n" \
    "{ .param .b64 a; .param .b64 b; .param .b32 c;\n" \
    "st.param.b64 [a], %rd11;\nst.param.b64 [b], %rd9;\n" \
    "call.uni (c), vprintf, (a, b);\nld.param.b32 %r20, [c]; }\n"

/* A PTX array with the characters of a string. */
static const char *bytes_of(const char *name, const char *text)
{
    static char result[2][4000];
    static unsigned turn;
    char *to = result[turn++ & 1];
    size_t used = (size_t)sprintf(to, ".global .align 1 .b8 %s[%zu] = {", name, strlen(text) + 1);

    for (const char *at = text; *at != '\0'; at++) {
        used += (size_t)sprintf(to + used, "%d, ", (unsigned char)*at);
    }
    sprintf(to + used, "0};\n");
    return to;
}

static struct sim_try *print_with(const char *format, const char *body)
{
    static char ptx[16000];

    snprintf(ptx, sizeof(ptx), "%s%s%s%s%s", SIM_HEAD DECLARE, bytes_of("format", format),
             bytes_of("word", "word"),
             ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
             ".local .align 8 .b8 room[512];\n"
             ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\nmov.u32 %r1, %tid.x;\n",
             body);
    strcat(ptx, CALL "ret;\n}\n");
    return sim_try_new(ptx);
}

Test(sim_print, all_conversions)
{
    struct sim_try *trial = print_with(
        "%d|%5u|%-5x|%+d|%c|%s|%lld|%llx|%f|%8.3f|%e|%g|%%|%*d|%.2s|%hd|%p\n",
        "st.local.u32 [room], -7;\nst.local.u32 [room+4], 42;\nst.local.u32 [room+8], 255;\n"
        "st.local.u32 [room+12], 3;\nst.local.u32 [room+16], 65;\n"
        "mov.u64 %rd4, word;\nst.local.u64 [room+24], %rd4;\n"
        "st.local.u64 [room+32], -5000000000;\nst.local.u64 [room+40], 0xabcdef0123;\n"
        "mov.f64 %rd5, 0d3FF8000000000000;\nst.local.u64 [room+48], %rd5;\n"
        "st.local.u64 [room+56], %rd5;\nst.local.u64 [room+64], %rd5;\n"
        "st.local.u64 [room+72], %rd5;\nst.local.u32 [room+80], 6;\nst.local.u32 [room+84], 12;\n"
        "st.local.u64 [room+88], %rd4;\nst.local.u32 [room+96], 9;\n"
        "st.local.u64 [room+104], 4096;\n");

    trial->launch.block[0] = 1;
    sim_try_ok(trial, "k");
    sim_print_flush();
    fflush(stdout);
    cr_assert_stdout_eq_str("-7|   42|ff   |+3|A|word|-5000000000|abcdef0123|1.500000|   1.500|"
                            "1.500000e+00|1.5|%|    12|wo|9|0x1000\n");
    sim_try_end(trial);
}

Test(sim_print, blocks_print_in_order_whatever_the_workers)
{
    struct sim_try *trial = print_with("%d.%d ", "mov.u32 %r2, %ctaid.x;\n"
                                                 "st.local.u32 [room], %r2;\n"
                                                 "st.local.u32 [room+4], %r1;\n");
    char wanted[4000] = "";

    trial->launch.block[0] = 3;
    trial->launch.grid[0] = 50;
    trial->launch.workers = 4;
    sim_try_ok(trial, "k");
    sim_print_flush();
    fflush(stdout);
    for (int block = 0; block < 50; block++) {
        for (int thread = 0; thread < 3; thread++) {
            sprintf(wanted + strlen(wanted), "%d.%d ", block, thread);
        }
    }
    cr_assert_stdout_eq_str(wanted);
    sim_try_end(trial);
}

Test(sim_print, a_format_that_is_not_in_memory_is_a_fault)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD DECLARE SIM_KERNEL("k", "{ .param .b64 a; .param .b64 b; .param .b32 c;\n"
                                         "st.param.b64 [a], 64;\nst.param.b64 [b], 0;\n"
                                         "call.uni (c), vprintf, (a, b); }\nret;\n"));

    cr_assert_eq(sim_try_run(trial, "k"), SIM_ILLEGAL_ADDRESS);
    cr_assert(strstr(trial->error.text, "the format of printf at 0x40"), "%s", trial->error.text);
    sim_try_end(trial);
}

Test(sim_print, assertions_print_what_failed)
{
    static char ptx[8000];

    strcpy(ptx, SIM_HEAD DECLARE);
    strcat(ptx, bytes_of("message", "i < 100"));
    strcat(ptx, bytes_of("file", "dir/t.cu"));
    strcat(ptx, bytes_of("where", "void k(int)"));
    strcat(ptx,
           SIM_KERNEL(
               "k", "setp.lt.u32 %p1, %r1, 20;\n@%p1 bra FINE;\n"
                    "mov.u64 %rd4, message;\nmov.u64 %rd5, file;\nmov.u64 %rd6, where;\n"
                    "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
                    "st.param.b64 [a], %rd4;\nst.param.b64 [b], %rd5;\nst.param.b32 [c], 15;\n"
                    "st.param.b64 [d], %rd6;\nst.param.b64 [e], 1;\n"
                    "call.uni __assertfail, (a, b, c, d, e); }\n"
                    "FINE: ret;\n"));
    struct sim_try *trial = sim_try_new(ptx);

    cr_assert_eq(sim_try_run(trial, "k"), SIM_ASSERT);
    cr_assert(strstr(trial->error.text, "block (0,0,0) thread (20,0,0)"), "%s", trial->error.text);
    cr_assert(strstr(trial->error.text, "dir/t.cu:15: void k(int): Assertion `i < 100` failed."),
              "%s", trial->error.text);
    sim_try_end(trial);
}
