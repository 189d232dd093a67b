/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of PTX text. */
#ifndef SIMGPU_PTX_LEXER_H
#define SIMGPU_PTX_LEXER_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_atom;
struct ptx_parser;

enum ptx_keyword {
    PTX_KEYWORD_NONE = 0,
#define PTX_KEYWORD(word, place) PTX_KEYWORD_##word,
#include "simgpu/ptx/keywords.def"
#undef PTX_KEYWORD
    PTX_KEYWORDS
};

enum ptx_token_kind {
    PTX_TOKEN_END = 0, /* of the text; also after an error */
    PTX_TOKEN_WORD,    /* name, opcode */
    PTX_TOKEN_DOT,     /* .word, without the dot: directive, modifier, component */
    PTX_TOKEN_INTEGER,
    PTX_TOKEN_FLOAT,
    PTX_TOKEN_STRING, /* without the quotes */
    PTX_TOKEN_MARK,
};

/* Marks of two characters. */
#define PTX_MARK2(first, second) ((uint32_t)(first) << 8 | (uint32_t)(second))

struct ptx_token {
    enum ptx_token_kind kind;
    uint32_t mark;
    uint32_t at, end; /* in the text */
    uint32_t line;
    struct ptx_atom *atom; /* of words and strings */
    uint64_t bits;         /* an integer; of a double, or of a float if is_float32 */
    bool is_unsigned, is_float32;
};

/* Read the next token into parser->token. */
void ptx_next(struct ptx_parser *parser);

#endif
