/* codegen/emit/callers.c - bindings of an MPI library for other languages than C: PREFIX_mpi.f90, a Fortran module,
 * and PREFIX.py, for Python's ctypes. In: the same as for the header. Both call the functions of PREFIX.h and
 * PREFIX_create_mpi_f. */
#include <string.h>

#include "c_inside.h"
#include "c_tables.h"

/* The most axes and the longest names in Fortran; a type's procedure has its argument's name, after this many letters
 * of the prefix. */
enum { FORTRAN_AXES = 15, FORTRAN_NAME = 63, FORTRAN_PREFIX = 40 };

typedef struct Callers {
  Buf *out;
  const TaskGraph *t;
  const EmitOptions *o;
  CMembers members;
} Callers;

static const TaskBuffer *buffer_of(const Callers *c, const TaskArgument *x) {
  return &c->t->buffers.at[x->buffer];
}

static void lines(Callers *c, const char *text) {
  c_with_prefix(c->out, text, c->o->prefix);
}

/* ---- Fortran: names ------------------------------------------------------------------------------------------- */

/* A Fortran name: case does not count, and the first character is a letter. */
static Str fortran_name(Callers *c, Map *taken, Str member) {
  Arena *a = c->out->arena;
  const char *from = member->s;
  Buf b = buf_new(a);
  if (*from == '_') buf_char(&b, 'x');
  buf_printf(&b, "%.*s", FORTRAN_NAME - 8, from);
  for (uint32_t i = 1;; i++) {
    const char *said = i < 2 ? b.s : arena_printf(a, "%s_%u", b.s, i);
    Buf low = buf_new(a);
    for (const char *s = said; *s; s++) buf_char(&low, *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s);
    Str key = str_from(c->t->strings, low.s);
    if (map_find(taken, key)) continue;
    map_put(taken, key, (void *)(uintptr_t)key);
    return str_from(c->t->strings, said);
  }
}

static Str *fortran_names(Callers *c, const Str *members, uint32_t n) {
  Str *out = NEW_ARRAY(c->out->arena, Str, n + 1);
  Map taken = map_new(c->out->arena);
  for (uint32_t i = 0; i < n; i++) out[i] = fortran_name(c, &taken, members[i]);
  return out;
}

static const char *fortran_type(DType t) {
  switch (t) {
  case DT_F64: return "real(c_double)";
  case DT_F32: return "real(c_float)";
  case DT_I64: return "integer(c_int64_t)";
  case DT_I32: return "integer(c_int32_t)";
  case DT_F16: case DT_BF16: case DT_I16: return "integer(c_int16_t)";
  case DT_BOOL: return "logical(c_bool)";
  default: return "integer(c_int8_t)";
  }
}

bool emit_fortran_can(const EmitOptions *o) {
  return o->prefix[0] != '_' && strlen(o->prefix) <= FORTRAN_PREFIX;
}

/* ---- Fortran: what depends on the arguments --------------------------------------------------------------------- */

/* name: "inputs" or "outputs". */
typedef struct Side { const char *name; const TaskArgument *at; uint32_t n; Str *member; } Side;

/* "1, 1, 2" with the 2 at place k. */
static void places(Buf *b, uint32_t rank, uint32_t k) {
  for (uint32_t d = 0; d < rank; d++) buf_printf(b, "%s%d", d ? ", " : "", d == k ? 2 : 1);
}

static void side_type(Callers *c, const Side *s) {
  Buf *b = c->out;
  buf_printf(b,
      "  !> The %s: `call x%%NAME(array)` takes a view of an array, which must be a `target` and exist\n"
      "  !> while it is used.\n"
      "  type :: %s_%s\n    type(ein_view) :: ein_views_(%u)\n  contains\n",
      s->name, c->o->prefix, s->name, s->n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (buffer_of(c, &s->at[i])->rank > FORTRAN_AXES) continue;
    buf_printf(b, "    procedure :: %s => %s_%u_\n", s->member[i]->s, s->name, i + 1);
    n++;
  }
  if (!n) buf_printf(b, "    procedure, private :: none_ => %s_0_\n", s->name);
  buf_printf(b, "  end type\n\n");
}

