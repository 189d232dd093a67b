/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the settings of a spool. */
#include "libtrace/settings/spool_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/spool_lock.h"

int gmt_spool_settings_write(int folder, struct gmt_spool_settings *settings)
{
    settings->magic = GMT_SETTINGS_MAGIC;
    settings->version = GMT_SETTINGS_VERSION;
    int fd = openat(folder, GMT_SETTINGS_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0400);
    if (fd < 0) {
        return -errno;
    }
    ssize_t put = write(fd, settings, sizeof(*settings));
    int error = put == (ssize_t)sizeof(*settings) ? 0 : put < 0 ? -errno : -ENOSPC;
    close(fd);
    return error;
}

static int check(const struct gmt_spool_settings *settings)
{
    return settings->magic == GMT_SETTINGS_MAGIC && settings->version == GMT_SETTINGS_VERSION &&
                   memchr(settings->metrics, '\0', sizeof(settings->metrics)) != NULL &&
                   memchr(settings->labels, '\0', sizeof(settings->labels)) != NULL &&
                   memchr(settings->step, '\0', sizeof(settings->step)) != NULL
               ? 0
               : -EBADMSG;
}

int gmt_spool_settings_read(int folder, struct gmt_spool_settings *settings)
{
    int fd = gmt_spool_file_open(folder, GMT_SETTINGS_FILE, O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, settings, sizeof(*settings)) : 0;
    int error = fd < 0 ? fd : got == (ssize_t)sizeof(*settings) ? check(settings) : -EBADMSG;
    if (fd >= 0) {
        close(fd);
    }
    if (error != 0) {
        memset(settings, 0, sizeof(*settings));
    }
    return error;
}
