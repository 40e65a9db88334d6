/* driver/compile/native.h - what becomes of emitted C: the compiler that is found, the files it makes, the cache, and a library
 * in memory, driven through its ein_model. What other targets will be compiled to goes through native_load too. Only what is a person's business is in driver.h. */
#ifndef EIN_NATIVE_H
#define EIN_NATIVE_H

#include <pthread.h>

#include "driver/driver.h"
#include "jit/object.h"

/* ---- compiler.c: the C compiler -------------------------------------------------------------- */
typedef struct Compiler {
  const char *said;          /* as it was named */
  Words command;             /* its path, and words that belong to it: "ccache gcc" */
  Words flags;               /* about speed: --flags, or the usual ones */
  bool dense;                /* what it makes here is given tensors in row-major order alone: loops for others are left out */
  bool opens;                /* what it makes opens libraries while it runs */
  bool openmp;               /* it has OpenMP: found out when something is first compiled */
  bool in_process;           /* Clang in this process: jit.c. Its command is the plugin */
  bool nvrtc;                /* kernels are for a device, and NVRTC's: nvrtc.c; it compiles what is around them */
} Compiler;
/* said: --cc; NULL: $CC, else the first of cc, gcc and clang that is there. flags NULL: the usual ones. */
Leave compiler_find(Session *s, const char *said, const char *flags, Compiler *out);
bool compiler_there(Session *s, const char *said); /* compiler_find would find one */
/* By --target: that, or Clang in this process, unless a compiler is named. */
Leave compiler_choose(Session *s, const Args *a, const char *said, const char *flags, Compiler *out);

/* MAKE_APART: a shared object that is linked against a runtime that is compiled, which has the threads. So a program is, or its runtime is
 * among the sources. */
typedef enum { MAKE_OBJECT, MAKE_SHARED, MAKE_APART, MAKE_PROGRAM } MakeKind;
/* Compiles sources into `to`; what the compiler says is shown if it fails. */
Leave compiler_run(Session *s, Compiler *c, MakeKind kind, const Words *sources, const Words *more, const char *to);
/* An archive of objects; *made false where there is no `ar`. */
Leave archive_make(Session *s, const Words *objects, const char *to, bool *made);
/* What it has defined with these flags, as `#define NAME VALUE` a line; false, and no complaint, if it does not say. */
bool compiler_macros(Session *s, const char *said, const char *flags, Compiler *out, Buf *macros);
/* Its flags are about speed alone: what it makes may be linked against what was compiled with others. */
bool compiler_plain(const Compiler *c);
const char *compiler_words(Arena *a, const Compiler *c); /* "cc -O3 -march=native", for people */
extern const char *const compiler_language[]; /* what every text is compiled with; NULL at the end */
Words words_of(Arena *a, const char *text);   /* apart at blanks */

/* ---- runtime_apart.c: the runtime that was compiled with us ------------------------------------ */
/* Its texts are runtime/texts.h. A file beside us, which is of these very texts; NULL: there is none. */
#define APART_LOADED "ein_rt_apart.so"  /* what is loaded here is linked against this */
#define APART_PROGRAM "ein_program.a"   /* a program, against this */
const char *runtime_apart(Session *s, const char *name);

/* ---- cache.c ---------------------------------------------------------------------------------- */
/* $XDG_CACHE_HOME/ein or ~/.cache/ein, made if need be; NULL if there is none that is ours alone. */
const char *cache_folder(Session *s, bool make);
/* Adds to a key. A key is all that decides what is in an entry. */
typedef struct CacheKey { uint64_t a, b; } CacheKey;
typedef struct Bytes { const char *at; size_t len; } Bytes; /* at NULL: there are none */
CacheKey cache_key_new(void);
void cache_key_add(CacheKey *k, const char *bytes, size_t n);
void cache_key_text(CacheKey *k, const char *text);
void cache_key_file(Session *s, CacheKey *k, const char *path); /* by where it is, its age and its size: another version of a program is another file */
void cache_key_machine(CacheKey *k);                            /* what -march=native means here */
/* The entry of a key, whether it is there or not; NULL: there is no cache. ending: ".so" */
const char *cache_path(Session *s, const char *name, CacheKey k, const char *ending);
/* What was kept there, if that is there as it was written; an entry that is not so is told of. */
Bytes cache_read(Session *s, const char *path);
/* Whole or not at all, whoever else writes it. False: it cannot be kept, which is nothing that a run would fail of. */
bool cache_keep(Session *s, const char *path, Bytes what);

