/* Every pair of dtypes: what is allowed, what is refused, ranges, and roundings. */
#include "scratch.h"

#include <math.h>

static const char *pair_name(ein_dtype a, ein_dtype b, char text[32]) {
  snprintf(text, 32, "%s to %s", ein_dtype_name(a), ein_dtype_name(b));
  return text;
}

/* 0 and 1 exist everywhere; 1 and 0 must arrive. */
static void test_pairs(void) {
  for (int a = 0; a < EIN_DTYPE_COUNT; a++) {
    for (int b = 0; b < EIN_DTYPE_COUNT; b++) {
      const int64_t ones[3] = {1, 0, 1};
      int64_t back[3] = {7, 7, 7};
      double floats[3] = {7, 7, 7};
      unsigned char from[24], to[24];
      char name[32];
      ein_error err = {0};
      ein_convert("x", EIN_I64, ones, (ein_dtype)a, from, 3, 0, NULL);
      ein_status status = ein_convert("x", (ein_dtype)a, from, (ein_dtype)b, to, 3, 0, &err);
      if (a <= EIN_BF16 && b > EIN_BF16) {
        OK(status == EIN_ERR_DTYPE && strstr(err.text, "floats"), "%s is refused",
           pair_name((ein_dtype)a, (ein_dtype)b, name));
        continue;
      }
      int good = status == EIN_OK;
      if (b <= EIN_BF16) {
        ein_convert("x", (ein_dtype)b, to, EIN_F64, floats, 3, 0, NULL);
        good &= floats[0] == 1 && floats[1] == 0 && floats[2] == 1;
      } else {
        ein_convert("x", (ein_dtype)b, to, EIN_I64, back, 3, 0, NULL);
        good &= memcmp(back, ones, sizeof ones) == 0;
      }
      OK(good, "%s", pair_name((ein_dtype)a, (ein_dtype)b, name));
    }
  }
}

static ein_status narrow_one(int64_t value, ein_dtype to) {
  unsigned char out[8];
  return ein_convert("x", EIN_I64, &value, to, out, 1, 0, NULL);
}

static void test_ranges(void) {
  OK(narrow_one(127, EIN_I8) == EIN_OK && narrow_one(128, EIN_I8) == EIN_ERR_RANGE &&
         narrow_one(-128, EIN_I8) == EIN_OK && narrow_one(-129, EIN_I8) == EIN_ERR_RANGE,
     "i8's ends");
  OK(narrow_one(255, EIN_U8) == EIN_OK && narrow_one(256, EIN_U8) == EIN_ERR_RANGE &&
         narrow_one(-1, EIN_U8) == EIN_ERR_RANGE,
     "u8's ends");
  OK(narrow_one(INT32_MAX, EIN_I32) == EIN_OK &&
         narrow_one(INT64_C(2147483648), EIN_I32) == EIN_ERR_RANGE,
     "i32's end");
  OK(narrow_one(32768, EIN_I16) == EIN_ERR_RANGE && narrow_one(2, EIN_BOOL) == EIN_ERR_RANGE,
     "i16 and bool");
  static int64_t many[2000];
  static int8_t out[2000];
  many[1700] = 300;
  ein_error err = {0};
  OK(ein_convert("file", EIN_I64, many, EIN_I8, out, 2000, 10000, &err) == EIN_ERR_RANGE,
     "one of many");
  OK_STR(err.text, "file: element 11700 is 300, which does not fit i8 (-128..127)",
         "names the element");
}

static void test_roundings(void) {
  const int64_t big[] = {(INT64_C(1) << 62) + (INT64_C(1) << 54) + 1,
                         -(INT64_C(1) << 62) - (INT64_C(1) << 54) - 1, INT64_MAX, INT64_MIN};
  uint16_t half[4];
  float single[4];
  ein_convert("x", EIN_I64, big, EIN_BF16, half, 4, 0, NULL);
  OK(half[0] == 0x5E81 && half[1] == 0xDE81 && half[2] == 0x5F00 && half[3] == 0xDF00,
     "i64 to bf16 rounds once");
  ein_convert("x", EIN_I64, big, EIN_F32, single, 4, 0, NULL);
  OK(single[2] == 0x1p63f && single[3] == -0x1p63f, "i64 to f32");
  const int64_t large[] = {65504, 65519, 65520, -100000};
  ein_convert("x", EIN_I64, large, EIN_F16, half, 4, 0, NULL);
  OK(half[0] == 0x7BFF && half[1] == 0x7BFF && half[2] == 0x7C00 && half[3] == 0xFC00,
     "i64 to f16 overflows as IEEE says");
  const double d = 1 + 0x1p-11 + 0x1p-40;
  ein_convert("x", EIN_F64, &d, EIN_F16, half, 1, 0, NULL);
  OK(half[0] == 0x3C01, "f64 to f16 rounds once");
  const uint8_t bools[] = {0, 1, 2, 255};
  uint8_t clean[4];
  ein_convert("x", EIN_BOOL, bools, EIN_BOOL, clean, 4, 0, NULL);
  OK(clean[0] == 0 && clean[1] == 1 && clean[2] == 1 && clean[3] == 1, "a bool becomes 0 or 1");
  unsigned char space[17];
  const double two = 2;
  ein_convert("x", EIN_F64, &two, EIN_F32, space + 1, 1, 0, NULL);
  float got;
  memcpy(&got, space + 1, sizeof got);
  OK(got == 2, "no alignment is needed");
  OK(ein_convert("x", (ein_dtype)77, &two, EIN_F32, space, 1, 0, NULL) == EIN_ERR_ARG, "no dtype");
}

int main(void) {
  test_pairs();
  test_ranges();
  test_roundings();
  return DONE();
}
