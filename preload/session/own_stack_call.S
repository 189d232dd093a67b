/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmt_own_stack_call(function, argument, top): call function(argument) with the stack pointer at `top`,
 * which is a multiple of 16. The caller's frame is found through %rbp, so unwinders pass from one stack
 * to the other, and calls and returns stay paired (shadow stacks).
 */
#if !defined(__x86_64__)
#error "the change of stacks is written for x86-64"
#endif

    .text
    .p2align 4
    .globl gmt_own_stack_call
    .hidden gmt_own_stack_call
    .type gmt_own_stack_call, @function
gmt_own_stack_call:
    .cfi_startproc
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
    .cfi_endproc
    .size gmt_own_stack_call, . - gmt_own_stack_call

    .section .note.GNU-stack, "", @progbits
