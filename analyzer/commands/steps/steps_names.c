/* SPDX-License-Identifier: Apache-2.0 */
/* What reports call places and kernels, for queries about steps. */
#include "analyzer/commands/steps/steps_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/findings/kernel_origin.h"
#include "analyzer/findings/where.h"
#include "libtrace/store/db/names.h"

struct steps_names {
    struct gmt_arena arena;
    struct gmt_timeline timeline; /* nothing but the database */
    struct gmt_report report;
    struct gmt_analysis analysis;
    unsigned loaded;
};

static void give(sqlite3_context *context, const char *text)
{
    if (text == NULL) {
        sqlite3_result_null(context);
    } else {
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    }
}

static struct gmt_where where_of(sqlite3_context *context, sqlite3_value *stack)
{
    struct steps_names *names = sqlite3_user_data(context);
    int64_t id = sqlite3_value_int64(stack);

    return id > 0 ? gmt_where_of_stack(&names->analysis, id) : (struct gmt_where){.label = ""};
}

static void place(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct steps_names *names = sqlite3_user_data(context);
    struct gmt_where where = where_of(context, values[0]);

    (void)count;
    give(context, where.label[0] != '\0' ? where.label
                                         : gmt_arena_text(&names->arena, "stack %" PRId64,
                                                          (int64_t)sqlite3_value_int64(values[0])));
}

/* Those of C++ without arguments, which fill lines; Python's have none. */
static void function(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct steps_names *names = sqlite3_user_data(context);
    struct gmt_where where = where_of(context, values[0]);
    const char *name = where.module != NULL && where.function != NULL
                           ? gmt_short_kernel_name(&names->arena, where.function)
                           : NULL;

    (void)count;
    give(context, name != NULL && name[0] != '\0' ? name : where.function);
}

static void title(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct steps_names *names = sqlite3_user_data(context);
    const char *name = (const char *)sqlite3_value_text(values[0]);
    int detail = sqlite3_value_int(values[1]);

    (void)count;
    if (name == NULL) {
        sqlite3_result_null(context);
        return;
    }
    char *demangled = gmt_name_demangle(name);
    const char *whole = demangled != NULL ? demangled : name;
    /* Sums over steps say of no launch where it was made: the name decides, as where there are no stacks. */
    enum gmt_origin origin = gmt_made_by_stack(NULL, 0, whole, names->loaded).origin;
    give(context, detail > 1
                      ? whole
                      : gmt_kernel_title_of(&names->arena, name, origin,
                                            detail == 1 ? GMT_TITLE_VARIANT : GMT_TITLE_SHORT));
    free(demangled);
}

static void free_names(void *data)
{
    struct steps_names *names = data;

    gmt_arena_free(&names->arena);
    free(names);
}

int gmt_steps_name_places(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    struct steps_names *names = calloc(1, sizeof(*names));

    if (names == NULL) {
        return -EIO;
    }
    names->timeline.db = db;
    names->report.arena = &names->arena;
    names->analysis.timeline = &names->timeline;
    names->analysis.report = &names->report;
    names->loaded = gmt_origins_loaded(db);
    /* The first one owns the names, and is there as long as the connection; where it fails it has freed them. */
    if (sqlite3_create_function_v2(db, "gmt_place", 1, flags, names, place, NULL, NULL,
                                   free_names) != SQLITE_OK) {
        return -EIO;
    }
    return sqlite3_create_function_v2(db, "gmt_function", 1, flags, names, function, NULL, NULL,
                                      NULL) == SQLITE_OK &&
                   sqlite3_create_function_v2(db, "gmt_title", 2, flags, names, title, NULL, NULL,
                                              NULL) == SQLITE_OK
               ? 0
               : -EIO;
}
