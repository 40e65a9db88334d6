/* driver/driver.h - shared by the command's files: the session, the command line, and the way of a program from its
 * file to a checked graph. Only the driver prints, reads the environment and decides exit codes. */
#ifndef EIN_DRIVER_H
#define EIN_DRIVER_H

#include <stdio.h>
#include <sys/types.h>

#include "base/json.h"
#include "algebra/from_tra.h"
#include "front/front.h"
#include "graph/eval/eval.h"
#include "graph/graph.h"
#include "emit/emit.h"
#include "schedule/door.h"

typedef enum {
  LEAVE_OK,
  LEAVE_PROGRAM, /* the program, or its data, is wrong */
  LEAVE_USAGE,   /* the command line is wrong */
  LEAVE_BUG,     /* our mistake */
  LEAVE_MACHINE  /* missing files, memory or programs */
} Leave;

/* ---- the command line: options.c, from options.def ------------------------------------------ */
typedef enum {
#define COMMAND(id, ...) CMD_##id,
#define OPTION(...)
#include "driver/options/options.def"
  COMMANDS
} CommandId;

typedef enum {
#define COMMAND(...)
#define OPTION(id, ...) OPT_##id,
#include "driver/options/options.def"
  OPTIONS
} OptionId;

typedef struct Session Session;
typedef struct Args Args;

typedef struct CommandInfo {
  const char *name, *operands, *summary, *text;
  Leave (*run)(Session *s, Args *a);
} CommandInfo;
extern const CommandInfo commands[COMMANDS];

typedef struct OptionInfo {
  char letter;
  const char *name, *argument, *choices;
  unsigned in; /* a bit per command, and OPTION_TOP */
  const char *help;
} OptionInfo;
extern const OptionInfo options[OPTIONS];
OptionInfo option_there(OptionId o, unsigned in); /* with its words for one of these commands */
bool option_choice(OptionId o, const char *word); /* is it one of the words that the option takes? */
enum { OPTION_TOP = 1 << 30 };

typedef VEC(const char *) Words;
struct Args {
  CommandId command;          /* COMMANDS: none was given */
  Words given[OPTIONS];       /* the arguments of each option, in order; "" for one without argument */
  Words operands;
};
/* Reads words for a->command (or finds it); LEAVE_USAGE after a complaint. Keeps all values of an option that is
 * given several times, in order. */
Leave args_read(Session *s, Args *a, uint32_t n, const char *const *word);
bool arg_has(const Args *a, OptionId o);
const char *arg_last(const Args *a, OptionId o); /* NULL if not given */
Leave memory_said(Session *s, const Args *a, double *most); /* --memory in bytes, if given: plan/machine.c */
/* Splits "X=x.npy" into "X" and "x.npy". Returns false if there is no name before the '='. A path may begin with
 * "./". */
bool word_split(Session *s, const char *word, Str *name, const char **rest);
/* The parts between commas, without blanks around them; a part may be "". NULL has none. */
Words commas_of(Arena *a, const char *text);

/* ---- help.c, complete.c, editors/ --------------------------------------------------------------------- */
void help_all(Buf *b);
void help_command(Buf *b, CommandId c);
void help_man(Buf *b);
Leave help_completions(Session *s, const char *shell);
Leave help_grammar(Session *s, const char *editor);

/* ---- nearest.c: the name that was probably meant -------------------------------------------- */
typedef struct Nearest { Arena *arena; const char *wanted, *best; uint32_t distance; } Nearest;
Nearest nearest_to(Arena *a, const char *wanted);
void nearest_try(Nearest *n, const char *candidate); /* best: NULL if none is near */
/* Fails: "WHAT NAME", and which one of these was meant, or which there are. */
Leave name_unknown(Session *s, const char *what, const char *name, const Words *known);

