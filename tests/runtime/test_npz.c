/* Stored zip archives made by hand, also with zip64 sizes; and those that are compressed, lie, or
 * are cut. */
#include "scratch.h"

typedef struct zip_member {
  const char *name;
  const void *data;
  size_t size;
  unsigned method, flags;
  int zip64;
} zip_member;

static uint32_t crc_of(const unsigned char *p, size_t n) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

static void put_local(blob *b, const zip_member *m) {
  blob_le(b, 0x04034b50u, 4);
  blob_le(b, m->zip64 ? 45 : 20, 2);
  blob_le(b, m->flags, 2);
  blob_le(b, m->method, 2);
  blob_le(b, 0, 4);
  blob_le(b, crc_of(m->data, m->size), 4);
  blob_le(b, m->zip64 ? 0xFFFFFFFFu : m->size, 4);
  blob_le(b, m->zip64 ? 0xFFFFFFFFu : m->size, 4);
  blob_le(b, strlen(m->name), 2);
  blob_le(b, m->zip64 ? 20 : 0, 2);
  blob_text(b, m->name);
  if (m->zip64) {
    blob_le(b, 1, 2);
    blob_le(b, 16, 2);
    blob_le(b, m->size, 8);
    blob_le(b, m->size, 8);
  }
  blob_put(b, m->data, m->size);
}

static void put_central(blob *b, const zip_member *m, size_t at) {
  blob_le(b, 0x02014b50u, 4);
  blob_le(b, 20, 2);
  blob_le(b, 20, 2);
  blob_le(b, m->flags, 2);
  blob_le(b, m->method, 2);
  blob_le(b, 0, 4);
  blob_le(b, crc_of(m->data, m->size), 4);
  blob_le(b, m->zip64 ? 0xFFFFFFFFu : m->size, 4);
  blob_le(b, m->zip64 ? 0xFFFFFFFFu : m->size, 4);
  blob_le(b, strlen(m->name), 2);
  blob_le(b, m->zip64 ? 34 : 0, 2);
  blob_le(b, 3, 2); /* comment */
  blob_le(b, 0, 8);
  blob_le(b, m->zip64 ? 0xFFFFFFFFu : at, 4);
  blob_text(b, m->name);
  if (m->zip64) {
    blob_le(b, 0x7777, 2); /* a field of somebody else before ours */
    blob_le(b, 2, 2);
    blob_le(b, 0, 2);
    blob_le(b, 1, 2);
    blob_le(b, 24, 2);
    blob_le(b, m->size, 8);
    blob_le(b, m->size, 8);
    blob_le(b, at, 8);
  }
  blob_text(b, "hey");
}

static void put_end(blob *b, size_t count, size_t at, int zip64, const char *comment) {
  size_t size = b->size - at, end64 = b->size;
  if (zip64) {
    blob_le(b, 0x06064b50u, 4);
    blob_le(b, 44, 8);
    blob_le(b, 0, 12);
    blob_le(b, count, 8);
    blob_le(b, count, 8);
    blob_le(b, size, 8);
    blob_le(b, at, 8);
    blob_le(b, 0x07064b50u, 4);
    blob_le(b, 0, 4);
    blob_le(b, end64, 8);
    blob_le(b, 1, 4);
  }
  blob_le(b, 0x06054b50u, 4);
  blob_le(b, 0, 4);
  blob_le(b, zip64 ? 0xFFFF : count, 2);
  blob_le(b, zip64 ? 0xFFFF : count, 2);
  blob_le(b, zip64 ? 0xFFFFFFFFu : size, 4);
  blob_le(b, zip64 ? 0xFFFFFFFFu : at, 4);
  blob_le(b, strlen(comment), 2);
  blob_text(b, comment);
}

static blob zip;

static ein_bytes make_zip(size_t count, const zip_member *members, const char *comment) {
  size_t at[8];
  memset(&zip, 0, sizeof zip);
  for (size_t i = 0; i < count; i++) {
    at[i] = zip.size;
    put_local(&zip, &members[i]);
  }
  size_t directory = zip.size;
  for (size_t i = 0; i < count; i++) put_central(&zip, &members[i], at[i]);
  put_end(&zip, count, directory, count && members[0].zip64, comment);
  return blob_bytes(&zip);
}

static int finds(const ein_bytes *b, const char *name, const void *data, size_t n) {
  ein_npz_member m;
  ein_error err = {0};
  if (ein_npz_find(b, name, &m, &err) != EIN_OK) {
    tap_text("met", err.text);
    return 0;
  }
  unsigned char met[64];
  return m.bytes.size == n && ein_bytes_read(&m.bytes, 0, met, n, NULL) == EIN_OK &&
         memcmp(met, data, n) == 0 && ein_npz_check(&m, NULL) == EIN_OK;
}

static ein_error error_of(const ein_bytes *b, const char *name) {
  ein_npz_member m;
  ein_error err = {0};
  ein_npz_find(b, name, &m, &err);
  return err;
}

