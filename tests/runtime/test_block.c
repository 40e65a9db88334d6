/* Blocks of tensors: read from every kind of source, they are what the whole has there; written one by one into a file,
 * they are the file that is written as a whole. */
#include "scratch.h"

enum { MOST = 1 << 17 };

static uint64_t state = 1;

static int64_t chance(int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Up to five axes, of up to `most` elements in all, with long rows and short ones. */
static int shape_by_chance(int64_t *shape, int64_t most) {
  int ndim = (int)chance(6);
  int64_t left = most;
  for (int d = 0; d < ndim; d++) {
    int64_t e = chance(7) == 0 ? 1 : chance(3) == 0 ? 1 + chance(left) : 1 + chance(left < 12 ? left : 12);
    shape[d] = chance(60) == 0 ? 0 : e;
    left /= e;
  }
  return ndim;
}

static void block_by_chance(int ndim, const int64_t *whole, int64_t *low, int64_t *shape) {
  for (int d = 0; d < ndim; d++) {
    low[d] = chance(3) ? chance(whole[d] + 1) : 0;
    shape[d] = chance(3) ? chance(whole[d] - low[d] + 1) : whole[d] - low[d];
  }
}

static int64_t count_of(int ndim, const int64_t *shape) {
  int64_t n = 1;
  for (int d = 0; d < ndim; d++) n *= shape[d];
  return n;
}

/* The block's elements of the whole, one by one. */
static void cut(
    int ndim, const int64_t *whole, const int64_t *low, const int64_t *shape, size_t size, const char *from, char *to) {
  int64_t n = count_of(ndim, shape);
  for (int64_t k = 0; k < n; k++) {
    int64_t left = k, offset = 0, step = 1;
    for (int d = ndim; d-- > 0; step *= whole[d], left /= shape[d]) offset += (low[d] + left % shape[d]) * step;
    memcpy(to + (size_t)k * size, from + (size_t)offset * size, size);
  }
}

static char all[8 * MOST], wanted[8 * MOST], met[8 * MOST];

static int same_block(const char *spec, ein_dtype dtype, int ndim, const int64_t *whole) {
  int64_t low[8], shape[8];
  ein_error err = {0};
  size_t size = ein_dtype_size(dtype);
  block_by_chance(ndim, whole, low, shape);
  if (ein_source_read(spec, dtype, ndim, whole, all, &err) != EIN_OK ||
      ein_source_block(spec, dtype, ndim, whole, low, shape, met, &err) != EIN_OK) {
    tap_text(spec, err.text);
    return 0;
  }
  cut(ndim, whole, low, shape, size, all, wanted);
  return memcmp(met, wanted, (size_t)count_of(ndim, shape) * size) == 0;
}

/* ---- sources ---- */

static void test_generators(void) {
  static const char *const specs[] = {
      "zeros", "ones", "iota", "const:7", "randint:lo=-5:hi=100:seed=3", "fill:t=3", "uniform:seed=2", "randn:seed=9"};
  int good = 1;
  for (int i = 0; i < TRIES(2000); i++) {
    int64_t whole[8];
    int ndim = shape_by_chance(whole, 3000), k = (int)chance(8);
    static const ein_dtype ints[] = {EIN_I64, EIN_I16, EIN_F64, EIN_F32, EIN_F16, EIN_BF16};
    good &= same_block(specs[k], k < 6 ? ints[chance(k < 4 && k != 2 ? 6 : 3)] : ints[2 + chance(4)], ndim, whole);
  }
  OK(good, "blocks of generators are what the whole has there");
}

/* A .npy by hand, in either order of axes and bytes. */
static void npy_write(
    scratch *s, const char *name, ein_dtype dtype, int fortran, int big, int ndim, const int64_t *shape, int64_t n) {
  static const char *const types[EIN_DTYPE_COUNT] = {"f8", "f4", "f2", "", "i8", "i4", "i2", "i1", "u1", "b1"};
  static blob b;
  char header[512];
  size_t at = 0, size = ein_dtype_size(dtype);
  at += (size_t)snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
      size == 1 ? '|'
          : big ? '>'
                : '<',
      types[dtype], fortran ? "True" : "False");
  for (int d = 0; d < ndim; d++) at += (size_t)snprintf(header + at, sizeof header - at, "%lld,", (long long)shape[d]);
  snprintf(header + at, sizeof header - at, ")}\n");
  const int64_t flat[] = {n};
  ein_source_read(
      dtype == EIN_BOOL ? "randint:lo=0:hi=1:seed=4" : "randint:lo=0:hi=99:seed=4", dtype, 1, flat, all, NULL);
  if (big) ein_swap(all, size, n);
  b.size = 0;
  blob_npy(&b, 1, header, all, (size_t)n * size);
  scratch_write(s, name, b.data, b.size);
}

