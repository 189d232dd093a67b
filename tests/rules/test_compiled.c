/* SPDX-License-Identifier: Apache-2.0 */
/* What XLA does while it runs a compiled function is not advised about as what the program's Python asks for. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/findings/compiled.h"
#include "tests/rules/fixture.h"

enum { MOST_FRAMES = 9 };

#define PACKAGES "/venv/lib/python3.12/site-packages/"
#define PLUGIN(at) \
    { \
        .module = PACKAGES "jax_plugins/xla_cuda13/xla_cuda_plugin.so", .offset = (at) \
    }
#define EXECUTE \
    { \
        .function = "pjrt::PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args*)", \
        .module = PACKAGES "jax_plugins/xla_cuda13/xla_cuda_plugin.so", .offset = 900 \
    }
#define CALL \
    { \
        .function = "jax::(anonymous namespace)::PjitFunction::Call(nanobind::handle)", \
        .module = PACKAGES "jaxlib/libjax_common.so", .offset = 901 \
    }
#define SHARDED \
    { \
        .function = "jax::PyLoadedExecutable::ExecuteSharded(std::vector<jax::PyArray>)", \
        .module = PACKAGES "jaxlib/libjax_common.so", .offset = 902 \
    }
#define INTERPRETER \
    { \
        .module = "/usr/bin/python3", .runtime = true, .interpreter = true \
    }
#define OWN \
    { \
        .function = "train", .file = "/home/me/train.py", .line = 31 \
    }
#define OF_JAX(name) \
    { \
        .function = (name), .file = PACKAGES "jax/_src/array.py", .line = 340 \
    }
#define PACKAGE \
    { \
        .function = "__call__", .file = PACKAGES "equinox/_jit.py", .line = 9 \
    }
#define NATIVE \
    { \
        .module = "/home/me/libcalls.so", .offset = 7 \
    }

/* The value of a loop's condition, and launches in a loop in a loop: as JAX 0.11.2 on an H200. */
#define READS PLUGIN(50), PLUGIN(60), PLUGIN(70), PLUGIN(80), EXECUTE
#define NESTED PLUGIN(10), PLUGIN(61), PLUGIN(71), PLUGIN(61), PLUGIN(80), EXECUTE
#define FLAT PLUGIN(10), PLUGIN(61), PLUGIN(80), EXECUTE

static const struct {
    struct gmt_report_frame frames[MOST_FRAMES];
    unsigned shows;
} stacks[] = {
    {{READS, CALL, INTERPRETER, OWN}, GMT_COMPILED_RUNS},
    {{READS}, GMT_COMPILED_RUNS},
    {{FLAT, SHARDED, INTERPRETER, OWN}, GMT_COMPILED_RUNS},
    {{NESTED, CALL, INTERPRETER, OWN}, GMT_COMPILED_RUNS | GMT_COMPILED_NESTED},
    {{{.function = "xla::gpu::WhileThunk::ExecuteOnStream(xla::gpu::Thunk::ExecuteParams const&)",
       .module = PACKAGES "jaxlib/xla_extension.so"},
      EXECUTE},
     GMT_COMPILED_RUNS | GMT_COMPILED_NESTED},
    /* What Python passes is copied before the function runs. */
    {{PLUGIN(50), SHARDED, INTERPRETER, OWN}, 0},
    /* Python, or code of the program's own, that a compiled function calls back. */
    {{PLUGIN(50), INTERPRETER, OWN, PLUGIN(60), EXECUTE}, GMT_COMPILED_DOUBT},
    {{PLUGIN(50), CALL, INTERPRETER, OWN, PLUGIN(60), EXECUTE}, 0},
    {{NATIVE, PLUGIN(60), EXECUTE, CALL, INTERPRETER, OWN}, 0},
    /* Without names. */
    {{PLUGIN(50), PLUGIN(60), INTERPRETER, OWN}, GMT_COMPILED_DOUBT},
    {{PLUGIN(50), PLUGIN(60), INTERPRETER, OF_JAX("ArrayImpl.__float__"), OWN}, 0},
    {{INTERPRETER, OWN}, 0},
};

static size_t depth_of(const struct gmt_report_frame *frames)
{
    size_t n = 0;

    while (n < MOST_FRAMES && (frames[n].module != NULL || frames[n].file != NULL)) {
        n++;
    }
    return n;
}