/* ---- the session: session.c ----------------------------------------------------------------- */
struct Session {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  Front front;
  bool colour, verbose;
  bool without_jit;           /* the user was told that the JIT is not available */
  bool aside;                 /* a thread of ours is at work until the process ends */
  const char *const *words;   /* of the command line, followed by NULL */
  struct Ranks *ranks;        /* the processes to which this one belongs; NULL: it is alone (ranks.h) */
  bool silent;                /* another of them prints: messages are kept in `unsaid` */
  Words unsaid;
  Words captured;             /* messages of failed runs, while `capture` is set, for --expect */
  bool capture;
  Diags *refused;             /* the last captured complaints; NULL: none */
  Diags *collect;             /* receives complaints instead of stderr; NULL: stderr */
  struct Progress *progress;  /* of the current run (progress.h); NULL: it shows none */
  struct Profile *profile;    /* of that run (profile/profile.h); NULL: it is not profiled */
  struct Resident *resident;  /* of that run (compile/resident.h): its arguments are on a device; NULL: on the host */
  struct Keeping *keeping;    /* of that run (keeping.h); NULL: it neither writes nor resumes a checkpoint */
  struct Guest *guest;        /* NULL: the process is ours */
};

/* Ein as a library in another program's process (face/libein.h), whose streams, signals and environment stay
 * unchanged. */
typedef struct Heard { const Diag *diag; const char *text; bool error; } Heard; /* a complaint, or a message */
typedef struct GuestFile { const char *name, *text; size_t len; } GuestFile;
typedef struct Guest {
  Arena *arena;               /* the session's; it allocates everything there */
  const char *home;           /* the folder where the program ein would be, with a '/' at the end */
  const GuestFile *file;      /* they replace the files of these names */
  size_t n_files;
  Buf out;                    /* instead of stdout */
  VEC(Heard) heard;           /* instead of stderr */
  Buf err;                    /* the same as text */
  struct GuestStop *stop;     /* lets another thread stop the computation (native.h); NULL: none can */
} Guest;
Session *session_new(Guest *guest);
Leave session_end(Session *s, Leave code);  /* flushes stdout: a full disk is code 4 */
/* The value of $variable, or a folder next to this program that contains the file; NULL: there is none. */
const char *folder_beside(const Session *s, const char *variable, const char *folder, const char *file);
const char *program_folder(const Session *s); /* the folder of this program, with a '/' at the end; NULL: unknown */
/* A part of ein as it was built, in `folder` of the build, or installed; NULL: there is none. */
const char *plugin_find(const Session *s, const char *folder, const char *name);
void session_fresh(Session *s);             /* new Diags and front, for the next file */
/* Prints a message on stderr: "ein: ..." and a newline; control characters in it are escaped. */
void say(Session *s, const char *fmt, ...) EIN_PRINTF(2, 3);
Leave fail(Session *s, Leave code, const char *fmt, ...) EIN_PRINTF(3, 4); /* "ein: error: ..."; returns code */
void detail(Session *s, const char *fmt, ...) EIN_PRINTF(2, 3);            /* only with --verbose */
void print(Session *s, const Buf *b);                                      /* on stdout */
bool print_now(Session *s);                 /* flushes what was printed; false: it failed, which session_end reports */
void print_aside(Session *s, const Buf *b);                                /* on stderr */
/* Prints the collected complaints and their count. Returns LEAVE_PROGRAM if there are errors (LEAVE_MACHINE if a file
 * named on the command line could not be read), else LEAVE_OK. */
Leave session_report(Session *s);
void diags_show(Session *s, Diags *d); /* prints complaints and their count on stderr */
void count_text(Buf *b, uint32_t errors, uint32_t warnings);

/* ---- files.c -------------------------------------------------------------------------------- */
/* Writes to a temporary name in the same folder, then renames it; "-" is stdout; a character device is written
 * directly. An existing file must be writable itself, and keeps its mode. If its folder takes no new file, it is
 * overwritten in place. */
Leave file_write(Session *s, const char *path, const char *bytes, size_t len);
enum { FILE_RUNS = 1, FILE_LASTS = 2 }; /* executable for all who may read it; flushed to disk before it gets its
                                         * name */
