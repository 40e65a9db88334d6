/* Source specs: generators and their parameters, files through the one door, and what is no regular
 * file. */
#include "scratch.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sys/socket.h>
#include <sys/un.h>

static ein_error error_of(const char *spec, ein_dtype want) {
  ein_error err = {0};
  const int64_t shape[] = {4};
  double out[4];
  ein_source_read(spec, want, 1, shape, out, &err);
  return err;
}

static int gives(const char *spec, double a, double b, double c, double d) {
  double out[4] = {9, 9, 9, 9};
  const int64_t shape[] = {2, 2};
  ein_error err = {0};
  if (ein_source_read(spec, EIN_F64, 2, shape, out, &err) != EIN_OK) tap_text(spec, err.text);
  return out[0] == a && out[1] == b && out[2] == c && out[3] == d;
}

static void test_generators(void) {
  OK(gives("zeros", 0, 0, 0, 0) && gives("ones", 1, 1, 1, 1) && gives("iota", 0, 1, 2, 3),
     "zeros, ones, iota");
  OK(gives("const:2.5", 2.5, 2.5, 2.5, 2.5) && gives("const:-3", -3, -3, -3, -3) &&
         gives("const:1e3", 1e3, 1e3, 1e3, 1e3) &&
         gives("const:-inf", -INFINITY, -INFINITY, -INFINITY, -INFINITY),
     "const");
  OK(gives("2.5", 2.5, 2.5, 2.5, 2.5) && gives("-3", -3, -3, -3, -3) && gives("1e3", 1e3, 1e3, 1e3, 1e3),
     "a number alone is const");
  OK(gives("fill", -5, 2, -2, 5) && gives("fill:t=3", 4, 0, -4, 3) &&
         gives("fill:t=-8", 4, 0, -4, 3),
     "fill");
  OK(gives("uniform:seed=7", (double)ein_uniform(7, 0), (double)ein_uniform(7, 1),
           (double)ein_uniform(7, 2), (double)ein_uniform(7, 3)) &&
         gives("uniform", (double)ein_uniform(0, 0), (double)ein_uniform(0, 1),
               (double)ein_uniform(0, 2), (double)ein_uniform(0, 3)),
     "uniform");
  OK(gives("randn:seed=-1", (double)ein_normal(-1, 0), (double)ein_normal(-1, 1),
           (double)ein_normal(-1, 2), (double)ein_normal(-1, 3)),
     "randn");
  OK(gives("randint:seed=7:hi=5:lo=-5", (double)ein_randint(7, 0, -5, 5),
           (double)ein_randint(7, 1, -5, 5), (double)ein_randint(7, 2, -5, 5),
           (double)ein_randint(7, 3, -5, 5)),
     "randint");
  static int16_t many[5000];
  const int64_t shape[] = {5000};
  int good = ein_source_read("iota", EIN_I16, 1, shape, many, NULL) == EIN_OK;
  for (int k = 0; k < 5000; k++) good &= many[k] == k;
  OK(good, "more elements than one run");
  uint8_t flags[4];
  const int64_t four[] = {4};
  OK(ein_source_read("ones", EIN_BOOL, 1, four, flags, NULL) == EIN_OK && flags[3] == 1,
     "ones as bool");
  float scalar = 0;
  OK(ein_source_read("const:7", EIN_F32, 0, NULL, &scalar, NULL) == EIN_OK && scalar == 7,
     "a scalar");
  const int64_t none[] = {0};
  OK(ein_source_read("iota", EIN_I8, 1, none, NULL, NULL) == EIN_OK, "no elements, no buffer");
}

