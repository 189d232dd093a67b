/* SPDX-License-Identifier: Apache-2.0 */
/* What a finding says: where, with which evidence, what to do, and what that would save. */
#ifndef GMT_REPORTS_MODEL_FINDING_H
#define GMT_REPORTS_MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers that may be unknown are doubles: NAN means "not measured". Strings that may be unknown
 * are NULL. Strings may hold any bytes (they come from traces): a writer makes them valid UTF-8.
 */

enum gmt_severity { GMT_SEVERITY_NOTE, GMT_SEVERITY_LOW, GMT_SEVERITY_MEDIUM, GMT_SEVERITY_HIGH };

/* How the saving is known, best first. */
enum gmt_confidence {
    GMT_CONFIDENCE_MEASURED,   /* from times of this very run */
    GMT_CONFIDENCE_CALIBRATED, /* priced with reference kernels and copies run on this device,
                                  or on another of the same name (report.model_provenance) */
    GMT_CONFIDENCE_MODELLED,   /* priced with another GPU's figures, or a resource model */
    GMT_CONFIDENCE_HEURISTIC,  /* a threshold; no price, or a guess */
};

enum gmt_effort { GMT_EFFORT_SMALL, GMT_EFFORT_MEDIUM, GMT_EFFORT_LARGE };

struct gmt_report_frame {
    const char *function, *file, *module; /* NULL: unknown */
    int64_t line, offset;                 /* 0: unknown    */
    bool runtime;     /* not the user's: inside of the CUDA runtime or of an interpreter */
    bool interpreter; /* of the two, the latter                                          */
    bool inlined;     /* into the next frame                                             */
    const char
        *symbols; /* what the files of its module hold: module.symbols of gmtrace.db(5); NULL */
};

struct gmt_where {
    /* "main.cu:182", "app+0x12f3", an API name; the kernel where no place is known. Never NULL. */
    const char *label;
    const char *function, *file, *module;
    int64_t line;
    const char *api;    /* "cudaMemcpy (cuMemcpyHtoD_v2)"; NULL where no call is meant          */
    const char *kernel; /* demangled name, NULL where no kernel is meant                         */
    const char *title;  /* of the kernel, as reports show it; NULL: its name                     */
    const char *origin; /* the library that made the kernel, "cublas"; NULL: the program did  */
    const char *origin_by; /* what says so: "module", "function", "name"; NULL: likewise */
    bool communicates;     /* the kernel waits for kernels elsewhere: no rule judges it */
    const struct gmt_report_frame *stack;
    size_t stack_depth;
    const char
        *note,  /* why the user's function or line is not named, and what helps; NULL: it is */
        *graph; /* of a kernel that graphs run: how often, and where they are launched; else NULL */
};

struct gmt_evidence {
    const char *name; /* snake_case, stable                        */
    const char *unit; /* "ns", "bytes", "percent", "count", ...    */
    double value;
};
enum { GMT_EVIDENCE_MAX = 20 };

/* A line of which a function was called that the compiler inlined there. */
struct gmt_inline_call {
    const char *function; /* the inlined one that this line stands in; NULL: none, or not known */
    const char *file;     /* NULL: not known */
    int64_t line;
    int64_t
        level; /* 1: the call of the line's own function; a gap: a chain too deep to be kept whole */
};

/* How a line came to where its instruction is. */
struct gmt_inline_chain {
    const char *function; /* the inlined one that the line stands in; NULL: none, or not known */
    struct gmt_inline_call *calls; /* from the line outwards, that in the kernel itself last */
    size_t call_count;             /* 0: it was not inlined */
};

/* A source line that causes a part of what a finding is about. */
struct gmt_finding_line {
    const char *file; /* NULL: the kernel was compiled without line information */
    int64_t line, ptx_line;
    const char
        *caller_file; /* the outermost call that the line was inlined at; NULL: not inlined */
    int64_t caller_line;
    struct gmt_inline_chain chain; /* of several that one with the most excess */
    size_t chain_count;
    const char *opcode;
    const char *code, *caller_code; /* the lines' texts; NULL: the trace does not carry them */
    double excess_bytes, share;     /* per launch; of the finding's excess in this kernel, 0..1 */
    double per_request, ideal_per_request; /* sectors, or passes through shared memory */
};

/* One of several cases that were merged: a launch shape, a buffer. */
struct gmt_finding_part {
    const char *label, *headline;
    double cost_ns, best_ns; /* NAN: not known */
};

/*
 * What a fix changes in a kernel. Of two fixes for the same thing the better one counts, fixes for two
 * things add to each other: the second takes its share of what the first one leaves.
 */
