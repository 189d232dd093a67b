/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long step is, on standard error where that is a terminal; silent everywhere else. */
#ifndef GMT_BASE_PROGRESS_H
#define GMT_BASE_PROGRESS_H

/*
 * One step at a time: begin, any number of advances, end. A step that takes a second or more shows a
 * line that begins with `what` and is rewritten in place; end removes it, so that whatever else is
 * printed on standard error has a line of its own. `total` may be an estimate: the line never claims to
 * be done. 0: unknown, and nothing is shown.
 */
void gmt_progress_begin(const char *what, double total);
void gmt_progress_begin_rows(const char *what, double rows);
void gmt_progress_end(void);

/* In a process, or a thread, that works for another one: a step that is not shown. What is added to it goes to `forward`, which
 * has the other process add it, five times a second at most. */
void gmt_progress_forward(void (*forward)(double done, const char *part));
/* The same by rows, as gmt_progress_row counts them. */
void gmt_progress_forward_rows(void (*forward)(double rows, const char *part));

/* Outside a step they do nothing. */
void gmt_progress_add(double done);
void gmt_progress_add_part(double done,
                           const char *part); /* the line names the part that is under way */
/* Cheap enough for every row. In a step that does not count rows, it only brings the line up to
 * date. */
void gmt_progress_row(void);

#endif
