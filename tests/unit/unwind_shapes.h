/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose frames differ in kind; each calls `probe` somewhere inside. */
#ifndef GMT_TESTS_UNIT_UNWIND_SHAPES_H
#define GMT_TESTS_UNIT_UNWIND_SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef void unwind_probe(void);

struct unwind_shape {
    const char *name;
    void (*run)(unwind_probe *probe);
};

/* unwind_shapes.c, compiled several times over; the last one has no name. */
extern const struct unwind_shape unwind_shapes_plain[], unwind_shapes_framed[],
    unwind_shapes_unoptimized[], unwind_shapes_protected[], unwind_shapes_clang[];

/* unwind_shapes.cpp */
void unwind_in_catch(unwind_probe *probe);
void unwind_in_destructor(unwind_probe *probe);

/* unwind_asm.S: calls probe, says so by .cfi directives that compilers do not write. */
void unwind_asm_remember(unwind_probe *probe);
void unwind_asm_large(unwind_probe *probe);
void unwind_asm_escaped(unwind_probe *probe);
/* Executes ud2, two bytes long, at its very start, after a push and before its end. */
void unwind_asm_fault(void);

#ifdef __cplusplus
}
#endif

#endif
