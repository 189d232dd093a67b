/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of completions that option_table makes, on standard output. */
#ifndef GMT_DOCS_OPTION_SHELLS_H
#define GMT_DOCS_OPTION_SHELLS_H

/* Specifications of _arguments: of one command of the program (enum program of option_rows.h). */
void gmt_put_zsh(unsigned program, unsigned command);
/* The commands of gmanalyze as _describe takes them. */
void gmt_put_zsh_commands(void);
/* Calls of fish's complete, of all commands of the program. */
void gmt_put_fish(unsigned program);

#endif