static void test_lists(void) {
  const int64_t shape[] = {2, 3}, other[] = {3, 2}, two[] = {2}, none[] = {2, 0};
  int16_t whole[6];
  double real[6];
  uint8_t flag[2];
  OK(ein_source_read("[[1,-2,3], [4, 5,\t6]]", EIN_I16, 2, shape, whole, NULL) == EIN_OK && whole[1] == -2 &&
          whole[3] == 4 && whole[5] == 6,
      "integers in lists");
  OK(ein_source_read("[[1,2.5,inf],[4,1e-3,6]]", EIN_F64, 2, shape, real, NULL) == EIN_OK && real[0] == 1 &&
          real[1] == 2.5 && real[2] > 1e300 && real[4] == 1e-3,
      "real values in lists");
  OK(ein_source_read("[true,false]", EIN_BOOL, 1, two, flag, NULL) == EIN_OK && flag[0] == 1 && flag[1] == 0, "bools");
  OK(ein_source_read("[[],[]]", EIN_F64, 2, none, NULL, NULL) == EIN_OK, "empty lists");
  const int64_t low[] = {1, 1}, part[] = {1, 2};
  OK(ein_source_block("[[1,2,3],[4,5,6]]", EIN_F64, 2, shape, low, part, real, NULL) == EIN_OK && real[0] == 5 &&
          real[1] == 6,
      "a block of lists");
  ein_error err;
  OK(ein_source_read("[[1,2,3],[4,5,6]]", EIN_F64, 2, other, real, &err) == EIN_ERR_SHAPE, "lists of another shape: %s",
      err.text);
  OK(ein_source_read("[1,2.0]", EIN_I16, 1, two, whole, NULL) == EIN_ERR_DTYPE, "real values into integers");
  OK(ein_source_read("[1,300]", EIN_U8, 1, two, flag, &err) == EIN_ERR_RANGE, "a value out of range: %s", err.text);
  ein_source_info info;
  OK(ein_source_probe("[[1,2,3],[4,5,6]]", &info, NULL) == EIN_OK && info.has_shape && !info.has_dtype &&
          info.ndim == 2 && info.shape[0] == 2 && info.shape[1] == 3 && info.bytes == -1,
      "what is known of lists");
}

