/* SPDX-License-Identifier: Apache-2.0 */
/* The table of forms, its alternatives expanded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

struct row {
    const char *text, *operands;
    enum judgement judgement;
    double bound;
};

static const struct row rows[] = {
#define EXACT(text, operands) {text, operands, JUDGE_EXACT, 0},
#define WARP(text, operands) {text, operands, JUDGE_WARP, 0},
#define PLAIN(text, operands) {text, operands, JUDGE_PLAIN, 0},
#define APPROX(text, operands, truth, kind, bound, range) {text, operands, JUDGE_##kind, bound},
#include "forms.def"
#undef EXACT
#undef WARP
#undef PLAIN
#undef APPROX
};

struct list {
    struct form *forms;
    size_t count, room;
};

static bool list_add(struct list *list, unsigned row, const char *text)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 256;
        struct form *forms = realloc(list->forms, room * sizeof(*forms));
        if (!forms) {
            return false;
        }
        list->forms = forms;
        list->room = room;
    }
    struct form *form = &list->forms[list->count++];
    memset(form, 0, sizeof(*form));
    snprintf(form->text, sizeof(form->text), "%s", text);
    form->targets = rows[row].operands;
    form->sources = strchr(rows[row].operands, '=') + 1;
    form->judgement = rows[row].judgement;
    form->row = row;
    form->bound = rows[row].bound;
    return true;
}

/* Replace the first <a,b,c> by each alternative, and go on with the rest. */
static bool expand(struct list *list, unsigned row, const char *text)
{
    const char *open = strchr(text, '<');
    if (!open) {
        return list_add(list, row, text);
    }
    const char *close = strchr(open, '>');
    for (const char *word = open + 1; word <= close;) {
        size_t length = strcspn(word, ",>");
        char next[160];
        snprintf(next, sizeof(next), "%.*s%.*s%s", (int)(open - text), text, (int)length, word,
                 close + 1);
        if (!expand(list, row, next)) {
            return false;
        }
        word += length + 1;
    }
    return true;
}

struct form *forms_all(size_t *count)
{
    struct list list = {0};
    for (unsigned row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        if (!expand(&list, row, rows[row].text)) {
            free(list.forms);
            return NULL;
        }
    }
    *count = list.count;
    return list.forms;
}

unsigned form_targets(const struct form *form)
{
    return (unsigned)strcspn(form->targets, "=");
}

unsigned form_sources(const struct form *form)
{
    return (unsigned)strlen(form->sources);
}

bool form_is_approximate(const struct form *form)
{
    return form->judgement == JUDGE_ABSOLUTE || form->judgement == JUDGE_RELATIVE;
}
