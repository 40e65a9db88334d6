/* .npy files made by hand: every version, order, byte order and dtype; and many that lie or are
 * cut. */
#include "scratch.h"

static blob file;

static ein_status header_of(int version, const char *header, size_t data_bytes, ein_array *a,
                            ein_error *err) {
  static const unsigned char zeros[512];
  memset(&file, 0, sizeof file);
  *err = (ein_error){0};
  blob_npy(&file, version, header, zeros, data_bytes);
  ein_bytes b = blob_bytes(&file);
  return ein_npy_header(&b, a, err);
}

static void test_versions(void) {
  ein_array a;
  ein_error err;
  for (int version = 1; version <= 3; version++) {
    ein_status status = header_of(
        version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }  \n", 48, &a, &err);
    OK(status == EIN_OK && a.dtype == EIN_F64 && a.ndim == 2 && a.shape[0] == 2 &&
           a.shape[1] == 3 && !a.fortran && !a.big_endian && a.at == file.size - 48,
       "version %d", version);
  }
  OK(header_of(4, "{}", 0, &a, &err) == EIN_ERR_FORMAT && strstr(err.text, "version 4"),
     "version 4 is unknown");
  OK(header_of(1, "{\"shape\":(),\"descr\":\"|u1\",\"fortran_order\":True}", 1, &a, &err) ==
             EIN_OK &&
         a.ndim == 0 && a.fortran && a.dtype == EIN_U8,
     "a scalar; other quotes, order and spacing");
  OK(header_of(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (7L,)}\n", 28, &a, &err) ==
             EIN_OK &&
         a.shape[0] == 7,
     "an old writer's L");
  OK(header_of(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 5)}\n", 0, &a, &err) ==
             EIN_OK &&
         a.count == 0,
     "no elements");
}

static void test_dtypes(void) {
  static const struct {
    const char *descr;
    ein_dtype dtype;
  } good[] = {{"<f8", EIN_F64}, {">f4", EIN_F32}, {"<f2", EIN_F16}, {"=i8", EIN_I64},
              {">i4", EIN_I32}, {"<i2", EIN_I16}, {"|i1", EIN_I8},  {"<i1", EIN_I8},
              {"|u1", EIN_U8},  {"|b1", EIN_BOOL}};
  static const char *bad[] = {"<c8", "<u4", "|f4",  "f4", "<V2", "<M8[ns]",
                              "",    "<",   "<f16", "|O", "<f44"};
  char header[128];
  ein_array a;
  ein_error err;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': ()}",
             good[i].descr);
    ein_status status = header_of(1, header, ein_dtype_size(good[i].dtype), &a, &err);
    OK(status == EIN_OK && a.dtype == good[i].dtype && a.big_endian == (good[i].descr[0] == '>'),
       "%s", good[i].descr);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': ()}", bad[i]);
    OK(header_of(1, header, 8, &a, &err) == EIN_ERR_DTYPE, "'%s' is refused", bad[i]);
  }
  OK(header_of(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", 4, &a, &err) ==
             EIN_ERR_DTYPE &&
         strstr(err.text, "records"),
     "records are refused");
}

static void test_bad_headers(void) {
  static const char *bad[] = {
      "",
      "{",
      "{}",
      "()",
      "{'descr': '<f8', 'fortran_order': False}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': '<f8', 'fortran_order': false, 'shape': (1,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': True}",
      "{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}",
      "{'descr' '<f8', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f8', 'fortran_order: False, 'shape': (1,)}",
      "{'descr': '\\x3cf8', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)",
  };
  ein_array a;
  ein_error err;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    OK(header_of(1, bad[i], 8, &a, &err) == EIN_ERR_FORMAT && *err.text, "refused: %s", bad[i]);
  OK(header_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0,
               &a, &err) == EIN_ERR_SHAPE,
     "a product that wraps to 0");
  OK(header_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846977,)}", 8,
               &a, &err) == EIN_ERR_SHAPE,
     "bytes that wrap to 8");
  char many[600] = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 64; i++) strcat(many, "1, ");
  char *end = many + strlen(many);
  strcpy(end, ")}");
  OK(header_of(1, many, 8, &a, &err) == EIN_OK && a.ndim == 64, "64 axes");
  strcpy(end, "1)}");
  OK(header_of(1, many, 8, &a, &err) == EIN_ERR_SHAPE && strstr(err.text, "64"),
     "65 axes are refused");
}

