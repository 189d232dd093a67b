/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target where libFuzzer is not: the seeds first, then changes of them. Input number N depends
 * on the seeds, --seed and N only. Inputs run in a child; one that ends it, or uses more time or memory than
 * its size allows, is saved with what was printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/*
 * What an input may take: a start, and a share for each byte. Time is the processor's: the machine may be
 * busy. A sanitizer costs time, and memory of its own.
 */
enum {
    CPU_S_PER_MIB = SANITIZED ? 10 : 3, /* of its size, rounded up, and one more */
    MEMORY_MIB = SANITIZED ? 512 : 64,
    MEMORY_PER_BYTE = SANITIZED ? 80 : 20,
    WAITING_S = 600, /* by the clock: it waits for something that does not come */
};
#define MIB ((size_t)1 << 20)

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
#pragma weak LLVMFuzzerCustomMutator

struct input {
    uint8_t *data;
    size_t bytes;
};

struct options {
    const char *failures;
    uint64_t seconds, runs, seed, first, cpu_s;
    size_t limit;
    bool keep_going;
};

/* The child's, for its parent to see. */
struct shared {
    uint64_t number, executed, slowest_ns, slowest, largest_bytes, largest, largest_input_bytes;
    size_t bytes;
    uint8_t data[];
};

static struct input *seeds;
static size_t seed_count;
static uint64_t mutate_state;

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:abort_on_error=1:quarantine_size_mb=16:"
           "max_allocation_size_mb=4096:malloc_context_size=5:detect_leaks=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1:abort_on_error=1";
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t limit)
{
    return gmt_fuzz_mutate_bytes(&mutate_state, data, bytes, limit);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Every file there, in the order of names: a number then means the same everywhere. */
static void load_seeds(char *path, size_t limit)
{
    char *const paths[] = {path, NULL};
    FTS *folder = fts_open(paths, FTS_NOCHDIR | FTS_PHYSICAL, by_name);
    size_t before = seed_count;

    for (FTSENT *entry; folder != NULL && (entry = fts_read(folder)) != NULL;) {
        if (entry->fts_info != FTS_F) {
            continue;
        }
        seeds = reallocarray(seeds, seed_count + 1, sizeof(*seeds));
        if (seeds == NULL) {
            exit(2);
        }
        struct input *input = &seeds[seed_count++];
        input->data = gmt_fuzz_read(entry->fts_path, &input->bytes);
        input->bytes = input->bytes < limit ? input->bytes : limit;
    }
    if (folder != NULL) {
        fts_close(folder);
    }
    if (seed_count == before) {
        fprintf(stderr, "no inputs in %s\n", path);
        exit(2);
    }
}

/* ---- the child ------------------------------------------------------------------------------- */

/* A piece of another seed over or into this one */
static size_t splice_seed(uint64_t *state, uint8_t *data, size_t bytes, size_t limit)
{
    const struct input *other = &seeds[gmt_fuzz_below(state, seed_count)];
    size_t from = gmt_fuzz_below(state, other->bytes), to = gmt_fuzz_below(state, bytes);
    size_t count = 1 + gmt_fuzz_below(state, 512);

    if (from + count > other->bytes || to + count > bytes || bytes + count > limit) {
        return bytes;
    }
    if (gmt_fuzz_below(state, 2) == 0) {
        memmove(data + to + count, data + to, bytes - to);
        bytes += count;
    }
    memcpy(data + to, other->data + from, count);
    return bytes;
}

static void make_input(const struct options *options, struct shared *shared, uint64_t number)
{
    uint64_t state = options->seed * UINT64_C(0x100000001b3) + number;
    const struct input *seed = number < seed_count ? &seeds[number]
                                                   : &seeds[gmt_fuzz_below(&state, seed_count)];

    memcpy(shared->data, seed->data, seed->bytes);
    shared->bytes = seed->bytes;
    if (number < seed_count) {
        return;
    }
    mutate_state = gmt_fuzz_random(&state);
    shared->bytes = LLVMFuzzerCustomMutator != NULL
                        ? LLVMFuzzerCustomMutator(shared->data, shared->bytes, options->limit,
                                                  (unsigned)gmt_fuzz_random(&state))
                        : LLVMFuzzerMutate(shared->data, shared->bytes, options->limit);
    if (LLVMFuzzerCustomMutator == NULL && gmt_fuzz_below(&state, 8) == 0) {
        shared->bytes = splice_seed(&state, shared->data, shared->bytes, options->limit);
    }
}

static void execute(const struct options *options, struct shared *shared)
{
    /* A copy of its own size: a byte too far is seen. */
    uint8_t *exact = malloc(shared->bytes != 0 ? shared->bytes : 1);
    uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct itimerval limit = {
        .it_value.tv_sec = (time_t)(options->cpu_s * (shared->bytes / MIB + 2))};

    if (exact == NULL) {
        exit(2);
    }
    memcpy(exact, shared->data, shared->bytes);
    gmt_fuzz_memory_begin();
    setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the child, SIGALRM too */
    alarm(WAITING_S);
    (void)LLVMFuzzerTestOneInput(exact, shared->bytes);
    alarm(0);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 0}, NULL);
    cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    size_t memory = gmt_fuzz_memory_end();
    free(exact);
    if (cpu_ns > shared->slowest_ns) {
        shared->slowest_ns = cpu_ns;
        shared->slowest = shared->number;
    }
    if (memory > shared->largest_bytes) {
        shared->largest_bytes = memory;
        shared->largest = shared->number;
        shared->largest_input_bytes = shared->bytes;
    }
    if (memory > MEMORY_MIB * MIB + shared->bytes * MEMORY_PER_BYTE) {
        fprintf(stderr, "input of %zu bytes: %zu KiB of memory\n", shared->bytes, memory >> 10);
        abort();
    }
    shared->executed++;
}

