/* driver/memory.c - how much memory there is, including a container's limit. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

/* The start of a small file, NUL-terminated; false if there is none. */
static bool file_head(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  if (n >= 0) text[n] = 0;
  return n >= 0;
}

/* The number at the start of a file, or after a word in it; -1 if there is none. */
static int64_t number_in(const char *path, const char *behind) {
  char text[8192];
  int64_t v;
  if (!file_head(path, text, sizeof text)) return -1;
  const char *at = behind ? strstr(text, behind) : text;
  if (!at) return -1;
  if (behind) at += strlen(behind);
  at += strspn(at, " \t");
  return int64_read(at, strspn(at, "0123456789"), &v) ? v : -1;
}

static const struct { const char *most, *now, *stat, *cache;
} groups[] = {
    {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file "},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file "}};

int64_t memory_here(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  int64_t all = pages > 0 && size > 0 ? pages * size : 0;
  for (size_t i = 0; i < COUNT(groups); i++) {
    int64_t most = number_in(groups[i].most, NULL); /* without a limit it is `max`, or a number beyond all memory */
    if (most > 0 && (!all || most < all)) all = most;
  }
  return all;
}

int64_t memory_free(void) {
  int64_t kib = number_in("/proc/meminfo", "MemAvailable:"), all = kib > 0 ? kib * 1024 : 0;
  for (size_t i = 0; i < COUNT(groups); i++) {
    int64_t most = number_in(groups[i].most, NULL), now = number_in(groups[i].now, NULL);
    int64_t cache = number_in(groups[i].stat, groups[i].cache); /* released on demand */
    if (most <= 0 || now < 0) continue;
    int64_t left = most - now + (cache > 0 ? cache : 0);
    if (left < 0) left = 0;
    if (!all || left < all) all = left;
  }
  return all;
}