Test(compiled, is_what_runs_inside_of_an_execution)
{
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        const struct gmt_report_frame *frames = stacks[i].frames;

        cr_expect_eq(gmt_compiled_of_stack(frames, depth_of(frames)), stacks[i].shows, "%zu: %u", i,
                     gmt_compiled_of_stack(frames, depth_of(frames)));
    }
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* Every call of the fixture is made by this stack; the driver's frame is innermost. */
static void set_stack(struct gmt_fixture *fixture, const struct gmt_report_frame *frames)
{
    gmt_fixture_sql(fixture,
                    "INSERT INTO stack VALUES (80, 9); INSERT INTO stack_frame VALUES (80, 0, 1);"
                    "UPDATE transfer SET stack_id = 80; UPDATE launch SET stack_id = 80;"
                    "UPDATE sync SET stack_id = 80;"
                    "CREATE TEMP TABLE given (i, module, function, file, offset, line, runtime)");
    for (size_t i = 0; i < depth_of(frames); i++) {
        sqlite3_stmt *statement = NULL;

        cr_assert_eq(sqlite3_prepare_v2(fixture->db,
                                        "INSERT INTO given VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", -1,
                                        &statement, NULL),
                     SQLITE_OK);
        sqlite3_bind_int64(statement, 1, (int64_t)i);
        bind_text(statement, 2, frames[i].module);
        bind_text(statement, 3, frames[i].function);
        bind_text(statement, 4, frames[i].file);
        sqlite3_bind_int64(statement, 5, frames[i].offset);
        sqlite3_bind_int64(statement, 6, frames[i].line);
        sqlite3_bind_int(statement, 7, frames[i].interpreter ? 2 : 0);
        cr_assert_eq(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_finalize(statement);
    }
    gmt_fixture_sql(
        fixture,
        "INSERT OR IGNORE INTO string (text) SELECT function FROM given WHERE function NOT NULL;"
        "INSERT OR IGNORE INTO string (text) SELECT file FROM given WHERE file NOT NULL;"
        "INSERT INTO module (id, path, load_bias, start_address, end_address) SELECT 800 + min(i), "
        "module, 0, (800 + min(i)) * 100000, (801 + min(i)) * 100000 FROM given WHERE module NOT "
        "NULL GROUP BY module;"
        "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, runtime) "
        "SELECT 800 + i, 1000000 + i, (SELECT id FROM module WHERE path = module AND id >= 800), "
        "nullif(offset, 0), (SELECT id FROM string WHERE text = function), "
        "(SELECT id FROM string WHERE text = file), nullif(line, 0), runtime FROM given;"
        "INSERT INTO stack_frame SELECT 80, i + 1, 800 + i FROM given");
}

static const struct {
    const char *rule;
    struct gmt_report_frame frames[MOST_FRAMES];
    const char *words, *not ; /* in the fix; not: NULL for anything */
} cases[] = {
    {"GM109", {READS, CALL, INTERPRETER, OWN}, "loop inside of the compiled function", "float()"},
    /* A package's function that calls it asks for none of this either. */
    {"GM109", {READS, CALL, INTERPRETER, PACKAGE}, "The program's Python does not read", "equinox"},
    {"GM109",
     {PLUGIN(50), INTERPRETER, OF_JAX("ArrayImpl.__float__"), OWN},
     "float(), .item() and print of an array wait",
     "stack"},
    {"GM109", {PLUGIN(50), INTERPRETER, OWN}, "Which of the two it is the stack does not", NULL},
    {"GM506", {NESTED, CALL, INTERPRETER, OWN}, "under jax.jit already", "Put the whole"},
    {"GM507", {NESTED, CALL, INTERPRETER, OWN}, "under jax.jit already", "Put the whole"},
    {"GM512", {NESTED, CALL, INTERPRETER, OWN}, "under jax.jit already", "Put the whole"},
    /* Operation by operation: each is a compiled function of its own. */
    {"GM512", {FLAT, CALL, INTERPRETER, OWN}, "Put the whole step", NULL},
};

Test(compiled, loops_are_advised_about_as_what_they_are)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, cases[i].rule, "SELECT 1");
        set_stack(&fixture, cases[i].frames);
        const struct gmt_finding *f = gmt_fixture_only(&fixture, cases[i].rule);

        cr_expect_not_null(strstr(f->fix, cases[i].words), "%zu: %s", i, f->fix);
        if (cases[i].not != NULL) {
            cr_expect_null(strstr(f->fix, cases[i].not ), "%zu: %s", i, f->fix);
        }
        cr_expect_str_eq(f->framework, "jax");
        gmt_fixture_free(&fixture);
    }
}

/* Read-backs of a few bytes are a loop's; what else is copied inside nobody asked for. */
Test(compiled, other_calls_inside_are_nobodys)
{
    static const struct gmt_report_frame inside[MOST_FRAMES] = {READS, CALL, INTERPRETER, OWN};
    static const char *const rules[] = {"GM101", "GM103", "GM105"};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, rules[i], "SELECT 1");
        set_stack(&fixture, inside);
        gmt_fixture_analyze(&fixture, rules[i]);
        cr_assert_eq(fixture.report.note_count, 1, "%s: %s", rules[i],
                     gmt_fixture_found(&fixture.report));
        cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "XLA makes this call itself"),
                           "%s: %s", rules[i], fixture.report.notes[0].note_why);
        gmt_fixture_free(&fixture);
    }
}