Leave file_put(Session *s, const char *path, const char *bytes, size_t len, unsigned how);
Leave file_copy(Session *s, const char *from, const char *to, unsigned how); /* of a file that we made */
bool file_writable(Session *s, const char *path); /* an early test, with a complaint, before a long computation */
bool file_begins_ours(Arena *a, const char *path); /* it does not exist, or its first line says that ein wrote it */
bool file_is_device(const char *path);            /* a character device, such as /dev/null */
bool file_same(const char *a, const char *b);     /* both are there, and one file or folder */
Source *stdin_read(Session *s);                   /* NULL after a complaint */
Source *file_read(Session *s, const char *path);  /* the same: a file that the user names */
bool file_stands_in(const Session *s, const char *path);           /* a guest provides it */
const char *program_on_path(Arena *a, const char *name); /* NULL if there is none */
/* Runs a program without a shell, with `in` as its stdin, and its stdout in *out. Returns false with *why. */
bool program_run(Arena *a, const char *const *argv, const char *in, size_t len, Buf *out, const char **why);

/* The same without input, with its stderr in *out too. */
bool program_ask(Arena *a, const char *const *argv, Buf *out, const char **why);
const char *folder_of(Arena *a, const char *path);                    /* of a file */
const char *folder_work(Session *s);                                  /* a new private one in $TMPDIR; NULL after a
                                                                       * complaint */
bool folder_made(Arena *a, const char *folder);                       /* with its parents, for us only; or it exists */
Words folder_files(Arena *a, const char *folder);                     /* names, in no order */
uint32_t folder_empty(Arena *a, const char *folder);                  /* returns how many files it removed; folders
                                                                       * stay */
void folder_remove(Arena *a, const char *folder);                     /* with the files in it */

/* ---- temporary.c: what a signal that ends us must clean up ------------------------------------------ */
void temporary_watch(void);               /* from now on, in our own process */
int temporary_file(char *path);           /* as mkstemp */
bool temporary_folder(char *path);        /* as mkdtemp */
void temporary_gone(const char *path);    /* the same pointer: it was renamed or removed */
void temporary_child(pid_t pid);          /* a program that runs for us; 0: it has ended */

/* ---- languages: language.c -------------------------------------------------------------------- */
typedef enum { LANG_PROGRAM, LANG_GRAPH, LANG_PLAN, LANG_TRA, LANG_IA, LANG_TASK, LANG_LOOP, LANGUAGES } Language;
Language language_of(const char *path); /* by its suffix: .graph, .plan, .tra, .ia, .task, .loop; else a program */
/* Checks a value made in that language; again: also replaces it by what its text reads back as. Returns it. A failure
 * is a bug(). */
void *language_made(Session *s, Language l, const char *path, void *made, bool again);

/* ---- the column: column.c, dims.c; texts.c if it begins with an intermediate text --------------------- */
typedef struct Given { /* the source of an input */
  Str name;
  const char *spec;
  ein_source_info info;
  struct Bound *bound;        /* tensors of a checkpoint; spec is then for messages (data/checkpoint.h); NULL: use
                               * spec */
} Given;
typedef VEC(Given) Givens;
/* key, stored: within a .safetensors file. */
typedef struct Target { Str name; const char *path, *key; const AstStored *stored; } Target;
typedef VEC(Target) Targets;

typedef struct Job {
  const char *path;
  Language from;              /* the language in which it began */
  Program *program;           /* NULL for a graph's text */
  EinGraph *graph;            /* after job_graph (immediately for a graph's text) */
  bool past;                  /* it began after the graph: `graph` has dims, inputs and outputs, and nothing between */
  DimValues dims;             /* -D, and sizes from the shapes of files */
  int64_t keep;               /* the bytes that gradients may save of a repeat's states (front.h); 0: the default */
  double lower;               /* the most that they save though less would do; 0: there is none */
  EinGraph *best;             /* after job_optimised */
  struct PassNotes *notes;    /* what its passes did; NULL for a text of tasks or loops */
  Algebra *relations;         /* of a text of relations */
  TaskGraph *tasks;           /* after job_tasks, or immediately for its text */
  LoopProgram *loops;         /* after job_loops, or immediately for its text */
  double worth_threads;       /* of the machine file; 0: the default */
  double ready;               /* when its code was loaded, by seconds_now; 0: it is not compiled */
  const Givens *given;        /* the files of its inputs and outputs if it runs on many ranks, each of which reads and
                               * writes its own part */
  const Targets *targets;     /* NULL: outputs stay here */
  struct Defaults *defaults;  /* code for defaults of inputs that are not given (native.h); NULL: eval computes them */
} Job;
Leave job_read(Session *s, Job *j, const Args *a, const char *path);
Leave job_from_text(Session *s, Job *j, const char *name, const char *text);
Leave job_from_loops(Session *s, Job *j, const char *name, const char *text); /* a text of loops */
Leave text_begin(Session *s, Job *j, const Args *a);    /* of an intermediate text: read and checked; the steps up to
                                                         * it are skipped */
