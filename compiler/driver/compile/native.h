/* driver/compile/native.h - compiles emitted C: finds the compiler, makes files, caches results, and drives a library
 * in memory through its ein_model. Results of other targets go through native_load too. driver.h has only what
 * concerns people. */
#ifndef EIN_NATIVE_H
#define EIN_NATIVE_H

#include <pthread.h>

#include "driver/driver.h"
#include "jit/jit.h"
#include "jit/object.h"

/* ---- compiler.c: the C compiler -------------------------------------------------------------- */
typedef struct Compiler {
  const char *said;          /* as the user named it */
  Words command;             /* its path, and further words: "ccache gcc" */
  Words flags;               /* about speed: --flags, or the default */
  bool dense;                /* its code takes only tensors in row-major order: loops for others are left out */
  bool opens;                /* its code opens libraries at run time */
  bool openmp;               /* it has OpenMP: determined at the first compilation */
  bool in_process;           /* Clang in this process: jit.c. command is the plugin */
  bool nvrtc;                /* kernels are for a device and compiled by NVRTC: nvrtc.c; this compiles the code around
                              * them */
  uint64_t memory;           /* the most bytes of the device; 0: what is free */
} Compiler;
/* said: --cc; NULL: $CC, else the first of cc, gcc and clang that exists. flags NULL: the default. */
Leave compiler_find(Session *s, const char *said, const char *flags, Compiler *out);
bool compiler_there(Session *s, const char *said); /* compiler_find would find one */
/* By --target: that, or Clang in this process, unless a compiler is named. */
Leave compiler_choose(Session *s, const Args *a, const char *said, const char *flags, Compiler *out);

/* MAKE_APART: a shared object linked against a precompiled runtime that has the threads. A program is linked so too,
 * or has the runtime among its sources. */
typedef enum { MAKE_OBJECT, MAKE_SHARED, MAKE_APART, MAKE_PROGRAM } MakeKind;
/* Compiles sources into `to`; shows the compiler's messages if it fails. */
Leave compiler_run(Session *s, Compiler *c, MakeKind kind, const Words *sources, const Words *more, const char *to);
/* Makes an archive of objects; *made false if there is no `ar`. */
Leave archive_make(Session *s, const Words *objects, const char *to, bool *made);
/* The macros that it predefines with these flags, as lines `#define NAME VALUE`. Returns false without a complaint if
 * it does not tell. */
bool compiler_macros(Session *s, const char *said, const char *flags, Compiler *out, Buf *macros);
/* Its flags concern only speed: its code may be linked with code compiled with other flags. */
bool compiler_plain(const Compiler *c);
const char *compiler_words(Arena *a, const Compiler *c); /* "cc -O3 -march=native", for people */
enum { COMPILER_LANGUAGE = 3 };
extern const char *const compiler_language[COMPILER_LANGUAGE]; /* flags for every text */
/* The last flag of every text: a product and a sum are fused where it says so, and nowhere else. Clang disregards what a
 * text says about that if the user's flags say -ffp-contract=fast. */
extern const char compiler_fuses[];
Words words_of(Arena *a, const char *text);   /* split at blanks */
void words_add(Arena *a, Words *to, uint32_t n, const char *const *w);

/* ---- runtime_apart.c: the precompiled runtime ------------------------------------------------------ */
/* Its texts are runtime/texts.h. Returns the path of a file next to us that was made from these very texts; NULL:
 * there is none. */
#define APART_LOADED "ein_rt_apart.so"  /* for code loaded into this process */
#define APART_PROGRAM "ein_program.a"   /* for programs */
const char *runtime_apart(Session *s, const char *name);

/* ---- cache.c ---------------------------------------------------------------------------------- */
/* $XDG_CACHE_HOME/ein or ~/.cache/ein, made if necessary; NULL if there is none that belongs only to us. */
const char *cache_folder(Session *s, bool make);
/* A key covers everything that determines an entry's content. */
typedef struct CacheKey { uint64_t a, b; } CacheKey;
typedef struct Bytes { const char *at; size_t len; } Bytes; /* at NULL: there are none */
CacheKey cache_key_new(void);
void cache_key_add(CacheKey *k, const char *bytes, size_t n);
void cache_key_text(CacheKey *k, const char *text);
void cache_key_file(Session *s, CacheKey *k, const char *path); /* by its path, time and size: another version of a
                                                                 * program is another file */
