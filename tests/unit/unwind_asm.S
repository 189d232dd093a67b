/* SPDX-License-Identifier: Apache-2.0 */
/* Frames by hand: what compilers seldom or never write, but assemblers accept. */
#ifdef __x86_64__
    .text

/* An early way out in the middle: the state is remembered and restored. */
    .globl unwind_asm_remember
    .type unwind_asm_remember, @function
unwind_asm_remember:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    subq $48, %rsp
    .cfi_adjust_cfa_offset 48
    testq %rdi, %rdi
    jne 1f
    .cfi_remember_state
    addq $48, %rsp
    .cfi_adjust_cfa_offset -48
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
    .cfi_restore_state
1:  movq $77, %rbp          /* no frame pointer: the walk must not take it for one */
    call *%rdi
    addq $48, %rsp
    .cfi_adjust_cfa_offset -48
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size unwind_asm_remember, . - unwind_asm_remember

/* Offsets of three bytes, an advance of more than a byte, and a register that is said to be the same. */
    .globl unwind_asm_large
    .type unwind_asm_large, @function
unwind_asm_large:
    .cfi_startproc
    .cfi_same_value %rbp
    .cfi_undefined %rax
    subq $100008, %rsp
    .cfi_def_cfa_offset 100016
    .skip 300, 0x90
    call *%rdi
    .cfi_register %rbx, %r11
    .skip 70000, 0x90
    addq $100008, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size unwind_asm_large, . - unwind_asm_large

/* The CFA by an expression: what lies at rbp - 8; rbp by another: at rbp + 0. */
    .globl unwind_asm_escaped
    .type unwind_asm_escaped, @function
unwind_asm_escaped:
    .cfi_startproc
    leaq 8(%rsp), %r10
    .cfi_def_cfa %r10, 0
    andq $-512, %rsp
    pushq -8(%r10)
    pushq %rbp
    movq %rsp, %rbp
    .cfi_escape 0x10, 6, 2, 0x76, 0     /* DW_CFA_expression rbp: DW_OP_breg6 0 */
    pushq %r10
    .cfi_escape 0x0f, 3, 0x76, 0x78, 6  /* DW_CFA_def_cfa_expression: DW_OP_breg6 -8, DW_OP_deref */
    subq $8, %rsp
    call *%rdi
    movq -8(%rbp), %r10
    .cfi_def_cfa %r10, 0
    movq %rbp, %rsp
    popq %rbp
    leaq -8(%r10), %rsp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size unwind_asm_escaped, . - unwind_asm_escaped

/* Faults at its first instruction, and again after a push. */
    .globl unwind_asm_fault
    .type unwind_asm_fault, @function
    .p2align 4
    int3                                /* what lies before belongs to no function */
    .p2align 4
    int3
unwind_asm_fault:
    .cfi_startproc
    ud2
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq $-1, %rbp
    ud2
    popq %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore %rbp
    ud2
    ret
    .cfi_endproc
    .size unwind_asm_fault, . - unwind_asm_fault
#elif defined(__aarch64__)
    .text

/* Faults before it has a frame, and after. */
    .globl unwind_asm_fault
    .type unwind_asm_fault, @function
    .p2align 4
unwind_asm_fault:
    .cfi_startproc
    udf     #0
    stp     x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov     x29, sp
    udf     #0
    ldp     x29, x30, [sp], #16
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size unwind_asm_fault, . - unwind_asm_fault
#endif
    .section .note.GNU-stack, "", @progbits