static void run_child(const struct options *options, struct shared *shared, uint64_t number,
                      uint64_t end_ns, int log)
{
    if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) {
        exit(2);
    }
    for (; number < options->runs && (number < seed_count || clock_ns(CLOCK_MONOTONIC) < end_ns);
         number++) {
        if (ftruncate(log, 0) != 0) {
            exit(2);
        }
        shared->number = number;
        make_input(options, shared, number);
        execute(options, shared);
    }
    fflush(NULL);
    _exit(0); /* the folder is the parent's */
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void save(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "we");

    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
    }
}

static void report(const struct options *options, const struct shared *shared, const char *target,
                   int status, const char *log)
{
    char path[PATH_MAX], text_path[PATH_MAX + 8];
    size_t bytes, more;
    uint8_t *text = gmt_fuzz_read(log, &bytes),
            *printed = gmt_fuzz_read(gmt_fuzz_path("stderr"), &more);

    if (options->failures != NULL) {
        (void)mkdir(options->failures, 0777);
    }
    snprintf(path, sizeof(path), "%s/%s-%llu-%llu", options->failures, target,
             (unsigned long long)options->seed, (unsigned long long)shared->number);
    snprintf(text_path, sizeof(text_path), "%s.log", path);
    save(path, shared->data, shared->bytes);
    text = realloc(text, bytes + more + 1);
    if (text != NULL && printed != NULL && more > 0) {
        memcpy(text + bytes, printed, more);
    }
    if (text != NULL) {
        save(text_path, text, bytes + more);
    }
    fprintf(stderr, "%s: input %llu failed (%s%d), saved as %s\n", target,
            (unsigned long long)shared->number, WIFSIGNALED(status) ? "signal " : "exit status ",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), path);
    if (!options->keep_going && text != NULL) {
        fprintf(stderr, "%.*s\n", (int)(bytes + more < 6000 ? bytes + more : 6000), text);
    }
    free(text);
    free(printed);
}

