/* Writers: what they write is read back; a failure leaves the old file and nothing else. */
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static unsigned char back[1 << 16];

static void test_npy(scratch *s) {
  const int64_t shape[] = {2, 3}, one[] = {6}, none[] = {3, 0};
  for (int d = 0; d < EIN_DTYPE_COUNT; d++) {
    unsigned char data[48], met[48];
    ein_error err = {0};
    size_t bytes = 6 * ein_dtype_size((ein_dtype)d);
    ein_source_read("randint:lo=0:hi=1:seed=3", (ein_dtype)d, 2, shape, data, NULL);
    ein_status status = ein_npy_write(scratch_path(s, "a.npy"), (ein_dtype)d, 2, shape, data, &err);
    ein_source_info info;
    OK(status == EIN_OK && ein_source_probe(s->path, &info, NULL) == EIN_OK &&
           info.dtype == (d == EIN_BF16 ? EIN_F32 : (ein_dtype)d) &&
           ein_source_read(s->path, (ein_dtype)d, 2, shape, met, NULL) == EIN_OK &&
           memcmp(met, data, bytes) == 0,
       ".npy of %s", ein_dtype_name((ein_dtype)d));
  }
  const float values[] = {1, 2, 3, 4, 5, 6};
  ein_npy_write(scratch_path(s, "a.npy"), EIN_F32, 1, one, values, NULL);
  size_t n = scratch_read(s, "a.npy", back, sizeof back);
  OK(n == 128 + 24 &&
         memcmp(
             back,
             "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
             67) == 0 &&
         back[127] == '\n' && memcmp(back + 128, values, 24) == 0,
     "the header's bytes");
  OK(ein_npy_write(scratch_path(s, "s.npy"), EIN_F32, 0, NULL, values, NULL) == EIN_OK &&
         ein_npy_write(scratch_path(s, "e.npy"), EIN_F32, 2, none, NULL, NULL) == EIN_OK &&
         ein_source_read(s->path, EIN_F32, 2, none, NULL, NULL) == EIN_OK,
     "a scalar and an empty one");
  int64_t ones[64];
  for (int i = 0; i < 64; i++) ones[i] = 1;
  ein_source_info info;
  OK(ein_npy_write(scratch_path(s, "d.npy"), EIN_F32, 64, ones, values, NULL) == EIN_OK &&
         ein_source_probe(s->path, &info, NULL) == EIN_OK && info.ndim == 64,
     "64 axes");
  OK(ein_npy_write(scratch_path(s, "f.npy"), EIN_F32, 65, ones, values, NULL) == EIN_ERR_SHAPE,
     "65 axes");
  static uint16_t halves[5000];
  static float wide[5000];
  const int64_t many[] = {5000};
  for (int k = 0; k < 5000; k++) halves[k] = ein_f32_to_bf16((float)k);
  int good = ein_npy_write(scratch_path(s, "b.npy"), EIN_BF16, 1, many, halves, NULL) == EIN_OK &&
             ein_source_read(s->path, EIN_F32, 1, many, wide, NULL) == EIN_OK;
  for (int k = 0; k < 5000; k++) good &= wide[k] == ein_bf16_to_f32(halves[k]);
  OK(good, "bf16 over several chunks");
}

static void test_raw(scratch *s) {
  const int64_t shape[] = {3};
  const int32_t data[] = {1, -2, 3};
  int32_t met[3] = {0};
  OK(ein_raw_write(scratch_path(s, "x.bin"), EIN_I32, 1, shape, data, NULL) == EIN_OK &&
         ein_source_read(s->path, EIN_I32, 1, shape, met, NULL) == EIN_OK &&
         memcmp(met, data, sizeof data) == 0,
     "raw");
}

