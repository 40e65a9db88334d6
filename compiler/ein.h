/* ein.h - a map of the compiler on one page. Read this first.
 *
 * Ein compiles labelled equations to code. It consists of small languages. Each has a type, a text form, a checker,
 * one way in and one way out. Every file is a language, a conversion between two of them, or a tool that all share.
 * Data flows one way:
 *
 *     bytes -> Ast -> EinGraph -> TaskGraph -> Loop -> C
 *          parse  elaborate |   from_graph  schedule  emit
 *                           |
 *                           +-> eval: slow reference evaluation of any program, by plain loops
 *
 * That is the pipeline for one site. For several sites:
 *
 *     EinGraph -> Plan -> Tra -> Ia -> TaskGraph -> Loop -> C, with moves between sites over a wire
 *             find    from_graph |   from_ia   |
 *                                |             +-> eval, site by site
 *                                +-> eval, with a store for each site
 *
 * Under MPI each site is a process: driver/ranks/ runs them, driver/compile/build_sites.c builds programs and
 * libraries. A device is one site and gets a Loop for grids of blocks, printed as CUDA. Every command runs the
 * sequence of calls in driver/column.c.
 *
 *     base/     memory by lifetime, interned strings, arrays, maps, complaints, JSON
 *     expr/     scalar expressions, dtypes, ops.def (every operation, once); prove/ (proofs about indices),
 *               region/ and sum/ (regions and EinSums, shared by several languages: their laws and texts)
 *     front/    ast.h, front.h, modules; parse/ (interface to the scanner, parser, mistakes, fmt), elab/ (names,
 *               labels, extents, types, domains, defs), oracle/ (the AST evaluator, a second opinion)
 *     graph/    the EinGraph: type, text, checker, pictures; passes/ (graph to graph), eval/ (the slow reference)
 *     plan/     what can be cut and what cutting moves, the Plan, machines; decomp/ (planners by the EinDecomp paper's
 *               cost), placing/ (the search by bytes and seconds), network/ (its solver)
 *     algebra/  Tra and Ia: blocks of tensors as relations, where they are and what moves; text/, check/, rules/,
 *               eval/, simulate/
 *     task/     the TaskGraph: kernels, buffers, their order and lifetimes; text/, check/, passes/ (fusion and others),
 *               sites/ (several sites)
 *     driver/   the column; cmd/ (one file per command), options/ (their table, help), editors/ (highlighting),
 *               compile/ (runs compilers, caches their results), data/ (inputs and outputs), ranks/ (MPI), measure/,
 *               profile/ (where time goes), plan/ (reports; page/, device/), pictures/, repl/ (the prompt)
 *     face/     the compiler as a library: libein.h, of which the program `ein` is a thin wrapper
 *     ../codegen/   loop/ (Loop: how kernels run), schedule/ (decides it: cpu/{panels,sums,maps,rows}, gpu/), emit/ (C,
 *                  CUDA, header, manifest), jit/ (Clang in process; objects and models in memory)
 *     ../grammar/   scan.re (re2c) and ein.y (Lemon)
 *     ../runtime/   the library that generated code calls: contexts, threads, views; math/ (functions of numbers,
 *                  random numbers), sites/ (moves between sites), mpi/, cuda/, data/ (tensors in files), program/ (what
 *                  a built program adds). It does not depend on the compiler
 *     ../stdlib/    the prelude and modules, in the language itself
 *     ../python/    the module ein, over face/, in plain Python
 *
 * This page repeats the declarations of the main entry points word for word. driver/command.c includes it, so the C
 * compiler checks that they agree. tests/include-law.py checks which folder may include which. docs/hacking.md tells
 * how to add things. */
#ifndef EIN_H
#define EIN_H

