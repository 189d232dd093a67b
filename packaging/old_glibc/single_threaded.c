/* SPDX-License-Identifier: Apache-2.0 */
/* glibc 2.32 tells by it whether a process has one thread only; libstdc++ uses atomic instructions where it is 0. */
extern char __libc_single_threaded;
char __libc_single_threaded;
