/* SPDX-License-Identifier: Apache-2.0 */
/* PTX written in tests: the text around it, and what must hold of every module. */
#ifndef GMT_TESTS_PTX_FIXTURE_H
#define GMT_TESTS_PTX_FIXTURE_H

#include <stddef.h>

#include "simgpu/ptx/ptx.h"

/* The module of "<version, target, address size> declarations"; fails the test if there is none. */
struct ptx_module *gmt_ptx_module(const char *declarations);

/*
 * The kernel of a module in which `body` stands between the braces of `.entry k(.param .u64 out)`, with
 * predicates %p<10>, registers %r<100>, %rd<100> (64 bits), %f<100> (f32). Its module is in *module.
 */
const struct ptx_function *gmt_ptx_kernel(const char *body, struct ptx_module **module);

/* Declarations that are refused: fails the test unless `line` (from 1) and `part` of the text agree. */
void gmt_ptx_refused(const char *declarations, uint32_t line, const char *part);

/* Contents of a file under tests/data, NUL-terminated; the caller frees it. */
char *gmt_data_file(const char *name, size_t *bytes);

#endif
