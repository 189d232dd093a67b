/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels do: on numbers (bodies.c), and on memory that leads to other memory (bodies_linked.c). */
#ifndef CLIENTS_REPEAT_BODIES_H
#define CLIENTS_REPEAT_BODIES_H

#include "repeat/repeat.h"

/* Bytes of `count` words of four bytes. */
size_t bytes_words(const struct block *block, unsigned pointer);

#define BODY(name) \
    void write_##name(struct text *text, const struct block *block); \
    size_t bytes_##name(const struct block *block, unsigned pointer);
BODY(last_block)
BODY(list)
BODY(ping_pong)
BODY(module_counter)
#undef BODY
void fill_list(const struct block *block, unsigned pointer, unsigned char *bytes);
void fill_ping_pong(const struct block *block, unsigned pointer, unsigned char *bytes);
void declare_module_counter(struct text *text, const struct block *block);
void begin_module_counter(struct block *block);
void finish_module_counter(struct block *block);

#endif
