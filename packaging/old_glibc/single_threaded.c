/* SPDX-License-Identifier: Apache-2.0 */
/* glibc 2.32 sets it to 1 while a process has one thread only; libstdc++ uses atomic instructions where it is 0. */
extern char __libc_single_threaded;
char __libc_single_threaded;
