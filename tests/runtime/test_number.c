/* Numbers from text: exact cases, hard roundings, agreement with strtod on many, and a comma
 * locale. */
#include "data/number.h"

#include "../tap.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static int reads(const char *text, double want) {
  double met = -77;
  return ein_read_f64(text, strlen(text), &met) == EIN_OK &&
         (isnan(want) ? isnan(met) : met == want) && !signbit(met) == !signbit(want);
}

static int refuses(const char *text, ein_status status) {
  double value = 5;
  return ein_read_f64(text, strlen(text), &value) == status && value == 5;
}

static void test_floats(void) {
  OK(reads("0", 0) && reads("-0.0", -0.0) && reads("1", 1) && reads("+2.5", 2.5) &&
         reads("-1e-3", -1e-3),
     "plain");
  OK(reads("5.", 5) && reads(".5", 0.5) && reads("1E5", 1e5) && reads("000012", 12) &&
         reads("0.00012e4", 1.2),
     "forms");
  OK(reads("inf", INFINITY) && reads("-inf", -INFINITY) && reads("nan", (double)NAN), "words");
  OK(reads("0.1", 0.1) && reads("1e23", 1e23) && reads("9007199254740993", 9007199254740992.0),
     "rounded to even");
  OK(reads("9007199254740993.0000000000000000000000000001", 9007199254740994.0),
     "a little above a tie");
  OK(reads("1.7976931348623157e308", 0x1.fffffffffffffp1023) &&
         refuses("1.7976931348623159e308", EIN_ERR_RANGE) && refuses("1e309", EIN_ERR_RANGE) &&
         refuses("-1e999999999999", EIN_ERR_RANGE),
     "the largest");
  OK(reads("4.9406564584124654e-324", 0x1p-1074) && reads("2.4703282292062328e-324", 0x1p-1074) &&
         reads("2.4703282292062327e-324", 0) && reads("1e-400", 0) &&
         reads("-1e-99999999999999999999", -0.0),
     "the smallest");
  OK(reads("2.2250738585072011e-308", 0x0.fffffffffffffp-1022) &&
         reads("2.2250738585072014e-308", 0x1p-1022),
     "the subnormal border");
  OK(refuses("", EIN_ERR_FORMAT) && refuses("-", EIN_ERR_FORMAT) && refuses(".", EIN_ERR_FORMAT) &&
         refuses("e5", EIN_ERR_FORMAT) && refuses("1e", EIN_ERR_FORMAT) &&
         refuses("1e+", EIN_ERR_FORMAT) && refuses("1.2.3", EIN_ERR_FORMAT) &&
         refuses("1,5", EIN_ERR_FORMAT) && refuses("0x10", EIN_ERR_FORMAT) &&
         refuses(" 1", EIN_ERR_FORMAT) && refuses("1 ", EIN_ERR_FORMAT) &&
         refuses("Inf", EIN_ERR_FORMAT) && refuses("1e5.0", EIN_ERR_FORMAT),
     "no numbers");
}

/* 2^-1074 + half of it has 767 digits; one more digit decides. */
static void test_long(void) {
  char exact[1200];
  int n = snprintf(exact, sizeof exact, "%.1080f", 0.0); /* room; the digits come below */
  (void)n;
  /* 3 * 2^-1075, digit by digit: start at 3 and halve 1075 times in decimal. */
  static unsigned char digit[1100];
  memset(digit, 0, sizeof digit);
  int whole = 3;
  for (int i = 0; i < 1075; i++) {
    int carry = whole & 1;
    whole >>= 1;
    for (int k = 0; k < 1075; k++) {
      int d = digit[k] + 10 * carry;
      digit[k] = (unsigned char)(d / 2);
      carry = d & 1;
    }
  }
  strcpy(exact, "0.");
  for (int k = 0; k < 1075; k++) exact[2 + k] = (char)('0' + digit[k]);
  exact[1077] = '\0';
  OK(reads(exact, 0x1p-1073), "a tie of 751 digits goes to even");
  strcat(exact, "0000000000000000000000000000000000000000000000000001");
  OK(reads(exact, 0x1p-1073), "above it");
  exact[1076] = '4'; /* was 5 */
  OK(reads(exact, 0x1p-1074), "below it");
  char zeros[900];
  memset(zeros, '0', sizeof zeros);
  memcpy(zeros, "1", 1);
  strcpy(zeros + 860, "e-860");
  OK(reads(zeros, 0.1), "many digits before the point");
}

static uint64_t step(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 11 ^ *state;
}

static void test_against_libc(void) {
  uint64_t state = 1;
  int good = 1;
  for (int i = 0; i < 20000 && good; i++) {
    char text[64];
    uint64_t bits = step(&state);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    snprintf(text, sizeof text, i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.5e" : "%.30e", x);
    good = fabs(x) > 1e308 || reads(text, strtod(text, NULL));
    if (!good) printf("# %s\n", text);
  }
  OK(good, "as the C library reads them");
}

static int reads_int(const char *text, int64_t want) {
  int64_t met = 77;
  return ein_read_i64(text, strlen(text), &met) == EIN_OK && met == want;
}

static ein_status int_status(const char *text) {
  int64_t met;
  return ein_read_i64(text, strlen(text), &met);
}

static void test_ints(void) {
  OK(reads_int("0", 0) && reads_int("-0", 0) && reads_int("+7", 7) && reads_int("-12", -12),
     "integers");
  OK(reads_int("9223372036854775807", INT64_MAX) && reads_int("-9223372036854775808", INT64_MIN),
     "the ends");
  OK(int_status("9223372036854775808") == EIN_ERR_RANGE &&
         int_status("-9223372036854775809") == EIN_ERR_RANGE &&
         int_status("99999999999999999999999") == EIN_ERR_RANGE,
     "past the ends");
  OK(int_status("") == EIN_ERR_FORMAT && int_status("-") == EIN_ERR_FORMAT &&
         int_status("1.0") == EIN_ERR_FORMAT && int_status("1e3") == EIN_ERR_FORMAT &&
         int_status("99999999999999999999x") == EIN_ERR_FORMAT,
     "no integers");
}

int main(void) {
  test_floats();
  test_long();
  test_against_libc();
  test_ints();
  if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"))
    OK(reads("2.5", 2.5) && refuses("2,5", EIN_ERR_FORMAT), "a decimal comma changes nothing");
  else
    SKIP("no such locale here", "a decimal comma changes nothing");
  return DONE();
}
