/* driver/driver.h - what the command's files share: the session, the command line, and the way of a program
 * from its file to a checked graph. Only the driver prints, reads the environment and decides exit codes. */
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
  LEAVE_PROGRAM, /* the program, or the data that it is given, is wrong */
  LEAVE_USAGE,   /* the command line is wrong */
  LEAVE_BUG,     /* our mistake */
  LEAVE_MACHINE  /* files, memory, programs that are not there */
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
  unsigned in; /* a bit a command, and OPTION_TOP */
  const char *help;
} OptionInfo;
extern const OptionInfo options[OPTIONS];
OptionInfo option_there(OptionId o, unsigned in); /* with the words that it has for one of these commands */
enum { OPTION_TOP = 1 << 30 };

typedef VEC(const char *) Words;
struct Args {
  CommandId command;          /* COMMANDS: none was said */
  Words given[OPTIONS];       /* the arguments of each option, in order; "" for one without argument */
  Words operands;
};
/* Reads words for a->command (or to find it); LEAVE_USAGE after a complaint. Where an option is given
 * several times all are kept, in order. */
Leave args_read(Session *s, Args *a, uint32_t n, const char *const *word);
bool arg_has(const Args *a, OptionId o);
const char *arg_last(const Args *a, OptionId o); /* NULL if not given */
/* "X=x.npy" into "X" and "x.npy": false if no name stands before a '='. A path may begin with "./". */
bool word_split(Session *s, const char *word, Str *name, const char **rest);

/* ---- help.c, complete.c, editors/ --------------------------------------------------------------------- */
void help_all(Buf *b);
void help_command(Buf *b, CommandId c);
void help_man(Buf *b);
Leave help_completions(Session *s, const char *shell);
Leave help_grammar(Session *s, const char *editor);

/* ---- nearest.c: the name that was probably meant -------------------------------------------- */
typedef struct Nearest { Arena *arena; const char *wanted, *best; uint32_t distance; } Nearest;
Nearest nearest_to(Arena *a, const char *wanted);
void nearest_try(Nearest *n, const char *candidate); /* best: NULL unless one is near */

/* ---- the session: session.c ----------------------------------------------------------------- */
struct Session {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  Front front;
  bool colour, verbose;
  bool without_jit;           /* it was said that the JIT is not there */
  const char *const *words;   /* of the command line, NULL at the end */
  struct Ranks *ranks;        /* the processes that this is one of; NULL: it is alone (ranks.h) */
  bool silent;                /* another of them speaks: messages are kept in `unsaid` */
  Words unsaid;
  Words captured;             /* messages of failed runs, while `capture` is set: --expect looks at them */
  bool capture;
  Diags *refused;             /* the last complaints that were captured, NULL: none */
  Diags *collect;             /* where complaints go instead of to stderr; NULL: to stderr */
  struct Progress *progress;  /* of the run that is going on (progress.h); NULL: none is told of */
  struct Profile *profile;    /* of that run (profile/profile.h); NULL: nobody asks where its time goes */
  struct Resident *resident;  /* of that run (compile/resident.h): its arguments lie on a device; NULL: on the host */
  struct Keeping *keeping;    /* of that run (keeping.h); NULL: nothing is kept of it, nor does it go on from what was */
  struct Guest *guest;        /* NULL: the process is ours */
};

