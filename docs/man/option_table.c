/* SPDX-License-Identifier: Apache-2.0 */
/* option_table TEMPLATE: the man page on stdout, its line @OPTIONS@ replaced by options.def's rows. */
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 78 };

struct option_row {
    const char *flag, *variable, *metavar, *standard, *help;
    int letter;
};

static const struct option_row rows[] = {
#define GMT_OPTION(field, flag, letter, variable, metavar, standard, help) \
    {flag, variable, metavar, standard, help, letter},
#include "libtrace/record/options.def"
#undef GMT_OPTION
};

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
        for (size_t i = 0; i < word; i++) {
            fputs(text[i] == '\\' ? "\\e" : (char[]){text[i], '\0'}, stdout);
        }
        column += word;
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

static void put_rows(void)
{
    puts(".Bl -tag -width Ds");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct option_row *row = &rows[i];
        printf(".It ");
        if (row->letter != 0) {
            printf("Fl %c Ar %s , ", row->letter, row->metavar);
        }
        printf("Fl -%s Ns = Ns Ar %s\n.Pq Ev %s\n", row->flag, row->metavar, row->variable);
        put_text(row->help);
        if (row->standard[0] != '\0') {
            printf(".Pp\nDefault:\n.Cm %s\n", row->standard);
        }
    }
    puts(".El");
}

int main(int argc, char **argv)
{
    char line[4096];
    FILE *template = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (template == NULL) {
        fputs("usage: option_table TEMPLATE\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, template) != NULL) {
        if (strcmp(line, "@OPTIONS@\n") == 0) {
            put_rows();
        } else {
            fputs(line, stdout);
        }
    }
    return fclose(template) == 0 && fflush(stdout) == 0 ? 0 : 1;
}
