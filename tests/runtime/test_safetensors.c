/* Safetensors headers made by hand: what is read, and what is refused and how. Writing is in
 * test_write.c. */
#include "scratch.h"

static blob file;

static ein_bytes make(const char *header, size_t data) {
  memset(&file, 0, sizeof file);
  blob_le(&file, strlen(header), 8);
  blob_text(&file, header);
  for (size_t i = 0; i < data; i++) blob_le(&file, i, 1);
  return blob_bytes(&file);
}

static ein_status find(const char *header, size_t data, const char *name, ein_array *a,
                       ein_error *err) {
  ein_bytes b = make(header, data);
  *err = (ein_error){0};
  return ein_safetensors_find(&b, name, a, err);
}

static void test_good(void) {
  const char *two =
      "{\"__metadata__\":{\"format\":\"pt\",\"k\":\"\"},"
      "\"layer0.w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[2,26]},"
      " \"b\" : { \"data_offsets\" : [ 0 , 2 ] , \"dtype\" : \"BF16\" , \"shape\" : [ ] } }   ";
  ein_array a;
  ein_error err;
  OK(find(two, 26, "layer0.w", &a, &err) == EIN_OK && a.dtype == EIN_F32 && a.ndim == 2 &&
         a.shape[0] == 2 && a.shape[1] == 3 && a.at == 8 + strlen(two) + 2 && a.bytes == 24,
     "a matrix");
  OK(find(two, 26, "b", &a, &err) == EIN_OK && a.dtype == EIN_BF16 && a.ndim == 0 && a.count == 1,
     "a scalar before it");
  OK(find(two, 26, "c", &a, &err) == EIN_ERR_ARG, "a name that is not there");
  HOLDS(err.text, "no tensor called c; it holds 2: b layer0.w", "the message lists the tensors that are there");
  OK(find(two, 26, NULL, &a, &err) == EIN_ERR_ARG && strstr(err.text, "say which"), "which one");
  const char *escaped = "{\"a\\n\\\"\\u00e9\\ud83d\\ude00:x\":{\"dtype\":\"U8\",\"shape\":[1],"
                        "\"data_offsets\":[0,1]}}";
  OK(find(escaped, 1, "a\n\"\xc3\xa9\xf0\x9f\x98\x80:x", &a, &err) == EIN_OK, "escapes in a name");
  OK(find(escaped, 1, NULL, &a, &err) == EIN_OK, "the only one needs no name");
  OK(find("{}", 0, "x", &a, &err) == EIN_ERR_ARG && find("{}", 0, NULL, &a, &err) == EIN_ERR_ARG,
     "an empty file");
  static const char *names[] = {"F64", "F32", "F16", "BF16", "I64",
                                "I32", "I16", "I8",  "U8",   "BOOL"};
  for (int d = 0; d < EIN_DTYPE_COUNT; d++) {
    char header[128];
    size_t size = ein_dtype_size((ein_dtype)d);
    snprintf(header, sizeof header,
             "{\"x\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,%zu]}}", names[d], size);
    OK(find(header, size, "x", &a, &err) == EIN_OK && a.dtype == (ein_dtype)d, "%s", names[d]);
  }
  const char *foreign = "{\"q\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]},"
                        "\"x\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[4,5]}}";
  OK(find(foreign, 5, "x", &a, &err) == EIN_OK, "an unknown dtype beside ours");
  OK(find(foreign, 5, "q", &a, &err) == EIN_ERR_DTYPE && strstr(err.text, "F8_E4M3"),
     "is not read itself");
  const char *empty = "{\"e\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[0,0]},"
                      "\"x\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  OK(find(empty, 1, "e", &a, &err) == EIN_OK && a.count == 0, "an empty tensor");
}

static void test_bad(void) {
  static const struct {
    const char *header, *part;
  } bad[] = {
      {"", "expected '{'"},
      {" {}", "expected '{'"},
      {"{}x", "after the object"},
      {"{\"x\"}", "expected ':'"},
      {"{\"x\":{}}", "expected a string"},
      {"{\"x\":{\"dtype\":\"F32\"}}", "missing"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}",
       "unknown key"},
      {"{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
       "given twice"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},}", "expected a string"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2,],\"data_offsets\":[0,8]}}", "natural number"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", "natural number"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", "expected ',' or ']'"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[02],\"data_offsets\":[0,8]}}", "leading zero"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}}",
       "past 2^63"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,9]}}", "too many numbers"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8]}}", "two rising offsets"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", "two rising offsets"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "disagree"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,8]}}",
       "too large"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", "unused bytes"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "the file holds 8"},
      {"{\"x\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}", "the file holds 8"},
      {"{\"x\":{\"dtype\":\"I8\",\"shape\":[6],\"data_offsets\":[0,6]},\"y\":{\"dtype\":\"I8\","
       "\"shape\":[3],\"data_offsets\":[5,8]}}",
       "overlaps"},
      {"{\"x\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},\"x\":{\"dtype\":\"I8\","
       "\"shape\":[4],\"data_offsets\":[4,8]}}",
       "two tensors called x"},
      {"{\"x\\u0000\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "bad escape"},
      {"{\"\\ud800\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "bad escape"},
      {"{\"\\q\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "bad escape"},
      {"{\"\xff\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "no UTF-8"},
      {"{\"\xc0\x80\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "no UTF-8"},
      {"{\"a\nb\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "control character"},
      {"{\"__metadata__\":{\"a\":1}}", "expected a string"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", "given twice"},
      {"{\"x", "without an end"},
      {"{\"x\\", "bad escape"},
      {"{\"x\\u12", "bad escape"},
  };
  ein_array a;
  ein_error err;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ein_status status = find(bad[i].header, 8, "x", &a, &err);
    HOLDS(status == EIN_OK ? "read" : err.text, bad[i].part, "refused, %zu: %s", i, bad[i].part);
  }
}

static void test_lengths(void) {
  ein_bytes b = make("{\"x\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 8);
  ein_array a;
  ein_error err;
  int good = 1;
  for (size_t n = 0; n < file.size; n++) {
    ein_bytes cut = ein_bytes_window(&b, 0, n);
    err = (ein_error){0};
    good &= ein_safetensors_find(&cut, "x", &a, &err) == EIN_ERR_FORMAT && err.text[0] != '\0';
  }
  OK(good, "cut anywhere");
  static const uint64_t lies[] = {UINT64_MAX, UINT64_MAX - 7, INT64_MAX, 100000001, 200, 0};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    ein_le_put(file.data, 8, lies[i]);
    err = (ein_error){0};
    OK(ein_safetensors_find(&b, "x", &a, &err) == EIN_ERR_FORMAT, "a header that claims %llu bytes",
       (unsigned long long)lies[i]);
  }
}

static void test_elements(void) {
  ein_bytes b = make("{\"x\":{\"dtype\":\"I16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}", 8);
  ein_array a;
  int32_t out[4] = {0};
  OK(ein_safetensors_find(&b, "x", &a, NULL) == EIN_OK &&
         ein_array_read(&b, &a, EIN_I32, out, NULL) == EIN_OK && out[0] == 0x100 &&
         out[1] == 0x302 && out[3] == 0x706,
     "elements, little-endian");
}

int main(void) {
  test_good();
  test_bad();
  test_lengths();
  test_elements();
  return DONE();
}
