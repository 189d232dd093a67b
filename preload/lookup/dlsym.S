/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym as a tail jump.
 *
 * glibc's dlsym looks at its return address to know which object asks (RTLD_NEXT depends on it), so
 * the real one must be entered with the caller's frame untouched: ask a filter, then jump.
 */
    .text
    .p2align 4
    .globl dlsym
    .type dlsym, @function
dlsym:
    /* Only cu[A-Z]*, cupti* and In*: the driver's names, CUPTI's and our own, not cublas*, curl*. */
#if defined(__x86_64__)
    endbr64
    test    %rsi, %rsi
    jz      .Lreal
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
#elif defined(__aarch64__)
    .hidden gmt_real_dlsym
    hint    #34 /* bti c */
    cbz     x1, .Lreal
    ldrb    w9, [x1]
    cmp     w9, #'I'
    b.eq    .Lway_in
    cmp     w9, #'c'
    b.ne    .Lreal
    ldrb    w9, [x1, #1]
    cmp     w9, #'u'
    b.ne    .Lreal
    ldrb    w9, [x1, #2]
    cmp     w9, #'p'
    b.eq    .Lcupti
    sub     w9, w9, #'A'
    cmp     w9, #25
    b.hi    .Lreal
.Lours:
    stp     x29, x30, [sp, #-32]!
    mov     x29, sp
    str     x1, [sp, #16]
    mov     x2, x30         /* who asks */
    bl      gmt_dlsym_filter
    ldr     x3, [sp, #16]
    ldp     x29, x30, [sp], #32
    cbz     x0, .Lask
    cmp     x0, #1
    b.eq    .Lnothing
    ret
.Lask:
    mov     x0, x1          /* the handle to ask by */
    mov     x1, x3
    b       .Lreal
.Lnothing:
    mov     x0, #0
    ret
.Lway_in:
    ldrb    w9, [x1, #1]
    cmp     w9, #'n'
    b.eq    .Lours
    b       .Lreal
.Lcupti:
    ldrb    w9, [x1, #3]
    cmp     w9, #'t'
    b.ne    .Lreal
    ldrb    w9, [x1, #4]
    cmp     w9, #'i'
    b.eq    .Lours
.Lreal:
    adrp    x16, gmt_real_dlsym
    ldr     x16, [x16, :lo12:gmt_real_dlsym]
    cbz     x16, .Lfirst
    br      x16
.Lfirst:
    stp     x29, x30, [sp, #-32]!
    mov     x29, sp
    stp     x0, x1, [sp, #16]
    bl      gmt_find_real_dlsym
    mov     x16, x0
    ldp     x0, x1, [sp, #16]
    ldp     x29, x30, [sp], #32
    br      x16
#else
#error "gmtrace's dlsym is written for x86-64 and aarch64"
#endif
    .size dlsym, . - dlsym

    .section .note.GNU-stack, "", @progbits
