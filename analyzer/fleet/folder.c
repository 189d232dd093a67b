/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the traces of a folder, one process each. */
#include "analyzer/fleet/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "analyzer/base/process_each.h"
#include "analyzer/fleet/folder_parquet.h"
#include "analyzer/fleet/rank_stream.h"
#include "analyzer/fleet/read.h"
#include "analyzer/trace/open.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/steps/steps_derive.h"

/* The same for all traces. */
struct reading_how {
    struct gmt_fleet *fleet;
    sqlite3 *model;
    gmt_fleet_analyse *analyse;
    struct gmt_arena *arena;
};

/* ---- the files -------------------------------------------------------------------------------- */

/* Length of a name without the number that gmtrace puts behind it where the name is taken: of processes of a rank, or of ranks that
 * were given one name. */
static size_t length_of_name(const char *name, size_t length)
{
    size_t at = length;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    return at < length && at > 0 && name[at - 1] == '.' ? at - 1 : length;
}

/* A link to a file is one, too; what it leads to is asked when it is opened, if it leads nowhere. */
static bool is_trace(const FTSENT *entry)
{
    size_t length = length_of_name(entry->fts_name, entry->fts_namelen);
    struct stat about;

    return (entry->fts_info == FTS_F ||
            (entry->fts_info == FTS_SL &&
             (stat(entry->fts_path, &about) != 0 || S_ISREG(about.st_mode)))) &&
           length > 3 && strncmp(entry->fts_name + length - 3, ".db", 3) == 0 &&
           entry->fts_name[0] != '.';
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Files by what they are, as a link may lead to one that is there already. */
struct listed_file {
    dev_t device;
    ino_t number;
};

struct file_list {
    struct gmt_fleet *fleet;
    struct gmt_arena *arena;
    struct listed_file *files;
    size_t count;
    bool has_links;
};

static bool is_listed(struct file_list *list, const FTSENT *entry, struct listed_file *file)
{
    struct stat about = {0};

    list->has_links = list->has_links || entry->fts_info == FTS_SL;
    if (stat(entry->fts_path, &about) != 0) {
        return false;
    }
    *file = (struct listed_file){about.st_dev, about.st_ino};
    for (size_t i = 0; i < list->count && list->has_links; i++) {
        if (list->files[i].device == file->device && list->files[i].number == file->number) {
            return true;
        }
    }
    return false;
}

/* trouble: NULL, or why nothing can be read of what lies there. */
static int add_trace(struct file_list *list, const FTSENT *entry, const char *trouble)
{
    struct listed_file file = {0};

    if (is_listed(list, entry, &file)) {
        return 0;
    }
    struct listed_file *added = GMT_PUSH(list->arena, list->files, list->count);
    struct gmt_fleet_rank *rank = GMT_PUSH(list->arena, list->fleet->ranks, list->fleet->count);
    if (added == NULL || rank == NULL) {
        return -ENOMEM;
    }
    *added = file;
    rank->trace = gmt_arena_copy(list->arena, entry->fts_path);
    rank->trouble = trouble;
    return 0;
}

static int list_entry(struct file_list *list, FTS *tree, FTSENT *entry)
{
    if (entry->fts_level == 0 && entry->fts_info != FTS_D && entry->fts_info != FTS_DP) {
        return entry->fts_errno != 0 ? -entry->fts_errno : -ENOTDIR;
    }
    if (entry->fts_info == FTS_D && entry->fts_level > 0 && entry->fts_name[0] == '.') {
        fts_set(tree, entry, FTS_SKIP);
        return 0;
    }
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
        return add_trace(
            list, entry,
            gmt_arena_text(list->arena, "cannot be read: %s", strerror(entry->fts_errno)));
    }
    return is_trace(entry) ? add_trace(list, entry, NULL) : 0;
}

static int list(struct gmt_fleet *fleet, const char *folder, struct gmt_arena *arena)
{
    struct file_list list = {.fleet = fleet, .arena = arena};
    char *path = gmt_arena_copy(arena, folder);
    char *roots[] = {path, NULL};
    FTS *tree = path != NULL ? fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name)
                             : NULL;
    int rc = tree != NULL ? 0 : -errno;

    for (FTSENT *entry; rc == 0 && (entry = fts_read(tree)) != NULL;) {
        rc = list_entry(&list, tree, entry);
    }
    if (tree != NULL) {
        fts_close(tree);
    }
    return rc == 0 && fleet->count == 0 ? -ENODATA : rc;
}

/* ---- one of them ------------------------------------------------------------------------------ */

/* What the rules say to stderr they would say for each rank. */
static void find_in(struct gmt_fleet_rank *rank, gmt_fleet_analyse *analyse,
                    struct gmt_arena *arena)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere >= 0 && dup2(nowhere, STDERR_FILENO) >= 0) {
        analyse(rank, arena);
    }
}

