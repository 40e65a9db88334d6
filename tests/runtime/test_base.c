/* Dtypes, the error record, and sizes of shapes. */
#include "ein_rt.h"
#include "scratch.h"

static void test_dtypes(void) {
  static const char *names[] = {"f64", "f32", "f16", "bf16", "i64",
                                "i32", "i16", "i8",  "u8",   "bool"};
  static const size_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  int good = 1;
  for (int d = 0; d < EIN_DTYPE_COUNT; d++) {
    uint8_t code = 255, bits = 0;
    ein_dtype back = EIN_F64;
    good &= strcmp(ein_dtype_name((ein_dtype)d), names[d]) == 0 &&
            ein_dtype_size((ein_dtype)d) == sizes[d];
    good &= ein_dtype_to_dlpack((ein_dtype)d, &code, &bits) && bits == 8 * sizes[d];
    good &= ein_dtype_from_dlpack(code, bits, &back) && back == (ein_dtype)d;
  }
  OK(good, "names, sizes and DLPack codes");
  ein_dtype none;
  OK(!ein_dtype_from_dlpack(1, 64, &none), "DLPack's u64 is none of ours");
  OK(ein_dtype_size((ein_dtype)99) == 0 && strcmp(ein_dtype_name((ein_dtype)99), "?") == 0,
     "unknown dtype");
}

static void test_errors(void) {
  ein_error err = {0};
  OK(ein_error_set(&err, EIN_ERR_IO, "first %d", 1) == EIN_ERR_IO, "the status comes back");
  OK(ein_error_set(&err, EIN_ERR_ARG, "second") == EIN_ERR_ARG, "also when it is not kept");
  OK(err.status == EIN_ERR_IO, "the first status stays");
  OK_STR(err.text, "first 1", "the first text stays");
  OK(ein_error_set(NULL, EIN_ERR_ARG, "x") == EIN_ERR_ARG, "no record is fine");

  ein_error control = {0};
  ein_error_set(&control, EIN_ERR_IO, "a\x1b[31mb\nc\x7f");
  OK_STR(control.text, "a?[31mb?c?", "control characters are masked");

  char many[700];
  int whole = 1;
  for (size_t shift = 0; shift < 4; shift++) {
    ein_error cut = {0};
    memset(many, 'x', sizeof many);
    for (size_t i = 400 + shift; i + 3 < sizeof many; i += 3) memcpy(many + i, "\xe2\x88\x91", 3);
    many[sizeof many - 1] = '\0';
    ein_error_set(&cut, EIN_ERR_IO, "%s", many);
    size_t n = strlen(cut.text);
    whole &= n >= 509 && n < 512 && (n - 400 - shift) % 3 == 0;
  }
  OK(whole, "a long text is cut between characters");
}

static void test_sizes(void) {
  ein_error err = {0};
  int64_t count = -1, bytes = -1;
  const int64_t plain[] = {2, 3, 4};
  OK(ein_shape_size("x", EIN_F32, 3, plain, &count, &bytes, &err) == EIN_OK && count == 24 &&
         bytes == 96,
     "2x3x4");
  OK(ein_shape_size("x", EIN_F64, 0, NULL, &count, &bytes, &err) == EIN_OK && count == 1 &&
         bytes == 8,
     "a scalar");
  const int64_t empty[] = {0, 5};
  OK(ein_shape_size("x", EIN_F64, 2, empty, &count, &bytes, &err) == EIN_OK && count == 0 &&
         bytes == 0,
     "empty");
  const int64_t wraps[] = {INT64_C(1) << 32, INT64_C(1) << 32};
  OK(ein_shape_size("x", EIN_U8, 2, wraps, NULL, NULL, &err) == EIN_ERR_SHAPE,
     "a product that wraps");
  HOLDS(err.text, "too large", "the message");
  const int64_t hidden[] = {0, INT64_C(1) << 32, INT64_C(1) << 32};
  OK(ein_shape_size("x", EIN_U8, 3, hidden, NULL, NULL, NULL) == EIN_ERR_SHAPE,
     "also behind a zero");
  const int64_t just[] = {INT64_MAX / 8};
  OK(ein_shape_size("x", EIN_F64, 1, just, NULL, &bytes, NULL) == EIN_OK && bytes == INT64_MAX - 7,
     "the largest");
  const int64_t over[] = {INT64_MAX / 8 + 1};
  OK(ein_shape_size("x", EIN_F64, 1, over, NULL, NULL, NULL) == EIN_ERR_SHAPE, "one more");
  const int64_t negative[] = {3, -1};
  OK(ein_shape_size("x", EIN_F64, 2, negative, NULL, NULL, NULL) == EIN_ERR_SHAPE,
     "a negative extent");
  OK(ein_shape_size("x", EIN_F64, 65, NULL, NULL, NULL, NULL) == EIN_ERR_SHAPE, "65 axes");
  OK(ein_shape_size("x", (ein_dtype)42, 0, NULL, NULL, NULL, NULL) == EIN_ERR_ARG, "no dtype");
}

int main(void) {
  test_dtypes();
  test_errors();
  test_sizes();
  return DONE();
}
