/* SPDX-License-Identifier: Apache-2.0 */
/* The device code that looks through memory for words in windows (scan.c). */
#include "preload/repeat/scan.h"
#include "preload/repeat/windows.h"

/*
 * gmt_scan_put(to, entries, found, windows): puts `entries` (at most GMT_SCAN_PUT) windows at `to`, and 0 into the counter at
 * `found`. A block of GMT_SCAN_PUT threads. As parameters they come with the launch: copies from the host that are made
 * right after CUPTI's records of copies were switched off got into them (docs/cupti-notes.md).
 *
 * gmt_scan(base, words, table, entries, found): each of `words` 8-byte words at `base` that lies in a window is put
 * behind the counter at `found`; a thread that finds no room there ends. `table` has `entries` windows (first, end),
 * ascending.
 *
 * A thread takes every n-th word, n being the number of threads. Words outside of all windows (most data) cost two
 * comparisons; for the others the last window that begins at or below the word is searched for.
 */
_Static_assert(GMT_SCAN_PUT * sizeof(struct gmt_window) == 3840 && GMT_SCAN_WORDS == 65536,
               "as in the code");
_Static_assert(GMT_WINDOWS % GMT_SCAN_PUT == 0, "a launch takes GMT_SCAN_PUT windows, used or not");

const char gmt_scan_ptx[] =
    ".version 6.4\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry gmt_scan_put(.param .u64 to, .param .u32 entries, .param .u64 found,\n"
    "                             .param .align 8 .b8 windows[3840])\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<2>;\n"
    "  .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d0, [to];\n"
    "  ld.param.u32 %r0, [entries];\n"
    "  ld.param.u64 %d1, [found];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  setp.ge.u32 %p0, %r1, %r0;\n"
    "  @%p0 bra end;\n"
    "  mul.wide.u32 %d2, %r1, 16;\n"
    "  mov.b64 %d3, windows;\n"
    "  add.u64 %d3, %d3, %d2;\n"
    "  ld.param.u64 %d4, [%d3];\n"
    "  ld.param.u64 %d5, [%d3+8];\n"
    "  add.u64 %d6, %d0, %d2;\n"
    "  st.global.u64 [%d6], %d4;\n"
    "  st.global.u64 [%d6+8], %d5;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n"
    "  @%p1 bra end;\n"
    "  mov.u64 %d7, 0;\n"
    "  st.global.u64 [%d1], %d7;\n"
    "end:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry gmt_scan(.param .u64 base, .param .u64 words, .param .u64 table,\n"
    "                         .param .u32 entries, .param .u64 found)\n"
    "{\n"
    "  .reg .pred %p<7>;\n"
    "  .reg .b32 %r<10>;\n"
    "  .reg .b64 %d<18>;\n"
    "  ld.param.u64 %d0, [base];\n"
    "  ld.param.u64 %d1, [words];\n"
    "  ld.param.u64 %d2, [table];\n"
    "  ld.param.u32 %r0, [entries];\n"
    "  ld.param.u64 %d3, [found];\n"
    /* %d4: the word at hand; %d6: the step */
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mov.u32 %r4, %nctaid.x;\n"
    "  mul.wide.u32 %d4, %r1, %r2;\n"
    "  cvt.u64.u32 %d5, %r3;\n"
    "  add.u64 %d4, %d4, %d5;\n"
    "  mul.wide.u32 %d6, %r4, %r2;\n"
    /* %d7: the first address of all windows; %d9: the end of the last */
    "  ld.global.u64 %d7, [%d2];\n"
    "  mul.wide.u32 %d8, %r0, 16;\n"
    "  add.u64 %d8, %d2, %d8;\n"
    "  ld.global.u64 %d9, [%d8+-8];\n"
    "next:\n"
    "  setp.ge.u64 %p0, %d4, %d1;\n"
    "  @%p0 bra done;\n"
    "  shl.b64 %d10, %d4, 3;\n"
    "  add.u64 %d10, %d0, %d10;\n"
    "  ld.global.u64 %d11, [%d10];\n"
    "  add.u64 %d4, %d4, %d6;\n"
    "  setp.lt.u64 %p1, %d11, %d7;\n"
    "  @%p1 bra next;\n"
    "  setp.ge.u64 %p2, %d11, %d9;\n"
    "  @%p2 bra next;\n"
    "  mov.u32 %r5, 0;\n"
    "  mov.u32 %r6, %r0;\n"
    "search:\n" /* the window is one of [%r5, %r6) */
    "  sub.u32 %r7, %r6, %r5;\n"
    "  setp.le.u32 %p3, %r7, 1;\n"
    "  @%p3 bra window;\n"
    "  add.u32 %r8, %r5, %r6;\n"
    "  shr.u32 %r8, %r8, 1;\n"
    "  mul.wide.u32 %d12, %r8, 16;\n"
    "  add.u64 %d12, %d2, %d12;\n"
    "  ld.global.u64 %d13, [%d12];\n"
    "  setp.le.u64 %p4, %d13, %d11;\n"
    "  selp.u32 %r5, %r8, %r5, %p4;\n"
    "  selp.u32 %r6, %r6, %r8, %p4;\n"
    "  bra search;\n"
    "window:\n"
    "  mul.wide.u32 %d14, %r5, 16;\n"
    "  add.u64 %d14, %d2, %d14;\n"
    "  ld.global.u64 %d15, [%d14+8];\n"
    "  setp.ge.u64 %p5, %d11, %d15;\n"
    "  @%p5 bra next;\n"
    "  atom.global.add.u64 %d16, [%d3], 1;\n"
    "  setp.ge.u64 %p6, %d16, 65536;\n"
    "  @%p6 bra done;\n"
    "  shl.b64 %d17, %d16, 3;\n"
    "  add.u64 %d17, %d3, %d17;\n"
    "  st.global.u64 [%d17+8], %d11;\n"
    "  bra next;\n"
    "done:\n"
    "  ret;\n"
    "}\n";