static void test_names(void) {
  const zip_member two[] = {{.name = "a.npy", .data = "first", .size = 5},
                            {.name = "b.npy", .data = "2nd", .size = 3}};
  ein_bytes b = make_zip(2, two, "");
  OK(finds(&b, "a", "first", 5) && finds(&b, "b.npy", "2nd", 3), "with and without .npy");
  HOLDS(error_of(&b, "c").text, "no array called c; it holds: a.npy b.npy",
        "a name that is not there");
  HOLDS(error_of(&b, NULL).text, "several arrays; say which, as .npz:name: a.npy b.npy",
        "which one");
  b = make_zip(2, two, "a comment with PK\5\6 in it: 0123456789abcdef");
  OK(finds(&b, "b", "2nd", 3), "a comment");
  b = make_zip(1, two, "");
  OK(finds(&b, NULL, "first", 5), "the only one needs no name");
  const zip_member both[] = {{.name = "a.npy", .data = "x", .size = 1},
                             {.name = "a", .data = "y", .size = 1}};
  b = make_zip(2, both, "");
  OK(finds(&b, "a", "y", 1) && finds(&b, "a.npy", "x", 1), "the very name goes first");
  const zip_member twice[] = {{.name = "a.npy", .data = "x", .size = 1},
                              {.name = "a.npy", .data = "y", .size = 1}};
  b = make_zip(2, twice, "");
  HOLDS(error_of(&b, "a").text, "two members called a", "two of one name");
  b = make_zip(0, NULL, "");
  HOLDS(error_of(&b, "a").text, "it holds: nothing", "an empty archive");
  char many[8][60];
  zip_member long_names[8];
  for (int i = 0; i < 8; i++) {
    snprintf(many[i], sizeof many[i], "a-member-with-a-name-of-some-length-number-%d.npy", i);
    long_names[i] = (zip_member){.name = many[i], .data = "", .size = 0};
  }
  b = make_zip(8, long_names, "");
  HOLDS(error_of(&b, "q").text, " ...", "a long list of names is cut");
  OK(finds(&b, many[7], "", 0), "an empty member");
  char huge[3000];
  memset(huge, 'n', sizeof huge);
  huge[sizeof huge - 1] = '\0';
  OK(error_of(&b, huge).status == EIN_ERR_ARG, "a name too long for any");
}

static void test_zip64(void) {
  const zip_member m[] = {{.name = "w.npy", .data = "weights", .size = 7, .zip64 = 1},
                          {.name = "v.npy", .data = "values", .size = 6, .zip64 = 1}};
  ein_bytes b = make_zip(2, m, "");
  OK(finds(&b, "w", "weights", 7) && finds(&b, "v", "values", 6), "64-bit sizes and offsets");
  b = make_zip(2, m, "comment");
  OK(finds(&b, "v", "values", 6), "an archive with a comment");
}

static void test_refused(void) {
  zip_member m[] = {{.name = "a.npy", .data = "12345678", .size = 8, .method = 8}};
  ein_bytes b = make_zip(1, m, "");
  HOLDS(error_of(&b, "a").text, "compressed (zip method 8)", "compressed");
  m[0] = (zip_member){.name = "a.npy", .data = "12345678", .size = 8, .flags = 1};
  b = make_zip(1, m, "");
  HOLDS(error_of(&b, "a").text, "encrypted", "encrypted");
  m[0].flags = 0;
  b = make_zip(1, m, "");
  zip.data[36] ^= 1; /* the data begin at 35 */
  ein_npz_member found;
  OK(ein_npz_find(&b, "a", &found, NULL) == EIN_OK && ein_npz_check(&found, NULL) == EIN_ERR_FORMAT,
     "a flipped bit");
  b = make_zip(1, m, "");
  zip.data[30] = 'z';
  HOLDS(error_of(&b, "a").text, "name differs", "two names");
  b = make_zip(1, m, "");
  ein_le_put(zip.data + 43 + 24, 4, 9);
  HOLDS(error_of(&b, "a").text, "two sizes", "two sizes");
  ein_le_put(zip.data + 43 + 20, 4, 9);
  HOLDS(error_of(&b, "a").text, "outside the file", "a size over the directory");
  b = make_zip(1, m, "");
  ein_le_put(zip.data + 43 + 42, 4, 0xFFFFFFF0u);
  HOLDS(error_of(&b, "a").text, "outside the file", "an offset past the end");
  b = make_zip(1, m, "");
  ein_le_put(zip.data + zip.size - 22 + 10, 2, 2);
  ein_le_put(zip.data + zip.size - 22 + 8, 2, 2);
  OK(error_of(&b, "a").status == EIN_ERR_FORMAT, "a count too large");
  OK(error_of(
         &(ein_bytes){.name = "x", .memory = (const unsigned char *)"hello", .fd = -1, .size = 5},
         "a")
             .status == EIN_ERR_FORMAT,
     "no zip at all");
}

static void test_cut(void) {
  for (int zip64 = 0; zip64 < 2; zip64++) {
    const zip_member m[] = {{.name = "a.npy", .data = "12345678", .size = 8, .zip64 = zip64}};
    make_zip(1, m, "");
    int good = 1;
    for (size_t n = 0; n < zip.size; n++) {
      ein_bytes b;
      ein_bytes_from_memory(&b, "memory", zip.data, n);
      good &= error_of(&b, "a").status != EIN_OK;
    }
    OK(good, "cut anywhere, zip64 %d", zip64);
    /* Any one byte changed: an error or a member inside the file, never a crash. */
    for (size_t at = 0; at < zip.size; at++) {
      ein_bytes b = blob_bytes(&zip);
      ein_npz_member found;
      unsigned char old = zip.data[at];
      for (int v = 0; v < 256; v += 15) {
        zip.data[at] = (unsigned char)v;
        if (ein_npz_find(&b, "a", &found, NULL) == EIN_OK)
          good &= found.bytes.start + found.bytes.size <= zip.size;
      }
      zip.data[at] = old;
    }
    OK(good, "any byte changed, zip64 %d", zip64);
  }
}

int main(void) {
  test_names();
  test_zip64();
  test_refused();
  test_cut();
  return DONE();
}
