/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's defences and limits for files that somebody else may have made. */
#include "libtrace/store/db/guard.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/db/run_sql.h"

#define MEBIBYTE INT64_C(1048576)
/* Processor time: an analysis takes some 20 ms per megabyte. */
#define BASE_NS INT64_C(30000000000)
#define NS_PER_MEBIBYTE INT64_C(2000000000)
/* Memory: what an analysis of an ordinary trace takes is below (docs/measurements.md). */
#define BASE_BYTES (64 * MEBIBYTE)
#define BYTES_PER_BYTE 20
/* Instructions of SQLite between two looks at the clock: some milliseconds. */
#define PROGRESS_STEPS 200000
/* 200,000 frames in 2,000 modules, some 100 MB, take 16,000. */
#define BASE_TURNS 2000
#define TURNS_PER_MEBIBYTE 300

/* What a column of a result was made of; SQLite can be built without knowing that. */
#ifdef GMT_SQLITE_COLUMN_METADATA
#define GMT_COLUMN_TABLE(statement, column) sqlite3_column_table_name(statement, column)
#define GMT_COLUMN_ORIGIN(statement, column) sqlite3_column_origin_name(statement, column)
#else
#define GMT_COLUMN_TABLE(statement, column) NULL
#define GMT_COLUMN_ORIGIN(statement, column) NULL
#endif

static struct {
    int64_t bytes, until_ns; /* of all files together; 0: none was opened */
    int64_t turns;           /* of PROGRESS_STEPS each, that are left for writing */
} allowance;

/* The first value that was not of its type, of the connection that this thread uses. */
static _Thread_local struct {
    sqlite3 *db;
    char text[256];
} noted;

static int64_t processor_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int gmt_guard_configure(sqlite3 *db)
{
    /* Far above what our own statements and our schema need. */
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_SQL_LENGTH, 262144},    {SQLITE_LIMIT_COLUMN, 512},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},       {SQLITE_LIMIT_COMPOUND_SELECT, 64},
        {SQLITE_LIMIT_VDBE_OP, 250000},       {SQLITE_LIMIT_FUNCTION_ARG, 64},
        {SQLITE_LIMIT_ATTACHED, 0},           {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 1000}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const struct {
        int what, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        (void)sqlite3_limit(db, limits[i].what, limits[i].most);
    }
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        int now = -1;
        if (sqlite3_db_config(db, settings[i].what, settings[i].value, &now) != SQLITE_OK) {
            return -EIO;
        }
    }
    /* Earlier versions switch TEMP views off as well, which ours are. */
    if (sqlite3_libversion_number() >= 3035000) {
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    }
    /* What CHECK constraints of the file say is never computed; `validate` asks those of our schema. */
    return gmt_database_exec(db, "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; "
                                 "PRAGMA ignore_check_constraints = 1;");
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; name != NULL && i < n; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}
#define IS_ONE_OF(name, names) is_one_of((name), (names), sizeof(names) / sizeof(*(names)))

/* Pragmas that report the schema, without an effect. */
static bool harmless_pragma(const char *name, const char *argument)
{
    static const char *const describing[] = {"table_info",      "table_xinfo", "table_list",
                                             "index_list",      "index_info",  "index_xinfo",
                                             "foreign_key_list"};
    static const char *const values[] = {"page_count", "page_size", "application_id",
                                         "user_version", "encoding"};
    return IS_ONE_OF(name, describing) || (argument == NULL && IS_ONE_OF(name, values));
}

/* Functions that reach out of the database. */
static bool harmless_function(const char *name)
{
    static const char *const harmful[] = {"load_extension", "fts3_tokenizer"};
    return name != NULL && !IS_ONE_OF(name, harmful);
}

static int allow(bool allowed)
{
    return allowed ? SQLITE_OK : SQLITE_DENY;
}

static int only_read(void *context, int action, const char *first, const char *second,
                     const char *database, const char *view)
{
    (void)context;
    (void)database;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return allow(harmless_function(second));
    case SQLITE_PRAGMA: return allow(harmless_pragma(first, second));
    default: return SQLITE_DENY;
    }
}

static bool is_temp(const char *database)
{
    return database != NULL && strcmp(database, "temp") == 0;
}

