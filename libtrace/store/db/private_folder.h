/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of this user alone beside a file that is to be made, `<file>.recovery`: a database and its journal
 * are in nobody's reach there while they are written. The file has its name when it is finished.
 */
#ifndef GMT_STORE_DB_PRIVATE_FOLDER_H
#define GMT_STORE_DB_PRIVATE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct gmt_private_folder {
    int parent, folder;  /* descriptors                                                     */
    char name[NAME_MAX]; /* of the file to be made                                          */
    char path[PATH_MAX]; /* of the database in the folder                                   */
};

/* Make the folder, or take the one that an earlier attempt left. Returns 0 or negative errno (-EBUSY:
 * another process is at work in it); then nothing is to be closed. */
int gmt_private_folder_open(struct gmt_private_folder *folder, const char *target);

/* Remove what is in it, then the folder itself. */
void gmt_private_folder_close(struct gmt_private_folder *folder);

/* An empty database in place of what is there. */
int gmt_private_folder_begin(struct gmt_private_folder *folder);

/* A copy of `source`, an open database, and of its rollback journal, which lies beside it as
 * `journal_name` of `journal_folder`; -EBADMSG: that would do more than restore the database. */
int gmt_private_folder_copy(struct gmt_private_folder *folder, int source, int journal_folder,
                            const char *journal_name);

/* Give the database its name. before: the file that has it now and is replaced; NULL: there is none (-EEXIST
 * if there is). A journal of that name is removed first: SQLite would restore the new file with it. */
int gmt_private_folder_install(struct gmt_private_folder *folder, const struct stat *before);

#endif
