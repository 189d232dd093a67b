/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before each function of the driver (every_call.h). */
#include "preload/apply/every_call.h"

/* GMT_EVERY_CALLS little functions: count; where something is to be done first, do it; jump on. */
    .text
    .p2align GMT_EVERY_CALL_SHIFT
    .globl gmt_every_call_code
    .hidden gmt_every_call_code
    .type gmt_every_call_code, @function
gmt_every_call_code:
    .set index, 0
    .rept GMT_EVERY_CALLS
    .p2align GMT_EVERY_CALL_SHIFT
#if defined(__x86_64__)
    endbr64
    lock incq gmt_every_call_count(%rip)
    movl    gmt_every_call_stops(%rip), %r11d /* the register is free at any call */
    orl     (gmt_every_call_always + 4 * index)(%rip), %r11d
    jne     1f
    jmp     *(gmt_every_call_target + 8 * index)(%rip)
1:
    movl    $index, %r11d
    jmp     before
#elif defined(__aarch64__)
    hint    #34 /* bti c */
    adrp    x16, gmt_every_call_count /* x16 and x17 are free at any call */
    add     x16, x16, :lo12:gmt_every_call_count
    str     x0, [sp, #-16]!
2:
    ldaxr   x17, [x16]
    add     x17, x17, #1
    stlxr   w0, x17, [x16]
    cbnz    w0, 2b
    ldr     x0, [sp], #16
    dmb     ish
    adrp    x16, gmt_every_call_stops
    ldr     w16, [x16, :lo12:gmt_every_call_stops]
    cbnz    w16, 1f
    adrp    x16, gmt_every_call_always + 4 * index
    ldr     w16, [x16, :lo12:(gmt_every_call_always + 4 * index)]
    cbnz    w16, 1f
    adrp    x16, gmt_every_call_target + 8 * index
    ldr     x16, [x16, :lo12:(gmt_every_call_target + 8 * index)]
    br      x16
1:
    mov     w16, #index
    b       before
#else
#error "gmtrace's jumps are written for x86-64 and aarch64"
#endif
    .set index, index + 1
    .endr
    .size gmt_every_call_code, . - gmt_every_call_code

/* Keeps all that parameters may be in, and asks *gmt_every_call_begin where to go on. */
    .type before, @function
before:
    .cfi_startproc
#if defined(__x86_64__)
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    andq    $-16, %rsp
    subq    $192, %rsp
    movq    %rdi, (%rsp)
    movq    %rsi, 8(%rsp)
    movq    %rdx, 16(%rsp)
    movq    %rcx, 24(%rsp)
    movq    %r8, 32(%rsp)
    movq    %r9, 40(%rsp)
    movq    %rax, 48(%rsp)
    movq    %r10, 56(%rsp)
    movaps  %xmm0, 64(%rsp)
    movaps  %xmm1, 80(%rsp)
    movaps  %xmm2, 96(%rsp)
    movaps  %xmm3, 112(%rsp)
    movaps  %xmm4, 128(%rsp)
    movaps  %xmm5, 144(%rsp)
    movaps  %xmm6, 160(%rsp)
    movaps  %xmm7, 176(%rsp)
    movl    %r11d, %edi
    call    *gmt_every_call_begin(%rip)
    movq    %rax, %r11
    movq    (%rsp), %rdi
    movq    8(%rsp), %rsi
    movq    16(%rsp), %rdx
    movq    24(%rsp), %rcx
    movq    32(%rsp), %r8
    movq    40(%rsp), %r9
    movq    48(%rsp), %rax
    movq    56(%rsp), %r10
    movaps  64(%rsp), %xmm0
    movaps  80(%rsp), %xmm1
    movaps  96(%rsp), %xmm2
    movaps  112(%rsp), %xmm3
    movaps  128(%rsp), %xmm4
    movaps  144(%rsp), %xmm5
    movaps  160(%rsp), %xmm6
    movaps  176(%rsp), %xmm7
    movq    %rbp, %rsp
    popq    %rbp
    .cfi_def_cfa %rsp, 8
    jmp     *%r11
#elif defined(__aarch64__)
    stp     x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov     x29, sp
    .cfi_def_cfa_register 29
    sub     sp, sp, #208
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    str     x8, [sp, #64]
    stp     q0, q1, [sp, #80]
    stp     q2, q3, [sp, #112]
    stp     q4, q5, [sp, #144]
    stp     q6, q7, [sp, #176]
    mov     w0, w16
    adrp    x16, gmt_every_call_begin
    ldr     x16, [x16, :lo12:gmt_every_call_begin]
    blr     x16
    mov     x16, x0
    ldp     x0, x1, [sp]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldr     x8, [sp, #64]
    ldp     q0, q1, [sp, #80]
    ldp     q2, q3, [sp, #112]
    ldp     q4, q5, [sp, #144]
    ldp     q6, q7, [sp, #176]
    add     sp, sp, #208
    ldp     x29, x30, [sp], #16
    .cfi_def_cfa 31, 0
    br      x16
#endif
    .cfi_endproc
    .size before, . - before

    .bss
    .p2align 6
    .globl gmt_every_call_count
    .hidden gmt_every_call_count
    .type gmt_every_call_count, @object
    .size gmt_every_call_count, 8
gmt_every_call_count:
    .zero 8
    .globl gmt_every_call_begin
    .hidden gmt_every_call_begin
    .type gmt_every_call_begin, @object
    .size gmt_every_call_begin, 8
gmt_every_call_begin:
    .zero 8
    .globl gmt_every_call_stops
    .hidden gmt_every_call_stops
    .type gmt_every_call_stops, @object
    .size gmt_every_call_stops, 4
gmt_every_call_stops:
    .zero 4
    .p2align 5
    .globl gmt_every_call_target
    .hidden gmt_every_call_target
    .type gmt_every_call_target, @object
    .size gmt_every_call_target, 8 * GMT_EVERY_CALLS
gmt_every_call_target:
    .zero 8 * GMT_EVERY_CALLS
    .globl gmt_every_call_always
    .hidden gmt_every_call_always
    .type gmt_every_call_always, @object
    .size gmt_every_call_always, 4 * GMT_EVERY_CALLS
gmt_every_call_always:
    .zero 4 * GMT_EVERY_CALLS

    .section .note.GNU-stack, "", @progbits