/* Our own statements also make TEMP objects, and check the file. */
static int read_beside_temp(void *context, int action, const char *first, const char *second,
                            const char *database, const char *view)
{
    static const char *const own_pragmas[] = {"temp_store", "query_only", "integrity_check",
                                              "quick_check", "foreign_key_check"};
    switch (action) {
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_DELETE:
    case SQLITE_REINDEX: return allow(is_temp(database));
    /* SQLite declares its tables of pragmas so, without an effect. */
    case SQLITE_UPDATE: return allow(is_temp(database) || strcmp(first, "sqlite_master") == 0);
    case SQLITE_PRAGMA:
        return allow(IS_ONE_OF(first, own_pragmas) || harmless_pragma(first, second));
    default: return only_read(context, action, first, second, database, view);
    }
}

/* Our own statements change rows of the file, and bring its schema up to ours (gmt_database_upgrade). */
static int read_and_write(void *context, int action, const char *first, const char *second,
                          const char *database, const char *view)
{
    static const char *const own_pragmas[] = {"synchronous", "journal_mode", "user_version"};
    switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_REINDEX:
    case SQLITE_ALTER_TABLE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_VIEW:
    case SQLITE_DROP_VIEW:
    case SQLITE_TRANSACTION: return SQLITE_OK;
    case SQLITE_PRAGMA: return allow(IS_ONE_OF(first, own_pragmas));
    default: return only_read(context, action, first, second, database, view);
    }
}

static int out_of_turns(void *context)
{
    (void)context;
    return --allowance.turns < 0;
}

static int out_of_time(void *context)
{
    (void)context;
    return processor_ns() > allowance.until_ns;
}

int64_t gmt_guard_memory_of(int64_t file_bytes)
{
    return gmt_add_clamped(BASE_BYTES, gmt_mul_clamped(file_bytes, BYTES_PER_BYTE));
}

int64_t gmt_guard_time_of(int64_t file_bytes)
{
    return BASE_NS + (file_bytes / MEBIBYTE + 1) * NS_PER_MEBIBYTE;
}

int64_t gmt_guard_memory_bytes(void)
{
    return gmt_guard_memory_of(allowance.bytes);
}

/* What holds for both ways of opening. */
static int guard_file(sqlite3 *db, int64_t file_bytes)
{
    if (noted.db == db) {
        noted.db = NULL; /* of an earlier connection at the same address */
    }
    /* No text of the file can be longer than it; what is joined of several may be a little. */
    int64_t longest = file_bytes < 1000 * MEBIBYTE ? file_bytes + MEBIBYTE : 1000 * MEBIBYTE;
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)longest);
    return gmt_guard_configure(db);
}

int gmt_guard_writing(sqlite3 *db, int64_t file_bytes)
{
    int error = guard_file(db, file_bytes);
    allowance.turns += BASE_TURNS + (file_bytes / MEBIBYTE + 1) * TURNS_PER_MEBIBYTE;
    sqlite3_progress_handler(db, PROGRESS_STEPS, out_of_turns, NULL);
    return error == 0 && sqlite3_set_authorizer(db, read_and_write, NULL) == SQLITE_OK ? 0 : -EIO;
}

int gmt_guard_reading_beside(sqlite3 *db, int64_t file_bytes)
{
    int error = guard_file(db, file_bytes);
    if (error != 0) {
        return error;
    }
    sqlite3_progress_handler(db, PROGRESS_STEPS, out_of_time, NULL);
    return sqlite3_set_authorizer(db, read_beside_temp, NULL) == SQLITE_OK ? 0 : -EIO;
}

int gmt_guard_reading(sqlite3 *db, int64_t file_bytes)
{
    int error = gmt_guard_reading_beside(db, file_bytes);
    if (error != 0) {
        return error;
    }
    if (allowance.until_ns == 0) {
        allowance.until_ns = processor_ns() + BASE_NS;
    }
    allowance.until_ns += gmt_guard_time_of(file_bytes) - BASE_NS;
    allowance.bytes += file_bytes;
    /* Of SQLite: it fails then with SQLITE_NOMEM, and not the process. */
    (void)sqlite3_hard_heap_limit64(BASE_BYTES +
                                    gmt_mul_clamped(allowance.bytes, BYTES_PER_BYTE) / 2);
    return 0;
}