static void argument_procedure(Callers *c, const Side *s, uint32_t i) {
  Buf *b = c->out;
  const TaskBuffer *x = buffer_of(c, &s->at[i]);
  buf_printf(b,
      "\n  subroutine %s_%u_(self, a)\n    class(%s_%s), intent(inout) :: self\n    %s, intent(in), target :: a",
      s->name, i + 1, c->o->prefix, s->name, fortran_type(x->dtype));
  for (uint32_t d = 0; d < x->rank; d++) buf_str(b, d ? ", :" : "(:");
  buf_printf(b, "%s\n    integer(c_intptr_t) :: at(0:%u)\n    at = 0\n", x->rank ? ")" : "", x->rank);
  if (!x->rank) buf_str(b, "    at(0) = address(c_loc(a))\n");
  if (x->rank) {
    buf_str(b, "    if (size(a) > 0) then\n      at(0) = address(c_loc(a(");
    places(b, x->rank, x->rank);
    buf_str(b, ")))\n");
    for (uint32_t d = 0; d < x->rank; d++) {
      buf_printf(b, "      if (size(a, %u) > 1) at(%u) = address(c_loc(a(", d + 1, d + 1);
      places(b, x->rank, d);
      buf_str(b, "))) - at(0)\n");
    }
    buf_str(b, "    end if\n");
  }
  buf_printf(b, "    call view_take(self%%ein_views_(%u), at, [%s], %d)\n  end subroutine\n", i + 1,
             x->rank ? "shape(a, c_int64_t)" : "integer(c_int64_t) ::", (int)dtype_size(x->dtype));
}

static void side_procedures(Callers *c, const Side *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n; i++)
    if (buffer_of(c, &s->at[i])->rank <= FORTRAN_AXES) argument_procedure(c, s, i), n++;
  if (n) return;
  buf_printf(c->out,
      "\n  subroutine %s_0_(self)\n    class(%s_%s), intent(inout) :: self\n    self%%ein_views_(1)%%ndim = 0\n"
      "  end subroutine\n",
      s->name, c->o->prefix, s->name);
}

/* Prints the dtypes and names of the arguments, and one more, because arrays cannot be empty. */
static void side_tables(Callers *c, const Side *s) {
  Buf *b = c->out;
  buf_printf(b, "  integer(c_int), parameter :: %s_dtype_(%u) = [integer(c_int) ::", s->name, s->n + 1);
  for (uint32_t i = 0; i < s->n; i++)
    buf_printf(b, "%s%d,", i % 24 == 0 ? " &\n    " : " ", (int)buffer_of(c, &s->at[i])->dtype);
  buf_printf(b,
      " 0]\n  integer, parameter :: %s_count_ = %u\n  character(*), parameter :: %s_name_(%u) = [character(%d) :: &\n",
      s->name, s->n, s->name, s->n + 1, FORTRAN_NAME);
  for (uint32_t i = 0; i < s->n; i++) buf_printf(b, "    '%s', &\n", s->member[i]->s);
  buf_str(b, "    '']\n");
}

/* ---- Fortran: what does not -------------------------------------------------------------------------------------- */

static const char fortran_head[] =
  "module $_mpi\n"
  "  use, intrinsic :: iso_c_binding\n"
  "  implicit none\n"
  "  private\n"
  "  public :: $_context, $_inputs, $_outputs\n\n"
  "  type, bind(C) :: ein_tensor\n"
  "    type(c_ptr) :: data\n"
  "    integer(c_int32_t) :: device_type, device_id, ndim\n"
  "    integer(c_int) :: dtype\n"
  "    type(c_ptr) :: shape, strides\n"
  "    integer(c_int64_t) :: byte_offset\n"
  "  end type\n\n"
  "  type :: ein_view\n"
  "    private\n"
  "    type(c_ptr) :: data = c_null_ptr\n"
  "    integer :: ndim = -1 ! not given\n"
  "    logical :: odd = .false.\n"
  "    integer(c_int64_t) :: shape(15) = 0, strides(15) = 0\n"
  "  end type\n\n";