Leave job_dims(Session *s, Job *j, const Args *a);      /* -D: checked against the dims declared */
Leave job_graph(Session *s, Job *j, const Args *a);     /* elaborated, checked; complaints printed */
bool job_graph_silent(Session *s, Job *j);              /* elaborated, if there are no errors; reports nothing */
Leave job_compile(Session *s, Job *j, const Args *a, const char *path); /* all of the above */
Leave job_sizes(Session *s, Job *j, const Args *a);     /* -D, and sizes from the files that follow the program on the
                                                         * command line; before job_graph */
/* The same, but open sizes stay open if the program can be compiled so: one library for all sizes. */
Leave job_graph_open(Session *s, Job *j, const Args *a);
/* The next steps, unless the job has already passed them. */
const EinNode *job_widest(Session *s, Job *j, const Args *a);           /* after its passes: a vertex with more labels
                                                                         * than tasks allow; NULL: none */
Leave job_narrow(Session *s, const Job *j, const EinGraph *g);          /* fails if a vertex has more labels than
                                                                         * tasks allow */
Leave job_optimised(Session *s, Job *j, const Args *a);
Leave job_optimised_on(Session *s, Job *j, const Args *a, int64_t sites); /* contraction orders that move little on
                                                                           * that many sites */
bool loops_device(const Job *j);                                        /* its loops are for a device */
Leave job_tasks(Session *s, Job *j, const Args *a);
Leave job_loops(Session *s, Job *j, const Args *a);
/* For many sites: converts j's graph, or its relations by their keys, by a plan into a program over relations; and
 * that, an Ia, into tasks. tasks_of_sites returns NULL and says why if it cannot be expressed yet. */
Algebra *relations_made(Session *s, const Job *j, const KeyGraph *keys, const Cutting *c, bool ia, bool again);
TaskGraph *tasks_of_sites(Session *s, const char *path, const Algebra *ia, bool again, Buf *why);
/* -n: plans j's program for that many sites, with the options of ein plan, and replaces it by the plan's relations or
 * tasks; for one site, does nothing. */
Leave job_sites(Session *s, Job *j, const Args *a, Language as); /* driver/plan/algebra.c */
Leave job_one_site(Session *s, const Job *j);           /* after job_tasks: fails if it is for several */
bool job_unplaced(const Job *j);                        /* relations without placements: a plan can add them */
bool job_of_sites(const Job *j);                        /* relations, or tasks of a mesh: several sites, or no
                                                         * placements */
NamedAxesList axes_declared(Session *s, const Job *j); /* declared.c */
EmitOptions job_emit(Session *s, const Job *j, const char *prefix);     /* after job_loops */
/* tuning.c: settings from a machine file for loops and threads; without one, from this machine's caches, if the
 * result is not kept. They change no result. */
Leave machine_said(Session *s, const Args *a, const struct Machine **out); /* by --machine or $EIN_MACHINE; NULL:
                                                                            * none */
Leave machine_file(Session *s, const char *path, const struct Machine **out);
Leave tuning_find(Session *s, const Args *a, LoopTarget *target, double *worth_threads);
/* What loops are made for; what the C compiler says is not in it yet. */
Leave loop_target(Session *s, const Args *a, LoopTarget *target, double *worth_threads);
/* Finds which registers the C compiler has. */
void target_ask(Session *s, const Args *a, const TaskGraph *t, LoopTarget *target);
bool job_dim(const Job *j, Str name, int64_t *out);
bool dim_of_job(void *job, Str name, int64_t *out);     /* the same, as environments of expressions take it */
/* Sets dtype and extents of x to the node's. Returns false if an extent is not known. */
bool job_shape(Arena *a, const Job *j, const EinNode *n, EvalArray *x);
bool job_has_dim(Session *s, const Job *j, Str name); /* one that -D may set */
AstFile *job_file(const Job *j);                        /* the user's file; NULL for a graph's text */