static void test_bad_specs(void) {
  static const struct {
    const char *spec, *part;
  } bad[] = {
      {"", "neither a file"},
      {"nothing", "neither a file"},
      {"Zeros", "neither a file"},
      {"a.txt", "neither a file"},
      {".npy", "neither a file"},
      {"zeros:seed=1", "does not take"},
      {"uniform:lo=1", "does not take"},
      {"uniform:seed", "unknown parameter"},
      {"uniform:", "unknown parameter"},
      {"uniform:seed=", "no 64-bit integer"},
      {"uniform:seed=1.5", "no 64-bit integer"},
      {"uniform:seed=99999999999999999999", "no 64-bit integer"},
      {"uniform:seed=1:seed=2", "given twice"},
      {"uniform:seed=1:", "unknown parameter"},
      {"randint:seed=1", "lo and hi must be given"},
      {"randint:lo=1:hi=0", "lo is above hi"},
      {"3.txt", "neither a file"},
      {"3-", "neither a file"},
      {"9223372036854775808", "does not fit 64 bits"},
      {"1e999", "too large"},
      {"const", "say the value"},
      {"const:", "no number"},
      {"const:abc", "no number"},
      {"const:1,5", "no number"},
      {"const:1e999", "too large"},
      {"const:9223372036854775808", "does not fit 64 bits"},
      {"[1,2", "a `]` is missing"},
      {"[1 2]", "a comma is missing"},
      {"[1,]", "`` is no number"},
      {"[,1]", "`` is no number"},
      {"[1,a b]", "`a` is no number"},
      {"[[1,2],[3]]", "a list of 1 beside one of 2"},
      {"[[1],2]", "numbers and lists"},
      {"[1,[2]]", "numbers and lists"},
      {"[[],1]", "numbers and lists"},
      {"[[1],[[2]]]", "numbers and lists"},
      {"[1]]", "behind the list"},
      {"[1e999]", "too large"},
      {"[9223372036854775808]", "too large"},
      {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "too deeply"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ein_error err = error_of(bad[i].spec, EIN_F64);
    HOLDS(err.text, bad[i].part, "refused: '%s'", bad[i].spec);
    ein_source_info info;
    OK(ein_source_probe(bad[i].spec, &info, NULL) == err.status && err.status == EIN_ERR_ARG,
       "also by probe");
  }
  OK(error_of("uniform", EIN_I32).status == EIN_ERR_DTYPE &&
         error_of("const:2.0", EIN_I64).status == EIN_ERR_DTYPE,
     "floats into integers");
  ein_error err = error_of("fill", EIN_U8);
  OK_STR(err.text, "fill: element 0 is -5, which does not fit u8 (0..255)",
         "out of range, with its element");
  const int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  OK(ein_source_read("zeros", EIN_F64, 2, huge, NULL, NULL) == EIN_ERR_SHAPE, "a size that wraps");
  OK(ein_source_read("zeros", EIN_F64, 65, NULL, NULL, NULL) == EIN_ERR_SHAPE, "65 axes");
}

static void test_files(scratch *s) {
  static blob file;
  const float values[] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {2, 3};
  double out[6] = {0};
  ein_source_info info;
  ein_error err = {0};
  blob_npy(&file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", values,
           sizeof values);
  scratch_write(s, "with:colon.npy", file.data, file.size);
  const char *path = scratch_path(s, "with:colon.npy");
  OK(ein_source_probe(path, &info, &err) == EIN_OK && info.has_dtype && info.has_shape &&
         info.dtype == EIN_F32 && info.ndim == 2 && info.shape[1] == 3 && info.bytes == 24,
     "probe .npy");
  OK(ein_source_read(path, EIN_F64, 2, shape, out, &err) == EIN_OK && out[5] == 6, "read .npy");
  const int64_t wrong[] = {2, 4};
  OK(ein_source_read(path, EIN_F64, 2, wrong, out, &err) == EIN_ERR_SHAPE, "another shape");
  HOLDS(err.text, "axis 2: expected extent 4, found 3: expected shape [2, 4], found [2, 3]",
        "the message");
  err = (ein_error){0};
  OK(ein_source_read(path, EIN_F64, 1, wrong, out, &err) == EIN_ERR_SHAPE, "another rank");
  HOLDS(err.text, "expected 1 axis, found 2: expected shape [2], found [2, 3]", "the message");
  err = (ein_error){0};
  OK(ein_source_read(path, EIN_I32, 2, shape, out, &err) == EIN_ERR_DTYPE, "another kind");
  HOLDS(err.text, "expected i32, found f32", "the message");

  scratch_write(s, "x.raw", values, sizeof values);
  path = scratch_path(s, "x.raw");
  float same[6];
  OK(ein_source_probe(path, &info, NULL) == EIN_OK && !info.has_dtype && !info.has_shape &&
         info.bytes == 24,
     "probe .raw");
  OK(ein_source_read(path, EIN_F32, 2, shape, same, NULL) == EIN_OK &&
         memcmp(same, values, sizeof values) == 0,
     "read .raw");
  err = (ein_error){0};
  OK(ein_source_read(path, EIN_F64, 2, shape, out, &err) == EIN_ERR_SHAPE,
     "a raw file of another size");
  HOLDS(err.text, "expected 48 bytes for f64 [2, 3], found 24", "the message");

  char header[] = "{\"a:b.npz:c\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}";
  memset(&file, 0, sizeof file);
  blob_le(&file, strlen(header), 8);
  blob_text(&file, header);
  blob_put(&file, values, sizeof values);
  scratch_write(s, "w.safetensors", file.data, file.size);
  scratch_path(s, "w.safetensors:a:b.npz:c");
  OK(ein_source_read(s->path, EIN_F64, 2, shape, out, NULL) == EIN_OK && out[2] == 3,
     "read .safetensors");
  scratch_path(s, "w.safetensors:nope");
  OK(ein_source_probe(s->path, &info, NULL) == EIN_ERR_ARG && !info.has_shape, "no such tensor");
  OK(ein_source_probe(scratch_path(s, "w.safetensors"), &info, NULL) == EIN_OK && info.ndim == 2,
     "the only tensor");
}

/* None of these may be waited for. */
static void test_not_regular(scratch *s) {
  HOLDS(error_of(scratch_path(s, "absent.npy"), EIN_F64).text, "no such file", "absent");
  mkdir(scratch_path(s, "folder.npy"), 0700);
  HOLDS(error_of(s->path, EIN_F64).text, "found a folder", "a folder");
  if (mkfifo(scratch_path(s, "fifo.npz"), 0600) == 0)
    HOLDS(error_of(s->path, EIN_F64).text, "found a FIFO", "a FIFO");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%.80s", scratch_path(s, "socket.raw"));
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
    HOLDS(error_of(s->path, EIN_F64).text, "found a socket", "a socket");
  if (fd >= 0) close(fd);
  scratch_path(s, "zero.bin");
  if (symlink("/dev/zero", s->path) == 0)
    HOLDS(error_of(s->path, EIN_F64).text, "found a device", "a device");
  scratch_path(s, "loop.npy");
  if (symlink("loop.npy", s->path) == 0)
    HOLDS(error_of(s->path, EIN_F64).text, "symbolic links", "a link to itself");
  char deep[400];
  memset(deep, 'd', sizeof deep);
  strcpy(deep + 380, "/x.npy");
  HOLDS(error_of(deep, EIN_F64).text, "name is too long", "a name too long");
}

int main(void) {
  scratch s;
  if (!scratch_begin(&s)) return 2;
  test_generators();
  test_lists();
  test_bad_specs();
  test_files(&s);
  test_not_regular(&s);
  if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"))
    OK(gives("const:2.5", 2.5, 2.5, 2.5, 2.5), "a decimal comma changes nothing");
  else
    SKIP("no such locale here", "a decimal comma changes nothing");
  scratch_end(&s);
  return DONE();
}
