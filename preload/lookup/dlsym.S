/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym as a tail jump.
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
    /* Only cu[A-Z]*, cupti* and In*: the driver's names, CUPTI's and our own, not cublas*, curl*. */
    cmpb    $'I', (%rsi)
    je      .Lway_in
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
    movq    (%rsp), %rdx    /* who asks */
    pushq   %rsi
    call    gmt_dlsym_filter
    popq    %rsi
    movq    %rdx, %rdi      /* the handle to ask by */
    test    %rax, %rax
    jz      .Lreal
    cmpq    $1, %rax
    je      .Lnothing
    ret
.Lnothing:
    xorl    %eax, %eax
    ret
.Lway_in:
    cmpb    $'n', 1(%rsi)
    je      .Lours
    jmp     .Lreal
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

    .section .note.GNU-stack, "", @progbits