#include "base/base.h"
#include "base/diag.h"
#include "expr/expr.h"
#include "expr/prove/prove.h"
#include "front/ast.h"
#include "front/front.h"
#include "front/oracle/ast_eval.h"
#include "graph/graph.h"
#include "graph/eval/eval.h"
#include "graph/passes/passes.h"
#include "algebra/algebra.h"
#include "algebra/cost.h"
#include "algebra/eval/eval.h"
#include "algebra/from_graph.h"
#include "algebra/from_tra.h"
#include "algebra/simulate/simulate.h"
#include "plan/machine.h"
#include "plan/placing/as_plan.h"
#include "plan/placing/placing.h"
#include "plan/plan.h"
#include "plan/decomp/planners.h"
#include "plan/seconds.h"
#include "task/task.h"
#include "task/from_graph.h"
#include "task/sites/from_ia.h"
#include "task/sites/site_eval.h"
#include "loop/loop.h"
#include "schedule/door.h"
#include "emit/emit.h"

/* ---- 1. bytes -> Ast ---------------------------------------------------------------------------
 * The scanner recognises words and newlines, the parser statements. They report what is wrong and leave it out.
 * text: fmt_print prints the program in its canonical format. */
AstFile *parse_file(Arena *a, Strings *t, Source *src, Diags *d);
void fmt_print(Buf *out, const AstFile *f);

/* Reads a file, the prelude, and every module that it uses. */
Program *program_read(Front *f, const char *path);
bool program_bind(
    Front *f, const Program *p, Str input, uint32_t rank, const int64_t *shape, const char *what, DimValues *dims);

/* ---- 2. Ast -> EinGraph ------------------------------------------------------------------------
 * Elaboration (front/elab/elab.h describes its parts) resolves names, expands defs over labels, and finds extents,
 * dtypes and domains. The result is total: every read is proved in range, tested once when sizes are bound, or
 * gathered. */
EinGraph *graph_from_ast(Front *f, const Program *p, const DimValues *dims);

/* ---- 3. the EinGraph ---------------------------------------------------------------------------
 * Vertices (bound, EinSum, inputs) in a tree of regions; one reducer per vertex. text: "eingraph 1". */
void graph_print(Buf *out, const EinGraph *g);
EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d);
bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why);
bool graph_check(const EinGraph *g, Buf *out);
bool graph_check_text(const EinGraph *g, Diags *d);
void graph_dot(Buf *out, const EinGraph *g);
void graph_json(Buf *out, const EinGraph *g);

/* The passes before planning: dead code, algebraic laws, equal vertices, contraction orders. Results do not change. */
EinGraph *graph_optimise(Arena *a, const EinGraph *g, const Optimise *how);

/* ---- 4. the slow reference ---------------------------------------------------------------------
 * Everything fast is tested against these two evaluators. They share no code with it. */
EvalStatus graph_eval(Eval *e, const char **error, Place *place);
bool ast_eval(AstEval *e, const char **why, Span *where);

/* ---- 5. EinGraph -> Plan -----------------------------------------------------------------------
 * For several sites. A plan either gives the number of blocks into which each label is cut, by the EinDecomp paper's
 * cost, or says what each axis of a mesh cuts and where tensors stay, by bytes, by the TRA paper's cost or by seconds
 * on a machine. placing_realise turns the first kind into the second. text: "plan 1", short enough to type. */
PartGraph *part_from_graph(Arena *a, const EinGraph *g, Buf *why);
PartVectors *plan_vectors(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, bool *narrow, Diags *d);
bool part_plan(
    Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, double budget, PartChoice *out, Buf *why);
PlaceGraph *place_graph(Arena *a, const PartGraph *g);
Seconds *seconds_new(Arena *a, const PartGraph *g, const Machine *m, int64_t sites, Buf *why);
Placing *placing_best(
    Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which);
Placing *placing_realise(
    Arena *a, const PlaceGraph *g, int64_t sites, const uint32_t *const *d, double budget, bool *exactly);
Plan *plan_of(Arena *a, Strings *t, const PartGraph *g, int64_t sites, const uint32_t *const *d);
Plan *plan_of_placing(Arena *a, Strings *t, const PlaceGraph *g, int64_t sites, const Placing *p);
Placing *placing_from_plan(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);
void plan_print(Buf *out, const Plan *p);
Plan *plan_read(Arena *a, Strings *t, Source *src, Diags *d);
bool plan_equal(const Plan *a, const Plan *b, Buf *why);