enum gmt_touches {
    GMT_TOUCHES_ALL, /* the launch as a whole, or no kernel: adds to nothing */
    GMT_TOUCHES_LOADS,
    GMT_TOUCHES_STORES,
    GMT_TOUCHES_LOCAL,
    GMT_TOUCHES_CONSTANTS,
    GMT_TOUCHES_BANKS,
    GMT_TOUCHES_BARRIERS,
    GMT_TOUCHES_IN_FLIGHT, /* warps, or loads of each */
    GMT_TOUCHES_LANES,
    GMT_TOUCHES_WAVES,
};

/* What reports call the kernel that is meant; NULL: none is. */
static inline const char *gmt_where_kernel(const struct gmt_where *where)
{
    return where->title != NULL ? where->title : where->kernel;
}

/* All NAN when the saving could not be priced. */
struct gmt_saving {
    double low_ns, best_ns, high_ns;
    double share; /* best / wall time, 0..1 */
};

struct gmt_tried; /* model/tried.h */

struct gmt_interval {
    int64_t begin_ns, end_ns;
};

/* A place in a source file, and the lines around it. */
struct gmt_source_quote {
    const char *
        label; /* "main.cu:45"; of a kernel without lines "blur, launched at main.cu:140". Never NULL */
    const char *file; /* NULL: not known, and then all below is 0 or NULL */
    int64_t line;
    int64_t first_line; /* of what is quoted */
    const char *const *lines;
    size_t line_count; /* 0: the trace does not carry the file */
};

/* A fix that is mechanical: one line of a source file that becomes another. */
struct gmt_edit {
    const char *file; /* NULL: there is none */
    int64_t line;
    const char *before, *after; /* after NULL: the line is removed */
};

struct gmt_finding {
    const char *rule, *slug, *title;
    const char *headline; /* one line: what was seen, with its numbers   */
    struct gmt_where where;
    struct gmt_evidence evidence[GMT_EVIDENCE_MAX];
    size_t evidence_count;
    struct gmt_finding_line *lines; /* largest share first; none unless instructions were counted */
    size_t line_count;
    const char *lines_of; /* what their shares are of; NULL: the excess  */
    int64_t kernel_id;    /* of the trace's kernel that the lines are of */
    const char *sql;      /* reproduces the evidence from the trace      */
    double cost_ns;       /* time now spent in what the fix touches      */
    double excess_bytes;  /* unnecessary traffic; ranks what has no price  */
    struct gmt_saving saving;
    double at_most_ns;         /* it cannot save more; NAN: not known                     */
    double saved_peak_bytes;   /* by so much the peak would be lower; NAN: not about that */
    const char *saved_peak_of; /* "device memory", "page-locked memory"; NULL as above    */
    const char *method;        /* one sentence: how the saving was computed   */
    enum gmt_severity severity;
    enum gmt_confidence confidence;
    enum gmt_effort effort;
    enum gmt_touches touches;
    const char *action;            /* what to do, in the imperative: the fix without its reasons */
    struct gmt_source_quote place; /* where: the line that causes most of it, or where.label */
    const char *fix;               /* text                                        */
    const char *sketch;            /* code, may be NULL                           */
    const char *patch;             /* the fix as a unified diff; NULL: it is not mechanical */
    struct gmt_edit edit;          /* the same as what it changes */
    const char *framework;         /* that the fix is for: "pytorch"; NULL: for none */
    const char *note_why;          /* severity NOTE: why it is not a finding      */
    const char *part;              /* what distinguishes it from others here */
    const char *range; /* that most of its cost lies in, as report.ranges has it; NULL: none */
    struct gmt_finding_part *parts; /* largest first; none unless several were merged */
    size_t part_count;
    const struct gmt_tried
        *tried; /* model/tried.h: what came of a fix for it; NULL: none was tried */
    struct gmt_interval *claims; /* parts of the timeline it would shorten */
    size_t claim_count;
    unsigned kernels, faulting; /* classes that it is about; of these, whose time is page faults */
    char fingerprint[17]; /* stable over runs, builds and line numbers: findings/fingerprints.h */
    char fingerprint_v1[17]; /* as it was before: numbered within a function                 */
    bool modelled;           /* its times are of no device that ran it (gmt_report.modelled)     */
    bool guess;              /* of a saving: nothing shows that there is work for the repair     */
    bool
        conditional; /* it holds only if what the trace cannot show is so: never of high severity */
    bool advised;    /* the fix is for this case of the rule, and stays                  */
    bool is_of_loads; /* GM512: the host makes and loads code, it does not launch too slowly */
    bool small;       /* a note for its size alone: to comparisons and gates it is as if nothing
                             was seen */
};

/* Several findings in one kernel: what all their fixes together would save, and what each adds to it. */
struct gmt_joint_part {
    size_t finding; /* index into the report's findings */
    double share;   /* of the joint saving, 0..1        */
};

struct gmt_joint {
    const char *kernel;
    const char *title; /* as reports show it; NULL: the former */
    double cost_ns;    /* time of the kernel, in all its launches */
    struct gmt_saving saving;
    struct gmt_joint_part *parts; /* largest first */
    size_t part_count;
};

#endif