/* ---- externs.c: the C functions that a program names ------------------------------------------- */
typedef struct ExternSource {
  const Extern *x;           /* the first that is from it */
  const char *name;          /* of the text */
  const char *path;          /* of the file */
  Buf text;                  /* preprocessed */
  const char *includes;      /* a file of the user's that it includes; NULL: none */
} ExternSource;
typedef struct ExternParts {
  VEC(ExternSource) sources; /* to be compiled */
  Words link;                /* to be linked: files, by their whole paths, and "-lm" */
  Words files;               /*   these files */
  const Extern *binary;      /*   and what is from the first of them; NULL: there are none */
} ExternParts;
Leave externs_parts(Session *s, const Compiler *c, const Exprs *p, ExternParts *out);
/* Functions of this process: sets `call` of all of the pool's that are of scalars. handle: NULL, or where their symbols are; NULL in it: there are none.
 * Without it those of blocks, which evaluators do not call, are not looked for. */
Leave externs_load(Session *s, Exprs *p, void **handle);

/* ---- native.c: the door from texts to machine code --------------------------------------------- */
/* All that is compiled goes through here: one place knows what a text needs, what decides about the result, and how that comes to be
 * whole. A text is a file NAME.c. */
typedef struct NativeText { const char *name; const Buf *text; } NativeText;
typedef struct NativeSet {
  const NativeText *text;
  uint32_t n_texts;
  const char *folder;        /* where they stand already, beside the runtime that they include; NULL: nowhere yet, they include ein_run.h */
  Words flags;               /* besides those of the compiler */
  const ExternParts *externs; /* what is compiled and linked with them; NULL: nothing */
  void *symbols;             /* where else symbols are, for what is loaded into memory; NULL: nowhere */
} NativeSet;
typedef struct Native {
  void *handle;              /* stays open: threads of an OpenMP that came in with it may be waiting in its code */
  VEC(Object) objects;       /*   or, compiled in this process, memory; */
  bool stays;                /*   which stays as well: threads of its own may be waiting in it */
  double seconds;            /* that it took to compile */
  bool old;                  /* it was in the cache; of several, all were */
  uint32_t fresh;            /* of several: how many were not */
  Bytes made;                /* the object itself: for other processes */
} Native;
/* Machine code of them, in this process: from the cache, or compiled now and kept there. What is in the cache and cannot be loaded, or
 * has no such symbol, is made again. One text, where the compiler is in this process. */
Leave native_load(Session *s, Compiler *c, const char *name, const NativeSet *set, const char *symbol, Native *out);
/* By Clang in this process, each text an object of its own, out->objects, that is kept by itself, so that other sets find it. They are linked against
 * the runtime that was compiled with us, *runtime: the compiler's flags are about speed alone. *there false, and no complaint: Clang cannot be opened, or
 * there is no such runtime. */
Leave native_load_each(Session *s, const Compiler *c, const char *name, const NativeSet *set, const char *symbol, Native *out, void **runtime, bool *there);
void *native_find(const Native *n, const char *symbol); /* NULL: it has none of that name */
/* Nothing of it is running, or will be called. */
void native_close(Native *n);
/* A shared object that another process has made. */
Leave native_adopt(Session *s, Bytes object, const char *symbol, Native *out);
/* A file of them, written once it is whole. *made false: an archive is wanted, and there is no `ar`. */
typedef enum { NATIVE_PROGRAM, NATIVE_SHARED, NATIVE_ARCHIVE } NativeKind;
Leave native_write(Session *s, Compiler *c, NativeKind kind, const NativeSet *set, const char *to, bool *made);

