/* grammar/scan.re - the scanner. In come the bytes of a file, UTF-8 or not; out goes one token a call.
 * What no program may hold is reported and stepped over, and the scanner goes on. Every byte is looked
 * at a bounded number of times, whatever the file. See front/parse/scan.h for the face, front/parse/token.h for the words. */
#include "front/parse/scan.h"

#include <string.h>

#include "base/utf8.h"

typedef unsigned char YYCTYPE;

static uint32_t offset(const Scanner *s, const YYCTYPE *p) {
  return (uint32_t)(p - (const YYCTYPE *)s->bytes);
}

static void fault(Scanner *s, Fault f, const YYCTYPE *at, const YYCTYPE *end) {
  if (s->fault) s->fault(s->env, f, offset(s, at), offset(s, end));
}

/* Past all the bytes from p on that belong to no character, as one complaint. */
static const YYCTYPE *bad_bytes(Scanner *s, const YYCTYPE *p) {
  const YYCTYPE *end = (const YYCTYPE *)s->end, *from = p++;
  uint32_t c;
  while (p < end && !utf8_read((const char *)p, (size_t)(end - p), &c)) p++;
  fault(s, FAULT_UTF8, from, p);
  return p;
}

/*!re2c
  re2c:define:YYCURSOR = cursor;
  re2c:define:YYLIMIT = limit;
  re2c:define:YYMARKER = marker;
  re2c:yyfill:enable = 0;
  re2c:eof = 0;
  re2c:encoding-policy = fail;
*/
/*!include:re2c "unicode_categories.re" */
/*!re2c
  any      = [\x00-\uD7FF\uE000-\U0010FFFF];
  nul      = [\x00];
  bom      = [\uFEFF];
  bidi     = [\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069];
  blank    = [ \t];
  newline  = "\n" | "\r\n";
  plain    = any \ (nul | bom | bidi | [\r\n]);
  curly    = [\u201C-\u201F];

  digit    = [0-9];
  start    = L | Nl | "_";
  inner    = start | Nd | Mn | Mc;
  name     = start inner* "'"*;
  int      = digit+;
  exponent = [eE] [+\-]? digit+;
  real     = int ("." int)? exponent | int "." int;
*/

/* The rest of a comment, up to the newline. */
static void comment(Scanner *s, const YYCTYPE *start) {
  const YYCTYPE *cursor = start, *limit = (const YYCTYPE *)s->end, *marker = limit, *from;
  for (;;) {
    from = cursor;
    /*!re2c
      plain+       { continue; }
      newline      { break; }
      $            { break; }
      "\r"         { fault(s, FAULT_CR, from, cursor); continue; }
      nul          { fault(s, FAULT_NUL, from, cursor); continue; }
      bom          { fault(s, FAULT_BOM, from, cursor); continue; }
      bidi         { fault(s, FAULT_BIDI, from, cursor); continue; }
      *            { cursor = bad_bytes(s, from); continue; }
    */
  }
  s->at = (const char *)from;
  if (s->comment) s->comment(s->env, offset(s, start), offset(s, from));
}

/* The rest of a string, past its closing quote or up to the newline that it lacks one before. */
static void string(Scanner *s, const YYCTYPE *start) {
  const YYCTYPE *cursor = start + 1, *limit = (const YYCTYPE *)s->end, *marker = limit, *from;
  for (;;) {
    from = cursor;
    /*!re2c
      "\""         { break; }
      (plain \ ["])+ { continue; }
      newline      { cursor = from; fault(s, FAULT_STRING, start, from); break; }
      $            { fault(s, FAULT_STRING, start, from); break; }
      "\r"         { fault(s, FAULT_CR, from, cursor); continue; }
      nul          { fault(s, FAULT_NUL, from, cursor); continue; }
      bom          { fault(s, FAULT_BOM, from, cursor); continue; }
      bidi         { fault(s, FAULT_BIDI, from, cursor); continue; }
      *            { cursor = bad_bytes(s, from); continue; }
    */
  }
  s->at = (const char *)cursor;
}

/* Past what a malformed number drags along. */
static const YYCTYPE *word_end(const Scanner *s, const YYCTYPE *cursor) {
  const YYCTYPE *limit = (const YYCTYPE *)s->end, *marker = limit, *from;
  for (;;) {
    from = cursor;
    /*!re2c
      inner | ['.]  { continue; }
      *             { return from; }
      $             { return from; }
    */
  }
}

void scan_start(Scanner *s, const char *bytes, uint32_t len) {
  s->bytes = s->at = bytes;
  s->end = bytes + len;
  s->line_start = 0;
  s->newline = false;
  if (len >= 3 && bytes[0] == '\xEF' && bytes[1] == '\xBB' && bytes[2] == '\xBF') s->at += 3;
}

