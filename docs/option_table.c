/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_table TEMPLATE [PAGE ...]: the template on stdout, lines between two @ replaced by what the
 * tables of options, and the pages of the rules, hold:
 *
 *   @OPTIONS gmtrace@, @OPTIONS gmanalyze COMMAND@   a list of options, in mdoc
 *   @SYNOPSIS gmanalyze@                             a line per command that has a name, in mdoc
 *   @COMMANDS gmanalyze@                             the commands and their options, in mdoc
 *   @RULES@                                          each rule, with the first sentence of its page, in mdoc
 *   @FIGURES@                                        the figures of budgets and comparisons, in mdoc
 *   @TABLE gmtrace@, @TABLE gmanalyze@               "COMMAND --FLAG -LETTER METAVAR" per line, - for
 *                                                    what there is not: what completion reads
 *   @ZSH gmtrace@, @ZSH gmanalyze COMMAND@           options as zsh's _arguments takes them
 *   @ZSHCOMMANDS gmanalyze@                          the commands as zsh's _describe takes them
 *   @FISH gmtrace@, @FISH gmanalyze@                 options and commands for fish
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "docs/option_rows.h"
#include "docs/option_shells.h"

enum { COLUMNS = 78 };

/* Text, broken at spaces: long lines are bad style in a page's source. */
static void put_text(const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column != 0) {
            int wraps = column + 1 + word > COLUMNS;
            putchar(wraps ? '\n' : ' ');
            column = wraps ? 0 : column + 1;
        }
        /* A line must not begin with what roff takes for a request. */
        if (column == 0 && (*text == '.' || *text == '\'')) {
            fputs("\\&", stdout);
        }
        for (size_t i = 0; i < word; i++) {
            fputs(text[i] == '\\' ? "\\e" : (char[]){text[i], '\0'}, stdout);
        }
        column += word;
        text += word + (text[word] == ' ');
        /* mdoc wants sentences to begin on lines of their own. */
        if (word > 1 && text[-1] == ' ' && text[-2] == '.') {
            putchar('\n');
            column = 0;
        }
    }
    if (column != 0) {
        putchar('\n');
    }
}

/* The same as a sentence: --help has no full stop behind its only one. */
static void put_sentence(const char *text)
{
    char sentence[1024];
    size_t length = strlen(text);
    int ends = length > 0 && text[length - 1] == '.';
    snprintf(sentence, sizeof sentence, "%s%s", text, ends ? "" : ".");
    put_text(sentence);
}

static void put_head(const struct option_row *row)
{
    printf(".It ");
    if (row->letter != 0) {
        printf("Fl %c", row->letter);
        if (row->metavar != NULL) {
            printf(" Ar %s", row->metavar);
        }
        printf(" , ");
    }
    printf("Fl -%s", row->flag);
    if (row->metavar != NULL) {
        printf(" Ns = Ns Ar %s", row->metavar);
    }
    putchar('\n');
}

static int is_of(const struct option_row *row, enum program program, unsigned mask)
{
    return row->program == program && (row->commands & mask) != 0;
}

static void put_options(enum program program, unsigned mask)
{
    puts(".Bl -tag -width Ds");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_row *row = &options[i];
        if (!is_of(row, program, mask)) {
            continue;
        }
        put_head(row);
        if (row->variable != NULL) {
            printf(".Pq Ev %s\n", row->variable);
        }
        put_sentence(row->help);
        if (row->standard[0] != '\0') {
            printf(".Pp\nDefault:\n.Cm %s\n", row->standard);
        }
    }
    puts(".El");
}

static int has_options(enum program program, unsigned mask)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (is_of(&options[i], program, mask)) {
            return 1;
        }
    }
    return 0;
}

/* The first command is the one that needs no name: the template says how it is used. */
static void put_synopsis(void)
{
    for (unsigned i = 1; i < COMMANDS; i++) {
        printf(".Nm\n.Cm %s\n", commands[i].name);
        if (has_options(GMANALYZE, 1u << i)) {
            puts(".Op Ar option ...");
        }
        printf(".Ar %s\n", commands[i].arguments);
    }
}

static void put_commands(void)
{
    for (unsigned i = 1; i < COMMANDS; i++) {
        printf(".Ss %s\n", commands[i].name);
        put_text(commands[i].summary);
        if (has_options(GMANALYZE, 1u << i)) {
            put_options(GMANALYZE, 1u << i);
        }
    }
}

static void put_figures(void)
{
    static const struct {
        const char *name, *label;
        bool gated;
    } figures[] = {
#define GMT_FIGURE(name, kind, gated, label, value) {#name, label, gated},
#include "reports/model/figures.def"
#undef GMT_FIGURE
    };
    puts(".Bl -tag -width peak_device_bytes -compact");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        printf(".It Cm %s\n%s%s\n", figures[i].name, figures[i].label,
               figures[i].gated ? "; held to a baseline" : "");
    }
    puts(".El");
}

