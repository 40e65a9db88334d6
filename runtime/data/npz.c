/* SPDX-License-Identifier: MIT-0 */
/*
 * Stored .npz archives: a zip in a byte source and a member's name in, the member's bytes out. Only the central
 * directory is trusted for sizes (as zip requires), the local header must agree on the name, and every range is
 * checked against the file. Compressed and encrypted members are refused, by name.
 */
#include "array.h"

#include <stdlib.h>
#include <string.h>

enum {
  END_SIZE = 22,       /* end of central directory, without its comment */
  END64_SIZE = 56,     /* the same for zip64 */
  LOCATOR_SIZE = 20,   /* locates the zip64 record; directly before the end record */
  ENTRY_SIZE = 46,     /* a central directory entry, without name, extra, comment */
  LOCAL_SIZE = 30,     /* a member's own header, without name and extra */
  NAME_MAX_READ = 1024 /* members with longer names cannot be requested */
};

typedef struct directory {
  uint64_t at, size, count;
} directory;

typedef struct entry {
  unsigned flags, method;
  uint32_t crc;
  uint64_t stored, size, header_at;
  size_t name_length;
  char name[NAME_MAX_READ + 1]; /* empty if longer */
  uint64_t next;
} entry;

static ein_status bad_zip(const ein_bytes *zip, const char *what, ein_error *err) {
  return ein_error_set(err, EIN_ERR_FORMAT, "%s: bad .npz (zip) file: %s", zip->name, what);
}

/* ---- the central directory ---- */

/* Finds the end record: the last place whose comment ends exactly at the end of the file. */
static ein_status find_end(const ein_bytes *zip, uint64_t *at, ein_error *err) {
  if (zip->size < END_SIZE) return bad_zip(zip, "too short", err);
  uint64_t n = zip->size < END_SIZE + 65535 ? zip->size : END_SIZE + 65535;
  unsigned char *tail = malloc((size_t)n);
  if (!tail) return ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", zip->name);
  ein_status status = ein_bytes_read(zip, zip->size - n, tail, n, err);
  int found = 0;
  for (uint64_t k = n - END_SIZE + 1; status == EIN_OK && !found && k-- > 0;) {
    if (ein_le(tail + k, 4) == 0x06054b50u && ein_le(tail + k + 20, 2) == n - k - END_SIZE) {
      found = 1;
      *at = zip->size - n + k;
    }
  }
  free(tail);
  if (status == EIN_OK && !found) status = bad_zip(zip, "no end-of-directory record", err);
  return status;
}

static ein_status read_end64(const ein_bytes *zip, uint64_t end_at, directory *dir, uint64_t *limit,
                             ein_error *err) {
  unsigned char p[END64_SIZE];
  if (end_at < LOCATOR_SIZE) return bad_zip(zip, "no zip64 locator", err);
  ein_status status = ein_bytes_read(zip, end_at - LOCATOR_SIZE, p, LOCATOR_SIZE, err);
  if (status != EIN_OK) return status;
  uint64_t at = ein_le(p + 8, 8);
  if (ein_le(p, 4) != 0x07064b50u || at > end_at - LOCATOR_SIZE ||
      end_at - LOCATOR_SIZE - at < END64_SIZE)
    return bad_zip(zip, "bad zip64 locator", err);
  status = ein_bytes_read(zip, at, p, END64_SIZE, err);
  if (status != EIN_OK) return status;
  if (ein_le(p, 4) != 0x06064b50u) return bad_zip(zip, "bad zip64 end-of-directory record", err);
  *dir =
      (directory){.count = ein_le(p + 32, 8), .size = ein_le(p + 40, 8), .at = ein_le(p + 48, 8)};
  *limit = at;
  return EIN_OK;
}

static ein_status find_directory(const ein_bytes *zip, directory *dir, ein_error *err) {
  unsigned char p[END_SIZE];
  uint64_t end_at = 0;
  ein_status status = find_end(zip, &end_at, err);
  if (status == EIN_OK) status = ein_bytes_read(zip, end_at, p, END_SIZE, err);
  if (status != EIN_OK) return status;
  if (ein_le(p + 4, 2) != ein_le(p + 6, 2) || ein_le(p + 8, 2) != ein_le(p + 10, 2))
    return bad_zip(zip, "split over several disks", err);
  *dir =
      (directory){.count = ein_le(p + 10, 2), .size = ein_le(p + 12, 4), .at = ein_le(p + 16, 4)};
  uint64_t limit = end_at;
  if (dir->count == 0xFFFF || dir->size == 0xFFFFFFFFu || dir->at == 0xFFFFFFFFu)
    status = read_end64(zip, end_at, dir, &limit, err);
  if (status == EIN_OK &&
      (dir->at > limit || dir->size > limit - dir->at || dir->count > dir->size / ENTRY_SIZE))
    status = bad_zip(zip, "its directory does not fit the file", err);
  return status;
}