static void test_npy(scratch *s) {
  int good = 1;
  for (int i = 0; i < TRIES(600); i++) {
    int64_t whole[8];
    int ndim = shape_by_chance(whole, 7000);
    ein_dtype dtype = (ein_dtype)chance(EIN_DTYPE_COUNT);
    if (dtype == EIN_BF16) dtype = EIN_BOOL;
    npy_write(s, "a.npy", dtype, (int)chance(2), (int)chance(2), ndim, whole, count_of(ndim, whole));
    ein_dtype want = chance(2) ? dtype : EIN_F64;
    for (int k = 0; k < 4; k++) good &= same_block(scratch_path(s, "a.npy"), want, ndim, whole);
  }
  OK(good, "blocks of .npy files, either order of axes and bytes, as they are or converted");
}

/* More than a window of short rows, and rows that are longer than a chunk. */
static void test_large(scratch *s) {
  static const int64_t shapes[][2] = {{MOST / 8, 8}, {8, MOST / 8}, {361, 361}, {3, 40000}, {40000, 3}};
  int good = 1;
  for (int k = 0; k < 5; k++) {
    ein_source_read("iota", EIN_F32, 2, shapes[k], all, NULL);
    good &= ein_npy_write(scratch_path(s, "l.npy"), EIN_F32, 2, shapes[k], all, NULL) == EIN_OK;
    for (int i = 0; i < TRIES(20); i++) good &= same_block(s->path, i % 2 ? EIN_F32 : EIN_F64, 2, shapes[k]);
  }
  OK(good, "blocks of rows that are many, and long");
}

static void test_refused(scratch *s) {
  const int64_t whole[] = {4, 6}, low[] = {0, 5}, far[] = {4, 2}, near[] = {4, 1}, none[] = {0, 0};
  ein_error err = {0}, other = {0};
  ein_source_read("iota", EIN_F32, 2, whole, all, NULL);
  ein_npy_write(scratch_path(s, "r.npy"), EIN_F32, 2, whole, all, NULL);
  OK(ein_source_block(s->path, EIN_F32, 2, whole, low, far, met, &err) == EIN_ERR_ARG,
      "a block that goes beyond is refused");
  OK(ein_source_block(s->path, EIN_F32, 2, far, low, near, met, &other) == EIN_ERR_ARG, "a block of another whole is refused too");
  other = (ein_error){0};
  OK(ein_source_block(s->path, EIN_F32, 2, far, none, near, met, &other) == EIN_ERR_SHAPE,
      "a file of another shape: %s", other.text);
  OK(ein_source_block(s->path, EIN_I32, 2, whole, none, none, met, NULL) == EIN_ERR_DTYPE,
      "floats are no integers in an empty block either");
  OK(ein_source_block(scratch_path(s, "gone.npy"), EIN_F32, 2, whole, none, none, met, NULL) == EIN_ERR_IO,
      "a missing file");
}

/* ---- files that several write ---- */

/* Both axes cut into as many blocks, of which some are empty. */
static int write_blocks(const char *path, const char *name, uint64_t at, ein_dtype dtype, const int64_t *whole,
    const char *data, int64_t cuts) {
  int good = 1;
  for (int64_t i = cuts * cuts; i-- > 0;) {
    int64_t low[2], shape[2], p[] = {i / cuts, i % cuts};
    for (int d = 0; d < 2; d++) {
      int64_t each = (whole[d] + cuts - 1) / cuts, high = (p[d] + 1) * each;
      low[d] = p[d] * each < whole[d] ? p[d] * each : whole[d];
      shape[d] = (high < whole[d] ? high : whole[d]) - low[d];
    }
    cut(2, whole, low, shape, ein_dtype_size(dtype), data, met);
    const ein_block b = {dtype, ein_joint_dtype(path, dtype), 2, whole, low, shape, met};
    good &= ein_joint_write(name, "it", at, &b, NULL) == EIN_OK;
  }
  return good;
}

static int same_files(scratch *s, const char *a, const char *b) {
  static char x[10 * MOST], y[10 * MOST];
  size_t n = scratch_read(s, a, x, sizeof x), m = scratch_read(s, b, y, sizeof y);
  return n == m && n > 0 && memcmp(x, y, n) == 0;
}

