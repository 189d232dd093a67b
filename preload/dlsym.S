/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym as a tail jump, and the counting jumps behind entry points that have no hook.
 *
 * glibc's dlsym looks at its return address to know which object asks (RTLD_NEXT depends on it), so
 * the real one must be entered with the caller's frame untouched: ask a filter, then jump.
 */
#if !defined(__x86_64__)
#error "gmtrace's dlsym is written for x86-64"
#endif

    .text
    .p2align 4
    .globl dlsym
    .type dlsym, @function
dlsym:
    endbr64
    test    %rsi, %rsi
    jz      .Lreal
    /* Only cu[A-Z]* and cupti*: CUDA driver entry points and CUPTI, not cublas*, curl*. */
    cmpb    $'c', (%rsi)
    jne     .Lreal
    cmpb    $'u', 1(%rsi)
    jne     .Lreal
    movzbl  2(%rsi), %eax
    cmpl    $'p', %eax
    je      .Lcupti
    subl    $'A', %eax
    cmpl    $25, %eax
    ja      .Lreal
.Lours:
    pushq   %rdi
    pushq   %rsi
    subq    $8, %rsp
    call    gmt_dlsym_filter
    addq    $8, %rsp
    popq    %rsi
    popq    %rdi
    test    %rax, %rax
    jz      .Lreal
    cmpq    $1, %rax
    je      .Lnothing
    ret
.Lnothing:
    xorl    %eax, %eax
    ret
.Lcupti:
    cmpb    $'t', 3(%rsi)
    jne     .Lreal
    cmpb    $'i', 4(%rsi)
    je      .Lours
.Lreal:
    movq    gmt_real_dlsym(%rip), %rax
    test    %rax, %rax
    jz      .Lfirst
    jmp     *%rax
.Lfirst:
    pushq   %rdi
    pushq   %rsi
    subq    $8, %rsp
    call    gmt_find_real_dlsym
    addq    $8, %rsp
    popq    %rsi
    popq    %rdi
    jmp     *%rax
    .size dlsym, . - dlsym

/* GMT_JUMPS (jumps.h) little functions: count, then jump to the entry point this one stands for. */
#include "preload/jumps.h"
    .p2align 4
    .globl gmt_jump_code
    .hidden gmt_jump_code
    .type gmt_jump_code, @function
gmt_jump_code:
    .set index, 0
    .rept GMT_JUMPS
    .p2align GMT_JUMP_SHIFT
    endbr64
    movq    (gmt_jump_count + 8 * index)(%rip), %r11 /* free at any call */
    lock incq (%r11)
    jmp     *(gmt_jump_target + 8 * index)(%rip)
    .set index, index + 1
    .endr
    .size gmt_jump_code, . - gmt_jump_code

    .section .note.GNU-stack, "", @progbits