/* ---- 6. EinGraph and Plan -> Tra, Ia ------------------------------------------------------------
 * What a plan means, as a program over relations (key -> block): joins with a kernel, aggregations, and conversions
 * between cuts. In an Ia each relation also has a placement, and there are moves. These conversions choose nothing. A
 * Tra that a user typed is planned by its keys, as they are. text: "tra 1", "ia 1". simulate runs an Ia on a machine
 * without data. */
Algebra *tra_from_graph(Arena *a, const EinGraph *g, const Cutting *c);
Algebra *ia_from_graph(Arena *a, const EinGraph *g, const Cutting *c);
Algebra *ia_from_tra(Arena *a, const KeyGraph *k, const Cutting *c);
void algebra_print(Buf *out, const Algebra *p);
Algebra *algebra_read(Arena *a, Strings *t, Source *src, Diags *d);
bool algebra_equal(const Algebra *a, const Algebra *b, Buf *why);
bool algebra_check(const Algebra *p, Buf *out);
bool algebra_check_text(const Algebra *p, Diags *d);
AlgCost algebra_cost(const Algebra *p);
bool algebra_eval(AlgRun *r, const char **why, Place *place);
Simulated *simulate(Arena *a, const Algebra *ia, const Seconds *s, const AlgTasks *tasks, Buf *why);

/* ---- 7. EinGraph, Ia -> TaskGraph --------------------------------------------------------------
 * What runs, in which order, in which memory: kernels of stages, repeats, buffers with their lifetimes. text:
 * "taskgraph 1". */
TaskGraph *task_from_graph(Arena *a, EinGraph *g, bool device);
/* For several sites, from an Ia: one task list for all, over their places on the mesh, with moves. Returns NULL and
 * says why if a TaskGraph cannot express it. */
TaskGraph *task_from_ia(Arena *a, const Algebra *ia, Buf *why);
bool site_eval(SiteRun *r, const char **why, Place *place);
void task_print(Buf *out, const TaskGraph *t);
TaskGraph *task_read(Arena *a, Strings *t, Source *src, Diags *d);
bool task_equal(const TaskGraph *a, const TaskGraph *b, Buf *why);
bool task_check(const TaskGraph *t, Buf *out);
bool task_check_text(const TaskGraph *t, Diags *d);

/* ---- 8. TaskGraph -> Loop ----------------------------------------------------------------------
 * How each kernel runs: loops, tiles, lanes, threads. The text shows every decision about speed: "loop 1". */
LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target);
void loop_print(Buf *out, const LoopProgram *p);
LoopProgram *loop_read(Arena *a, Strings *t, Source *src, Diags *d);
bool loop_equal(const LoopProgram *a, const LoopProgram *b, Buf *why);
bool loop_check(const LoopProgram *p, Buf *out);

/* ---- 9. Loop -> C ------------------------------------------------------------------------------
 * Printers, which decide nothing. The code that they print uses runtime/ein_run.h; docs/library.md documents it for
 * callers. */
void emit_c(Buf *c, const LoopProgram *p, const EmitOptions *o);
void emit_cuda(Buf *c, const LoopProgram *p, const EmitOptions *o);
uint32_t emit_cuda_kernels(Buf *c, const LoopProgram *p, const EmitOptions *o);
void emit_cuda_host(Buf *c, const LoopProgram *p, const EmitOptions *o, const EmitImage *image, uint32_t n_images);
void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o);
void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o);
/* For several plans of one program, each for a different number of sites. */
void emit_whole_c(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);
void emit_whole_header(Buf *h, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);

/* ---- a machine ---------------------------------------------------------------------------------
 * What it computes and moves per second, from the inside out: JSON, "ein machine 1". `ein machine` measures this
 * one. */
void machine_print(Buf *out, const Machine *m);
Machine *machine_read(Arena *a, Source *src, Diags *d);
bool machine_equal(const Machine *a, const Machine *b, Buf *why);
bool machine_check(const Machine *m, Diags *d);

/* ---- shared tools ------------------------------------------------------------------------------ */
Proof prove(Exprs *p, const Facts *facts, const Expr *goal);
const Expr *expr_normal(Exprs *p, const Expr *e);
void diags_text(Diags *d, Buf *out, bool colour);

#endif