static void summarize(const char *target, const struct options *options,
                      const struct shared *shared, uint64_t failures)
{
    fprintf(stderr,
            "%s: %llu inputs of %zu seeds (--seed %llu), %llu failed; slowest %.2f s (input %llu), "
            "most memory %llu KiB (input %llu of %llu bytes)\n",
            target, (unsigned long long)shared->executed + failures, seed_count,
            (unsigned long long)options->seed, (unsigned long long)failures,
            (double)shared->slowest_ns / 1e9, (unsigned long long)shared->slowest,
            (unsigned long long)(shared->largest_bytes >> 10), (unsigned long long)shared->largest,
            (unsigned long long)shared->largest_input_bytes);
}

static int run(const struct options *options, const char *target)
{
    struct shared *shared = mmap(NULL, sizeof(*shared) + options->limit, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char log[PATH_MAX];
    snprintf(log, sizeof(log), "%s", gmt_fuzz_path("log"));
    int file = open(log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    uint64_t failures = 0, next = options->first;
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + options->seconds * UINT64_C(1000000000);

    if (shared == MAP_FAILED || file < 0) {
        return 2;
    }
    for (;;) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            run_child(options, shared, next, end_ns, file);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) {
            return 2;
        }
        if (status == 0) {
            break;
        }
        report(options, shared, target, status, log);
        failures++;
        next = shared->number + 1;
        if (!options->keep_going) {
            break;
        }
    }
    summarize(target, options, shared, failures);
    close(file);
    return failures != 0;
}

static const char usage[] =
    "usage: %s [OPTION]... SEEDS...\n"
    "  SEEDS           folders or files of inputs; each is run as it is first\n"
    "  --seconds N     then changed ones for so long; 0: none (10)\n"
    "  --runs N        or until so many have been run\n"
    "  --seed S        of the random numbers (1)\n"
    "  --first N       begin with the input of this number: as --runs N+1, to run it alone\n"
    "  --cpu-seconds N what an input may take, for each MiB of it and two more\n"
    "  --max-bytes N   of an input (4 MiB)\n"
    "  --failures DIR  where inputs that fail are saved (.)\n"
    "  --keep-going    after a failure\n";

static struct options parse_options(int argc, char **argv)
{
    static const struct option names[] = {{"seconds", required_argument, NULL, 's'},
                                          {"runs", required_argument, NULL, 'r'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"cpu-seconds", required_argument, NULL, 'c'},
                                          {"failures", required_argument, NULL, 'F'},
                                          {"max-bytes", required_argument, NULL, 'm'},
                                          {"keep-going", no_argument, NULL, 'k'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct options options = {
        .failures = ".", .seed = 1, .cpu_s = CPU_S_PER_MIB, .limit = 4 * MIB, .runs = UINT64_MAX};
    bool timed = false;

    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        uint64_t number = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;

        switch (option) {
        case 's':
            options.seconds = number;
            timed = true;
            break;
        case 'r': options.runs = number; break;
        case 'S': options.seed = number; break;
        case 'f': options.first = number; break;
        case 'c': options.cpu_s = number; break;
        case 'm': options.limit = number; break;
        case 'F': options.failures = optarg; break;
        case 'k': options.keep_going = true; break;
        default: fprintf(stderr, usage, argv[0]); exit(option == 'h' ? 0 : 2);
        }
    }
    if (!timed) {
        options.seconds = options.runs != UINT64_MAX ? 1000000 : 10;
    }
    return options;
}

int main(int argc, char **argv)
{
    struct options options = parse_options(argc, argv);
    const char *target = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    int status;

    for (int i = optind; i < argc; i++) {
        load_seeds(argv[i], options.limit);
    }
    if (seed_count == 0) {
        fprintf(stderr, usage, argv[0]);
        return 2;
    }
    (void)setenv("GMT_FUZZ_FOLDER", gmt_fuzz_folder(), 1);
    if (LLVMFuzzerInitialize != NULL) {
        (void)LLVMFuzzerInitialize(&argc, &argv);
    }
    status = run(&options, target);
    for (size_t i = 0; i < seed_count; i++) {
        free(seeds[i].data);
    }
    free(seeds);
    return status;
}
