/* codegen/jit/object_machine.c - relocations of x86-64 and AArch64 that occur in position-independent code. */
#include <elf.h>
#include <string.h>

#include "object_inside.h"

static const char not_known[] = "a kind of relocation that is not known", far_away[] = "too far away";

#if defined(__x86_64__)

const int object_machine = EM_X86_64;

/* jmp *address(%rip) */
void object_stub(const ObjectPlaces *o, uint32_t symbol) {
  char *stub = o->stub + (size_t)symbol * OBJECT_STUB;
  int32_t way = (int32_t)((char *)&o->address[symbol] - (stub + 6));
  memcpy(stub, "\xff\x25", 2);
  memcpy(stub + 2, &way, sizeof way);
}

uint32_t object_width(uint32_t kind) {
  return kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
}

static const char *near_put(char *at, int64_t way) {
  int32_t x = (int32_t)way;
  if (x != way) return far_away;
  memcpy(at, &x, sizeof x);
  return NULL;
}

const char *object_relocate(const ObjectPlaces *o, uint32_t kind, char *at, uint32_t symbol, int64_t addend) {
  int64_t here = (int64_t)(uintptr_t)at, there = (int64_t)(uintptr_t)o->symbol[symbol] + addend;
  switch (kind) {
  case R_X86_64_NONE: return NULL;
  case R_X86_64_64: memcpy(at, &there, 8); return NULL;
  case R_X86_64_PC64: there -= here; memcpy(at, &there, 8); return NULL;
  case R_X86_64_PC32: return near_put(at, there - here);
  case R_X86_64_PLT32:
    if (!near_put(at, there - here)) return NULL;
    return near_put(at, (int64_t)(uintptr_t)(o->stub + (size_t)symbol * OBJECT_STUB) + addend - here);
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX: return near_put(at, (int64_t)(uintptr_t)&o->address[symbol] + addend - here);
  default: return not_known;
  }
}

#elif defined(__aarch64__)

const int object_machine = EM_AARCH64;

static void word_change(char *at, uint32_t mask, uint32_t bits) {
  uint32_t w;
  memcpy(&w, at, sizeof w);
  w = (w & ~mask) | (bits & mask);
  memcpy(at, &w, sizeof w);
}

/* adrp x16, page */
static const char *page_put(char *at, uint64_t to) {
  int64_t pages = (int64_t)(to >> 12) - (int64_t)((uint64_t)(uintptr_t)at >> 12);
  uint32_t x = (uint32_t)pages;
  if (pages < -(1 << 20) || pages >= 1 << 20) return far_away;
  word_change(at, 3u << 29 | 0x7FFFFu << 5, (x & 3) << 29 | (x >> 2 & 0x7FFFF) << 5);
  return NULL;
}

/* The lower 12 bits, counted in units of 1 << shift bytes. */
static const char *low_put(char *at, uint64_t to, int shift) {
  word_change(at, 0xFFFu << 10, (uint32_t)((to & 0xFFF) >> shift) << 10);
  return NULL;
}

/* adrp x16; ldr x16, [x16, low]; br x16 */
void object_stub(const ObjectPlaces *o, uint32_t symbol) {
  static const uint32_t code[] = {0x90000010u, 0xF9400210u, 0xD61F0200u};
  char *stub = o->stub + (size_t)symbol * OBJECT_STUB;
  uint64_t to = (uint64_t)(uintptr_t)&o->address[symbol];
  memcpy(stub, code, sizeof code);
  page_put(stub, to);
  low_put(stub + 4, to, 3);
}

uint32_t object_width(uint32_t kind) {
  return kind == R_AARCH64_ABS64 || kind == R_AARCH64_PREL64 ? 8 : 4;
}

static const char *call_put(char *at, int64_t way) {
  if (way < -(1 << 27) || way >= 1 << 27 || way & 3) return far_away;
  word_change(at, 0x3FFFFFFu, (uint32_t)(way >> 2));
  return NULL;
}

const char *object_relocate(const ObjectPlaces *o, uint32_t kind, char *at, uint32_t symbol, int64_t addend) {
  uint64_t here = (uint64_t)(uintptr_t)at, there = (uint64_t)(uintptr_t)o->symbol[symbol] + (uint64_t)addend;
  uint64_t address = (uint64_t)(uintptr_t)&o->address[symbol];
  int64_t way = (int64_t)(there - here);
  int32_t short_way = (int32_t)way;
  switch (kind) {
  case R_AARCH64_NONE: return NULL;
  case R_AARCH64_ABS64: memcpy(at, &there, 8); return NULL;
  case R_AARCH64_PREL64: memcpy(at, &way, 8); return NULL;
  case R_AARCH64_PREL32:
    if (short_way != way) return far_away;
    memcpy(at, &short_way, 4);
    return NULL;
  case R_AARCH64_ADR_PREL_PG_HI21: return page_put(at, there);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC: return low_put(at, there, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC: return low_put(at, there, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC: return low_put(at, there, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC: return low_put(at, there, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC: return low_put(at, there, 4);
  case R_AARCH64_ADR_GOT_PAGE: return page_put(at, address);
  case R_AARCH64_LD64_GOT_LO12_NC: return low_put(at, address, 3);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    if (!call_put(at, way)) return NULL;
    return call_put(at, (int64_t)((uint64_t)(uintptr_t)(o->stub + (size_t)symbol * OBJECT_STUB) - here));
  default: return not_known;
  }
}

#else

const int object_machine = EM_NONE;
void object_stub(const ObjectPlaces *o, uint32_t symbol) { (void)o, (void)symbol; }
uint32_t object_width(uint32_t kind) { return (void)kind, 4; }
const char *object_relocate(const ObjectPlaces *o, uint32_t kind, char *at, uint32_t symbol, int64_t addend) {
  (void)o, (void)kind, (void)at, (void)symbol, (void)addend;
  return not_known;
}

#endif
