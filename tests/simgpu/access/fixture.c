/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a table of recorded counters. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "columns KERNEL METRIC..." */
static int read_columns(char *rest, struct access_fixture *fixture)
{
    char *save = NULL;
    const char *kernel = strtok_r(rest, " ", &save);

    for (size_t k = 0; kernel != NULL && k < ACCESS_KERNELS; k++) {
        struct access_columns *columns = &fixture->columns[k];
        if (strcmp(kernel, access_kernel_names[k]) != 0) {
            continue;
        }
        for (const char *word; (word = strtok_r(NULL, " ", &save)) != NULL; columns->count++) {
            if (columns->count == ACCESS_MAX_COLUMNS) {
                return -EINVAL;
            }
            snprintf(columns->name[columns->count], sizeof columns->name[0], "%s", word);
        }
        return 0;
    }
    return -EINVAL;
}

/* "KERNEL PATTERN VALUE..." */
static int read_row(char *line, struct access_fixture *fixture)
{
    struct access_reading *row = &fixture->rows[fixture->count];
    char *save = NULL;
    const char *kernel = strtok_r(line, " ", &save);
    const char *pattern = strtok_r(NULL, " ", &save);
    size_t column = 0;

    if (pattern == NULL || fixture->count == ACCESS_MAX_PATTERNS) {
        return -EINVAL;
    }
    snprintf(row->kernel, sizeof row->kernel, "%s", kernel);
    snprintf(row->pattern, sizeof row->pattern, "%s", pattern);
    for (const char *word; (word = strtok_r(NULL, " ", &save)) != NULL; column++) {
        if (column == ACCESS_MAX_COLUMNS) {
            return -EINVAL;
        }
        row->value[column] = strcmp(word, "-") == 0 ? ACCESS_NOT_MEASURED : strtod(word, NULL);
    }
    fixture->count++;
    return 0;
}

int access_fixture_read(const char *path, struct access_fixture *fixture)
{
    static const char heading[] = "columns ";
    char line[1024];
    int error = 0;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return -errno;
    }
    memset(fixture, 0, sizeof *fixture);
    while (error == 0 && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, heading, sizeof heading - 1) == 0) {
            error = read_columns(line + sizeof heading - 1, fixture);
        } else if (line[0] != '#') {
            error = read_row(line, fixture);
        }
    }
    fclose(file);
    return error;
}

double access_reading_of(const struct access_fixture *fixture, enum access_kernel kernel,
                         size_t index, const char *metric)
{
    const struct access_columns *columns = &fixture->columns[kernel];

    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->name[i], metric) == 0) {
            return fixture->rows[index].value[i];
        }
    }
    return ACCESS_NOT_MEASURED;
}