void gmt_guard_seal(sqlite3 *db)
{
    (void)gmt_database_exec(db, "PRAGMA query_only = 1");
    (void)sqlite3_set_authorizer(db, only_read, NULL);
}

void gmt_guard_note_column(sqlite3 *db, const char *table, const char *column, const char *what)
{
    noted.db = db;
    (void)snprintf(noted.text, sizeof(noted.text), "is damaged: %.64s%s%.128s %s", table,
                   table[0] != '\0' ? "." : "", column, what);
}

void gmt_guard_note_value(sqlite3_stmt *statement, int column, const char *what)
{
    const char *table = GMT_COLUMN_TABLE(statement, column);
    const char *name = GMT_COLUMN_ORIGIN(statement, column);
    if (name == NULL) {
        name = sqlite3_column_name(statement, column);
    }
    gmt_guard_note_column(sqlite3_db_handle(statement), table != NULL ? table : "",
                          name != NULL ? name : "a value", what);
}

void gmt_guard_note_reason(sqlite3 *db, const char *reason)
{
    if (!gmt_guard_noted(db)) {
        (void)snprintf(noted.text, sizeof(noted.text), "%s", reason);
        noted.db = db;
    }
}

void gmt_guard_note_failure(sqlite3 *db)
{
    if (!gmt_guard_noted(db)) {
        gmt_guard_note_reason(db, gmt_guard_reason(db));
    }
}

int64_t gmt_guard_left_ns(void)
{
    return allowance.until_ns - processor_ns();
}

void gmt_guard_lift_memory(void)
{
    (void)sqlite3_hard_heap_limit64(0);
    (void)sqlite3_soft_heap_limit64(0);
}

bool gmt_guard_plausible_rows(sqlite3 *db, int64_t rows)
{
    /* Each takes two bytes at least, in its page's list of them. Databases of our own making are no files. */
    if (allowance.bytes == 0 || rows <= allowance.bytes / 2) {
        return true;
    }
    noted.db = db;
    (void)snprintf(noted.text, sizeof(noted.text),
                   "is damaged: a table has %lld rows, more rows than %lld bytes can hold",
                   (long long)rows, (long long)allowance.bytes);
    return false;
}

bool gmt_guard_noted(sqlite3 *db)
{
    return noted.db == db && noted.text[0] != '\0';
}

/* A limit that the process was started with and that leaves less than we would allow: ours is not reached. */
static bool is_limited_below(int64_t bytes)
{
    struct rlimit data, addresses;
    return (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur < (rlim_t)bytes) ||
           (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur < (rlim_t)bytes);
}

const char *gmt_guard_memory_reason(void)
{
    static _Thread_local char text[200];
    bool below = is_limited_below(gmt_guard_memory_bytes());
    (void)snprintf(text, sizeof(text),
                   below
                       ? "not enough memory: the limit of this process (ulimit -d or -v) is below "
                         "what a file of %lld bytes may need, 64 MB and 20 times its size"
                       : "not enough memory, or damaged: a file of %lld bytes needs more than "
                         "64 MB and 20 times its size, or than the machine has left",
                   (long long)allowance.bytes);
    return text;
}

const char *gmt_guard_time_reason(void)
{
    static _Thread_local char text[160];
    (void)snprintf(text, sizeof(text),
                   "is damaged, or made to be slow: a file of %lld bytes took more processor "
                   "time than any of that size needs",
                   (long long)allowance.bytes);
    return text;
}

const char *gmt_guard_reason(sqlite3 *db)
{
    if (gmt_guard_noted(db)) {
        return noted.text;
    }
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_INTERRUPT: return gmt_guard_time_reason();
    case SQLITE_NOMEM: return gmt_guard_memory_reason();
    case SQLITE_TOOBIG: return "is damaged: a text or blob would be longer than the file";
    default: break;
    }
    const char *message = sqlite3_errmsg(db);
    return strcmp(message, "integer overflow") == 0
               ? "is damaged: a sum of its numbers exceeds 64 bits"
               : message;
}