/* Reads the 64-bit sizes of extra field 1; each is present only if the 32-bit one is all ones. */
static ein_status read_extra64(const ein_bytes *zip, uint64_t at, uint64_t length, entry *e,
                               ein_error *err) {
  uint64_t *const wide[3] = {&e->size, &e->stored, &e->header_at};
  unsigned char p[8];
  for (uint64_t end = at + length; end - at >= 4;) {
    ein_status status = ein_bytes_read(zip, at, p, 4, err);
    if (status != EIN_OK) return status;
    uint64_t kind = ein_le(p, 2), left = ein_le(p + 2, 2);
    at += 4;
    if (left > end - at) return bad_zip(zip, "an extra field runs over its entry", err);
    for (int i = 0; kind == 1 && i < 3; i++) {
      if (*wide[i] != 0xFFFFFFFFu) continue;
      if (left < 8) return bad_zip(zip, "a zip64 field is missing", err);
      status = ein_bytes_read(zip, at, p, 8, err);
      if (status != EIN_OK) return status;
      *wide[i] = ein_le(p, 8);
      at += 8;
      left -= 8;
    }
    at += left;
  }
  return EIN_OK;
}

static ein_status read_entry(const ein_bytes *zip, const directory *dir, uint64_t at, entry *e,
                             ein_error *err) {
  unsigned char p[ENTRY_SIZE];
  const uint64_t end = dir->at + dir->size;
  if (end - at < ENTRY_SIZE) return bad_zip(zip, "its directory ends too early", err);
  ein_status status = ein_bytes_read(zip, at, p, ENTRY_SIZE, err);
  if (status != EIN_OK) return status;
  uint64_t name = ein_le(p + 28, 2), extra = ein_le(p + 30, 2), comment = ein_le(p + 32, 2);
  if (ein_le(p, 4) != 0x02014b50u || name + extra + comment > end - at - ENTRY_SIZE)
    return bad_zip(zip, "a bad directory entry", err);
  e->flags = (unsigned)ein_le(p + 8, 2);
  e->method = (unsigned)ein_le(p + 10, 2);
  e->crc = (uint32_t)ein_le(p + 16, 4);
  e->stored = ein_le(p + 20, 4);
  e->size = ein_le(p + 24, 4);
  e->header_at = ein_le(p + 42, 4);
  e->name_length = (size_t)name;
  e->next = at + ENTRY_SIZE + name + extra + comment;
  size_t kept = name <= NAME_MAX_READ ? (size_t)name : 0;
  status = ein_bytes_read(zip, at + ENTRY_SIZE, e->name, kept, err);
  e->name[kept] = '\0';
  return status == EIN_OK ? read_extra64(zip, at + ENTRY_SIZE + name, extra, e, err) : status;
}

/* ---- choosing a member ---- */

static int ends_in_npy(const entry *e) {
  return e->name_length >= 4 && e->name_length <= NAME_MAX_READ &&
         memcmp(e->name + e->name_length - 4, ".npy", 4) == 0;
}

/* 2: the exact name; 1: the name without its .npy, or any array if no name was given; 0: no match. */
static int entry_fits(const entry *e, const char *name) {
  if (!name) return ends_in_npy(e);
  size_t length = strlen(name);
  if (length > NAME_MAX_READ || e->name_length < length || memcmp(e->name, name, length) != 0)
    return 0;
  return e->name_length == length ? 2 : ends_in_npy(e) && e->name_length == length + 4;
}

/* Members' names for a message; those that do not fit are replaced by "...". */
typedef struct name_list {
  char text[160];
  size_t used;
  int full;
} name_list;

static void list_name(name_list *list, const entry *e) {
  size_t length = strlen(e->name);
  if (list->full) return;
  list->full = length + 6 > sizeof list->text - list->used;
  const char *text = list->full ? "..." : e->name;
  list->text[list->used++] = ' ';
  memcpy(list->text + list->used, text, strlen(text) + 1);
  list->used += strlen(text);
}

static ein_status not_one(const ein_bytes *zip, const char *name, int fits, const name_list *list,
                          ein_error *err) {
  const char *held = list->used ? list->text : " nothing";
  if (!fits && name)
    return ein_error_set(err, EIN_ERR_ARG, "%s: it holds no array called %s; it holds:%s",
                         zip->name, ein_short_name(name), held);
  if (!fits)
    return ein_error_set(err, EIN_ERR_ARG, "%s: it holds no array; it holds:%s", zip->name, held);
  if (name)
    return ein_error_set(err, EIN_ERR_FORMAT, "%s: it holds two members called %s", zip->name,
                         ein_short_name(name));
  return ein_error_set(err, EIN_ERR_ARG, "%s: it holds several arrays; say which, as .npz:name:%s",
                       zip->name, held);
}

static ein_status choose(const ein_bytes *zip, const directory *dir, const char *name, entry *out,
                         ein_error *err) {
  name_list list = {.used = 0};
  int best = 0, several = 0;
  entry e;
  uint64_t at = dir->at;
  for (uint64_t k = 0; k < dir->count; k++, at = e.next) {
    ein_status status = read_entry(zip, dir, at, &e, err);
    if (status != EIN_OK) return status;
    list_name(&list, &e);
    int fits = entry_fits(&e, name);
    if (fits && fits == best) several = 1;
    if (fits > best) {
      several = 0;
      best = fits;
      *out = e;
    }
  }
  if (at != dir->at + dir->size)
    return bad_zip(zip, "its directory's count and size disagree", err);
  return best && !several ? EIN_OK : not_one(zip, name, best, &list, err);
}