void cache_key_words(CacheKey *k, const Words *w);
void cache_key_machine(CacheKey *k);                            /* what -march=native means here */
/* The path of the entry for a key, whether it exists or not; NULL: there is no cache. ending: ".so" */
const char *cache_path(Session *s, const char *name, CacheKey k, const char *ending);
/* The entry's content, if it is intact; reports an entry that is not. */
Bytes cache_read(Session *s, const char *path);
/* Writes the entry atomically, whoever else writes it. Returns false if it fails, which does not matter to a run. */
bool cache_keep(Session *s, const char *path, Bytes what);

/* ---- externs.c: C functions of a program ----------------------------------------------------------- */
typedef struct ExternSource {
  const Extern *x;           /* the first function from it */
  const char *name;          /* of the text */
  const char *path;          /* of the file */
  Buf text;                  /* preprocessed */
  const char *includes;      /* a user's file that it includes; NULL: none */
} ExternSource;
typedef struct ExternParts {
  VEC(ExternSource) sources; /* to compile */
  Words link;                /* to link: files, by their absolute paths, and "-lm" */
  Words files;               /* only the files */
  const Extern *binary;      /* a function from the first of them; NULL: there are none */
} ExternParts;
Leave externs_parts(Session *s, const Compiler *c, const Exprs *p, ExternParts *out);
/* Loads functions into this process: sets `call` of all scalar functions in the pool. handle: NULL, or receives the
 * library of their symbols (NULL if there are none). With handle NULL, functions of blocks, which evaluators do not
 * call, are not loaded. */
Leave externs_load(Session *s, Exprs *p, void **handle);
/* The same if the graph calls any, for an evaluator. */
Leave externs_load_called(Session *s, const EinGraph *g);

/* ---- native.c: from texts to machine code ----------------------------------------------------------- */
/* All compilation goes through here: one place knows what a text needs, what determines the result, and how to write
 * it completely. A text is a file NAME.c. */
typedef struct NativeText { const char *name; const Buf *text; } NativeText;
typedef struct NativeSet {
  const NativeText *text;
  uint32_t n_texts;
  const char *folder;        /* where they already are, next to the runtime that they include; NULL: nowhere yet, they
                              * include ein_run.h */
  Words flags;               /* in addition to the compiler's */
  const ExternParts *externs; /* compiled and linked with them; NULL: none */
  void *symbols;             /* further symbols, for code loaded into memory; NULL: none */
} NativeSet;
typedef struct Native {
  void *handle;              /* stays open: threads of its OpenMP may still wait in its code */
  VEC(Object) objects;       /* or memory, if compiled in this process */
  bool stays;                /* must stay too: its own threads may still wait in it */
  double seconds;            /* of compilation */
  bool old;                  /* it was in the cache; of several, all were */
  uint32_t fresh;            /* of several: how many were not */
  Bytes made;                /* the object itself, for other processes */
} Native;
/* Loads their machine code into this process, from the cache, or compiled now and cached. An entry that cannot be
 * loaded, or lacks the symbol, is made again. One text, if the compiler is in this process. */
Leave native_load(Session *s, Compiler *c, const char *name, const NativeSet *set, const char *symbol, Native *out);
/* Compiles each text into its own object, out->objects, by Clang in this process. Each is cached by itself, so that
 * other sets find it. They are linked against the precompiled runtime, *runtime, so the compiler's flags must concern
 * only speed. *there false, without a complaint: Clang cannot be opened, or there is no such runtime. */
Leave native_load_each(Session *s, const Compiler *c, const char *name, const NativeSet *set, const char *symbol,
    Native *out, void **runtime, bool *there);
void *native_find(const Native *n, const char *symbol); /* NULL: no such symbol */
/* Nothing of it may be running or be called later. */
void native_close(Native *n);
/* Loads a shared object that another process has made. */
Leave native_adopt(Session *s, Bytes object, const char *symbol, Native *out);
/* Writes a file from them, once it is complete. *made false: an archive is wanted, and there is no `ar`. */
typedef enum { NATIVE_PROGRAM, NATIVE_SHARED, NATIVE_ARCHIVE } NativeKind;
Leave native_write(Session *s, Compiler *c, NativeKind kind, const NativeSet *set, const char *to, bool *made);

/* ---- jit.c: Clang in this process ------------------------------------------------------------ */
const char *jit_plugin(Session *s);           /* its path; NULL: this ein was built without it, or EIN_JIT=off */
/* flags NULL: the default. Returns false if there is no plugin. */
bool jit_find(Session *s, const char *flags, Compiler *out);
const char *jit_macros(const Compiler *c);    /* what compiler_macros would say about vectors; "": unknown */
/* Compiles texts with a common beginning and these command-line words to one result in memory each, several in
 * parallel. Parses the runtime once for all, and keeps it. *there false, without a complaint: Clang cannot be opened
 * here. */
