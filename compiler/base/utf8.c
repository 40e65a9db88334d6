/* base/utf8.c - decodes UTF-8, and has a small table instead of wcwidth, which depends on the locale. The ranges follow
 * Unicode's East Asian Width and general categories only roughly: an error misplaces a caret under a rare script, no
 * more. */
#include "utf8.h"

#include <stdio.h>

size_t utf8_read(const char *s, size_t n, uint32_t *c) {
  const unsigned char *p = (const unsigned char *)s;
  if (!n) return 0;
  if (p[0] < 0x80) {
    *c = p[0];
    return 1;
  }
  size_t k = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
  if (p[0] < 0xC2 || p[0] > 0xF4 || k > n) return 0;
  uint32_t x = p[0] & (0x7Fu >> k);
  for (size_t i = 1; i < k; i++) {
    if ((p[i] & 0xC0) != 0x80) return 0;
    x = x << 6 | (p[i] & 0x3Fu);
  }
  bool overlong = (k == 3 && x < 0x800) || (k == 4 && x < 0x10000);
  if (overlong || (x >= 0xD800 && x <= 0xDFFF) || x > 0x10FFFF) return 0;
  *c = x;
  return k;
}

size_t utf8_back(const char *s, size_t low, size_t at) {
  uint32_t c;
  for (size_t k = 1; k <= 4 && at - low >= k; k++)
    if (utf8_read(s + at - k, k, &c) == k) return at - k;
  return at > low ? at - 1 : low;
}

typedef struct Range { uint32_t from, to; } Range;

static const Range hidden[] = {
  {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E},
  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB},
  {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F},
};

static const Range combining[] = {
  {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x5BF, 0x5BF},   {0x5C1, 0x5C2},
  {0x5C4, 0x5C5},   {0x610, 0x61A},   {0x64B, 0x65F},   {0x670, 0x670},   {0x6D6, 0x6DC},
  {0x6DF, 0x6E4},   {0x6E7, 0x6E8},   {0x6EA, 0x6ED},   {0x900, 0x902},   {0x93C, 0x93C},
  {0x941, 0x948},   {0x94D, 0x94D},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0xE47, 0xE4E},
  {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0x302A, 0x302D},
  {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

static const Range wide[] = {
  {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
  {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
  {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
  {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
  {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
  {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
  {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
  {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
  {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
  {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
  {0x16FE0, 0x18CFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
  {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F265}, {0x1F300, 0x1F64F},
  {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
  {0x20000, 0x3FFFD},
};

static bool within(const Range *r, size_t n, uint32_t c) {
  size_t lo = 0;
  while (n > 0) {
    size_t half = n / 2;
    if (r[lo + half].to < c) {
      lo += half + 1;
      n -= half + 1;
    } else if (r[lo + half].from > c) {
      n = half;
    } else {
      return true;
    }
  }
  return false;
}

int utf8_width(uint32_t c) {
  if (c >= 0x20 && c < 0x7F) return 1;
  if (within(combining, COUNT(combining), c)) return 0;
  return within(wide, COUNT(wide), c) ? 2 : 1;
}

bool utf8_hides(uint32_t c) {
  if (c >= 0x20 && c < 0x7F) return false;
  return within(hidden, COUNT(hidden), c) || (c & 0xFFFE) == 0xFFFE;
}

size_t utf8_show(Buf *b, const char *s, size_t n, int *width) {
  uint32_t c;
  char text[16];
  size_t k = utf8_read(s, n, &c);
  if (k && c == '\t') {
    *width = snprintf(text, sizeof text, "    ");
  } else if (k && !utf8_hides(c)) {
    *width = utf8_width(c);
    if (b) buf_add(b, s, k);
    return k;
  } else if (k && c >= 0x80) {
    *width = snprintf(text, sizeof text, "\\u{%x}", (unsigned)c);
  } else {
    *width = snprintf(text, sizeof text, "\\x%02x", (unsigned)(unsigned char)s[0]);
    k = 1;
  }
  if (b) buf_str(b, text);
  return k;
}
