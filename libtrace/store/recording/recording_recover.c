/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a trace of what a killed recorder left, in a new file: anybody may have left it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/checked.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/private_folder.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/recording_internal.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/recording/ring_internal.h"
#include "libtrace/store/spool/spool_files.h"

/* The trace that the recorder began. */
struct unfinished {
    int fd, folder; /* -1: there is none */
    char journal[NAME_MAX + 16];
    struct stat info;
};

static void close_unfinished(struct unfinished *unfinished)
{
    if (unfinished->fd >= 0) {
        close(unfinished->fd);
    }
    if (unfinished->folder >= 0) {
        close(unfinished->folder);
    }
}

static int open_unfinished(struct unfinished *unfinished, const char *path)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    *unfinished = (struct unfinished){.fd = -1, .folder = -1};
    if (snprintf(unfinished->journal, sizeof(unfinished->journal), "%s-journal", name) >=
        (int)sizeof(unfinished->journal)) {
        return -ENAMETOOLONG;
    }
    (void)snprintf(parent, sizeof(parent), "%.*s", slash != NULL ? (int)(name - path) : 1,
                   slash != NULL ? path : ".");
    unfinished->folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (unfinished->folder < 0) {
        return -errno;
    }
    unfinished->fd = openat(unfinished->folder, name,
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (unfinished->fd < 0) {
        return errno == ENOENT ? 0 : -errno;
    }
    if (fstat(unfinished->fd, &unfinished->info) != 0) {
        return -errno;
    }
    return S_ISREG(unfinished->info.st_mode) ? 0 : -EEXIST;
}

/* 1: the database in the private folder was begun from this spool, and *is_finished says more of it; 0:
 * it is something else, or none; negative errno. */
static int look_at_copy(struct gmt_recording *recording, bool *is_finished)
{
    int64_t finished = 0;
    *is_finished = false;
    int error = gmt_database_continue(recording->output, &recording->db);
    int ours = error == 0 ? gmt_recording_is_ours(recording) : error;
    if (ours == 1) {
        error = gmt_database_integer(
            recording->db,
            "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'ingest_chunk')", 0,
            &finished);
        ours = error != 0 ? error : 1;
        *is_finished = finished != 0;
    }
    gmt_database_close(recording->db);
    recording->db = NULL;
    return ours == -EBADMSG || ours == -ENOENT ? 0 : ours;
}

/* Its recorder was killed while it wrote the first pages: the journal takes all of them back, and no more
 * than an empty file is left, whoever began it. */
static bool is_copy_empty(const struct gmt_recording *recording)
{
    struct stat info;
    return lstat(recording->output, &info) == 0 && info.st_size == 0;
}

/* Put what is to be gone on with into the private folder: a copy of the unfinished trace, or an empty file
 * where the spool has all of its chunks, or nothing else is left. is_replaced: what is made takes the place
 * of what is there. */
static int take_over(struct gmt_recording *recording, struct gmt_private_folder *private,
                     const struct unfinished *unfinished, bool is_replaced, bool *is_finished)
{
    /* An earlier attempt may have been killed just before its last step. */
    int ours = look_at_copy(recording, is_finished);
    if (ours < 0 || *is_finished) {
        return ours < 0 ? ours : 0;
    }
    if (unfinished->fd < 0 || unfinished->info.st_size == 0) {
        return gmt_private_folder_begin(private);
    }
    if (!recording->is_foreign && unfinished->info.st_uid != geteuid()) {
        return -EPERM;
    }
    int error = gmt_private_folder_copy(private, unfinished->fd, unfinished->folder,
                                        unfinished->journal);
    ours = error == 0 ? look_at_copy(recording, is_finished) : error == -EBADMSG ? 0 : error;
    if (ours < 0) {
        return ours;
    }
    if (ours == 0 && is_replaced && !is_copy_empty(recording)) {
        return -EEXIST;
    }
    if (ours == 1 && gmt_recording_chunks_read(recording) != 0) {
        return 0;
    }
    return *is_finished ? 0 : gmt_private_folder_begin(private);
}

static int build(struct gmt_recording *recording)
{
    enum gmt_process_fate fate = gmt_process_watch_check(&recording->watch);
    if (fate == GMT_PROCESS_ALIVE) {
        return -EBUSY;
    }
    int error = gmt_recording_open_database(recording);
    if (error == 0 && !recording->complete) {
        error = gmt_ring_is_on(recording->control)
                    ? gmt_ring_fill(recording, "the recorder was killed")
                    : gmt_recording_drain(recording, &fate);
        if (error == 0) {
            error = gmt_recording_finish(recording, gmt_process_watch_learn(&recording->watch));
        }
    }
    gmt_recording_close_database(recording);
    return error;
}