Leave jit_compile(Session *s, const Compiler *c, const NativeText *const *text, uint32_t n, const Words *words,
    JitForm form, Bytes *out, bool *there);
/* Begins to open Clang in a thread, for a session that will probably compile; NULL: it does not. jit_ahead_end comes
 * before the session's end. */
typedef struct JitAhead JitAhead;
JitAhead *jit_ahead(Session *s, const Args *a);
void jit_ahead_end(Session *s, JitAhead *x);
/* Says once that the C compiler replaces the JIT, and why; and finds it. */
Leave jit_instead(Session *s, const char *why, Compiler *out);

/* ---- target.c: what runs a program if the user does not say ------------------------------------------- */
bool target_device(Session *s, const Args *a);          /* loops and text are for a device, by CUDA */
const char *target_said(Session *s, const Args *a);     /* by --target or $EIN_TARGET; NULL: neither, or auto */
const char *target_compiler(Session *s, const Args *a); /* the same for what must be compiled */
bool target_jit(Session *s, const Args *a);             /* Clang in this process compiles, if anything does */
bool target_compiles(Session *s, const Job *j, const Args *a); /* not eval; reports if that is for lack of a compiler */
bool target_too_wide(Session *s, Job *j, const Args *a);       /* eval after all, which it reports */

/* ---- measure/peers.c ------------------------------------------------------------------------------ */
Leave bench_peers(Session *s, const Args *a); /* returns only if it cannot run */

/* ---- kernels.c: a program whose kernels are compiled and cached one by one ----------------------------- */
/* jit/model.h */
typedef struct ByKernels { const struct JitModel *model; const struct JitRuntime *runtime; } ByKernels;
/* like: its flags and symbols. Works with Clang in this process, for one site. *there false, without a complaint: it
 * does not. */
Leave kernels_load(Session *s, const Job *j, const Compiler *c, const EmitOptions *o, const NativeSet *like,
    Native *out, ByKernels *made, bool *there);
/* Prints what Clang in this process makes of each different kernel, assembly or LLVM's language, after the names of
 * the kernels that it is for. */
Leave kernels_show(Session *s, const Job *j, const Compiler *c, JitForm form, Buf *out);

/* ---- library.c: an emitted text as functions in this process --------------------------------------- */
typedef struct Library {
  const ein_model *model;
  void *ctx;
  Native made;
  bool device;               /* its workspace is in a device's memory */
  bool watched;              /* a crash in it is reported, until it is closed */
  ein_counts counts;         /* what was requested of the device */
  uint64_t memory;           /* the most that a run takes on a device; 0: what is free */
  struct ProfileSite *profile; /* of the context's runs; NULL: no profile */
} Library;
/* Before library_open: makes waiting threads of an OpenMP that is loaded with it sleep, unless the environment says
 * otherwise. Only a program may decide that; on a busy machine it is hundreds of times faster. */
void threads_sleep(const Session *s);
/* Emits, compiles or finds in the cache, opens, and makes a context. */
Leave library_open(Session *s, const Job *j, Compiler *c, int threads, Library *out);
Leave library_adopt(Session *s, const Job *j, Bytes object, Library *out); /* of an object that another process has
                                                                            * made */
void library_close(Library *l);
void library_counts(Session *s, const Library *l); /* prints them, for a device */
void counts_say(Session *s, const char *who, const ein_counts *c); /* "on the device" */
/* interrupt.c: after interrupt_watch, Ctrl-C stops the current run, if any, and not the process. */
typedef struct InterruptRun { void (*cancel)(void *ctx); void *const *ctx; int n; } InterruptRun;
void interrupt_watch(void);
bool interrupted(void);      /* since interrupt_clear */
void interrupt_clear(void);
/* The same for a session: threads of a guest's caller may stop its computation. */
typedef struct GuestStop { pthread_mutex_t lock; volatile int wanted; const InterruptRun *running; } GuestStop;
const volatile int *stop_flag(const Session *s); /* for a context's `stop`; NULL: nobody watches */
bool stop_wanted(const Session *s);
bool interrupt_begin(const Session *s, const InterruptRun *r); /* r is the current run from here to interrupt_end;
                                                                * false: it was interrupted before */
