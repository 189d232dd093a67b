/* SPDX-License-Identifier: Apache-2.0 */
/* The rollback journal beside a database: what SQLite would do with it. */
#ifndef GMT_STORE_DB_JOURNAL_H
#define GMT_STORE_DB_JOURNAL_H

/* 0: `<database>-journal` is absent, or does no more than restore the database. -EBADMSG: it names another
 * file, a super-journal, which SQLite reads and removes; or it is no regular file. */
int gmt_journal_check(const char *database);

/* The same for an open file. */
int gmt_journal_check_file(int fd);

#endif