/* `target` is the unfinished trace itself, which is replaced, or a file that is not there. */
static int make(struct gmt_recording *recording, const char *began, const char *target)
{
    struct unfinished unfinished;
    struct gmt_private_folder private;
    bool is_finished, is_replaced = strcmp(began, target) == 0;
    int error = open_unfinished(&unfinished, began);
    if (!is_replaced && (error == -EEXIST || error == -ELOOP)) {
        /* What has taken the trace's name is no business of a new file. */
        close_unfinished(&unfinished);
        unfinished = (struct unfinished){.fd = -1, .folder = -1};
        error = 0;
    }
    if (error == 0) {
        error = gmt_private_folder_open(&private, target);
    }
    if (error != 0) {
        close_unfinished(&unfinished);
        return error;
    }
    (void)snprintf(recording->output, sizeof(recording->output), "%s", private.path);
    error = take_over(recording, &private, &unfinished, is_replaced, &is_finished);
    if (error == 0 && !is_finished) {
        error = build(recording);
    }
    if (error == 0) {
        error = gmt_private_folder_install(
            &private, is_replaced && unfinished.fd >= 0 ? &unfinished.info : NULL);
    }
    gmt_private_folder_close(&private);
    close_unfinished(&unfinished);
    return error;
}

/* A folder whose process died before it wrote anything, or which a killed recorder had all but removed. */
static void tidy(const char *directory)
{
    struct gmt_control control;
    int folder = gmt_spool_folder_open(directory);
    if (folder < 0) {
        return;
    }
    int error = gmt_spool_control_read(folder, &control);
    if ((error == -ENOENT || error == -ENODATA) && gmt_spool_folder_is_own(folder) &&
        !gmt_recording_spool_is_young(folder) && gmt_spool_lock_held(folder) <= 0) {
        gmt_spool_folder_remove(folder, directory);
    }
    close(folder);
}

int gmt_recording_recover(const char *output)
{
    struct gmt_recording recording;
    enum gmt_recording_state state;
    char directory[PATH_MAX];
    int error = gmt_recording_spool_of(output, directory, sizeof(directory));
    if (error == 0) {
        error = gmt_recording_state(output, &state);
    }
    if (error != 0) {
        return error;
    }
    if (state != GMT_RECORDING_LEFTOVER) {
        tidy(directory);
        return state == GMT_RECORDING_LIVE ? -EBUSY : 0;
    }
    error = gmt_recording_begin(&recording, directory, GMT_RECORDING_SOURCE_OWN);
    if (error == 0 && (error = make(&recording, output, output)) == 0) {
        gmt_spool_folder_remove(recording.folder, directory);
    }
    gmt_recording_close(&recording);
    return error == -ENOENT ? 0 : error; /* someone else has just finished it */
}

/* `<output>` of `<output>.spool`, however many slashes follow. */
static int name_began(const char *spool_directory, char began[static PATH_MAX])
{
    size_t length = strlen(spool_directory);
    while (length > 1 && spool_directory[length - 1] == '/') {
        length--;
    }
    if (length >= PATH_MAX || length < sizeof(".spool") ||
        strncmp(spool_directory + length - 6, ".spool", 6) != 0) {
        return length >= PATH_MAX ? -ENAMETOOLONG : -ENOENT;
    }
    (void)snprintf(began, PATH_MAX, "%.*s", (int)(length - 6), spool_directory);
    return 0;
}

int64_t gmt_recording_foreign_bytes(const char *spool_directory)
{
    char began[PATH_MAX];
    struct stat info;
    int error = name_began(spool_directory, began);
    int folder = error == 0 ? gmt_spool_folder_open(spool_directory) : error;
    if (folder < 0) {
        return folder;
    }
    bool is_own = gmt_recording_prove(folder) == 0;
    int64_t bytes = gmt_spool_folder_bytes(folder);
    close(folder);
    if (lstat(began, &info) == 0 && S_ISREG(info.st_mode)) {
        bytes = gmt_add_clamped(bytes, info.st_size);
    }
    return is_own ? -EPERM : bytes;
}

int gmt_recording_extract(const char *spool_directory, const char *new_file)
{
    struct gmt_recording recording;
    enum gmt_recording_state state = GMT_RECORDING_NONE;
    struct stat info;
    char began[PATH_MAX];
    int error = name_began(spool_directory, began);
    if (error == 0) {
        error = gmt_recording_state(began, &state);
    }
    if (error != 0 || state != GMT_RECORDING_LEFTOVER) {
        return error != 0 ? error : state == GMT_RECORDING_LIVE ? -EBUSY : -ENOENT;
    }
    if (lstat(new_file, &info) == 0 || errno != ENOENT) {
        return -EEXIST;
    }
    error = gmt_recording_begin(&recording, spool_directory, GMT_RECORDING_SOURCE_OWN);
    if (error == -EPERM || error == -EREMOTE) {
        gmt_recording_close(&recording);
        error = gmt_recording_begin(&recording, spool_directory, GMT_RECORDING_SOURCE_FOREIGN);
    }
    if (error == 0) {
        error = make(&recording, began, new_file);
    }
    gmt_recording_close(&recording);
    return error;
}
