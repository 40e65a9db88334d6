/*
 * Handmade files for the runtime's tests: a growing byte string, a scratch folder that is removed
 * again, and whole files in and out.
 */
#ifndef EIN_TEST_SCRATCH_H
#define EIN_TEST_SCRATCH_H

#include "../tap.h"
#include "data/array.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A text, usually a message, that must hold another. */
#define HOLDS(met, part, ...) \
  tap_holds(OK(strstr((met), (part)) != NULL, __VA_ARGS__), (met), (part))

static inline void tap_holds(int good, const char *met, const char *part) {
  if (!good) {
    tap_text("met", met);
    tap_text("wanted in it", part);
  }
}

typedef struct blob {
  unsigned char data[1 << 16];
  size_t size;
} blob;

static inline void blob_put(blob *b, const void *p, size_t n) {
  memcpy(b->data + b->size, p, n);
  b->size += n;
}

static inline void blob_text(blob *b, const char *text) {
  blob_put(b, text, strlen(text));
}

static inline void blob_le(blob *b, uint64_t value, int bytes) {
  ein_le_put(b->data + b->size, bytes, value);
  b->size += (size_t)bytes;
}

/* A .npy file: version, header text as it is, then the elements' bytes. */
static inline void blob_npy(blob *b, int version, const char *header, const void *data, size_t n) {
  blob_put(b, "\x93NUMPY", 6);
  blob_le(b, (uint64_t)version, 2);
  blob_le(b, strlen(header), version == 1 ? 2 : 4);
  blob_text(b, header);
  blob_put(b, data, n);
}

static inline ein_bytes blob_bytes(const blob *b) {
  ein_bytes bytes;
  ein_bytes_from_memory(&bytes, "memory", b->data, b->size);
  return bytes;
}

typedef struct scratch {
  char folder[64];
  char path[512];
} scratch;

static inline int scratch_begin(scratch *s) {
  strcpy(s->folder, "/tmp/ein-test-XXXXXX");
  return mkdtemp(s->folder) != NULL;
}

static inline const char *scratch_path(scratch *s, const char *name) {
  snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
  return s->path;
}

static inline void scratch_write(scratch *s, const char *name, const void *data, size_t n) {
  FILE *f = fopen(scratch_path(s, name), "wb");
  if (f) {
    fwrite(data, 1, n, f);
    fclose(f);
  }
}

static inline size_t scratch_read(scratch *s, const char *name, void *data, size_t most) {
  FILE *f = fopen(scratch_path(s, name), "rb");
  size_t n = f ? fread(data, 1, most, f) : 0;
  if (f) fclose(f);
  return n;
}

static inline int scratch_count(const scratch *s) {
  int n = 0;
  DIR *folder = opendir(s->folder);
  for (struct dirent *e; folder && (e = readdir(folder));)
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  if (folder) closedir(folder);
  return n;
}

static inline void scratch_end(scratch *s) {
  DIR *folder = opendir(s->folder);
  for (struct dirent *e; folder && (e = readdir(folder));) {
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        remove(scratch_path(s, e->d_name)) != 0)
      printf("# left behind: %s\n", s->path);
  }
  if (folder) closedir(folder);
  rmdir(s->folder);
}

#endif
