/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plans, in programs and in the launcher (plan.h). */
#include "preload/apply/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/hash/content_hash.h"

const struct gmt_fix_row gmt_fixes[GMT_FIX_COUNT] = {
#define GMT_FIX(id, name, rules, class, one, many, what) \
    {name, rules, one, many, what, GMT_FIX_##class},
#include "preload/apply/fixes.def"
};

const struct gmt_fix_parameter_row gmt_fix_parameters[GMT_FIX_PARAMETERS] = {
#define GMT_FIX_PARAMETER(id, name, standard, least, most, what) \
    {GMT_FIX_##id, #name, standard, least, most},
#include "preload/apply/fixes.def"
};

const char *const gmt_fix_states[] = {"absent", "proven", "tried", "differs", "no-gain", "trying"};
enum { STATES = sizeof(gmt_fix_states) / sizeof(gmt_fix_states[0]) };

void gmt_plan_clear(struct gmt_plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    for (unsigned i = 0; i < GMT_FIX_PARAMETERS; i++) {
        plan->values[i] = gmt_fix_parameters[i].standard;
    }
}

enum gmt_fix gmt_fix_named(const char *name)
{
    unsigned fix = 0;
    while (fix < GMT_FIX_COUNT && strcmp(gmt_fixes[fix].name, name) != 0) {
        fix++;
    }
    return (enum gmt_fix)fix;
}

static bool parse_parameter(enum gmt_fix fix, char *word, struct gmt_plan *plan)
{
    char *equals = strchr(word, '='), *end = NULL;
    if (equals == NULL) {
        return false;
    }
    *equals = '\0';
    errno = 0;
    long long value = strtoll(equals + 1, &end, 10);
    bool is_number = errno == 0 && end != equals + 1 && *end == '\0';
    for (unsigned i = 0; i < GMT_FIX_PARAMETERS; i++) {
        const struct gmt_fix_parameter_row *row = &gmt_fix_parameters[i];
        if (row->fix == fix && strcmp(row->name, word) == 0) {
            plan->values[i] = value;
            return is_number && value >= row->least && value <= row->most;
        }
    }
    return false;
}

static bool parse_fix(char *rest, struct gmt_plan *plan)
{
    char *left = NULL;
    const char *name = strtok_r(rest, " ", &left), *state = strtok_r(NULL, " ", &left);
    enum gmt_fix fix = name != NULL ? gmt_fix_named(name) : GMT_FIX_COUNT;
    if (state == NULL || fix == GMT_FIX_COUNT || plan->states[fix] != GMT_FIX_ABSENT) {
        return false;
    }
    for (unsigned i = GMT_FIX_ABSENT + 1; i < STATES; i++) {
        if (strcmp(gmt_fix_states[i], state) == 0) {
            plan->states[fix] = (enum gmt_fix_state)i;
        }
    }
    bool good = plan->states[fix] != GMT_FIX_ABSENT;
    for (char *word = strtok_r(NULL, " ", &left); good && word != NULL;
         word = strtok_r(NULL, " ", &left)) {
        good = parse_parameter(fix, word, plan);
    }
    return good;
}

const char *gmt_plan_path(const struct gmt_plan *plan, unsigned program)
{
    return plan->paths + plan->programs[program].path;
}

bool gmt_plan_add(struct gmt_plan *plan, const char *hash, const char *path)
{
    const char *last = plan->program_count > 0 ? gmt_plan_path(plan, plan->program_count - 1)
                                               : NULL;
    size_t used = last != NULL ? (size_t)(last - plan->paths) + strlen(last) + 1 : 0;
    size_t bytes = strlen(path) + 1;
    if (plan->program_count == GMT_PLAN_PROGRAMS || bytes > sizeof(plan->paths) - used) {
        return false;
    }
    struct gmt_plan_program *program = &plan->programs[plan->program_count++];
    (void)snprintf(program->hash, sizeof(program->hash), "%.32s", hash);
    program->path = (unsigned short)used;
    memcpy(plan->paths + used, path, bytes);
    return true;
}

static bool parse_program(const char *rest, struct gmt_plan *plan)
{
    return strspn(rest, "0123456789abcdef") == 32 && rest[32] == ' ' && rest[33] != '\0' &&
           gmt_plan_add(plan, rest, rest + 33);
}

bool gmt_plan_is_for(const struct gmt_plan *plan, const char *hash)
{
    bool is = false;
    for (unsigned i = 0; i < plan->program_count; i++) {
        is = is || strcmp(plan->programs[i].hash, hash) == 0;
    }
    return is;
}

unsigned gmt_plan_parse(char *text, struct gmt_plan *plan)
{
    gmt_plan_clear(plan);
    unsigned number = 1;
    for (char *line = text, *next; line != NULL; line = next, number++) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        bool good = number == 1                         ? strcmp(line, GMT_PLAN_FIRST_LINE) == 0
                    : line[0] == '\0' || line[0] == '#' ? true
                    : strncmp(line, "program ", 8) == 0 ? parse_program(line + 8, plan)
                    : strncmp(line, "fix ", 4) == 0     ? parse_fix(line + 4, plan)
                                                        : false;
        if (!good) {
            return number;
        }
    }
    return plan->program_count != 0 ? 0 : number;
}

const char *gmt_plan_read(const char *path, struct gmt_plan *plan, char *why, size_t bytes)
{
    char text[PATH_MAX + 2048];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return strerror(errno);
    }
    ssize_t length = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, text, sizeof(text))
                                                                    : -1;
    close(fd);
    if (length < 0 || (size_t)length == sizeof(text)) {
        return "it is no plan of gmtrace try";
    }
    text[length] = '\0';
    if (strncmp(text, GMT_PLAN_OLD_FIRST_LINE, strlen(GMT_PLAN_OLD_FIRST_LINE)) == 0) {
        return "it is of an older gmtrace, which could call proven what was not compared; let "
               "gmtrace try write it again";
    }
    unsigned line = memchr(text, '\0', (size_t)length) != NULL ? 1 : gmt_plan_parse(text, plan);
    if (line != 0) {
        (void)snprintf(why, bytes, "line %u is not understood", line);
        return why;
    }
    return NULL;
}

void gmt_plan_hash_file(const char *path, char hash[static 33])
{
    struct stat info;
    hash[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    void *content = fstat(fd, &info) == 0 && info.st_size > 0
                        ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                        : MAP_FAILED;
    close(fd);
    if (content == MAP_FAILED) {
        return;
    }
    const struct gmt_hash_range range = {
        .start = content, .width = (size_t)info.st_size, .rows = 1};
    struct gmt_hash found = gmt_hash_of(&range, SIZE_MAX);
    (void)snprintf(hash, 33, "%016" PRIx64 "%016" PRIx64, found.high, found.low);
    (void)munmap(content, (size_t)info.st_size);
}
