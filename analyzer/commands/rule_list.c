/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, listed for the user: --list-rules and --explain. */
#include "analyzer/commands/rule_list.h"

#include <jansson.h>
#include <stdio.h>

#include "analyzer/commands/commands.h"
#include "analyzer/findings/rule.h"
#include "analyzer/run/rule_pages.h"
#include "analyzer/run/rules.h"

/* What a rule cannot do without, by the bits of enum gmt_need. */
static const struct {
    unsigned need;
    const char *name;
} needs[] = {{GMT_NEED_COPIES, "copies"},
             {GMT_NEED_ALLOCATIONS, "allocations"},
             {GMT_NEED_LAUNCHES, "launches"},
             {GMT_NEED_PATCHED, "memory counters"},
             {GMT_NEED_HARDWARE, "hardware counters"},
             {GMT_NEED_TIMES, "device times"},
             {GMT_NEED_MODEL, "device model"}};

static json_t *needs_of(const struct gmt_rule *rule)
{
    json_t *array = json_array();

    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        if ((rule->needs & needs[i].need) != 0) {
            json_array_append_new(array, json_string(needs[i].name));
        }
    }
    return array;
}

static int list_json(void)
{
    json_t *array = json_array();

    for (size_t i = 0; i < gmt_rule_count; i++) {
        const struct gmt_rule *rule = gmt_rules[i];

        json_array_append_new(array, json_pack("{ss, ss, ss, ss, so, ss}", "id", rule->id, "slug",
                                               rule->slug, "title", rule->title, "category",
                                               rule->category, "needs", needs_of(rule), "explain",
                                               gmt_rule_page(rule->id)));
    }
    int rc = json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
    return gmt_command_printed(rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE);
}

int gmt_rule_list(bool json)
{
    if (json) {
        return list_json();
    }
    for (size_t i = 0; i < gmt_rule_count; i++) {
        printf("%-6s %-26s %-15s %s\n", gmt_rules[i]->id, gmt_rules[i]->slug,
               gmt_rules[i]->category, gmt_rules[i]->title);
    }
    return gmt_command_printed(GMT_EXIT_OK);
}

int gmt_rule_explain(const char *name)
{
    const struct gmt_rule *rule = gmt_rule_find(name);

    fputs(gmt_rule_page(rule->id), stdout);
    return gmt_command_printed(GMT_EXIT_OK);
}