/* The token's kind; *start is where it begins, s->at behind it. */
static int word(Scanner *s, const YYCTYPE **start) {
  const YYCTYPE *cursor = (const YYCTYPE *)s->at, *limit = (const YYCTYPE *)s->end, *marker = limit, *from;
#define GIVE(k) do { s->at = (const char *)cursor; *start = from; return TOK_##k; } while (0)
#define FAULTY(f, k) do { fault(s, f, from, cursor); GIVE(k); } while (0)
  for (;;) {
    from = cursor;
    /*!re2c
      blank+       { continue; }
      newline      { s->newline = true; s->line_start = offset(s, cursor); continue; }
      "#"          { comment(s, from); cursor = (const YYCTYPE *)s->at; continue; }
      $            { GIVE(EOF); }

      "dim"        { GIVE(DIM); }
      "input"      { GIVE(INPUT); }
      "param"      { GIVE(PARAM); }
      "output"     { GIVE(OUTPUT); }
      "state"      { GIVE(STATE); }
      "next"       { GIVE(NEXT); }
      "repeat"     { GIVE(REPEAT); }
      "until"      { GIVE(UNTIL); }
      "def"        { GIVE(DEF); }
      "monoid"     { GIVE(MONOID); }
      "extern"     { GIVE(EXTERN); }
      "identity"   { GIVE(IDENTITY); }
      "adjoint"    { GIVE(ADJOINT); }
      "use"        { GIVE(USE); }
      "assert"     { GIVE(ASSERT); }
      "where"      { GIVE(WHERE); }
      "if"         { GIVE(IF); }
      "then"       { GIVE(THEN); }
      "else"       { GIVE(ELSE); }
      "and"        { GIVE(AND); }
      "or"         { GIVE(OR); }
      "not"        { GIVE(NOT); }

      "sum" | "prod" | "max" | "min" | "fmax" | "fmin" | "any" | "all" |
      "mean" | "argmax" | "argmin" | "logsumexp" | [\u03A3\u2211] { GIVE(REDUCER); }
      "count"      { GIVE(COUNT); }
      "f64" | "f32" | "f16" | "bf16" | "i64" | "i32" | "i16" | "i8" | "u8" | "bool" { GIVE(DTYPE); }
      "inf" | "nan" | "pi" | "true" | "false" | [\u03C0\u221E] { GIVE(CONST); }
      [\u03A3\u2211\u03C0\u221E] "'"+ { FAULTY(FAULT_SIGN_PRIME, BAD); }

      name         { GIVE(ID); }
      int          { GIVE(INT); }
      real         { GIVE(REAL); }
      (int | real) ("." | "'" | start) | "." int { cursor = word_end(s, cursor); FAULTY(FAULT_NUMBER, REAL); }
      "\""         { string(s, from); cursor = (const YYCTYPE *)s->at; GIVE(STRING); }
      curly (plain \ (curly | ["]))* (curly | ["]) { FAULTY(FAULT_QUOTES, BAD); }

      "("          { GIVE(LP); }
      ")"          { GIVE(RP); }
      "["          { GIVE(LB); }
      "]"          { GIVE(RB); }
      "{"          { GIVE(LC); }
      "}"          { GIVE(RC); }
      ","          { GIVE(COMMA); }
      ":"          { GIVE(COLON); }
      ";"          { GIVE(SEMI); }
      "=" | [\u2190] { GIVE(ASSIGN); }
      "=="         { GIVE(EQ); }
      "!=" | [\u2260] { GIVE(NE); }
      "<"          { GIVE(LT); }
      "<=" | [\u2264] { GIVE(LE); }
      ">"          { GIVE(GT); }
      ">=" | [\u2265] { GIVE(GE); }
      "+"          { GIVE(PLUS); }
      "-"          { GIVE(MINUS); }
      "*" | [\xD7\xB7\u22C5] { GIVE(STAR); }
      "/"          { GIVE(SLASH); }
      "//"         { GIVE(IDIV); }
      "%"          { GIVE(PERCENT); }
      "^"          { GIVE(CARET); }
      "??"         { GIVE(ORELSE); }

      "&&" | "&" | "||" | "|" | "!" | "**" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "//=" |
      "**=" | "??=" | ":=" | "<>" | "===" | "!==" | "=>" | "->" | [\u2212\u2227\u2228\xAC] { GIVE(SLIP); }

      nul          { FAULTY(FAULT_NUL, BAD); }
      "\r"         { fault(s, FAULT_CR, from, cursor); s->newline = true; s->line_start = offset(s, cursor); continue; }
      bom          { FAULTY(FAULT_BOM, BAD); }
      bidi         { FAULTY(FAULT_BIDI, BAD); }
      any          { FAULTY(FAULT_CHAR, BAD); }
      *            { cursor = bad_bytes(s, from); GIVE(BAD); }
    */
  }
}

/* `from "a.weight"`: with a string behind them `from` and `to` are words; else they name what they like. */
static int before_string(const Scanner *s, const char *start) {
  size_t n = (size_t)(s->at - start);
  bool from = n == 4 && memcmp(start, "from", 4) == 0, to = n == 2 && memcmp(start, "to", 2) == 0;
  const char *next = s->at;
  while (next < s->end && (*next == ' ' || *next == '\t')) next++;
  return (from || to) && next < s->end && *next == '"' ? (from ? TOK_FROM : TOK_TO) : TOK_ID;
}

Token scan(Scanner *s) {
  const YYCTYPE *start = NULL;
  s->newline = false;
  int kind = word(s, &start);
  if (kind == TOK_ID) kind = before_string(s, (const char *)start);
  return (Token){offset(s, start), (uint32_t)(s->at - s->bytes), kind};
}
