/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs made CUDA calls in a run of `gmtrace try`: by that gmanalyze knows a trace of the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/try.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/symbols/elf_image.h"

#define ARGUMENT_SEPARATOR '\x1f'

static void look_at_file(struct gmt_try_program *program)
{
    struct gmt_elf image;
    struct stat info;
    if (gmt_elf_open(&image, program->exe) == 0) {
        gmt_elf_build_id(&image, program->build_id, sizeof(program->build_id));
        gmt_elf_close(&image);
    }
    if (stat(program->exe, &info) == 0) {
        program->modified_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    }
}

static int make_one(const struct gmt_try_identity *identity, struct gmt_try_program *program)
{
    size_t bytes = strnlen(identity->command, sizeof(identity->command));
    program->exe = strndup(identity->exe, sizeof(identity->exe) - 1);
    program->command = gmt_name_shell_quote(identity->command, bytes, ARGUMENT_SEPARATOR);
    if (program->exe == NULL || program->command == NULL) {
        return -ENOMEM;
    }
    program->devices = identity->devices < GMT_TRY_DEVICES ? identity->devices : GMT_TRY_DEVICES;
    for (uint32_t i = 0; i < program->devices; i++) {
        memcpy(program->device[i], identity->device[i], GMT_TRY_NAME_BYTES);
        program->device[i][GMT_TRY_NAME_BYTES - 1] = '\0';
    }
    look_at_file(program);
    return 0;
}

int gmt_try_programs_make(const struct gmt_try_note *note, struct gmt_try_program **programs,
                          size_t *count)
{
    int error = 0;
    size_t processes = note->processes < GMT_TRY_PROCESSES ? note->processes : GMT_TRY_PROCESSES;
    *count = 0;
    *programs = calloc(processes + 1, sizeof(**programs));
    if (*programs == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < processes && error == 0; i++) {
        const struct gmt_try_identity *identity = &note->process[i].identity;
        if (identity->exe[0] != '\0') {
            error = make_one(identity, &(*programs)[(*count)++]);
        }
    }
    return error;
}

void gmt_try_programs_free(struct gmt_try_program *programs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(programs[i].exe);
        free(programs[i].command);
    }
    free(programs);
}