/* We are a library in somebody else's process (face/libein.h), whose streams, signals and environment stay as they are. */
typedef struct Heard { const Diag *diag; const char *text; bool error; } Heard; /* a complaint, or a message */
typedef struct GuestFile { const char *name, *text; size_t len; } GuestFile;
typedef struct Guest {
  Arena *arena;               /* the session's; in it goes all that it makes */
  const char *home;           /* the folder where the program ein would lie, with a '/' at the end */
  const GuestFile *file;      /* they stand in for files of these names */
  size_t n_files;
  Buf out;                    /* what would go to stdout */
  VEC(Heard) heard;           /*   and to stderr, */
  Buf err;                    /*   as text */
  struct GuestStop *stop;     /* by which another thread ends what is computed (native.h); NULL: none can */
} Guest;
Session *session_new(Guest *guest);
Leave session_end(Session *s, Leave code);  /* flushes stdout: a full disk is code 4 */
/* What $variable says, or a folder beside this program that has the file; NULL: there is none. */
const char *folder_beside(const Session *s, const char *variable, const char *folder, const char *file);
const char *program_folder(const Session *s); /* where this program lies, with a '/' at the end; NULL: not known */
void session_fresh(Session *s);             /* new Diags and front, for the next file */
/* A message on stderr: "ein: ..." and a newline; control characters in it are shown escaped. */
void say(Session *s, const char *fmt, ...) EIN_PRINTF(2, 3);
Leave fail(Session *s, Leave code, const char *fmt, ...) EIN_PRINTF(3, 4); /* "ein: error: ..."; returns code */
void detail(Session *s, const char *fmt, ...) EIN_PRINTF(2, 3);            /* only under --verbose */
void print(Session *s, const Buf *b);                                      /* on stdout */
bool print_now(Session *s);                 /* what was printed leaves us; false: it cannot, which session_end tells */
void print_aside(Session *s, const Buf *b);                                /* on stderr */
/* Prints the complaints collected and their count; LEAVE_PROGRAM if there are errors (LEAVE_MACHINE if a
 * file that was named on the command line could not be read), else LEAVE_OK. */
Leave session_report(Session *s);
void diags_show(Session *s, Diags *d); /* complaints and their count, on stderr */
Leave diags_leave(const Diags *d);
void count_text(Buf *b, uint32_t errors, uint32_t warnings);

/* ---- files.c -------------------------------------------------------------------------------- */
/* To a temporary name in the same folder, then renamed; "-" is stdout; a character device is written to. What is there must be
 * writable itself, and keeps its mode; where its folder takes no new file, it is written where it is. */
Leave file_write(Session *s, const char *path, const char *bytes, size_t len);
enum { FILE_RUNS = 1, FILE_LASTS = 2 }; /* whoever may read it may run it; it is on the disk before it has its name */
Leave file_put(Session *s, const char *path, const char *bytes, size_t len, unsigned how);
Leave file_copy(Session *s, const char *from, const char *to, unsigned how); /* of a file that we made */
bool file_writable(Session *s, const char *path); /* an early look, with a complaint: before a long computation */
bool file_begins_ours(Arena *a, const char *path); /* there is none, or its first line says that ein wrote it */
bool file_is_device(const char *path);            /* a character device, as /dev/null */
Source *stdin_read(Session *s);                   /* NULL after a complaint */
Source *file_read(Session *s, const char *path, const char **why); /* as source_read, of a file that the user names */
bool file_stands_in(const Session *s, const char *path);           /* a guest has it */
const char *program_on_path(Arena *a, const char *name); /* NULL if there is none */
/* Runs a program without a shell, `in` to its stdin, its stdout to *out; false with *why. */
bool program_run(Arena *a, const char *const *argv, const char *in, size_t len, Buf *out, const char **why);

/* The same without input, and what it says on stderr is in *out too. */
bool program_ask(Arena *a, const char *const *argv, Buf *out, const char **why);
const char *folder_of(Arena *a, const char *path);                    /* of a file */
const char *folder_work(Session *s);                                  /* a new, private one in $TMPDIR; NULL after a complaint */
bool folder_made(Arena *a, const char *folder);                       /* with those around it, for us alone; or there already */
Words folder_files(Arena *a, const char *folder);                     /* names, in no order */
uint32_t folder_empty(Arena *a, const char *folder);                  /* how many files are gone; folders stay */
void folder_remove(Arena *a, const char *folder);                     /* with the files in it */

/* ---- temporary.c: what a signal that ends us takes along --------------------------------------- */
void temporary_watch(void);               /* from now on, in this process, which is ours */
int temporary_file(char *path);           /* as mkstemp */
bool temporary_folder(char *path);        /* as mkdtemp */
void temporary_gone(const char *path);    /* the same pointer: it has another name now, or is removed */
void temporary_child(pid_t pid);          /* a program that runs for us; 0: it has ended */

