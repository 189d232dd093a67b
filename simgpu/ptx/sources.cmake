# SPDX-License-Identifier: Apache-2.0
set(sim_ptx_sources array.c constant.c expect.c flow.c function.c graph.c initial.c lexer.c locs.c module.c names.c
    operand.c parser.c user_line.c register.c special.c statement.c symbols.c table.c types.c variable.c)
