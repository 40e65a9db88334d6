/* tests/random/num.c - dtypes of results, once more by the book, and how exact they are. */
#include <math.h>

#include "random.h"

Ty ty_arith(Ty t) {
  return t.t == DT_BOOL ? (Ty){DT_I64, HELD} : t;
}

static Ty bend(Ty weak, Ty held) {
  if (dtype_is_float(held.t)) return held;
  if (weak.weak == REAL) return (Ty){DT_F64, HELD};
  return weak.weak == INDEX ? (Ty){DT_I64, HELD} : held;
}

/* The table of the reference, section 8. */
static DType held_join(DType a, DType b) {
  if (a == b) return a;
  bool fa = dtype_is_float(a), fb = dtype_is_float(b);
  if (fa != fb) return fa ? a : b;
  if (fa) return a == DT_F64 || b == DT_F64 ? DT_F64 : DT_F32; /* f16 with bf16 too */
  if ((a == DT_U8 && b == DT_I8) || (a == DT_I8 && b == DT_U8)) return DT_I16;
  return dtype_size(a) > dtype_size(b) ? a : b;
}

Ty ty_join(Ty a, Ty b) {
  if (a.t == DT_BOOL && b.t == DT_BOOL) return (Ty){DT_BOOL, HELD};
  a = ty_arith(a), b = ty_arith(b);
  if (a.weak && b.weak) {
    Weak w = a.weak > b.weak ? a.weak : b.weak;
    return (Ty){w == REAL ? DT_F64 : DT_I64, w};
  }
  if (a.weak || b.weak) return a.weak ? bend(a, b) : bend(b, a);
  return (Ty){held_join(a.t, b.t), HELD};
}

Ty ty_real(Ty t) {
  t = ty_arith(t);
  if (t.weak) return (Ty){DT_F64, REAL};
  return dtype_is_float(t.t) ? t : (Ty){DT_F64, HELD};
}

double int_most(DType t) {
  switch (t) {
    case DT_BOOL: return 1;
    case DT_U8: return 255;
    case DT_I8: return 128;
    case DT_I16: return 32768;
    case DT_I32: return 2147483648.0;
    default: return 9223372036854775808.0;
  }
}

double float_step(DType t) {
  switch (t) {
    case DT_F64: return 0x1p-52;
    case DT_F32: return 0x1p-23;
    case DT_F16: return 0x1p-10;
    default: return 0x1p-7;
  }
}

Num num_int(double mag, DType t) {
  return (Num){.mag = mag <= int_most(t) ? mag : int_most(t), .grid = true};
}

Num num_float(double mag, double noise, bool grid, DType t) {
  bool held = grid && noise == 0 && mag * float_step(t) <= 1;
  return (Num){.mag = mag, .noise = held ? 0 : noise + mag * float_step(t), .grid = held};
}

Num num_either(Num a, Num b) {
  return (Num){fmax(a.mag, b.mag), fmax(a.noise, b.noise), a.grid && b.grid, a.wild || b.wild};
}

bool num_bad(Num n, DType t) {
  if (!dtype_is_float(t)) return false;
  double most = t == DT_F64 ? 1e100 : t == DT_F32 ? 1e25 : 2e4;
  return !(n.mag < most) || !(n.noise <= 0.02 * fmax(1, n.mag)) || (n.wild && n.noise > 0);
}

bool is_exact(const Node *n) {
  return !dtype_is_float(n->ty.t) || n->num.noise == 0;
}
