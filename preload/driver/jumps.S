/* SPDX-License-Identifier: Apache-2.0 */
/* The counting jumps behind entry points that have no hook, and where they count and go (jumps.h). */
#include "preload/driver/jumps.h"

/* GMT_JUMPS little functions: count, then jump to the entry point this one stands for. */
    .text
    .p2align GMT_JUMP_SHIFT
    .globl gmt_jump_code
    .hidden gmt_jump_code
    .hidden gmt_epoch_word
    .type gmt_jump_code, @function
gmt_jump_code:
    .set index, 0
    .rept GMT_JUMPS
    .p2align GMT_JUMP_SHIFT
#if defined(__x86_64__)
    endbr64
    movq    gmt_epoch_word(%rip), %r11 /* the register is free at any call */
    cmpl    $0, (%r11) /* GMT_EPOCH_FORKED: the count is the parent's */
    je      1f
    movq    (gmt_jump_count + 8 * index)(%rip), %r11
    lock incq (%r11)
1:
    jmp     *(gmt_jump_target + 8 * index)(%rip)
#elif defined(__aarch64__)
    hint    #34 /* bti c */
    adrp    x16, gmt_epoch_word /* x16 and x17 are free at any call */
    ldr     x16, [x16, :lo12:gmt_epoch_word]
    ldr     w17, [x16]
    cbz     w17, 1f
    adrp    x16, gmt_jump_count + 8 * index
    ldr     x16, [x16, :lo12:(gmt_jump_count + 8 * index)]
    str     x0, [sp, #-16]!
2:
    ldxr    x17, [x16]
    add     x17, x17, #1
    stxr    w0, x17, [x16]
    cbnz    w0, 2b
    ldr     x0, [sp], #16
1:
    adrp    x16, gmt_jump_target + 8 * index
    ldr     x16, [x16, :lo12:(gmt_jump_target + 8 * index)]
    br      x16
#else
#error "gmtrace's jumps are written for x86-64 and aarch64"
#endif
    .set index, index + 1
    .endr
    .size gmt_jump_code, . - gmt_jump_code

    .bss
    .p2align 5
    .globl gmt_jump_count
    .hidden gmt_jump_count
    .type gmt_jump_count, @object
    .size gmt_jump_count, 8 * GMT_JUMPS
gmt_jump_count:
    .zero 8 * GMT_JUMPS
    .globl gmt_jump_target
    .hidden gmt_jump_target
    .type gmt_jump_target, @object
    .size gmt_jump_target, 8 * GMT_JUMPS
gmt_jump_target:
    .zero 8 * GMT_JUMPS

    .section .note.GNU-stack, "", @progbits