/* ---- the member itself ---- */

static ein_status check_local(const ein_bytes *zip, const directory *dir, const entry *e,
                              uint64_t *data_at, ein_error *err) {
  unsigned char p[LOCAL_SIZE];
  char name[NAME_MAX_READ];
  if (e->header_at > dir->at || dir->at - e->header_at < LOCAL_SIZE)
    return bad_zip(zip, "a member lies outside the file", err);
  ein_status status = ein_bytes_read(zip, e->header_at, p, LOCAL_SIZE, err);
  if (status != EIN_OK) return status;
  if (ein_le(p, 4) != 0x04034b50u || ein_le(p + 26, 2) != e->name_length)
    return bad_zip(zip, "a member's header is not where the directory says", err);
  status = ein_bytes_read(zip, e->header_at + LOCAL_SIZE, name, e->name_length, err);
  if (status == EIN_OK && memcmp(name, e->name, e->name_length) != 0)
    status = bad_zip(zip, "a member's name differs from the directory's", err);
  *data_at = e->header_at + LOCAL_SIZE + e->name_length + ein_le(p + 28, 2);
  if (status == EIN_OK && (*data_at > dir->at || e->size > dir->at - *data_at))
    status = bad_zip(zip, "a member lies outside the file", err);
  return status;
}

static ein_status check_stored(const ein_bytes *zip, const entry *e, ein_error *err) {
  const char *name = ein_short_name(e->name);
  if (e->flags & 1)
    return ein_error_set(err, EIN_ERR_FORMAT, "%s: member %s is encrypted", zip->name, name);
  if (e->method != 0)
    return ein_error_set(
        err, EIN_ERR_FORMAT,
        "%s: member %s is compressed (zip method %u); only stored members are read: write it "
        "with numpy.savez, not savez_compressed",
        zip->name, name, e->method);
  if (e->stored != e->size) return bad_zip(zip, "a stored member has two sizes", err);
  return EIN_OK;
}

static ein_status list_entry(const ein_bytes *zip, const directory *dir, const entry *e,
                             ein_array_seen seen, void *user, ein_error *err) {
  uint64_t data_at = 0;
  ein_array a;
  ein_status status = check_stored(zip, e, err);
  if (status == EIN_OK) status = check_local(zip, dir, e, &data_at, err);
  if (status != EIN_OK) return status;
  ein_bytes member = ein_bytes_window(zip, data_at, e->size);
  status = ein_npy_header(&member, &a, err);
  a.at += data_at;
  return status == EIN_OK ? seen(user, e->name, e->name_length - 4, &a, NULL, err) : status;
}

ein_status ein_npz_each(const ein_bytes *zip, ein_array_seen seen, void *user, ein_error *err) {
  directory dir = {0};
  entry e;
  ein_status status = find_directory(zip, &dir, err);
  uint64_t at = dir.at;
  for (uint64_t k = 0; k < dir.count && status == EIN_OK; k++, at = e.next) {
    status = read_entry(zip, &dir, at, &e, err);
    if (status == EIN_OK && ends_in_npy(&e)) status = list_entry(zip, &dir, &e, seen, user, err);
  }
  if (status == EIN_OK && at != dir.at + dir.size)
    status = bad_zip(zip, "its directory's count and size disagree", err);
  return status;
}

ein_status ein_npz_find(const ein_bytes *zip, const char *name, ein_npz_member *out,
                        ein_error *err) {
  directory dir = {0};
  entry e;
  ein_status status = find_directory(zip, &dir, err);
  if (status == EIN_OK) status = choose(zip, &dir, name, &e, err);
  if (status == EIN_OK) status = check_stored(zip, &e, err);
  uint64_t data_at = 0;
  if (status == EIN_OK) status = check_local(zip, &dir, &e, &data_at, err);
  if (status == EIN_OK)
    *out = (ein_npz_member){.bytes = ein_bytes_window(zip, data_at, e.size), .crc = e.crc};
  return status;
}

ein_status ein_npz_check(const ein_npz_member *member, ein_error *err) {
  uint32_t table[256], crc = 0xFFFFFFFFu;
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
  }
  unsigned char chunk[16384];
  uint64_t at = 0;
  while (at < member->bytes.size) {
    uint64_t n = member->bytes.size - at < sizeof chunk ? member->bytes.size - at : sizeof chunk;
    ein_status status = ein_bytes_read(&member->bytes, at, chunk, n, err);
    if (status != EIN_OK) return status;
    for (uint64_t k = 0; k < n; k++) crc = crc >> 8 ^ table[(crc ^ chunk[k]) & 0xFF];
    at += n;
  }
  if (~crc != member->crc)
    return bad_zip(&member->bytes, "a member's bytes do not match its checksum", err);
  return EIN_OK;
}
