/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What naming stacks costs the recorder: bench_symbolize STACKS DEPTH OBJECT... makes a trace whose
 * stacks are drawn from 100 places in the code of each of these shared objects, names its frames as
 * the recorder does, and prints seconds of the processor, the peak of memory and what was found. Links
 * gmt_store:
 *
 *   cc -O2 -D_GNU_SOURCE -I. tests/bench/bench_symbolize.c -o bench_symbolize BUILD/lib/libgmt_store.a \
 *      BUILD/lib/libgmt_record.a -lsqlite3 -ldw -lelf -lstdc++ -lm -lpthread
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/symbolize.h"

#define PLACES 100u
#define NO_LIMIT (UINT64_C(3600) * 1000000000)

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void run(sqlite3 *db, const char *sql)
{
    if (gmt_database_exec(db, sql) != 0) {
        (void)fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), sql);
        exit(1);
    }
}

/* The executable segment of an object. */
static void find_code(const char *path, uint64_t *start, uint64_t *bytes)
{
    Elf64_Ehdr header = {0};
    Elf64_Phdr segment;
    FILE *file = fopen(path, "r");
    if (file == NULL || fread(&header, sizeof(header), 1, file) != 1 ||
        fseek(file, (long)header.e_phoff, SEEK_SET) != 0) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < header.e_phnum && fread(&segment, sizeof(segment), 1, file) == 1; i++) {
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            *start = segment.p_vaddr;
            *bytes = segment.p_filesz;
        }
    }
    (void)fclose(file);
}

static void add_object(sqlite3 *db, unsigned number, const char *path)
{
    char sql[1024];
    uint64_t start = 0, bytes = 1, base = (uint64_t)number << 32;
    find_code(path, &start, &bytes);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO module(id, path, load_bias, start_address, end_address) VALUES "
                   "(%u, '%s', %" PRIu64 ", 0, 0)",
                   number, path, base);
    run(db, sql);
    for (unsigned i = 0; i < PLACES; i++) {
        (void)snprintf(sql, sizeof(sql),
                       "INSERT INTO frame(address, module_id) VALUES (%" PRIu64 ", %u)",
                       base + start + next_random() % bytes, number);
        run(db, sql);
    }
}

static void add_stacks(sqlite3 *db, unsigned stacks, unsigned depth, unsigned objects)
{
    char sql[160];
    for (unsigned i = 1; i <= stacks; i++) {
        (void)snprintf(sql, sizeof(sql), "INSERT INTO stack VALUES (%u, %u)", i, depth);
        run(db, sql);
        for (unsigned k = 0; k < depth; k++) {
            (void)snprintf(sql, sizeof(sql), "INSERT INTO stack_frame VALUES (%u, %u, %u)", i, k,
                           (unsigned)(1 + next_random() % ((uint64_t)objects * PLACES)));
            run(db, sql);
        }
    }
}

static long long count(sqlite3 *db, const char *sql)
{
    int64_t value = 0;
    (void)gmt_database_integer(db, sql, 0, &value);
    return value;
}

/* The recorder shares its machine: what it takes of a processor counts. */
static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    sqlite3 *db;
    if (argc < 4) {
        (void)fprintf(stderr, "usage: bench_symbolize STACKS DEPTH OBJECT...\n");
        return 2;
    }
    if (gmt_database_create(":memory:", "", &db) != 0) {
        return 1;
    }
    run(db, "BEGIN");
    for (int i = 3; i < argc; i++) {
        add_object(db, (unsigned)i - 2, argv[i]);
    }
    add_stacks(db, (unsigned)strtoul(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10),
               (unsigned)argc - 3);
    double begin_s = cpu_s();
    int error = gmt_symbolize_run(db, NO_LIMIT);
    double end_s = cpu_s();
    run(db, "COMMIT");
    (void)getrusage(RUSAGE_SELF, &usage);
    printf(
        "%.2f s, %ld MiB at most; of %lld frames %lld have a function, %lld a line; %lld rows of "
        "stack_frame\n",
        end_s - begin_s, usage.ru_maxrss / 1024, count(db, "SELECT count(*) FROM frame"),
        count(db, "SELECT count(*) FROM frame WHERE function_id IS NOT NULL"),
        count(db, "SELECT count(*) FROM frame WHERE line IS NOT NULL"),
        count(db, "SELECT count(*) FROM stack_frame"));
    gmt_database_close(db);
    return error != 0;
}
