/* tests/cuda/counts.h - what a device's memory has to do for a kernel, counted by the emulation: in come the accesses
 * of a block's threads between two barriers, out goes a line for each kernel. Threads of a warp that access by the same
 * statement, for the so many-th time each, do so at once: that is one request. For one to a buffer pieces of 32 bytes
 * are moved, each whole; a request to a shared array takes as many turns as there are different words in one of the 32
 * banks, of 8 bytes half a warp at a time, of 16 a quarter. Neighbours that a thread accesses one behind the other by
 * one statement are one access of up to 16 bytes, if they begin at a multiple of what they are: so does a compiler,
 * which knows that arrays and buffers begin at such. Caches are none: what two requests want is moved twice. Counted
 * where EIN_EMULATE_COUNTS names a file. */
#ifndef EIN_COUNTS_H
#define EIN_COUNTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace counts {

struct Access { uint32_t thread; const void *by; uint32_t time; const char *at; uint32_t bytes; bool shared, store; };
/* least: bytes that are touched at all, each once in a launch; wanted: by requests, each once; turns: of requests to
 * shared arrays. */
struct Kernel { uint64_t launches, least, wanted, moved, requests, turns; };

struct All {
  const char *path = getenv("EIN_EMULATE_COUNTS");
  std::map<std::string, Kernel> kernels;
  Kernel *at = NULL;
  std::vector<Access> open; /* since the last barrier */
  ~All() {
    FILE *f = path ? fopen(path, "a") : NULL;
    for (auto &k : kernels) {
      if (!f) break;
      const Kernel &x = k.second;
      fprintf(f,
          "%s: %llu launches, %llu bytes touched, %llu moved, %.1f %% of it wanted, %.1f %% of turns are conflicts\n",
          k.first.c_str(), (unsigned long long)x.launches, (unsigned long long)x.least, (unsigned long long)x.moved,
          x.moved ? 100.0 * (double)x.wanted / (double)x.moved : 100.0,
          x.turns ? 100.0 * (double)(x.turns - x.requests) / (double)x.turns : 0.0);
    }
    if (f) fclose(f);
  }
};

static inline All &all() {
  static All a;
  return a;
}

static inline void begin(const char *kernel) {
  if (!all().path) return;
  all().at = &all().kernels[kernel];
  all().at->launches++;
}

static inline void access(
    uint32_t thread, const void *by, const void *at, size_t bytes, bool shared, bool store, bool first = false) {
  All &a = all();
  if (!a.path || !a.at) return;
  a.open.push_back({thread, by, 0, (const char *)at, (uint32_t)bytes, shared, store});
  if (first) a.at->least += bytes;
}

/* How many pieces of so many bytes they lie in. */
static inline uint64_t pieces(const Access *x, size_t n, uintptr_t size) {
  std::vector<uintptr_t> p;
  for (size_t i = 0; i < n; i++)
    for (uintptr_t at = (uintptr_t)x[i].at / size; at <= ((uintptr_t)x[i].at + x[i].bytes - 1) / size; at++)
      p.push_back(at);
  std::sort(p.begin(), p.end());
  return (uint64_t)(std::unique(p.begin(), p.end()) - p.begin());
}

/* Turns of a request to a shared array; parts: so many requests it is, each by a part of the warp. */
static inline uint64_t turns(const Access *x, size_t n, uint64_t *parts) {
  uint32_t wide = 4;
  for (size_t i = 0; i < n; i++) wide = std::max(wide, x[i].bytes);
  uint64_t most[4] = {0};
  std::map<uintptr_t, bool> seen[4];
  uint64_t bank[4][32] = {{0}};
  for (size_t i = 0; i < n; i++) {
    uint32_t part = x[i].thread % 32 / (128 / wide);
    for (uintptr_t word = (uintptr_t)x[i].at / 4; word <= ((uintptr_t)x[i].at + x[i].bytes - 1) / 4; word++) {
      if (seen[part][word]) continue;
      seen[part][word] = true;
      most[part] = std::max(most[part], ++bank[part][word % 32]);
    }
  }
  for (int k = 0; k < 4; k++) *parts += most[k] > 0;
  return most[0] + most[1] + most[2] + most[3];
}

static inline void request(const Access *x, size_t n) {
  Kernel *k = all().at;
  if (x->shared) {
    k->turns += turns(x, n, &k->requests);
    return;
  }
  uint32_t unit = x->bytes;
  for (size_t i = 0; i < n; i++) unit = std::min(unit, x[i].bytes);
  k->wanted += pieces(x, n, unit) * unit;
  k->moved += pieces(x, n, 32) * 32;
}

/* So many bytes of one thread and statement, in their order from the first on, are neighbours and begin at a multiple
 * of all of them; 16 at most. */
static inline uint32_t run(const std::vector<Access> &o, size_t i, uint32_t most) {
  uint32_t whole = o[i].bytes;
  for (size_t n = 1; i + n < o.size() && o[i + n].thread == o[i].thread && o[i + n].by == o[i].by &&
       o[i + n].at == o[i].at + whole && whole < most;
       n++)
    whole += o[i].bytes;
  while (whole > o[i].bytes && (16 % whole || (uintptr_t)o[i].at % whole)) whole -= o[i].bytes;
  return whole;
}

/* Neighbours become one, as compilers make them: as many as all of the statement's are. */
static inline void widen(std::vector<Access> &o) {
  std::map<const void *, uint32_t> most;
  for (size_t i = 0; i < o.size();) {
    uint32_t whole = run(o, i, 16), &least = most.emplace(o[i].by, whole).first->second;
    least = std::min(least, whole);
    i += whole / o[i].bytes;
  }
  size_t to = 0;
  for (size_t i = 0, n; i < o.size(); i += n) {
    uint32_t whole = run(o, i, std::max(most[o[i].by], o[i].bytes));
    n = whole / o[i].bytes;
    o[to] = o[i];
    o[to++].bytes = whole;
  }
  o.resize(to);
}

/* At a barrier, or the end of a block. */
static inline void settle() {
  std::vector<Access> &o = all().open;
  if (o.empty()) return;
  std::stable_sort(o.begin(), o.end(),
      [](const Access &a, const Access &b) { return a.thread != b.thread ? a.thread < b.thread : a.by < b.by; });
  widen(o);
  for (size_t i = 1; i < o.size(); i++)
    o[i].time = o[i].thread == o[i - 1].thread && o[i].by == o[i - 1].by ? o[i - 1].time + 1 : 0;
  auto key = [](const Access &a, const Access &b) {
    if (a.thread / 32 != b.thread / 32) return a.thread / 32 < b.thread / 32;
    return a.by != b.by ? a.by < b.by : a.time < b.time;
  };
  std::stable_sort(o.begin(), o.end(), key);
  for (size_t i = 0, n; i < o.size(); i += n) {
    for (n = 1; i + n < o.size() && !key(o[i], o[i + n]) && !key(o[i + n], o[i]);) n++;
    request(&o[i], n);
  }
  o.clear();
}

}

#endif