static void test_safetensors(scratch *s) {
  int8_t bytes[] = {1, 2, 3};
  double numbers[] = {0.5, 1.5};
  uint16_t half = 0x3F80;
  const int64_t three[] = {3}, two_one[] = {2, 1}, strides[] = {1, 1}, odd[] = {2, 1},
                empty[] = {0, 4};
  ein_named_tensor t[] = {
      {"b \"quoted\"\n\xc3\xa9",
       {.data = bytes, .device_type = 1, .ndim = 1, .dtype = EIN_I8, .shape = three}},
      {"n",
       {.data = numbers,
        .device_type = 1,
        .ndim = 2,
        .dtype = EIN_F64,
        .shape = two_one,
        .strides = strides}},
      {"h", {.data = &half, .device_type = 1, .ndim = 0, .dtype = EIN_BF16}},
      {"e", {.data = NULL, .device_type = 1, .ndim = 2, .dtype = EIN_F32, .shape = empty}},
      {"off", {.data = bytes, .device_type = 1, .ndim = 0, .dtype = EIN_U8, .byte_offset = 2}},
  };
  ein_error err = {0};
  OK(ein_safetensors_write(scratch_path(s, "w.safetensors"), 5, t, &err) == EIN_OK, "five tensors");
  char spec[600];
  int8_t met_bytes[3] = {0};
  double met_numbers[2] = {0};
  float met_half = 0;
  uint8_t met_off = 0;
  snprintf(spec, sizeof spec, "%s:%s", s->path, t[0].name);
  OK(ein_source_read(spec, EIN_I8, 1, three, met_bytes, NULL) == EIN_OK &&
         memcmp(met_bytes, bytes, 3) == 0,
     "an odd name");
  snprintf(spec, sizeof spec, "%s:n", s->path);
  OK(ein_source_read(spec, EIN_F64, 2, two_one, met_numbers, NULL) == EIN_OK &&
         met_numbers[1] == 1.5,
     "f64");
  snprintf(spec, sizeof spec, "%s:h", s->path);
  OK(ein_source_read(spec, EIN_F32, 0, NULL, &met_half, NULL) == EIN_OK && met_half == 1, "bf16");
  snprintf(spec, sizeof spec, "%s:e", s->path);
  OK(ein_source_read(spec, EIN_F32, 2, empty, NULL, NULL) == EIN_OK, "an empty one");
  snprintf(spec, sizeof spec, "%s:off", s->path);
  OK(ein_source_read(spec, EIN_U8, 0, NULL, &met_off, NULL) == EIN_OK && met_off == 3,
     "a byte offset");
  scratch_read(s, "w.safetensors", back, sizeof back);
  uint64_t length = ein_le(back, 8);
  OK(length % 8 == 0 && memcmp(back + 8 + length, numbers, 16) == 0,
     "aligned, wide elements first");
  OK(ein_safetensors_write(s->path, 0, NULL, NULL) == EIN_OK, "no tensors");
  t[1].tensor.strides = odd;
  OK(ein_safetensors_write(s->path, 2, t, NULL) == EIN_ERR_ARG, "not in C order");
  t[1] = t[0];
  OK(ein_safetensors_write(s->path, 2, t, NULL) == EIN_ERR_ARG, "one name twice");
  t[0].name = "\xff";
  t[1].name = "__metadata__";
  OK(ein_safetensors_write(s->path, 1, t, NULL) == EIN_ERR_ARG &&
         ein_safetensors_write(s->path, 1, t + 1, NULL) == EIN_ERR_ARG,
     "names that cannot be");
  t[0].name = "x";
  t[0].tensor.device_type = 2;
  OK(ein_safetensors_write(s->path, 1, t, NULL) == EIN_ERR_ARG, "not on the CPU");
}

