/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of options as zsh's _arguments and fish's complete have them. */
#include "docs/option_shells.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "docs/option_rows.h"

enum { MOST_HELP = 60 };

/* The first sentence of a help text, cut between words; `special` and the quote of the shell are escaped. */
static void put_clause(const char *text, const char *special, const char *quote)
{
    size_t length = strcspn(text, ".;");

    if (length > MOST_HELP) {
        for (length = MOST_HELP; length > 0 && text[length] != ' '; length--) {
        }
        length -= length > 0 && text[length - 1] == ',';
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, text[i]) != NULL) {
            putchar('\\');
        }
        putchar(text[i]);
    }
}

static void put_words(const char *metavar)
{
    for (; *metavar != '\0'; metavar++) {
        putchar(*metavar == '|' ? ' ' : *metavar);
    }
}

static bool names(const char *metavar, const char *what)
{
    return strstr(metavar, what) != NULL;
}

/* ":what it is:what completes it" */
static void put_zsh_value(const char *metavar)
{
    if (strchr(metavar, '|') != NULL) {
        fputs(":value:(", stdout);
        put_words(metavar);
        putchar(')');
    } else if (strcmp(metavar, "DIR") == 0) {
        fputs(":folder:_files -/", stdout);
    } else if (strcmp(metavar, "ID") == 0) {
        fputs(":rule:_gmanalyze_rules", stdout);
    } else if (names(metavar, ".db")) {
        fputs(":trace:_files -g \"*.db\"", stdout);
    } else if (names(metavar, "FILE") || names(metavar, "PATTERN")) {
        fputs(":file:_files", stdout);
    } else {
        printf(":%s: ", metavar);
    }
}

static void put_zsh_row(const struct option_row *row)
{
    const char *const ends[] = {row->letter != 0 ? "+" : NULL, "="};
    char letter[] = "-x";

    letter[1] = (char)row->letter;
    for (int i = 0; i < 2; i++) {
        if (ends[i] == NULL) {
            continue;
        }
        printf("    '*%s%s%s[", i == 0 ? letter : "--", i == 0 ? "" : row->flag,
               row->metavar != NULL ? ends[i] : "");
        put_clause(row->help, "[]", "'\\''");
        putchar(']');
        if (row->metavar != NULL) {
            put_zsh_value(row->metavar);
        }
        puts("'");
    }
}

void gmt_put_zsh(unsigned program, unsigned command)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (options[i].program == program && (options[i].commands & (1u << command)) != 0) {
            put_zsh_row(&options[i]);
        }
    }
}

void gmt_put_zsh_commands(void)
{
    for (unsigned i = 1; i < COMMANDS; i++) {
        printf("    '%s:", commands[i].name);
        put_clause(commands[i].summary, ":", "'\\''");
        puts("'");
    }
}

/* -x: something, and no files; -r: something, files among it. */
static void put_fish_value(const char *metavar)
{
    if (strchr(metavar, '|') != NULL) {
        fputs(" -x -a '", stdout);
        put_words(metavar);
        putchar('\'');
    } else if (strcmp(metavar, "DIR") == 0) {
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
    } else if (strcmp(metavar, "ID") == 0) {
        fputs(" -x -a '(__gmanalyze_rules)'", stdout);
    } else if (names(metavar, ".db") || names(metavar, "FILE") || names(metavar, "PATTERN")) {
        fputs(" -r -F", stdout);
    } else {
        fputs(" -x", stdout);
    }
}

static void put_fish_row(const char *program, const char *condition, const struct option_row *row)
{
    printf("complete -c %s -n '%s' -l %s", program, condition, row->flag);
    if (row->letter != 0) {
        printf(" -s %c", row->letter);
    }
    if (row->metavar != NULL) {
        put_fish_value(row->metavar);
    }
    fputs(" -d '", stdout);
    put_clause(row->help, "\\", "\\'");
    puts("'");
}

static void put_fish_gmtrace(void)
{
    fputs("set -g __gmtrace_takes", stdout);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (options[i].program == GMTRACE && options[i].metavar != NULL) {
            printf(" --%s", options[i].flag);
            if (options[i].letter != 0) {
                printf(" -%c", options[i].letter);
            }
        }
    }
    putchar('\n');
    for (size_t i = 0; i < OPTIONS; i++) {
        if (options[i].program == GMTRACE) {
            put_fish_row("gmtrace", "__gmtrace_before_program", &options[i]);
        }
    }
}

void gmt_put_fish(unsigned program)
{
    if (program == GMTRACE) {
        put_fish_gmtrace();
        return;
    }
    fputs("set -g __gmanalyze_commands", stdout);
    for (unsigned i = 0; i < COMMANDS; i++) {
        printf(" %s", commands[i].name);
    }
    putchar('\n');
    for (unsigned i = 1; i < COMMANDS; i++) {
        printf("complete -c gmanalyze -n __gmanalyze_is_first -a %s -d '", commands[i].name);
        put_clause(commands[i].summary, "\\", "\\'");
        puts("'");
    }
    for (unsigned command = 0; command < COMMANDS; command++) {
        char condition[64];

        snprintf(condition, sizeof condition, "__gmanalyze_is %s", commands[command].name);
        for (size_t i = 0; i < OPTIONS; i++) {
            if (options[i].program == GMANALYZE && (options[i].commands & (1u << command)) != 0) {
                put_fish_row("gmanalyze", condition, &options[i]);
            }
        }
    }
}