void interrupt_end(const Session *s);
void guest_stop(GuestStop *g); /* stops its current run, or one that is just beginning */
/* Binds the sizes and allocates the outputs in e->output. */
Leave library_plan(Session *s, Library *l, const Job *j, Eval *e, ein_status *status);
/* From e->input to e->output. */
Leave library_run(Session *s, Library *l, const Eval *e, ein_status *status);
enum { SITES_HERE = 1024 };  /* at most: each is a thread */
/* Runs all sites of a library in this process, each with `threads` threads (0: one). From e->input to e->output,
 * which it allocates. */
Leave sites_run(Session *s, Library *l, const Job *j, Eval *e, int threads); /* ranks/here.c */
double seconds_now(void);

/* ---- defaults.c ----------------------------------------------------------------------------------- */
/* Computes the defaults of inputs that e lacks, with that C compiler; c NULL: by eval. */
Leave defaults_make(Session *s, const Args *a, const Job *j, Compiler *c, int threads, Eval *e);
/* The same for sites in this process: for a compiled run by code, unless eval has the same bits. */
Leave defaults_of_sites(Session *s, const Args *a, const Job *j, bool compiled, Eval *e);
/* The graph of an input's default as its only output, with the inputs on which it depends. *by_block: it computes one
 * block; its sizes are where the block begins in each dimension, then its lengths; it then has no inputs. */
EinGraph *default_program(Session *s, const Job *j, const EinNode *input, bool *by_block);
/* Before MPI starts: loads the C functions that these defaults call, which may compile them; for a compiled run makes
 * code for those of which eval might have other bits. */
Leave defaults_ready(Session *s, const Args *a, Job *j, bool compiled, const Eval *e);
void defaults_end(Job *j);
/* For a rank's input that is not given: the default of its block, dense, at out->data; or, if *whole, all of it in
 * *out. Inputs on which it depends are read from j->given. */
Leave default_block(Session *s, const Job *j, const Eval *e, const EinNode *input, const int64_t *low,
    const int64_t *extent, EvalArray *out, bool *whole);

/* ---- package.c: a library as a folder ----------------------------------------------------------- */
typedef struct Package {
  const EmitOptions *o;
  const NativeText *text;    /* to compile: PREFIX.c, and others */
  uint32_t n_texts;
  const Buf *manifest;
  const Words *link;         /* libraries that it also needs, "-lgsl"; NULL: none */
  const char *mpi;           /* the numbers of MPI processes that it supports, as "4, 8"; NULL: no MPI */
} Package;
/* Adds the sources of C functions to the folder and to p's texts; and their libraries. */
Leave package_externs(Session *s, Package *p, const ExternParts *externs, const char *folder);
/* Writes everything besides the texts and their headers, which must already be there. shared: a shared library, else
 * an archive. */
Leave package_write(Session *s, const Package *p, Compiler *c, const char *folder, bool shared);
/* The library's file in that folder. */
const char *library_file(Arena *a, const char *prefix, bool shared);

/* ---- distance.c ------------------------------------------------------------------------------- */
typedef struct Distance {
  double abs, rel, ulp;      /* the largest over all elements; rel: relative to the largest expected magnitude */
  double most, bound, allowed; /* the largest magnitude; the distance allowed relative to it, and absolutely */
  const EvalArray *other;
  const double *moves;
  bool apart;                /* one value is not finite and the other differs */
  int64_t ordered;           /* elements that are correct only by `other` */
  int64_t moved, first_moved; /* elements that are apart no further than `moves` lets them: nothing can be said */
  int64_t wrong, first;      /* the number of elements further apart than bound; the first of them */
} Distance;
/* stated.c: in a program with gradients, compares for each called def with a stated adjoint whether the outputs are
 * the same without it */
void stated_compare(Session *s, const Job *j, const Eval *with, Buf *out);
/* got and want have one dtype and shape. An element is correct if it is within bound times the largest magnitude or
 * within floor; or, if one is not finite, if it equals `other`, the same computed in another order (NULL: there is
 * none). moves: how far each element may be off (NULL: it is not known). */
Distance distance(const EvalArray *got, const EvalArray *want, double bound, double floor, const EvalArray *other,
    const double *moves);
/* unstable.c: by output, how far eval's elements move if every operation is rounded differently; inf: to another
 * integer, or from a number to none. After an eval of e, which is not changed. */
const double **rounding_moves(Arena *a, const Eval *e);
/* The error that rounding alone may cause, absolutely: rounding.c. After an eval of e. */
double rounding_floor(Arena *a, const Eval *e, const EinNode *output);
/* The bound for a float output if the program gives none. */
double distance_bound(Arena *a, const EinGraph *g, const EinNode *output);

#endif