static const char fortran_context[] =
    "  !> The processes of a communicator, as the sites of a plan. All processes make the same calls in the\n"
    "  !> same order; only extent, error and workspace_bytes may be called by one alone. A status of 0 means\n"
    "  !> success; otherwise error() says why. create takes an integer communicator (comm%mpi_val of\n"
    "  !> mpi_f08), duplicates it once, and plans.\n"
    "  type :: $_context\n"
    "    private\n"
    "    type(c_ptr) :: at = c_null_ptr\n"
    "  contains\n"
    "    procedure :: create, run, run_whole, again, extent, error, workspace_bytes, destroy\n"
    "  end type\n\n"
    "  interface\n"
    "    integer(c_int) function c_create(comm, threads, ctx) bind(C, name='$_create_mpi_f')\n"
    "      import\n"
    "      integer(c_int), value :: comm, threads\n"
    "      type(c_ptr), intent(out) :: ctx\n"
    "    end function\n"
    "    integer(c_int) function c_plan(ctx, sizes) bind(C, name='$_plan')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx, sizes\n"
    "    end function\n"
    "    integer(c_int) function c_run(ctx, inputs, outputs) bind(C, name='$_run')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx, inputs, outputs\n"
    "    end function\n"
    "    integer(c_int) function c_run_whole(ctx, inputs, outputs) bind(C, name='$_run_whole')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx, inputs, outputs\n"
    "    end function\n"
    "    integer(c_int) function c_again(ctx) bind(C, name='$_again')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx\n"
    "    end function\n"
    "    integer(c_int) function c_extent(ctx, output, argument, site, low, extent) bind(C, name='$_local_extent')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx\n"
    "      integer(c_int), value :: output, argument, site\n"
    "      integer(c_int64_t) :: low(*), extent(*)\n"
    "    end function\n"
    "    type(c_ptr) function c_error(ctx) bind(C, name='$_last_error')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx\n"
    "    end function\n"
    "    integer(c_size_t) function c_bytes(ctx) bind(C, name='$_workspace_bytes')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx\n"
    "    end function\n"
    "    subroutine c_destroy(ctx) bind(C, name='$_destroy')\n"
    "      import\n"
    "      type(c_ptr), value :: ctx\n"
    "    end subroutine\n"
    "  end interface\n\n"
    "  integer, target :: nothing_ = 0 ! the address of arrays without elements\n";

