/* SPDX-License-Identifier: Apache-2.0 */
/* GMT_EACH(M, SEPARATOR, a, b, ...): M(a) SEPARATOR() M(b) ..., for 1 to 16 arguments. */
#ifndef GMT_PRELOAD_HOOKS_EACH_H
#define GMT_PRELOAD_HOOKS_EACH_H

#define GMT_EACH_1(M, S, a) M(a)
#define GMT_EACH_2(M, S, a, ...) M(a) S() GMT_EACH_1(M, S, __VA_ARGS__)
#define GMT_EACH_3(M, S, a, ...) M(a) S() GMT_EACH_2(M, S, __VA_ARGS__)
#define GMT_EACH_4(M, S, a, ...) M(a) S() GMT_EACH_3(M, S, __VA_ARGS__)
#define GMT_EACH_5(M, S, a, ...) M(a) S() GMT_EACH_4(M, S, __VA_ARGS__)
#define GMT_EACH_6(M, S, a, ...) M(a) S() GMT_EACH_5(M, S, __VA_ARGS__)
#define GMT_EACH_7(M, S, a, ...) M(a) S() GMT_EACH_6(M, S, __VA_ARGS__)
#define GMT_EACH_8(M, S, a, ...) M(a) S() GMT_EACH_7(M, S, __VA_ARGS__)
#define GMT_EACH_9(M, S, a, ...) M(a) S() GMT_EACH_8(M, S, __VA_ARGS__)
#define GMT_EACH_10(M, S, a, ...) M(a) S() GMT_EACH_9(M, S, __VA_ARGS__)
#define GMT_EACH_11(M, S, a, ...) M(a) S() GMT_EACH_10(M, S, __VA_ARGS__)
#define GMT_EACH_12(M, S, a, ...) M(a) S() GMT_EACH_11(M, S, __VA_ARGS__)
#define GMT_EACH_13(M, S, a, ...) M(a) S() GMT_EACH_12(M, S, __VA_ARGS__)
#define GMT_EACH_14(M, S, a, ...) M(a) S() GMT_EACH_13(M, S, __VA_ARGS__)
#define GMT_EACH_15(M, S, a, ...) M(a) S() GMT_EACH_14(M, S, __VA_ARGS__)
#define GMT_EACH_16(M, S, a, ...) M(a) S() GMT_EACH_15(M, S, __VA_ARGS__)
#define GMT_EACH_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, NAME, ...) NAME
#define GMT_EACH(M, S, ...) \
    GMT_EACH_PICK(__VA_ARGS__, GMT_EACH_16, GMT_EACH_15, GMT_EACH_14, GMT_EACH_13, GMT_EACH_12, \
                  GMT_EACH_11, GMT_EACH_10, GMT_EACH_9, GMT_EACH_8, GMT_EACH_7, GMT_EACH_6, \
                  GMT_EACH_5, GMT_EACH_4, GMT_EACH_3, GMT_EACH_2, GMT_EACH_1, 0) \
    (M, S, __VA_ARGS__)

#define GMT_STRIP(...) __VA_ARGS__
#define GMT_NOTHING()
#define GMT_COMMA() ,

#endif
