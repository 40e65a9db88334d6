/* driver/repl/complete.c - completions of a word at the prompt: a command, a file, or a name: of the sheet, a label
 * in it, a function, a definition of the standard library, a word of the language. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front/parse/scan.h"
#include "repl.h"

typedef struct Choices { Arena *arena; Texts all; const char *word; size_t n; } Choices;

static void choice(Choices *c, const char *name) {
  if (strncmp(name, c->word, c->n) != 0 || strlen(name) == c->n) return;
  for (uint32_t i = 0; i < c->all.len; i++)
    if (strcmp(c->all.at[i], name) == 0) return;
  vec_push(c->arena, c->all, arena_printf(c->arena, "%s", name));
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* Labels occur only in the input. */
static void names_in(Choices *c, const char *text) {
  Scanner s = {0};
  scan_start(&s, text, (uint32_t)strlen(text));
  for (Token t; (t = scan(&s)).kind != TOK_EOF;)
    if (t.kind == TOK_ID) choice(c, arena_printf(c->arena, "%.*s", (int)(t.end - t.at), text + t.at));
}

static void words_of_language(Choices *c) {
  for (int k = 1; k < TOKEN_KINDS; k++) {
    const char *name = token_name(k);
    size_t n = strlen(name);
    if (token_facts(k) & WORD && *name == '`') choice(c, arena_printf(c->arena, "%.*s", (int)n - 2, name + 1));
  }
  for (int r = 0; r < REDUCERS; r++) choice(c, reducer_info[r].name);
  for (int o = 0; o < OPS; o++)
    if ((unsigned)(op_info[o].name[0] | 32) - 'a' < 26) choice(c, op_info[o].name);
}

static bool is_definition(StmtKind k) { return k == STMT_DEF || k == STMT_MONOID || k == STMT_EXTERN; }

typedef VEC(const AstStmt *) Definitions;

/* The prelude's, and those of modules in use. The query is begun in any case. */
static Definitions definitions_begin(Prompt *p, Query *q, Session *quiet) {
  Definitions all = {0};
  Texts none = {0};
  *quiet = *p->s;
  quiet->capture = true;
  query_begin(q, quiet, &p->args, p->sheet);
  bool made = !query_program(q, &none, NULL);
  for (uint32_t i = 0; made && i < q->job.program->modules.len; i++) {
    const AstFile *f = q->job.program->modules.at[i].file;
    for (uint32_t k = 0; k < f->stmts.len; k++)
      if (is_definition(f->stmts.at[k]->kind)) vec_push(q->s.arena, all, f->stmts.at[k]);
  }
  return all;
}

static void definitions(Choices *c, Prompt *p) {
  Query q;
  Session quiet;
  Definitions all = definitions_begin(p, &q, &quiet);
  for (uint32_t i = 0; i < all.len; i++) choice(c, all.at[i]->name.s->s);
  query_end(&q);
}

const char *definition_text(Arena *a, Prompt *p, const char *name) {
  const Entry *e = sheet_find(p->sheet, name, NULL);
  if (e) return is_definition(e->kind) ? e->text : NULL;
  Query q;
  Session quiet;
  const char *text = NULL;
  Definitions all = definitions_begin(p, &q, &quiet);
  for (uint32_t i = 0; i < all.len; i++)
    if (strcmp(all.at[i]->name.s->s, name) == 0) text = span_text(a, all.at[i]->span);
  query_end(&q);
  return text;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static void files(Choices *c) {
  const char *slash = strrchr(c->word, '/');
  const char *folder = slash ? arena_printf(c->arena, "%.*s", (int)(slash - c->word) + 1, c->word) : "";
  DIR *d = opendir(*folder ? folder : ".");
  for (struct dirent *e; d && (e = readdir(d));) {
    struct stat st;
    const char *path = arena_printf(c->arena, "%s%s", folder, e->d_name);
    bool hidden = e->d_name[0] == '.' && !(slash ? slash[1] == '.' : c->word[0] == '.');
    if (!hidden) choice(c, stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? arena_printf(c->arena, "%s/", path) : path);
  }
  if (d) closedir(d);
}

/* ---- a word ------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool in_name(char c) {
  return (unsigned)(c | 32) - 'a' < 26 || (unsigned)c - '0' < 10 || c == '_' || c == '\'' || (unsigned char)c >= 0x80;
}

/* Where the file name at the end of the text begins: after an open quote, or as the last word of a command that
 * takes one; -1: there is none. */
static long file_at(const char *text) {
  static const char *const takes[] = {":load ", ":save ", ":write "};
  const char *quote = NULL;
  for (const char *c = text; *c; c++)
    if (*c == '"') quote = quote ? NULL : c;
  if (quote) return quote + 1 - text;
  for (size_t i = 0; i < COUNT(takes); i++)
    if (strncmp(text, takes[i], strlen(takes[i])) == 0 && (i < 2 || strchr(text + strlen(takes[i]), ' ')))
      return strrchr(text, ' ') + 1 - text;
  return -1;
}

Texts prompt_completions(Arena *a, Prompt *p, const char *text, size_t *from) {
  size_t n = strlen(text);
  long file = file_at(text);
  Choices c = {.arena = a};
  *from = n;
  while (*from && in_name(text[*from - 1])) (*from)--;
  bool command = *text == ':' && *from == 1;
  if (file >= 0) *from = (size_t)file;
  c.word = text + *from;
  c.n = n - *from;
  if (file >= 0) files(&c);
  else if (command)
    for (const PromptCommand *k = prompt_commands; k->name; k++) choice(&c, k->name);
  else {
    for (uint32_t i = 0; i < p->sheet->n; i++) {
      for (uint32_t k = 0; k < p->sheet->at[i]->n_names; k++) choice(&c, p->sheet->at[i]->name[k]);
      names_in(&c, p->sheet->at[i]->text);
    }
    if (c.n) words_of_language(&c);
    if (c.n) definitions(&c, p);
  }
  if (c.all.len > 1) qsort(c.all.at, c.all.len, sizeof *c.all.at, by_text);
  return c.all;
}
