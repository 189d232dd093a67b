/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of no object. Nobody describes its frames; but what follows the call often says enough: code
 * that only calls (an interpreter's trampoline) goes on with its epilogue. Else the frame pointer is
 * tried. The bytes are fetched through the kernel, which refuses where nothing is mapped.
 */
#include "preload/unwind/generated.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/unwind/row.h"

#define LOWEST_CODE 65536u /* below it lie numbers, not addresses */

bool gmt_code_ends_call(const uint8_t *at)
{
#ifdef __x86_64__
    if (at[-5] == 0xe8) { /* call rel32 */
        return true;
    }
    for (int length = 2; length <= 7; length++) { /* ff /2 with up to 5 bytes of operand */
        if (at[-length] == 0xff && (at[-length + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
#elif defined(__aarch64__)
    uint32_t word;
    memcpy(&word, at - sizeof(word), sizeof(word));
    return (word & 0xfc000000u) == 0x94000000u || /* bl */
           (word & 0xfffffc1fu) == 0xd63f0000u || /* blr */
           (word & 0xfefff800u) == 0xd63f0800u;   /* blraa and its kin */
#else
    (void)at;
    return true; /* instructions of this machine are not known here */
#endif
}

/* add $n,%rsp; pop %rbp or leave, as far as there; ret. */
static uint64_t row_of_epilogue(const uint8_t *code)
{
#ifdef __x86_64__
    int16_t free_bytes = 0;
    if (code[0] == 0xc9 && code[1] == 0xc3) {
        return gmt_row_make(GMT_BASE_BP, 16, GMT_BP_AT_CFA, -2);
    }
    if (code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 && code[3] < 0x80) {
        free_bytes = code[3];
        code += 4;
    }
    if (code[0] == 0x5d && code[1] == 0xc3) {
        return gmt_row_make(GMT_BASE_SP, free_bytes + 16, GMT_BP_AT_CFA, -2);
    }
    if (code[0] == 0xc3) {
        return gmt_row_make(GMT_BASE_SP, free_bytes + 8, GMT_BP_SAME, 0);
    }
#else
    (void)code;
#endif
    return GMT_ROW_FRAME;
}

uint64_t gmt_generated_row(uintptr_t pc, bool interrupted)
{
    uint8_t code[GMT_CODE_BEFORE + GMT_CODE_AFTER] = {0};
    if (pc < LOWEST_CODE || pc > UINTPTR_MAX - GMT_CODE_AFTER) {
        return GMT_ROW_NOT_CODE | GMT_ROW_GENERATED;
    }
    struct iovec here = {.iov_base = code, .iov_len = sizeof(code)};
    struct iovec there = {.iov_base = (void *)(pc - GMT_CODE_BEFORE), // NOLINT
                          .iov_len = sizeof(code)};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (got < GMT_CODE_BEFORE || interrupted) {
        return GMT_ROW_FRAME | GMT_ROW_GENERATED; /* not seen: good for a certain step only */
    }
    if (!gmt_code_ends_call(code + GMT_CODE_BEFORE)) {
        return GMT_ROW_NOT_CODE | GMT_ROW_GENERATED;
    }
    return row_of_epilogue(code + GMT_CODE_BEFORE) | GMT_ROW_SOUND | GMT_ROW_GENERATED;
}