static const char fortran_body[] =
    "\ncontains\n\n"
    "  integer(c_intptr_t) function address(p)\n"
    "    type(c_ptr), intent(in) :: p\n"
    "    address = transfer(p, address)\n"
    "  end function\n\n"
    "  !> at: the address of the first element; then, for each axis, the distance to the next element in bytes.\n"
    "  subroutine view_take(v, at, shape, bytes)\n"
    "    type(ein_view), intent(inout) :: v\n"
    "    integer(c_intptr_t), intent(in) :: at(0:)\n"
    "    integer(c_int64_t), intent(in) :: shape(:)\n"
    "    integer, intent(in) :: bytes\n"
    "    v%ndim = size(shape)\n"
    "    v%data = transfer(at(0), v%data)\n"
    "    if (at(0) == 0) v%data = c_loc(nothing_)\n"
    "    v%odd = any(mod(at(1:), int(bytes, c_intptr_t)) /= 0)\n"
    "    v%shape(:v%ndim) = shape\n"
    "    v%strides(:v%ndim) = at(1:) / bytes\n"
    "  end subroutine\n\n"
    "  logical function tensors_make(views, dtype, x)\n"
    "    type(ein_view), intent(in), target :: views(:)\n"
    "    integer(c_int), intent(in) :: dtype(:)\n"
    "    type(ein_tensor), intent(out) :: x(:)\n"
    "    integer :: k\n"
    "    do k = 1, size(x)\n"
    "      x(k) = ein_tensor(views(k)%data, 1, 0, max(views(k)%ndim, 0), dtype(k), c_null_ptr, c_null_ptr, "
    "0_c_int64_t)\n"
    "      x(k)%shape = c_loc(views(k)%shape)\n"
    "      x(k)%strides = c_loc(views(k)%strides)\n"
    "    end do\n"
    "    tensors_make = .not. any(views%odd)\n"
    "  end function\n\n"
    "  subroutine create(self, comm, status, threads)\n"
    "    class($_context), intent(inout) :: self\n"
    "    integer, intent(in) :: comm\n"
    "    integer, intent(out) :: status\n"
    "    integer, intent(in), optional :: threads\n"
    "    integer(c_int) :: most\n"
    "    most = 0\n"
    "    if (present(threads)) most = int(threads, c_int)\n"
    "    status = c_create(int(comm, c_int), most, self%at)\n"
    "    if (status == 0) status = c_plan(self%at, c_null_ptr)\n"
    "  end subroutine\n\n"
    "  !> Each process passes its blocks. An input that has a default may be left out.\n"
    "  subroutine run(self, inputs, outputs, status)\n"
    "    class($_context), intent(in) :: self\n"
    "    type($_inputs), intent(in), target :: inputs\n"
    "    type($_outputs), intent(in), target :: outputs\n"
    "    integer, intent(out) :: status\n"
    "    type(ein_tensor), target :: x(inputs_count_ + 1), y(outputs_count_ + 1)\n"
    "    ! Strides that are not multiples of the element size: the call fails at all processes.\n"
    "    if (.not. tensors_make(inputs%ein_views_, inputs_dtype_, x)) x(1)%ndim = -1\n"
    "    if (.not. tensors_make(outputs%ein_views_, outputs_dtype_, y)) y(1)%ndim = -1\n"
    "    status = c_run(self%at, c_loc(x), c_loc(y))\n"
    "  end subroutine\n\n"
    "  !> Process 0 passes whole arrays; what other processes pass is ignored.\n"
    "  subroutine run_whole(self, inputs, outputs, status)\n"
    "    class($_context), intent(in) :: self\n"
    "    type($_inputs), intent(in), target :: inputs\n"
    "    type($_outputs), intent(in), target :: outputs\n"
    "    integer, intent(out) :: status\n"
    "    type(ein_tensor), target :: x(inputs_count_ + 1), y(outputs_count_ + 1)\n"
    "    if (.not. tensors_make(inputs%ein_views_, inputs_dtype_, x)) x(1)%ndim = -1\n"
    "    if (.not. tensors_make(outputs%ein_views_, outputs_dtype_, y)) y(1)%ndim = -1\n"
    "    status = c_run_whole(self%at, c_loc(x), c_loc(y))\n"
    "  end subroutine\n\n"
    "  subroutine again(self, status)\n"
    "    class($_context), intent(in) :: self\n"
    "    integer, intent(out) :: status\n"
    "    status = c_again(self%at)\n"
    "  end subroutine\n\n"
    "  !> The block that a process has of an argument: the elements low + 1 .. low + length along each axis.\n"
    "  !> A status of 6 means that there is no such argument.\n"
    "  subroutine extent(self, name, rank, low, length, status)\n"
    "    class($_context), intent(in) :: self\n"
    "    character(*), intent(in) :: name\n"
    "    integer, intent(in) :: rank\n"
    "    integer(c_int64_t), intent(out) :: low(:), length(:)\n"
    "    integer, intent(out) :: status\n"
    "    integer(c_int64_t) :: l(64), n(64)\n"
    "    integer :: k, output\n"
    "    l = 0\n"
    "    n = 0\n"
    "    output = 0\n"
    "    do k = 1, inputs_count_\n"
    "      if (inputs_name_(k) == name) exit\n"
    "    end do\n"
    "    if (k > inputs_count_) then\n"
    "      output = 1\n"
    "      do k = 1, outputs_count_\n"
    "        if (outputs_name_(k) == name) exit\n"
    "      end do\n"
    "    end if\n"
    "    status = c_extent(self%at, int(output, c_int), int(k - 1, c_int), int(rank, c_int), l, n)\n"
    "    low = l(:size(low))\n"
    "    length = n(:size(length))\n"
    "  end subroutine\n\n"
    "  function error(self) result(text)\n"
    "    class($_context), intent(in) :: self\n"
    "    character(:), allocatable :: text\n"
    "    character(kind=c_char), pointer :: from(:)\n"
    "    type(c_ptr) :: at\n"
    "    integer :: n\n"
    "    at = c_error(self%at)\n"
    "    text = ''\n"
    "    if (.not. c_associated(at)) return\n"
    "    call c_f_pointer(at, from, [512])\n"
    "    do n = 1, 511\n"
    "      if (from(n) == c_null_char) exit\n"
    "      text = text // from(n)\n"
    "    end do\n"
    "  end function\n\n"
    "  integer(c_size_t) function workspace_bytes(self)\n"
    "    class($_context), intent(in) :: self\n"
    "    workspace_bytes = c_bytes(self%at)\n"
    "  end function\n\n"
    "  subroutine destroy(self)\n"
    "    class($_context), intent(inout) :: self\n"
    "    call c_destroy(self%at)\n"
    "    self%at = c_null_ptr\n"
    "  end subroutine\n";

