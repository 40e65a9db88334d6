/* tests/rule/test_rules_text.c - the table of rules in docs/languages-inside.md is that of rules.def. With --bless it
 * is written. */
#include <stdlib.h>

#include "algebra/rules/rules.h"
#include "base/diag.h"
#include "tap.h"

static const char file[] = "docs/languages-inside.md", begin[] = "writes what follows -->\n",
                  end[] = "<!-- rules end -->";

static void bless(const char *text, const char *from, const char *to, const char *table) {
  FILE *f = fopen(file, "w");
  if (!f) exit(1);
  fwrite(text, 1, (size_t)(from - text), f);
  fprintf(f, "\n%s\n%s", table, to);
  if (fclose(f)) exit(1);
}

int main(int argc, char **argv) {
  Arena *a = arena_new();
  const char *why = NULL;
  Source *s = source_read(a, file, &why);
  Buf table = buf_new(a), want = buf_new(a);
  Rules *rules = alg_rules_new(a);
  rules_print(&table, rules);
  const char *from = s ? strstr(s->bytes, begin) : NULL, *to = from ? strstr(from, end) : NULL;
  OK(to, "%s has a place for the table", file);
  if (!to) {
    arena_free(a);
    return DONE();
  }
  from += strlen(begin);
  if (argc > 1 && !strcmp(argv[1], "--bless")) {
    bless(s->bytes, from, to, table.s);
    arena_free(a);
    return 0;
  }
  buf_printf(&want, "\n%s\n", table.s);
  OK(want.len == (size_t)(to - from) && !memcmp(want.s, from, want.len),
      "the table is that of rules.def: else --bless, from the source's folder");
  for (uint32_t k = 0; k < rules->n; k++) {
    bool once = rule_find(rules, rules->at[k].name) == &rules->at[k];
    OK(once, "%s is one rule", rules->at[k].name);
  }
  OK(!rule_find(rules, "R3-1"), "there is no R3-1");
  arena_free(a);
  return DONE();
}