/* ---- languages: language.c -------------------------------------------------------------------- */
typedef enum { LANG_PROGRAM, LANG_GRAPH, LANG_PLAN, LANG_TRA, LANG_IA, LANG_TASK, LANG_LOOP, LANGUAGES } Language;
Language language_of(const char *path); /* by its ending: .graph, .plan, .tra, .ia, .task, .loop; else a program */
/* What was made in that language is checked; again: and replaced by what its text reads back as. Gives it. Where that fails, it is a bug(). */
void *language_made(Session *s, Language l, const char *path, void *made, bool again);

/* ---- the column: column.c, dims.c; texts.c where it begins with a text on the way ----------------- */
typedef struct Given { /* what an input is read from */
  Str name;
  const char *spec;
  ein_source_info info;
  struct Bound *bound;        /* tensors of a checkpoint, and then spec is for messages (data/checkpoint.h); NULL: what spec says */
} Given;
typedef VEC(Given) Givens;
typedef struct Target { const char *name, *path, *key; const AstStored *stored; } Target; /* key, stored: in a .safetensors file */
typedef VEC(Target) Targets;

typedef struct Job {
  const char *path;
  Language from;              /* what it began as */
  Program *program;           /* NULL for a graph's text */
  EinGraph *graph;            /* after job_graph (at once for a graph's text) */
  bool past;                  /* it began behind the graph: `graph` has dims, inputs and outputs, and nothing between */
  DimValues dims;             /* -D, and what the shapes of files say */
  EinGraph *best;             /* after job_optimised */
  struct PassNotes *notes;    /*   what its passes did; NULL for a text of tasks or loops */
  Algebra *relations;         /* of a text of them */
  TaskGraph *tasks;           /* after job_tasks, or at once for its text */
  LoopProgram *loops;         /* after job_loops, or at once for its text */
  double worth_threads;       /*   of the machine file; 0: the usual */
  const Givens *given;        /* where its inputs and outputs are, if it runs on many ranks, each of which reads and writes its own; */
  const Targets *targets;     /*   NULL: outputs are wanted here */
} Job;
Leave job_read(Session *s, Job *j, const Args *a, const char *path);
Leave job_from_text(Session *s, Job *j, const char *name, const char *text);
Leave job_from_loops(Session *s, Job *j, const char *name, const char *text); /* a text of loops */
Leave text_begin(Session *s, Job *j, const Args *a);    /* of a text on the way: read and checked; no more has to be done down to there */
Leave job_dims(Session *s, Job *j, const Args *a);      /* -D: checked against the dims declared */
Leave job_graph(Session *s, Job *j, const Args *a);     /* elaborated, checked; complaints printed */
Leave job_compile(Session *s, Job *j, const Args *a, const char *path); /* all of the above */
Leave job_sizes(Session *s, Job *j, const Args *a);     /* -D, and what the files say that stand behind the program on the command line; before job_graph */
/* The same, but sizes that the program leaves open stay open, where it can be compiled so: one library for all sizes. */
Leave job_graph_open(Session *s, Job *j, const Args *a);
/* Further down, as far as the job is not there yet. */
const EinNode *job_widest(Session *s, Job *j, const Args *a);           /* after its passes: a vertex with more labels than tasks take; NULL: none */
Leave job_narrow(Session *s, const Job *j, const EinGraph *g);          /* fails where a vertex has more labels than tasks take */
Leave job_optimised(Session *s, Job *j, const Args *a);
Leave job_optimised_on(Session *s, Job *j, const Args *a, int64_t sites); /* products in orders that move little on so many */
bool loops_device(const Job *j);                                        /* its loops are for a device */
Leave job_tasks(Session *s, Job *j, const Args *a);
Leave job_loops(Session *s, Job *j, const Args *a);
/* For many sites: j's graph, or its relations by their keys, by a plan as a program over relations; and that, an Ia, as tasks. NULL, and why: it
 * cannot be said so yet. */
