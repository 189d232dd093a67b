/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the page, which its recorder may be writing. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/spool_lock.h"
#include "libtrace/store/live/live_page.h"

#define ATTEMPTS 100
#define PAUSE_NS 100000

#define GMT_LIVE_NAME(id, name, title) name,
#define GMT_LIVE_TITLE(id, name, title) title,

const char *gmt_live_cause_name(enum gmt_live_cause cause)
{
    static const char *const names[] = {GMT_LIVE_CAUSES(GMT_LIVE_NAME)};
    return cause < GMT_LIVE_CAUSE_COUNT ? names[cause] : "";
}

const char *gmt_live_cause_title(enum gmt_live_cause cause)
{
    static const char *const titles[] = {GMT_LIVE_CAUSES(GMT_LIVE_TITLE)};
    return cause < GMT_LIVE_CAUSE_COUNT ? titles[cause] : "";
}

/* By reading, as everything of a spool that another process may cut short. */
static int copy_page(int fd, struct gmt_live_page *page)
{
    uint32_t before = 0, after = 0;
    const off_t at = offsetof(struct gmt_live_page, seq);
    if (pread(fd, &before, sizeof(before), at) != sizeof(before) ||
        pread(fd, page, sizeof(*page), 0) != (ssize_t)sizeof(*page) ||
        pread(fd, &after, sizeof(after), at) != sizeof(after)) {
        return -ENOENT;
    }
    if (page->magic == 0 || page->seq == 0) {
        return -ENOENT;
    }
    return before == after && before % 2 == 0 && page->seq == before ? 0 : -EAGAIN;
}

int gmt_live_read(int folder, struct gmt_live_page *page)
{
    int fd = gmt_spool_file_open(folder, GMT_LIVE_FILE, O_RDONLY);
    int error = fd < 0 ? fd : -EAGAIN;
    for (int i = 0; i < ATTEMPTS && error == -EAGAIN; i++) {
        error = copy_page(fd, page);
        if (error == -EAGAIN) {
            (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error == 0 && page->magic != GMT_LIVE_MAGIC) {
        return -EBADMSG;
    }
    return error == 0 && page->version != GMT_LIVE_VERSION ? -EPROTONOSUPPORT : error;
}