/* ---- jit.c: Clang in this process ------------------------------------------------------------ */
const char *jit_plugin(Session *s);           /* where it lies; NULL: this ein was built without it, or EIN_JIT=off says so */
/* flags NULL: the usual ones. False: there is no plugin. */
bool jit_find(Session *s, const char *flags, Compiler *out);
const char *jit_macros(const Compiler *c);    /* what compiler_macros would say about vectors; "": not known */
/* Texts that begin alike, with words of a command line, as ELF objects in memory, one each; several at once. The runtime is parsed once for all
 * texts, and kept. *there false, and no complaint: Clang cannot be opened here. */
Leave jit_compile(Session *s, const Compiler *c, const NativeText *const *text, uint32_t n, const Words *words, Bytes *out, bool *there);
/* Says once that the C compiler does what was asked of the JIT, and why; and finds it. */
Leave jit_instead(Session *s, const char *why, Compiler *out);

/* ---- target.c: what runs a program where that is left open -------------------------------------- */
bool target_device(Session *s, const Args *a);          /* loops and text are for a device, CUDA's */
const char *target_said(Session *s, const Args *a);     /* by --target or $EIN_TARGET; NULL: nothing is, or auto */
const char *target_compiler(Session *s, const Args *a); /* the same of what has to be compiled */
bool target_jit(Session *s, const Args *a);             /* Clang in this process compiles, if something does */
bool target_compiles(Session *s, const Job *j, const Args *a); /* not eval, which is told where it is for want of a compiler */
bool target_too_wide(Session *s, Job *j, const Args *a);       /* eval after all, which is told */

/* ---- measure/peers.c ------------------------------------------------------------------------------ */
Leave bench_peers(Session *s, const Args *a); /* comes back only where it cannot be run */

/* ---- kernels.c: a program whose kernels are compiled and kept one by one --------------------------- */
typedef struct ByKernels { const struct JitModel *model; const struct JitRuntime *runtime; } ByKernels; /* jit/model.h */
/* like: flags and symbols of it. Where that can be done: by Clang in this process, for one site. *there false, and no complaint: it cannot. */
Leave kernels_load(Session *s, const Job *j, const Compiler *c, const EmitOptions *o, const NativeSet *like, Native *out, ByKernels *made, bool *there);

/* ---- library.c: an emitted text as functions in this process ---------------------------------- */
typedef struct Library {
  const ein_model *model;
  void *ctx;
  Native made;
  bool device;               /* its workspace is memory of a device */
  bool watched;              /* a crash in it is told of: until it is closed */
  ein_counts counts;         /* what was asked of the device */
  struct ProfileSite *profile; /* of the context's runs; NULL: nobody asks */
} Library;
/* Before library_open: the threads of an OpenMP that comes in with it go to sleep where they wait, unless the environment says
 * something else. We are a program, so that is ours to say; on a busy machine it is hundreds of times faster. */
void threads_sleep(const Session *s);
/* Emits, compiles or finds, opens, and makes a context. */
Leave library_open(Session *s, const Job *j, Compiler *c, int threads, Library *out);
Leave library_adopt(Session *s, const Job *j, Bytes object, Library *out); /* of an object that another process has made */
void library_close(Library *l);
void library_counts(Session *s, const Library *l); /* says them, of a device */
/* interrupt.c: from interrupt_watch on Ctrl-C stops the run that goes on, if any, and not the process. */
typedef struct InterruptRun { void (*cancel)(void *ctx); void *const *ctx; int n; } InterruptRun;
void interrupt_watch(void);
bool interrupted(void);      /* since interrupt_clear */
void interrupt_clear(void);
/* The same for a session: of a guest its caller's other threads may end what is computed. */
typedef struct GuestStop { pthread_mutex_t lock; volatile int wanted; const InterruptRun *running; } GuestStop;
const volatile int *stop_flag(const Session *s); /* for a context's `stop`; NULL: nobody watches */
bool stop_wanted(const Session *s);
bool interrupt_begin(const Session *s, const InterruptRun *r); /* from here to interrupt_end r is what goes on; false: it was interrupted before */
void interrupt_end(const Session *s);
void guest_stop(GuestStop *g); /* what goes on with it, or is just beginning */
/* Binds the sizes and takes memory for the outputs in e->output. */
Leave library_plan(Session *s, Library *l, const Job *j, Eval *e, ein_status *status);
/* From e->input into e->output. */
Leave library_run(Session *s, Library *l, const Eval *e, ein_status *status);
enum { SITES_HERE = 1024 };  /* at most: each is a thread */
/* Of one for several sites: all of them in this process, each with so many threads (0: one). From e->input into e->output, which is made. */
Leave sites_run(Session *s, Library *l, const Job *j, Eval *e, int threads); /* ranks/here.c */
double seconds_now(void);