Algebra *relations_made(Session *s, const Job *j, const KeyGraph *keys, const Cutting *c, bool ia, bool again);
TaskGraph *tasks_of_sites(Session *s, const char *path, const Algebra *ia, bool again, Buf *why);
/* -n: j's program is planned for so many sites, by the options of ein plan, and goes on as the plan's relations or tasks; of one site, nothing. */
Leave job_sites(Session *s, Job *j, const Args *a, Language as); /* driver/plan/algebra.c */
Leave job_one_site(Session *s, const Job *j);           /* after job_tasks: fails where it is for several */
bool job_unplaced(const Job *j);                        /* relations that are nowhere in particular: a plan can say where */
bool job_of_sites(const Job *j);                        /* relations, or tasks of a mesh: several sites, or none in particular */
NamedAxesList axes_declared(Session *s, const Job *j); /* declared.c */
EmitOptions job_emit(Session *s, const Job *j, const char *prefix);     /* after job_loops */
/* tuning.c: what a machine file says for loops, and for threads; without one, this machine's caches say it for what is not kept. It changes
 * no answer. */
Leave machine_said(Session *s, const Args *a, const struct Machine **out); /* by --machine or $EIN_MACHINE; NULL: none is */
Leave tuning_find(Session *s, const Args *a, LoopTarget *target, double *worth_threads);
void target_ask(Session *s, const Args *a, const TaskGraph *t, LoopTarget *target); /* which registers the C compiler has */
bool job_dim(const Job *j, Str name, int64_t *out);
bool job_has_dim(Session *s, const Job *j, Str name); /* one that -D may name */
AstFile *job_file(const Job *j);                        /* what the user wrote; NULL for a graph's text */

/* ---- patience.c: says so before what will take minutes ------------------------------------------ */
void patience_eval(Session *s, const Job *j, const EinGraph *g);
void patience_c(Session *s, const Job *j, int threads);

/* ---- memory.c: bytes; 0: not known --------------------------------------------------------------- */
int64_t memory_here(void); /* what this machine has, or what this container may use of it */
int64_t memory_free(void); /* of that, what nobody uses */