static Callers callers_begin(Buf *out, const LoopProgram *face, const EmitOptions *o) {
  return (Callers){.out = out, .t = face->tasks, .o = o, .members = c_members(out->arena, face->tasks)};
}

void emit_fortran(Buf *out, const LoopProgram *face, const EmitOptions *o) {
  Callers c = callers_begin(out, face, o);
  const TaskGraph *t = c.t;
  const Side in = {"inputs", t->inputs.at, t->inputs.len, fortran_names(&c, c.members.input, t->inputs.len)};
  const Side made = {"outputs", t->outputs.at, t->outputs.len, fortran_names(&c, c.members.output, t->outputs.len)};
  buf_printf(out,
      "! %s_mpi.f90 - %s_mpi.h for Fortran, by ein %s. It is yours; SPDX-License-Identifier: MIT-0\n"
      "! Axes keep their order: A[i,k] is A(i,k) of the array, whatever its layout in memory. Types that\n"
      "! Fortran lacks (f16, bf16, u8) are integers of the same size.\n",
      o->prefix, o->prefix, o->version);
  lines(&c, fortran_head);
  side_type(&c, &in);
  side_type(&c, &made);
  lines(&c, fortran_context);
  side_tables(&c, &in);
  side_tables(&c, &made);
  lines(&c, fortran_body);
  side_procedures(&c, &in);
  side_procedures(&c, &made);
  lines(&c, "\nend module\n");
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

static void python_side(Callers *c, const char *name, const TaskArgument *at, uint32_t n) {
  buf_printf(c->out, "%s = [", name);
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = buffer_of(c, &at[i]);
    buf_str(c->out, i ? ",\n    (" : "\n    (");
    c_string(c->out, at[i].name->s, at[i].name->len);
    buf_printf(c->out, ", \"%s\", %u, %s)", dtype_name(b->dtype), b->rank, at[i].optional ? "True" : "False");
  }
  buf_printf(c->out, "%s]\n", n ? "\n" : "");
}

void emit_python(Buf *out, const LoopProgram *face, const EmitOptions *o, const char *library, const char *text) {
  Callers c = callers_begin(out, face, o);
  buf_printf(out, "# %s.py - %s_mpi.h for Python, by ein %s. It is yours; SPDX-License-Identifier: MIT-0\n", o->prefix,
      o->prefix, o->version);
  buf_printf(out, "PREFIX = \"%s\"\nLIBRARY = \"%s\"\n", o->prefix, library);
  buf_str(out, "# name, element type, number of axes, whether it may be left out\n");
  python_side(&c, "INPUTS", c.t->inputs.at, c.t->inputs.len);
  python_side(&c, "OUTPUTS", c.t->outputs.at, c.t->outputs.len);
  buf_str(out, text);
}
