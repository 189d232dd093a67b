/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmt_own_stack_call(function, argument, top): call function(argument) with the stack pointer at `top`,
 * which is a multiple of 16. The caller's frame is found through the frame pointer, so unwinders pass from one stack
 * to the other, and calls and returns stay paired (shadow stacks).
 */
    .text
    .p2align 4
    .globl gmt_own_stack_call
    .hidden gmt_own_stack_call
    .type gmt_own_stack_call, @function
gmt_own_stack_call:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq    %rdx, %rsp
    movq    %rdi, %rax
    movq    %rsi, %rdi
    call    *%rax
    movq    %rbp, %rsp
    popq    %rbp
    .cfi_def_cfa %rsp, 8
    ret
#elif defined(__aarch64__)
    hint    #34 /* bti c */
    stp     x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov     x29, sp
    .cfi_def_cfa_register 29
    mov     sp, x2
    mov     x9, x0
    mov     x0, x1
    blr     x9
    mov     sp, x29
    .cfi_def_cfa_register 31
    ldp     x29, x30, [sp], #16
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    ret
#else
#error "the change of stacks is written for x86-64 and aarch64"
#endif
    .cfi_endproc
    .size gmt_own_stack_call, . - gmt_own_stack_call

    .section .note.GNU-stack, "", @progbits