/* ---- inputs.c, outputs.c, report.c, expect.c ------------------------------------------------ */
Leave given_find(Session *s, Job *j, const Args *a, const Words *words, Givens *out); /* and binds dims; before job_graph */
void given_fill(Session *s, const Job *j, Givens *given); /* random numbers for what is not given and has no default */
Leave dims_of_job(Session *s, const Job *j, Eval *e);                  /* into e: every open dim of its graph has a value, or that is said */
Leave given_read(Session *s, const Job *j, const Givens *given, Eval *e);             /* after it; on one of many ranks shapes alone */
const Given *given_of(const Givens *given, Str name);                  /* NULL: it is not given */
Leave given_values(Session *s, const Eval *e, const EinNode *n, const Given *g, EvalArray *x); /* all of it, of x's shape */
/* How many numbers of a block of it, from `low` on, the input does not hold as they are; 0: none, or that is not asked; -1: too many to look. */
int64_t given_rounded(const Eval *e, const EinNode *n, const Given *g, const EvalArray *x, const int64_t *low, const EvalArray *block);
void given_warn(Session *s, const EinNode *n, const Given *g, const EvalArray *x, int64_t rounded);
/* A block of it, of a tensor of the shape `whole`; and what there is to be looked at once, a checksum over all of it. */
ein_status given_block(const Given *g, DType t, uint32_t rank, const int64_t *whole, const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
ein_status given_sound(const Given *g, const int64_t *whole, ein_error *err);
Leave status_leave(ein_status st);

Leave targets_find(Session *s, const EinGraph *g, const Args *a, Targets *out);
Leave targets_stored(Session *s, const Job *j, Targets *t); /* by the names that the program has for them */
Leave targets_write(Session *s, const Eval *e, const Targets *t);
bool targets_have(const Targets *t, Str name);

/* What ein plan says of a job for one site, whose graph is made. */
Leave plan_say(Session *s, Job *j, const Args *a, Buf *out);
Leave plan_sites_say(Session *s, const Job *j, const Args *a, Buf *text, Buf *svg); /* for several sites; svg NULL: no picture is wanted */

/* `ein run` from a Job that is read: binds, elaborates, computes, writes or prints. */
Leave run_job(Session *s, Job *j, const Args *a, const Words *inputs);
/* The same to see where its time goes, by --profile and --trace: nothing is written or printed, what is not given and has no default gets random
 * numbers, and what is run first is run again. */
Leave run_profiled(Session *s, Job *j, const Args *a, const Words *inputs);
Leave run_target(Session *s, const Job *j, const Args *a, bool *c);       /* --target, or what is usual; *c: compiled, not by eval */
void run_begin(Session *s, const Job *j, Eval *e);                        /* a new Eval of its graph, with this machine's limits */
Leave run_compute(Session *s, Job *j, const Args *a, bool c, Eval *e);    /* from its inputs to its outputs */
Leave run_inputs(Session *s, const Job *j, const Givens *given, Eval *e); /* a new Eval with its inputs and limits */
Leave run_eval(Session *s, Eval *e, EvalStatus *status);                  /* computes, and complains */
bool program_first(Session *s, Args *a); /* the first operand that is no NAME=SOURCE is moved to the front */
enum { THREADS_MOST = 4096 };
Leave threads_wanted(Session *s, const Args *a, int *out);                /* --threads; 0: not said */
/* opinion.c: the AST evaluator must find the same outputs, where it does such programs. */
Leave opinion_check(Session *s, const Job *j, const Eval *e);

void report_output(Buf *b, const EinOutput *o, const EvalArray *x);
/* The same of a value without its graph: the axes are called as report_axes says, "" where they have no names. */
const char *const *report_axes(Arena *a, const EinNode *n);
void report_shape(Buf *b, const char *const *axis, const EvalArray *x);                      /* "[i:3, (h d):8]" */
void report_heading(Buf *b, const char *name, const char *const *axis, const EvalArray *x);  /* and its name and dtype */
void report_value(Buf *b, const char *name, const char *const *axis, const EvalArray *x);
void report_element(Buf *b, const EvalArray *x, int64_t k);

typedef enum {
  EXPECT_VALUE, EXPECT_ELEMENT, EXPECT_SUM, EXPECT_MIN, EXPECT_MAX, EXPECT_MEAN, EXPECT_SHAPE
} ExpectKind;
typedef struct Expectation {
  ExpectKind kind;
  Str name;
  bool roughly;               /* ~ rather than = */
  Span span;
  const char *text, *end;     /* of the value */
  VEC(int64_t) index;         /* EXPECT_ELEMENT */
} Expectation;
typedef struct Expects {
  VEC(Expectation) all;
  const char *error;          /* expect-error: its text; NULL: none */
  Span error_span;
  Words run;                  /* words of `# run:` */
  double bound;               /* of `# verify:`; negative: not said */
} Expects;
Leave expects_read(Session *s, const AstFile *file, const char *path, Expects *out);
Leave expects_any(Session *s, const char *path, const Expects *x); /* a complaint where there is none */
/* What the comments add to the command line `said`: options to *all, inputs to *inputs. */
Leave comment_words(Session *s, const Expects *x, const char *path, const Args *said, Args *all, Words *inputs);
Leave expects_check(Session *s, const Expects *x, const char *path, const EinGraph *g, const EvalArray *output);
bool element_near(const EvalArray *x, int64_t k, double want, double scale);

/* ---- plans for many sites that are held to limits: driver/plan/limits.c ---------------------------- */
/* Whether the plans of a checked program keep to its `assert on 16 sites: ...` lines, and to --assert. */
Leave limits_check(Session *s, const Args *a, const Job *j);

/* ---- cmd_einsum.c: NumPy's equations ---------------------------------------------------------------- */
/* The program of an equation over these operands, of which only shape and dtype are looked at; dtype -1: as Ein has it (libein.h). */
Leave einsum_program(Session *s, const char *equation, uint32_t n, const ein_tensor *operand, int dtype, Buf *out);

/* ---- commands ------------------------------------------------------------------------------- */
Leave command_do(Session *s, uint32_t n, const char *const *word); /* a command line without the program's name; NULL behind it */
#define COMMAND(id, name, ...) Leave cmd_##name(Session *s, Args *a);
#define OPTION(...)
#include "driver/options/options.def"

#endif
