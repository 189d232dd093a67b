/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that must come next. */
#include "simgpu/ptx/parser.h"

void ptx_expect(struct ptx_parser *parser, char mark)
{
    const char expected[] = {'\'', mark, '\'', '\0'};

    if (!ptx_accept(parser, (uint32_t)mark)) {
        ptx_fail_unexpected(parser, expected);
    }
}

enum ptx_keyword ptx_keyword_here(const struct ptx_parser *parser)
{
    if (parser->token.kind != PTX_TOKEN_DOT) {
        return PTX_KEYWORD_NONE;
    }
    return (enum ptx_keyword)parser->token.atom->keyword;
}

struct ptx_atom *ptx_expect_word(struct ptx_parser *parser, const char *what)
{
    struct ptx_atom *atom = parser->token.atom;

    if (parser->token.kind != PTX_TOKEN_WORD) {
        ptx_fail_unexpected(parser, what);
        return NULL;
    }
    ptx_next(parser);
    return parser->failed ? NULL : atom;
}
