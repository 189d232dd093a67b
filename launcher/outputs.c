/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is to write, the trace and a report: refused before the program has done its work, not after. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "preload/session/options.h"
#include "preload/session/output.h"
#include "reports/model/formats.h"

/* what: "trace" or "report", which `option` names. 0 or negative errno, which is said. */
static int check_place(const char *path, const char *what, const char *option)
{
    char folder[PATH_MAX];
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        gmt_say(stderr, "gmtrace: '%s' is a directory; name a file with %s\n", path, option);
        return -EISDIR;
    }
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
                   slash != NULL ? path : ".");
    if (access(folder, W_OK | X_OK) != 0) {
        int error = -errno;
        gmt_say(stderr, "gmtrace: cannot write the %s into '%s': %s; name another place with %s\n",
                what, folder, strerror(-error), option);
        return error;
    }
    return 0;
}

/* what, option: as check_place has them. */
static int check_pattern(const char *pattern, const char *what, const char *option)
{
    char path[PATH_MAX];
    int error = gmt_output_expand(pattern, path, sizeof(path));
    if (error != 0) {
        gmt_say(stderr,
                "gmtrace: output pattern '%s' is not valid: use %%p, %%h, %%r, %%e, "
                "%%t, %%q{VAR} or %%%%\n",
                pattern);
        return error;
    }
    return check_place(path, what, option);
}

/* What is written while the program runs, beside the trace. */
static int check_live(void)
{
    if (gmt_options.dump_on[0] != '\0' && gmt_options.ring.ns == 0) {
        gmt_say(stderr,
                "gmtrace: --dump-on is for recordings of the last seconds: give --ring too\n");
        return -EINVAL;
    }
    if (gmt_options.aggregate && gmt_options.ring.ns != 0) {
        gmt_say(stderr,
                "gmtrace: --aggregate keeps sums over the whole run, --ring the last seconds: "
                "give one of them\n");
        return -EINVAL;
    }
    if (gmt_options.step[0] != '\0' && !gmt_options.aggregate) {
        gmt_say(stderr, "gmtrace: --step is for sums over steps: give --aggregate too\n");
        return -EINVAL;
    }
    return gmt_options.metrics[0] != '\0'
               ? check_pattern(gmt_options.metrics, "metrics", "--metrics")
               : 0;
}

static bool has_ending(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && strcmp(dot + 1, ending) == 0;
}

bool gmt_launcher_is_page(const char *path)
{
    return has_ending(path, "html");
}

bool gmt_launcher_is_report(const char *path)
{
#define ENDS(name, ending) has_ending(path, ending) ||
#define LAST_ENDS(name, ending) has_ending(path, ending)
    return GMT_FORMATS(ENDS, ENDS, LAST_ENDS);
#undef LAST_ENDS
#undef ENDS
}

static int check_report(void)
{
    char gmanalyze[PATH_MAX];
    const char *path = getenv("GMTRACE_REPORT");
    bool is_named = path != NULL && path[0] != '\0';
    if (!is_named && !gmt_launcher_wants_page_opened()) {
        return 0;
    }
    if (gmt_launcher_part("gmanalyze", gmanalyze, sizeof(gmanalyze)) != 0) {
        gmt_say(stderr, "gmtrace: no report can be written: gmanalyze is not installed beside "
                        "gmtrace\n");
        return -ENOENT;
    }
    if (!is_named) {
        return 0; /* it lies beside the trace */
    }
    if (!gmt_launcher_is_report(path)) {
        gmt_say(stderr, "gmtrace: --report '%s': the name must end in " GMT_FORMAT_ENDINGS "\n",
                path);
        return -EINVAL;
    }
    if (gmt_launcher_wants_page_opened() && !gmt_launcher_is_page(path)) {
        gmt_say(stderr, "gmtrace: --open opens a page, whose name ends in .html; '%s' is none\n",
                path);
        return -EINVAL;
    }
    return check_place(path, "report", "--report");
}

/* gmanalyze -o names a report, gmtrace -o the trace: who mixes them up would get a database of that name. */
static int check_trace(void)
{
    if (gmt_launcher_is_report(gmt_options.output)) {
        gmt_say(stderr, "gmtrace: -o names the trace, a database; a report: --report %s\n",
                gmt_options.output);
        return -EINVAL;
    }
    return check_pattern(gmt_options.output, "trace", "-o");
}

int gmt_launcher_check_outputs(void)
{
    int error = check_trace();
    error = error != 0 ? error : check_live();
    return error != 0 ? error : check_report();
}