/* ---- patience.c: warns before what will take minutes ----------------------------------------------- */
void patience_eval(Session *s, const Job *j, const EinGraph *g, const char *hint);
void patience_c(Session *s, const Job *j, int threads);

/* ---- memory.c: bytes; 0: unknown ---------------------------------------------------------------------- */
int64_t memory_here(void); /* of this machine, or this container's limit */
int64_t memory_free(void); /* the unused part of it */

/* ---- inputs.c, outputs.c, report.c, expect.c ------------------------------------------------ */
/* Finds the sources of inputs, and binds dims. Call it before job_graph. */
Leave given_find(Session *s, Job *j, const Args *a, const Words *words, Givens *out);
void given_fill(Session *s, const Job *j, Givens *given); /* random numbers for inputs that are not given and have no
                                                           * default */
Leave dims_of_job(Session *s, const Job *j, Eval *e);                  /* into e: a value for every open dim of its
                                                                        * graph; complains about missing ones */
/* Reads the given inputs, after dims_of_job; on one of many ranks only their shapes. */
Leave given_read(Session *s, const Job *j, const Givens *given, Eval *e);
const Given *given_of(const Givens *given, Str name);                  /* NULL: not given */
/* Reads all of it, in x's shape. */
Leave given_values(Session *s, const Eval *e, const EinNode *n, const Given *g, EvalArray *x);
/* How many numbers of a block of it, from `low` on, the input's dtype does not hold exactly; 0: none, or not to be
 * checked; -1: too many to check. */
int64_t given_rounded(
    const Eval *e, const EinNode *n, const Given *g, const EvalArray *x, const int64_t *low, const EvalArray *block);
void given_warn(Session *s, const EinNode *n, const Given *g, const EvalArray *x, int64_t rounded);
/* given_block reads a block of a tensor of shape `whole`. given_sound does the checks that are done once, such as a
 * checksum over all of it. */
ein_status given_block(const Given *g, DType t, uint32_t rank, const int64_t *whole, const int64_t *low,
    const int64_t *shape, void *dst, ein_error *err);
ein_status given_sound(const Given *g, const int64_t *whole, ein_error *err);
Leave status_leave(ein_status st);

Leave targets_find(Session *s, const EinGraph *g, const Args *a, Targets *out);
void targets_stored(const Job *j, Targets *t); /* by the program's names for them */
Leave targets_write(Session *s, const Eval *e, const Targets *t);
bool targets_have(const Targets *t, Str name);

/* The report of ein plan for a job for one site, whose graph is made. */
Leave plan_say(Session *s, Job *j, const Args *a, Buf *out);
/* The bytes of a run on one site, with inputs and outputs. Makes tasks and loops of a job that has a graph. */
Leave plan_peak(Session *s, Job *j, const Args *a, double *bytes);
/* ---- plan/keep.c ---- */
/* Whether --memory limits a run on one site, on a processor; and j->keep so that the run fits, before j's graph is
 * made. */
bool memory_of_run(Session *s, const Job *j, const Args *a);
Leave memory_of_run_keep(Session *s, Job *j, const Args *a);
/* The same for several sites; svg NULL: no picture. */
Leave plan_sites_say(Session *s, const Job *j, const Args *a, Buf *text, Buf *svg);

/* `ein run` from a Job that is read: binds sizes, elaborates, computes, writes or prints. */
Leave run_job(Session *s, Job *j, const Args *a, const Words *inputs);
/* The same to profile it, for --profile and --trace: writes and prints nothing, uses random numbers for inputs that
 * are not given and have no default, and runs twice. */
Leave run_profiled(Session *s, Job *j, const Args *a, const Words *inputs);
Leave run_target(Session *s, const Job *j, const Args *a, bool *c);       /* --target, or the default; *c: compiled,
                                                                           * not by eval */
