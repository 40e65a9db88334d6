/* expr/dtype.c - the ten scalar types: their names, sizes, and joins. */
#include <string.h>

#include "expr.h"

static const struct {
  const char *name;
  int size;
} info[DTYPES] = {
    [DT_F64] = {"f64", 8}, [DT_F32] = {"f32", 4}, [DT_F16] = {"f16", 2}, [DT_BF16] = {"bf16", 2},
    [DT_I64] = {"i64", 8}, [DT_I32] = {"i32", 4}, [DT_I16] = {"i16", 2}, [DT_I8] = {"i8", 1},
    [DT_U8] = {"u8", 1},   [DT_BOOL] = {"bool", 1},
};

const char *dtype_name(DType t) {
  return info[t].name;
}

bool dtype_find(const char *s, size_t len, DType *out) {
  for (int t = 0; t < DTYPES; t++) {
    if (strlen(info[t].name) != len || memcmp(info[t].name, s, len) != 0) continue;
    *out = (DType)t;
    return true;
  }
  return false;
}

int dtype_size(DType t) {
  return info[t].size;
}

bool dtype_is_float(DType t) {
  return t <= DT_BF16;
}

bool dtype_is_half(DType t) {
  return t == DT_F16 || t == DT_BF16;
}

bool dtype_is_int(DType t) {
  return t >= DT_I64 && t <= DT_U8;
}

/* Neither of f16 and bf16 contains the other, like u8 and i8: such a pair joins to the next wider type. */
DType dtype_join(DType a, DType b) {
  if (a == DT_BOOL) a = DT_I64;
  if (b == DT_BOOL) b = DT_I64;
  if (a == b) return a;
  if (dtype_is_float(a) != dtype_is_float(b)) return dtype_is_float(a) ? a : b;
  if (info[a].size != info[b].size) return info[a].size > info[b].size ? a : b;
  return dtype_is_float(a) ? DT_F32 : DT_I16;
}

DType dtype_sum(DType t) {
  if (!dtype_is_float(t)) return DT_I64;
  return t == DT_F64 ? DT_F64 : DT_F32;
}

bool dtype_holds(DType t, int64_t v) {
  if (t == DT_I64) return true;
  if (t == DT_BOOL) return v == 0 || v == 1;
  if (t == DT_U8) return v >= 0 && v <= UINT8_MAX;
  if (!dtype_is_int(t)) return false;
  int64_t half = (int64_t)1 << (8 * info[t].size - 1);
  return v >= -half && v < half;
}