static void test_refused(scratch *s) {
  const int64_t shape[] = {1};
  const double x = 1;
  ein_error err = {0};
  int before = scratch_count(s);
  struct stat st;
  OK(ein_raw_write("/dev/null", EIN_F64, 1, shape, &x, &err) == EIN_OK, "a device: %s", err.text);
  OK(access("/dev/full", W_OK) != 0 ||
         ein_raw_write("/dev/full", EIN_F64, 1, shape, &x, &err) == EIN_ERR_IO,
     "a full one");
  OK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode), "is still a device");
  err = (ein_error){0};
  OK(ein_raw_write(s->folder, EIN_F64, 1, shape, &x, &err) == EIN_ERR_IO, "a folder");
  err = (ein_error){0};
  OK(ein_raw_write(scratch_path(s, "no/such/x.raw"), EIN_F64, 1, shape, &x, &err) == EIN_ERR_IO,
     "no such folder");
  HOLDS(err.text, "no such file or folder", "the message");
  if (geteuid() != 0) {
    chmod(s->folder, 0500);
    err = (ein_error){0};
    OK(ein_raw_write(scratch_path(s, "locked.raw"), EIN_F64, 1, shape, &x, &err) == EIN_ERR_IO,
       "a read-only folder");
    HOLDS(err.text, "permission denied", "the message");
    chmod(s->folder, 0700);
  } else {
    err = (ein_error){0};
    OK(ein_raw_write("/proc/x.raw", EIN_F64, 1, shape, &x, &err) == EIN_ERR_IO && *err.text,
       "a folder that takes no files");
  }
  OK(scratch_count(s) == before, "nothing is left behind");
}

static void test_links(scratch *s) {
  const int64_t shape[] = {1};
  const double x = 1;
  char target[600];
  scratch_write(s, "target.raw", "old", 3);
  snprintf(target, sizeof target, "%s", scratch_path(s, "target.raw"));
  if (symlink("target.raw", scratch_path(s, "link.raw")) != 0) {
    SKIP("no symbolic links here", "links");
    return;
  }
  struct stat st;
  OK(ein_raw_write(s->path, EIN_F64, 1, shape, &x, NULL) == EIN_OK && lstat(s->path, &st) == 0 &&
         S_ISLNK(st.st_mode) && stat(target, &st) == 0 && st.st_size == 8,
     "a link is followed, and stays");
  remove(target);
  OK(ein_raw_write(s->path, EIN_F64, 1, shape, &x, NULL) == EIN_OK && stat(target, &st) == 0 && st.st_size == 8,
     "a link to a file that is not there yet");
  OK(chdir(s->folder) == 0 && ein_raw_write("plain.raw", EIN_F64, 1, shape, &x, NULL) == EIN_OK &&
         stat("plain.raw", &st) == 0 && chdir("/") == 0,
     "a path without a folder");
}

/* A limit on file sizes stands in for a full disk: writing fails midway. */
static void test_full(scratch *s) {
  static double data[20000];
  const int64_t shape[] = {20000};
  struct rlimit old, small;
  scratch_write(s, "keep.npy", "precious", 8);
  int before = scratch_count(s);
  fflush(stdout);
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 10000;
  setrlimit(RLIMIT_FSIZE, &small);
  ein_error err = {0}, err2 = {0};
  ein_status status = ein_npy_write(scratch_path(s, "keep.npy"), EIN_F64, 1, shape, data, &err);
  ein_named_tensor t = {
      "x", {.data = data, .device_type = 1, .ndim = 1, .dtype = EIN_F64, .shape = shape}};
  ein_status status2 = ein_safetensors_write(s->path, 1, &t, &err2);
  setrlimit(RLIMIT_FSIZE, &old);
  OK(status == EIN_ERR_IO && status2 == EIN_ERR_IO, "a file that grows too large");
  HOLDS(err.text, "writing failed: the file is larger than the system allows", "the message");
  OK(scratch_count(s) == before, "the temporary is gone");
  size_t n = scratch_read(s, "keep.npy", back, sizeof back);
  OK(n == 8 && memcmp(back, "precious", 8) == 0, "the old file is there as it was");
  char buffer[32];
  OK_STR(ein_errno_text(ENOSPC, buffer), "the disk is full", "a full disk is called one");
  OK_STR(ein_errno_text(9999, buffer), "system error 9999", "an unknown error has its number");
}

int main(void) {
  scratch s;
  if (!scratch_begin(&s)) return 2;
  test_npy(&s);
  test_raw(&s);
  test_safetensors(&s);
  test_refused(&s);
  test_links(&s);
  test_full(&s);
  scratch_end(&s);
  return DONE();
}