static void test_joint(scratch *s) {
  static const char *const ends[] = {"x.npy", "x.raw", "x.safetensors"};
  const int64_t whole[] = {37, 53};
  int good = 1;
  for (int d = 0; d < EIN_DTYPE_COUNT; d++)
    for (int k = 0; k < 3; k++) {
      char path[600], first[600];
      uint64_t at;
      ein_joint *j;
      const ein_named_tensor t = {
          "x", {.data = all, .device_type = 1, .ndim = 2, .dtype = (ein_dtype)d, .shape = whole}};
      snprintf(path, sizeof path, "%s", scratch_path(s, ends[k]));
      snprintf(first, sizeof first, "%s/one-%s", s->folder, ends[k]);
      ein_source_read("randint:lo=0:hi=1:seed=3", (ein_dtype)d, 2, whole, all, NULL);
      if (k == 2) ein_safetensors_write(first, 1, &t, NULL);
      else if (k) ein_raw_write(first, (ein_dtype)d, 2, whole, all, NULL);
      else ein_npy_write(first, (ein_dtype)d, 2, whole, all, NULL);
      good &= ein_joint_begin(path, 1, &t, &j, &at, NULL) == EIN_OK;
      good &= write_blocks(path, ein_joint_name(j), at, (ein_dtype)d, whole, all, 3 + d);
      good &= access(path, F_OK) != 0; /* not before it is whole */
      good &= ein_joint_end(j, EIN_OK, NULL) == EIN_OK && same_files(s, ends[k], strrchr(first, '/') + 1);
      unlink(path);
    }
  OK(good, "a file written by blocks is the file that is written at once");
}

/* Of several tensors, among them a scalar and an empty one. */
static void test_together(scratch *s) {
  const int64_t whole[] = {20, 30}, none[] = {0, 3};
  const int64_t zero[] = {0};
  double one = 2.5;
  uint64_t at[3];
  ein_joint *j;
  char path[600];
  static char small[600];
  ein_source_read("randint:lo=0:hi=99:seed=3", EIN_I8, 2, whole, small, NULL);
  const ein_named_tensor t[] = {
      {"bytes", {.data = small, .device_type = 1, .ndim = 2, .dtype = EIN_I8, .shape = whole}},
      {"none", {.data = NULL, .device_type = 1, .ndim = 2, .dtype = EIN_F32, .shape = none}},
      {"one", {.data = &one, .device_type = 1, .ndim = 0, .dtype = EIN_F64, .shape = zero}}};
  ein_safetensors_write(scratch_path(s, "one.safetensors"), 3, t, NULL);
  snprintf(path, sizeof path, "%s", scratch_path(s, "w.safetensors"));
  int good = ein_joint_begin(path, 3, t, &j, at, NULL) == EIN_OK;
  const ein_block scalar = {EIN_F64, EIN_F64, 0, zero, zero, zero, &one},
                  empty = {EIN_F32, EIN_F32, 2, none, zero, none, NULL};
  good &= write_blocks(path, ein_joint_name(j), at[0], EIN_I8, whole, small, 4);
  good &= ein_joint_write(ein_joint_name(j), "it", at[2], &scalar, NULL) == EIN_OK;
  good &= ein_joint_write(ein_joint_name(j), "it", at[1], &empty, NULL) == EIN_OK;
  good &= ein_joint_end(j, EIN_OK, NULL) == EIN_OK && same_files(s, "one.safetensors", "w.safetensors");
  OK(good, "several tensors in one file");
}

static void test_joint_fails(scratch *s) {
  const int64_t whole[] = {4, 6}, zero[] = {0, 0};
  const ein_named_tensor t[] = {{"x", {.device_type = 1, .ndim = 2, .dtype = EIN_F32, .shape = whole}},
                                {"x", {.device_type = 1, .ndim = 2, .dtype = EIN_F32, .shape = whole}}};
  ein_error err = {0};
  uint64_t at[2];
  ein_joint *j;
  int before = scratch_count(s);
  OK(ein_joint_begin(scratch_path(s, "f.npy"), 1, t, &j, at, NULL) == EIN_OK && scratch_count(s) == before + 1,
      "begun");
  const ein_block b = {EIN_F32, EIN_F32, 2, whole, zero, whole, all};
  OK(ein_joint_write(scratch_path(s, "gone"), "it", at[0], &b, &err) == EIN_ERR_IO && strstr(err.text, "it: "),
      "nobody else's file: %s", err.text);
  OK(ein_joint_end(j, EIN_ERR_IO, NULL) == EIN_ERR_IO && scratch_count(s) == before, "one that failed is gone");
  OK(ein_joint_begin("/dev/null", 1, t, &j, at, NULL) == EIN_ERR_ARG && !j, "no device");
  OK(ein_joint_begin(scratch_path(s, "no/f.npy"), 1, t, &j, at, NULL) == EIN_ERR_IO && !j, "no folder");
  OK(ein_joint_begin(scratch_path(s, "f.npy"), 2, t, &j, at, NULL) == EIN_ERR_ARG && !j, "two in a .npy");
  OK(ein_joint_begin(scratch_path(s, "f.safetensors"), 2, t, &j, at, NULL) == EIN_ERR_ARG && !j, "two of one name");
  OK(scratch_count(s) == before, "nothing is left");
}

int main(void) {
  scratch s;
  if (!scratch_begin(&s)) return 2;
  test_generators();
  test_npy(&s);
  test_large(&s);
  test_refused(&s);
  test_joint(&s);
  test_together(&s);
  test_joint_fails(&s);
  scratch_end(&s);
  return DONE();
}