/* The head of a page is "# ID SLUG: TITLE"; its first sentence stands below "## What". */
static int put_rule(const char *path)
{
    char line[512], id[16], slug[64], what[1024] = "";
    FILE *page = fopen(path, "r");
    int in_what = 0, rc = 1;

    if (page == NULL || fgets(line, sizeof line, page) == NULL ||
        sscanf(line, "# %15s %63[^:]:", id, slug) != 2) {
        goto out;
    }
    while (rc != 0 && fgets(line, sizeof line, page) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (in_what && line[0] != '\0') {
            size_t length = strlen(what);
            snprintf(what + length, sizeof what - length, "%s%s", length == 0 ? "" : " ", line);
        }
        in_what = in_what || strcmp(line, "## What") == 0;
        /* The sentence ends at a full stop with a space or nothing behind it. */
        for (char *stop = strchr(what, '.'); stop != NULL; stop = strchr(stop + 1, '.')) {
            if (stop[1] == ' ' || stop[1] == '\0') {
                stop[1] = '\0';
                rc = 0;
                break;
            }
        }
    }
    if (rc == 0) {
        /* Marks of code in Markdown: a page of man shows them as they are. */
        char *to = what;
        for (const char *from = what; *from != '\0'; from++) {
            if (*from != '`') {
                *to++ = *from;
            }
        }
        *to = '\0';
        printf(".It Cm %s Pq %s\n", id, slug);
        put_text(what);
    }
out:
    if (page != NULL) {
        fclose(page);
    }
    return rc;
}

static int put_rules(char **pages)
{
    puts(".Bl -tag -width Ds");
    for (; *pages != NULL; pages++) {
        if (put_rule(*pages) != 0) {
            fprintf(stderr, "option_table: %s: no head, or no sentence below What\n", *pages);
            return -1;
        }
    }
    puts(".El");
    return 1;
}

static void put_table_row(const char *command, const struct option_row *row)
{
    char letter[] = "-x";
    letter[1] = (char)row->letter;
    printf("%s --%s %s %s\n", command, row->flag, letter,
           row->metavar != NULL ? row->metavar : "-");
}

static void put_table(enum program program)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (program == GMTRACE && is_of(&options[i], GMTRACE, 1)) {
            put_table_row("record", &options[i]);
        }
        for (unsigned command = 0; program == GMANALYZE && command < COMMANDS; command++) {
            if (is_of(&options[i], GMANALYZE, 1u << command)) {
                put_table_row(commands[command].name, &options[i]);
            }
        }
    }
    /* Commands without options count too. */
    for (unsigned command = 0; program == GMANALYZE && command < COMMANDS; command++) {
        printf("%s --help -? -\n", commands[command].name);
    }
}

/* 1: was one; 0: none; -1: failed, and said so. */
static int put_directive(const char *line, char **pages)
{
    for (unsigned i = 0; i < COMMANDS; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "@OPTIONS gmanalyze %s@\n", commands[i].name);
        if (strcmp(line, wanted) == 0) {
            put_options(GMANALYZE, 1u << i);
            return 1;
        }
        snprintf(wanted, sizeof wanted, "@ZSH gmanalyze %s@\n", commands[i].name);
        if (strcmp(line, wanted) == 0) {
            gmt_put_zsh(GMANALYZE, i);
            return 1;
        }
    }
    if (strcmp(line, "@OPTIONS gmtrace@\n") == 0) {
        put_options(GMTRACE, 1);
    } else if (strcmp(line, "@SYNOPSIS gmanalyze@\n") == 0) {
        put_synopsis();
    } else if (strcmp(line, "@COMMANDS gmanalyze@\n") == 0) {
        put_commands();
    } else if (strcmp(line, "@RULES@\n") == 0) {
        return put_rules(pages);
    } else if (strcmp(line, "@FIGURES@\n") == 0) {
        put_figures();
    } else if (strcmp(line, "@TABLE gmtrace@\n") == 0) {
        put_table(GMTRACE);
    } else if (strcmp(line, "@TABLE gmanalyze@\n") == 0) {
        put_table(GMANALYZE);
    } else if (strcmp(line, "@ZSH gmtrace@\n") == 0) {
        gmt_put_zsh(GMTRACE, 0);
    } else if (strcmp(line, "@ZSHCOMMANDS gmanalyze@\n") == 0) {
        gmt_put_zsh_commands();
    } else if (strcmp(line, "@FISH gmtrace@\n") == 0) {
        gmt_put_fish(GMTRACE);
    } else if (strcmp(line, "@FISH gmanalyze@\n") == 0) {
        gmt_put_fish(GMANALYZE);
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char line[4096];
    FILE *template = argc >= 2 ? fopen(argv[1], "r") : NULL;
    if (template == NULL) {
        fputs("usage: option_table TEMPLATE [PAGE ...]\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, template) != NULL) {
        int put = put_directive(line, argv + 2);
        if (put < 0) {
            return 1;
        }
        if (put > 0) {
            continue;
        }
        /* A misspelt directive must not end up in a page. */
        if (line[0] == '@') {
            fprintf(stderr, "option_table: %s: %s", argv[1], line);
            return 1;
        }
        fputs(line, stdout);
    }
    return fclose(template) == 0 && fflush(stdout) == 0 ? 0 : 1;
}