/* a new Eval of its graph, with this machine's limits */
void run_begin(Session *s, const Job *j, Eval *e);
Leave run_compute(Session *s, Job *j, const Args *a, bool c, Eval *e);    /* from its inputs to its outputs */
Leave run_inputs(Session *s, const Job *j, const Givens *given, Eval *e); /* a new Eval with its inputs and limits */
Leave run_eval(Session *s, Eval *e, EvalStatus *status);                  /* computes, and complains */
/* The same for relations and tasks, by the evaluator of their language, with a store or buffers for each site. */
Leave run_text(Session *s, const Job *j, Eval *e, EvalStatus *status);
bool program_first(Session *s, Args *a); /* moves the first operand that is not NAME=SOURCE to the front */
Leave program_missing(Session *s, const Args *a, const char *form); /* none is a program; form: what to type */
Leave data_refuse(Session *s, const Args *a, const char *command); /* NAME=SOURCE, where the command reads no data */
enum { THREADS_MOST = 4096 };
Leave threads_wanted(Session *s, const Args *a, int *out);                /* --threads; 0: not given */
/* opinion.c: the AST evaluator must find the same outputs, if it supports the program. */
Leave opinion_check(Session *s, const Job *j, const Eval *e);

void report_output(Buf *b, const EinOutput *o, const EvalArray *x);
/* The same for a value without its graph: axes have the names of report_axes, "" if none. */
const char *const *report_axes(Arena *a, const EinNode *n);
/* The shape with the name and dtype. */
void report_heading(Buf *b, const char *name, const char *const *axis, const EvalArray *x);
void report_value(Buf *b, const char *name, const char *const *axis, const EvalArray *x);
void report_element(Buf *b, const EvalArray *x, int64_t k);
void report_place(Buf *b, const EvalArray *x, int64_t k); /* of element k: [2,0,1] */

typedef enum {
  EXPECT_VALUE, EXPECT_ELEMENT, EXPECT_SUM, EXPECT_MIN, EXPECT_MAX, EXPECT_MEAN, EXPECT_SHAPE
} ExpectKind;
typedef struct Expectation {
  ExpectKind kind;
  Str name;
  bool roughly;               /* ~ instead of = */
  Span span;
  const char *text, *end;     /* of the value */
  VEC(int64_t) index;         /* EXPECT_ELEMENT */
} Expectation;
typedef struct Expects {
  VEC(Expectation) all;
  const char *error;          /* the text of expect-error; NULL: none */
  Span error_span;
  Words run;                  /* words of `# run:` */
  double bound;               /* of `# verify:`; negative: not given */
} Expects;
Leave expects_read(Session *s, const AstFile *file, const char *path, Expects *out);
Leave expects_any(Session *s, const char *path, const Expects *x); /* complains if there is none */
/* Adds what the comments add to the command line `said`: options to *all, inputs to *inputs. */
Leave comment_words(Session *s, const Expects *x, const char *path, const Args *said, Args *all, Words *inputs);
Leave expects_check(Session *s, const Expects *x, const char *path, const EinGraph *g, const EvalArray *output);
bool element_near(const EvalArray *x, int64_t k, double want, double scale);

/* ---- limits of plans for many sites: driver/plan/limits.c ------------------------------------------------ */
/* Whether the plans of a checked program satisfy its `assert on 16 sites: ...` lines, and --assert. */
Leave limits_check(Session *s, const Args *a, const Job *j);

/* ---- cmd_einsum.c: NumPy's equations ---------------------------------------------------------------- */
/* The program of an equation over these operands, of which only shape and dtype are used; dtype -1: Ein's rules
 * (libein.h). */
Leave einsum_program(Session *s, const char *equation, uint32_t n, const ein_tensor *operand, int dtype, Buf *out);

/* ---- commands ------------------------------------------------------------------------------- */
Leave command_do(Session *s, uint32_t n, const char *const *word); /* a command line without the program's name;
                                                                    * followed by NULL */
#define COMMAND(id, name, ...) Leave cmd_##name(Session *s, Args *a);
#define OPTION(...)
#include "driver/options/options.def"

#endif
