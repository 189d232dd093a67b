/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace top: shows what a program moves while it runs. It reads what the recorder has counted, and nothing else. */
#include "launcher/top.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/spool_folder.h"

#define LEAST_S 0.1
#define MOST_S 3600.0
#define MOST_SAMPLES 1e9
#define MOST_PROCESSES 256u

struct top_arguments {
    const char *pid;
    double seconds;
    unsigned long samples; /* 0: until the process ends */
};

/* What there is now, and what there was. */
struct top {
    struct top_arguments arguments;
    pid_t pid; /* 0: all that there are */
    struct gmt_top_reading *now, *before;
    size_t now_count, before_count;
    bool is_terminal;
};

enum { KEY_ONCE = 0x100 };

static const struct argp_option options[] = {
    {"interval", 'd', "SECONDS", 0, "between two samples; 1 if nothing is given", 0},
    {"samples", 'n', "N", 0, "end after so many samples", 0},
    {"once", KEY_ONCE, NULL, 0, "end after one sample", 0},
    {0},
};

static double read_number(struct argp_state *state, const char *text, double least, double most)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || number < least || number > most) {
        argp_error(state, "'%s' is no number from %g to %g", text, least, most);
    }
    return number;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct top_arguments *arguments = state->input;
    switch (key) {
    case 'd': arguments->seconds = read_number(state, value, LEAST_S, MOST_S); return 0;
    case 'n':
        arguments->samples = (unsigned long)read_number(state, value, 1, MOST_SAMPLES);
        return 0;
    case KEY_ONCE: arguments->samples = 1; return 0;
    case ARGP_KEY_ARG:
        if (arguments->pid != NULL) {
            argp_error(state, "one process at a time, or none for all");
        }
        arguments->pid = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[PID]",
    .doc = "Show what a program that is being recorded copies, launches, holds and waits for, once "
           "a second: a "
           "table on a terminal, else a block for each sample. Without PID: of the one process "
           "that is being "
           "recorded, or a line for each. The program is not disturbed: the numbers are the "
           "recorder's.",
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void name_program(struct gmt_top_reading *reading)
{
    char path[48];
    (void)snprintf(path, sizeof(path), "/proc/%ld/comm", (long)reading->recorded.pid);
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(reading->program, sizeof(reading->program), file) == NULL) {
        reading->program[0] = '\0';
    }
    reading->program[strcspn(reading->program, "\n")] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
}

static void read_page(struct gmt_top_reading *reading)
{
    int folder = gmt_spool_folder_open(reading->recorded.spool);
    reading->error = folder < 0 ? folder : gmt_live_read(folder, &reading->page);
    if (reading->error != 0) {
        memset(&reading->page, 0, sizeof(reading->page));
    }
    if (folder >= 0) {
        close(folder);
    }
    reading->has_recorder = gmt_recorded_has_recorder(&reading->recorded);
}

static void note(const struct gmt_recorded *recorded, void *context)
{
    struct top *top = context;
    if (top->now_count < MOST_PROCESSES) {
        struct gmt_top_reading *reading = &top->now[top->now_count++];
        reading->recorded = *recorded;
        name_program(reading);
        read_page(reading);
    }
}

/* The readings of before become those of now. */
static void take_readings(struct top *top)
{
    struct gmt_top_reading *free_again = top->before;
    struct gmt_recorded recorded;
    top->before = top->now;
    top->before_count = top->now_count;
    top->now = free_again;
    top->now_count = 0;
    if (top->pid == 0) {
        gmt_recorded_each(note, top);
    } else if (gmt_recorded_find(top->pid, &recorded) == 0) {
        note(&recorded, top);
    }
}

static struct gmt_top_pair pair_of(const struct top *top, size_t i)
{
    struct gmt_top_pair pair = {.now = &top->now[i]};
    for (size_t j = 0; j < top->before_count; j++) {
        const struct gmt_top_reading *before = &top->before[j];
        if (before->recorded.pid == pair.now->recorded.pid && before->error == 0 &&
            before->page.begin_ns == pair.now->page.begin_ns) {
            pair.before = before;
        }
    }
    return pair;
}

static void show(const struct top *top, FILE *out, size_t lines, size_t columns)
{
    static struct gmt_top_pair pairs[MOST_PROCESSES];
    for (size_t i = 0; i < top->now_count; i++) {
        pairs[i] = pair_of(top, i);
    }
    if (top->now_count == 1) {
        gmt_top_print(out, &pairs[0], lines, columns);
    } else {
        gmt_top_list(out, pairs, top->now_count, columns);
    }
}

/* From the upper left corner, over what was there. */
static void put_on_terminal(const char *text)
{
    fputs("\033[H", stdout);
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        (void)fwrite(line, 1, length, stdout);
        fputs("\033[K\n", stdout);
        line += length + (line[length] == '\n');
    }
    fputs("\033[J", stdout);
}

static int put(const struct top *top, bool is_first)
{
    struct winsize size = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        return -ENOMEM;
    }
    bool is_known = top->is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    show(top, out, is_known && size.ws_row > 1 ? size.ws_row - 1u : 0, is_known ? size.ws_col : 0);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    if (top->is_terminal) {
        fputs(is_first ? "\033[2J" : "", stdout);
        put_on_terminal(text);
    } else {
        printf("%s%s", is_first ? "" : "\n", text);
    }
    free(text);
    return fflush(stdout) == 0 ? 0 : -errno;
}

static void rest(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    while (interrupted == 0 && nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

static int follow(struct top *top)
{
    int error = 0;
    take_readings(top);
    if (top->now_count == 0) {
        gmt_say(stderr, "gmtrace: no process of yours is being recorded\n");
        return -ENOENT;
    }
    for (unsigned long i = 0; top->arguments.samples == 0 || i < top->arguments.samples; i++) {
        rest(top->arguments.seconds);
        if (interrupted != 0) {
            return 0;
        }
        take_readings(top);
        if (top->now_count == 0) {
            gmt_say(stderr, "gmtrace: %s\n",
                    top->pid != 0 ? "its recording has ended" : "all recordings have ended");
            return 0;
        }
        error = put(top, i == 0);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static int begin(struct top *top)
{
    struct gmt_recorded recorded;
    const struct sigaction action = {.sa_handler = on_interrupt};
    if (top->arguments.pid != NULL) {
        if (gmt_recorded_find_named(top->arguments.pid, &recorded) != 0) {
            return -ESRCH;
        }
        top->pid = recorded.pid;
    }
    top->now = calloc(MOST_PROCESSES, sizeof(*top->now));
    top->before = calloc(MOST_PROCESSES, sizeof(*top->before));
    top->is_terminal = isatty(STDOUT_FILENO) != 0;
    if (top->now == NULL || top->before == NULL) {
        gmt_say(stderr, "gmtrace: out of memory\n");
        return -ENOMEM;
    }
    (void)sigaction(SIGINT, &action, NULL);
    return 0;
}

int gmt_launcher_top(int argc, char *argv[])
{
    struct top top = {.arguments = {.seconds = 1}};
    char name[] = "gmtrace top";
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, 0, NULL, &top.arguments) != 0) {
        return GMT_EXIT_FAILED;
    }
    int error = begin(&top);
    error = error == 0 ? follow(&top) : error;
    free(top.now);
    free(top.before);
    return error == 0 ? 0 : GMT_EXIT_FAILED;
}
