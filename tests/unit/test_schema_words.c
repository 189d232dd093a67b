/* SPDX-License-Identifier: Apache-2.0 */
/* The schema allows the words of the tables that the code has, and no others. Links gmt_store. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/record/kinds.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/live/live_page.h"
#include "libtrace/store/steps/step_kinds.h"

#define NAME(id, name) name,
static const char *const directions[] = {GMT_DIRECTIONS(NAME) NULL};
static const char *const classes[] = {GMT_MEM_CLASSES(NAME) NULL};
/* Without UNKNOWN, which is NULL. */
static const char *const kinds[] = {GMT_ALLOC_KINDS(NAME)};

/* The words of the column's constraint: "'h2d','d2h'". */
static void words_of(const char *table, const char *column, char *words, size_t bytes)
{
    char create[64];
    (void)snprintf(create, sizeof(create), "CREATE TABLE %s (", table);
    const char *text = strstr(gmt_schema_sql, create), *open;
    size_t length = strlen(column);
    int constraint;
    cr_assert_not_null(text, "%s", table);
    while ((open = gmt_own_schema_constraint(&text, &constraint)) != NULL) {
        if (strncmp(open + 1, column, length) == 0 && open[1 + length] == ' ') {
            (void)snprintf(words, bytes, "%.*s", constraint, open);
            return;
        }
    }
    cr_assert_fail("%s.%s has no constraint", table, column);
}

static size_t count_of(const char *words)
{
    size_t quotes = 0;
    for (; *words != '\0'; words++) {
        quotes += *words == '\'';
    }
    return quotes / 2;
}

static bool has(const char *words, const char *word)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof(quoted), "'%s'", word);
    return strstr(words, quoted) != NULL;
}

static void expect_all(const char *table, const char *column, const char *const *names)
{
    char words[512];
    size_t n = 0;
    words_of(table, column, words, sizeof(words));
    for (; names[n] != NULL; n++) {
        cr_expect(has(words, names[n]), "%s.%s: no '%s'", table, column, names[n]);
    }
    cr_expect_eq(count_of(words), n, "%s.%s: %s", table, column, words);
}

Test(schema_words, are_those_of_copies)
{
    expect_all("transfer", "direction", directions);
    expect_all("transfer", "dst_class", classes);
    expect_all("transfer", "src_class", classes);
}

#define MANAGED_NAME(id, name, counter) name,
static const char *const managed_kinds[] = {GMT_MANAGED_KINDS(MANAGED_NAME) NULL};

Test(schema_words, are_those_of_managed_memory)
{
    char words[512];
    expect_all("managed_op", "kind", managed_kinds);
    words_of("managed_op", "cause", words, sizeof(words));
    for (unsigned kind = 0; kind <= GMT_MANAGED_KIND_COUNT; kind++) {
        for (unsigned cause = 0; cause < 16; cause++) {
            const char *name = gmt_name_managed_cause(kind, cause);
            cr_expect(name == NULL || has(words, name), "%u %u: %s", kind, cause, name);
        }
    }
}

#define STEP_WORD(id, word) word,
static const char *const step_kinds[] = {GMT_STEP_KINDS(STEP_WORD) NULL};
#define CAUSE_NAME(id, name, title) name,
static const char *const step_causes[] = {"busy", GMT_LIVE_CAUSES(CAUSE_NAME) NULL};

Test(schema_words, are_those_of_steps)
{
    char words[512];
    expect_all("step_call", "kind", step_kinds);
    expect_all("step_time", "cause", step_causes);
    words_of("step_work", "kind", words, sizeof(words));
    for (unsigned kind = 0; kind < GMT_STEP_KIND_COUNT; kind++) {
        bool is_work = kind <= GMT_STEP_MEMSET && kind != GMT_STEP_GRAPH;
        cr_expect_eq(has(words, step_kinds[kind]), is_work, "%s", step_kinds[kind]);
    }
    words_of("step", "source", words, sizeof(words));
    for (unsigned source = GMT_STEP_RANGE; source <= GMT_STEP_SLICE; source++) {
        cr_expect(has(words, gmt_step_source_word(source)));
    }
    words_of("step_collective", "source", words, sizeof(words));
    for (unsigned source = 0; source < GMT_COLLECTIVE_SOURCES; source++) {
        cr_expect(has(words, gmt_collective_source_word(source)));
    }
}

Test(schema_words, are_those_of_allocations)
{
    char device[512], host[512];
    words_of("allocation", "kind", device, sizeof(device));
    words_of("host_allocation", "kind", host, sizeof(host));
    for (unsigned kind = GMT_ALLOC_DEVICE; kind < GMT_ALLOC_KIND_COUNT; kind++) {
        bool is_host = kind == GMT_ALLOC_HOST || kind == GMT_ALLOC_REGISTERED;
        cr_expect_eq(has(device, kinds[kind]), !is_host, "%s", kinds[kind]);
        cr_expect_eq(has(host, kinds[kind]), is_host, "%s", kinds[kind]);
    }
    cr_expect_eq(count_of(device) + count_of(host), GMT_ALLOC_KIND_COUNT - 1);
}