/* In a process of its own. */
static int read_one(const char *trace, const struct reading_how *reading, FILE *to)
{
    struct gmt_arena arena = {0};
    struct gmt_fleet_rank rank = {.trace = trace};
    sqlite3 *db = NULL;
    bool is_whole = false;
    char message[4096];
    const struct gmt_open_how how = {.flags = GMT_TRACE_SUMS, .model = reading->model};
    int rc = gmt_open_trace_how(trace, &how, &db, message, sizeof(message));

    if (rc != 0) {
        /* The message begins with the file's name, which the rank has. */
        size_t name = strlen(trace);
        bool named = strncmp(message, trace, name) == 0 && strncmp(message + name, ": ", 2) == 0;

        rank.trouble = gmt_arena_copy(&arena, message + (named ? name + 2 : 0));
    } else {
        is_whole = !gmt_steps_only(db);
        rc = is_whole ? gmt_steps_derive(db, "") : 0;
        if (rc == 0) {
            rc = gmt_fleet_read(&rank, db, &arena);
        }
        if (rc != 0) {
            rank.trouble = gmt_arena_copy(&arena,
                                          rc == -ENOMEM ? strerror(ENOMEM) : gmt_guard_reason(db));
        }
    }
    if (rank.trouble != NULL) {
        rank.step_count = rank.collective_count = 0;
    }
    sqlite3_close(db);
    if (is_whole && rc == 0 && reading->analyse != NULL) {
        find_in(&rank, reading->analyse, &arena);
    }
    rc = gmt_fleet_rank_send(&rank, to);
    gmt_arena_free(&arena);
    return rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

static int answer(void *context, size_t i, FILE *to)
{
    const struct reading_how *how = context;

    if (how->fleet->ranks[i].trouble != NULL) {
        return gmt_fleet_rank_send(&how->fleet->ranks[i], to) == 0 ? GMT_EXIT_OK
                                                                   : GMT_EXIT_UNREADABLE;
    }
    return read_one(how->fleet->ranks[i].trace, how, to);
}

static int take(void *context, size_t i, FILE *from)
{
    const struct reading_how *how = context;
    struct gmt_fleet_rank *rank = &how->fleet->ranks[i];
    const char *trace = rank->trace;
    int rc = gmt_fleet_rank_receive(rank, from, how->arena);

    rank->trace = trace;
    return rc;
}

static int fail(void *context, size_t i, int signal)
{
    const struct reading_how *how = context;
    struct gmt_fleet_rank *rank = &how->fleet->ranks[i];

    *rank = (struct gmt_fleet_rank){.trace = rank->trace};
    rank->trouble = signal != 0
                        ? gmt_arena_text(how->arena, "reading it ended with: %s", strsignal(signal))
                        : "it could not be read";
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* "10" is behind "9"; what is no number, or missing, behind all numbers. */
static double number_of(const char *rank)
{
    char *end = NULL;
    double number = rank != NULL ? strtod(rank, &end) : NAN;

    return rank == NULL || end == rank || *end != '\0' || isnan(number) ? INFINITY : number;
}

static int by_number(const void *a, const void *b)
{
    const struct gmt_fleet_rank *x = a, *y = b;
    double p = number_of(x->rank), q = number_of(y->rank);

    return p < q ? -1 : p > q ? 1 : strcmp(x->trace, y->trace);
}

void gmt_fleet_settle(struct gmt_fleet *fleet)
{
    bool some = false;

    for (size_t r = 0; r < fleet->count; r++) {
        some = some || fleet->ranks[r].has_device_times;
    }
    for (size_t r = 0; r < fleet->count && some; r++) {
        struct gmt_fleet_rank *rank = &fleet->ranks[r];

        if (rank->trouble != NULL || rank->has_device_times) {
            continue;
        }
        rank->remark = "it has no times of its device";
        for (size_t s = 0; s < rank->step_count; s++) {
            rank->values[s * GMT_FLEET_MEASURES + GMT_FLEET_HOST] = NAN;
            rank->values[s * GMT_FLEET_MEASURES + GMT_FLEET_COLLECTIVES] = NAN;
        }
    }
}

/* Names with a number may be those of further processes of a rank, which are no ranks. They come after the others of their name. */
static bool is_further(const struct gmt_fleet_rank *rank, const struct gmt_fleet_rank *earlier,
                       size_t count)
{
    size_t length = strlen(rank->trace), same = 0;

    if (rank->trouble != NULL || length_of_name(rank->trace, length) == length) {
        return false;
    }
    while (rank->rank != NULL && same < count &&
           (earlier[same].rank == NULL || strcmp(earlier[same].rank, rank->rank) != 0)) {
        same++;
    }
    return rank->rank == NULL || same < count;
}

static void drop_further(struct gmt_fleet *fleet)
{
    size_t kept = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        if (!is_further(&fleet->ranks[r], fleet->ranks, kept)) {
            fleet->ranks[kept++] = fleet->ranks[r];
        }
    }
    fleet->count = kept;
}

static int read_traces(struct gmt_fleet *fleet, const char *folder, gmt_fleet_analyse *analyse,
                       struct gmt_arena *arena)
{
    struct reading_how how = {.fleet = fleet, .analyse = analyse, .arena = arena};
    const struct gmt_process_each each = {&how, answer, take, fail};
    int rc = list(fleet, folder, arena);

    if (rc != 0) {
        return rc;
    }
    /* Made once: each process has it from this one, and making it takes longer than reading a trace of sums. */
    rc = gmt_own_schema(&how.model);
    if (rc == 0) {
        rc = gmt_process_each(fleet->count, &each);
    }
    if (rc == 0) {
        drop_further(fleet);
    }
    sqlite3_close(how.model);
    return rc;
}

int gmt_fleet_read_folder(struct gmt_fleet *fleet, const char *folder, gmt_fleet_analyse *analyse,
                          struct gmt_arena *arena)
{
    *fleet = (struct gmt_fleet){.is_parquet = gmt_fleet_is_parquet(folder)};
    int rc = fleet->is_parquet ? gmt_fleet_read_parquet(fleet, folder, arena)
                               : read_traces(fleet, folder, analyse, arena);

    if (rc != 0) {
        return rc;
    }
    qsort(fleet->ranks, fleet->count, sizeof(*fleet->ranks), by_number);
    gmt_fleet_settle(fleet);
    return fleet->count == 0 ? -ENODATA : 0;
}