/* ---- defaults.c ----------------------------------------------------------------------------------- */
/* Those of inputs that e has not are put there, made by that C compiler; c NULL: by eval. */
Leave defaults_make(Session *s, const Args *a, const Job *j, Compiler *c, int threads, Eval *e);
/* The graph of an input's default as its only output; its inputs are those that it hangs on. *by_block: of a block, its sizes are where that begins, along
 * each dimension, then how long it is; it has no inputs then. */
EinGraph *default_program(Session *s, const Job *j, const EinNode *input, bool *by_block);
/* Of a rank's input that is not given: its block's default, dense, where out->data is; or, *whole, *out is all of it. What it hangs on is read from j->given. */
Leave default_block(Session *s, const Job *j, const Eval *e, const EinNode *input, const int64_t *low, const int64_t *extent, EvalArray *out, bool *whole);

/* ---- package.c: a library as a folder ----------------------------------------------------------- */
typedef struct Package {
  const EmitOptions *o;
  const NativeText *text;    /* what is compiled: PREFIX.c, and others */
  uint32_t n_texts;
  const Buf *manifest;
  const Words *link;         /* libraries that it wants besides, "-lgsl"; NULL: none */
  const char *mpi;           /* for which numbers of processes of MPI, as "4, 8"; NULL: it knows no MPI */
} Package;
/* The sources of C functions, into the folder and among p's texts; and the libraries that they are in. */
Leave package_externs(Session *s, Package *p, const ExternParts *externs, const char *folder);
/* All that stands beside the texts and their headers, which are written there already. shared: a shared library, else an archive. */
Leave package_write(Session *s, const Package *p, Compiler *c, const char *folder, bool shared);
/* The file of the library itself in that folder. */
const char *library_file(Arena *a, const char *prefix, bool shared);

/* ---- distance.c ------------------------------------------------------------------------------- */
typedef struct Distance {
  double abs, rel, ulp;      /* the most, over all elements; rel: of the largest magnitude of what is wanted */
  double most, bound, allowed; /* the largest magnitude; how far apart by it, and at all */
  const EvalArray *other;
  bool apart;                /* where one is not finite */
  int64_t ordered;           /* elements that are right as `other` has them */
  int64_t wrong, first;      /* elements further apart than bound; the first of them */
} Distance;
/* Of one dtype and shape. Right is what is within bound of the largest magnitude or within floor; and where one is not finite, what
 * `other` is, the same by another order; NULL: there is none. */
/* stated.c: of each def that is called and states its adjoint, in a program with gradients, whether the outputs are what they are without it */
void stated_compare(Session *s, const Job *j, const Eval *with, Buf *out);
Distance distance(const EvalArray *got, const EvalArray *want, double bound, double floor, const EvalArray *other);
/* What rounding alone may come to, absolutely: rounding.c. After an eval of e. */
double rounding_floor(Arena *a, const Eval *e, const EinNode *output);
/* The bound for an output that is a float, where the program says none. */
double distance_bound(Arena *a, const EinGraph *g, const EinNode *output);

#endif