static void test_lengths(void) {
  const char *header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}\n";
  ein_array a;
  ein_error err;
  OK(header_of(1, header, 23, &a, &err) == EIN_ERR_FORMAT, "a byte too few");
  HOLDS(err.text, "f64 [3], 24 bytes; the file holds 23", "the message says what was found");
  OK(header_of(1, header, 25, &a, &err) == EIN_ERR_FORMAT, "a byte too many");
  int good = 1;
  header_of(2, header, 24, &a, &err);
  size_t whole = file.size;
  for (size_t n = 0; n < whole; n++) {
    ein_error cut = {0};
    ein_bytes b;
    ein_bytes_from_memory(&b, "memory", file.data, n);
    good &= ein_npy_header(&b, &a, &cut) == EIN_ERR_FORMAT && cut.text[0] != '\0';
  }
  OK(good, "cut anywhere");
  ein_bytes b = blob_bytes(&file);
  ein_le_put(file.data + 8, 4, 0xFFFFFFFFu);
  err = (ein_error){0};
  OK(ein_npy_header(&b, &a, &err) == EIN_ERR_FORMAT && strstr(err.text, "4294967295"),
     "a header of 4 GiB");
  ein_le_put(file.data + 8, 4, 60000);
  err = (ein_error){0};
  OK(ein_npy_header(&b, &a, &err) == EIN_ERR_FORMAT && strstr(err.text, "ends before"),
     "a header past the end");
  file.data[0] = 'x';
  err = (ein_error){0};
  OK(ein_npy_header(&b, &a, &err) == EIN_ERR_FORMAT && strstr(err.text, "magic"), "no magic");
}

static ein_status read_floats(const char *header, const void *data, size_t n, ein_dtype want,
                              void *dst) {
  ein_array a;
  memset(&file, 0, sizeof file);
  blob_npy(&file, 1, header, data, n);
  ein_bytes b = blob_bytes(&file);
  ein_status status = ein_npy_header(&b, &a, NULL);
  return status == EIN_OK ? ein_array_read(&b, &a, want, dst, NULL) : status;
}

static void test_elements(void) {
  const unsigned char big_ints[] = {0, 1, 0xFF, 0xFE, 0x12, 0x34};
  int16_t ints[3];
  OK(read_floats("{'descr': '>i2', 'fortran_order': False, 'shape': (3,)}", big_ints, 6, EIN_I16,
                 ints) == EIN_OK &&
         ints[0] == 1 && ints[1] == -2 && ints[2] == 0x1234,
     "big-endian i2");
  const unsigned char big_float[] = {0x3F, 0xF8, 0, 0, 0, 0, 0, 0};
  float one_half;
  OK(read_floats("{'descr': '>f8', 'fortran_order': False, 'shape': ()}", big_float, 8, EIN_F32,
                 &one_half) == EIN_OK &&
         one_half == 1.5f,
     "big-endian f8 into f32");
  const unsigned char columns[] = {1, 4, 2, 5, 3, 6};
  double rows[6];
  OK(read_floats("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}", columns, 6, EIN_F64,
                 rows) == EIN_OK &&
         rows[0] == 1 && rows[1] == 2 && rows[2] == 3 && rows[3] == 4 && rows[4] == 5 &&
         rows[5] == 6,
     "Fortran order");
  static uint8_t cube[24 * 24 * 24], out[24 * 24 * 24];
  int good = 1;
  for (int k = 0; k < 24 * 24 * 24; k++) {
    int i = k % 24, j = k / 24 % 24, l = k / 576;
    cube[k] = (uint8_t)(i * 7 + j * 31 + l * 101);
  }
  good &= read_floats("{'descr': '|u1', 'fortran_order': True, 'shape': (24, 24, 24)}", cube,
                      sizeof cube, EIN_U8, out) == EIN_OK;
  for (int k = 0; k < 24 * 24 * 24; k++)
    good &= out[k] == (uint8_t)(k / 576 * 7 + k / 24 % 24 * 31 + k % 24 * 101);
  OK(good, "Fortran order over several chunks");
  const unsigned char bools[] = {0, 1, 2};
  OK(read_floats("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", bools, 3, EIN_BOOL,
                 out) == EIN_OK &&
         out[0] == 0 && out[1] == 1 && out[2] == 1,
     "bools come in as 0 and 1");
  OK(read_floats("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", bools, 0, EIN_I8,
                 out) == EIN_ERR_DTYPE,
     "floats into integers are refused even when there are none");
}

int main(void) {
  test_versions();
  test_dtypes();
  test_bad_headers();
  test_lengths();
  test_elements();
  return DONE();
}
