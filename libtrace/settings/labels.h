/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording is labelled with: option --label, and how it is found in the options that a trace keeps. */
#ifndef GMT_SETTINGS_LABELS_H
#define GMT_SETTINGS_LABELS_H

#include <stddef.h>

enum { GMT_LABELS_BYTES = 512 };

/*
 * Is text "KEY=VALUE", or several with commas between? Keys are of letters, digits, '.', '_' and '-'; values have no
 * comma, semicolon or control character. 0; -EINVAL; -ENAMETOOLONG: GMT_LABELS_BYTES or more. "" is 0.
 */
int gmt_labels_check(const char *text);

/* Value of the first label of that key among "a=1,b=2", and its length; NULL: none. */
const char *gmt_label_find(const char *labels, const char *key, size_t *length);

/* Value of a field among the options of a recording, "collect=light;debug_dir=/a:/b;...": up to the next one. NULL: none. */
const char *gmt_recorded_option(const char *options, const char *field, size_t *length);

#endif
