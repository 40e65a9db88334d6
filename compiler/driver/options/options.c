/* driver/options/options.c - the command line: words in, Args out. options.def lists what there is. */
#include <string.h>

#include "driver/driver.h"

#define COMMAND(id, name, operands, summary, text) {#name, operands, summary, text, cmd_##name},
#define OPTION(...)
const CommandInfo commands[COMMANDS] = {
#include "options.def"
};

#define IN(id) (1u << CMD_##id)
#define EVERY  ((1u << COMMANDS) - 1)
#define TOP    ((unsigned)OPTION_TOP)
#define COMMAND(...)
#define OPTION(id, letter, name, argument, choices, in, help) \
  {letter, name, argument, choices, in, help},
const OptionInfo options[OPTIONS] = {
#include "options.def"
};

static const struct {
  OptionId option;
  unsigned in;
  const char *argument, *help;
} words_there[] = {
#define COMMAND(...)
#define OPTION(...)
#define WORDS(id, in, argument, help) {OPT_##id, in, argument, help},
#include "options.def"
};

OptionInfo option_there(OptionId o, unsigned in) {
  OptionInfo i = options[o];
  for (size_t k = 0; k < COUNT(words_there); k++)
    if (words_there[k].option == o && words_there[k].in & in)
      i.argument = words_there[k].argument, i.help = words_there[k].help;
  return i;
}

typedef struct WordReader {
  Session *s;
  Args *a;
  const char *const *word;
  uint32_t n, at;
} WordReader;

bool arg_has(const Args *a, OptionId o) {
  return a->given[o].len > 0;
}

const char *arg_last(const Args *a, OptionId o) {
  return arg_has(a, o) ? vec_last(a->given[o]) : NULL;
}

/* The bit of the preceding command, or of none yet. */
static unsigned place_of(const Args *a) {
  return a->command == COMMANDS ? TOP : 1u << a->command;
}

static bool applies(const Args *a, OptionId o) {
  return (options[o].in & place_of(a)) != 0;
}

/* Where to read more. */
static const char *help_words(Session *s, const Args *a) {
  return a->command == COMMANDS ? "ein --help"
                                : arena_printf(s->arena, "ein help %s", commands[a->command].name);
}

/* ---- unknown options ------------------------------------------------------------------------ */

static Leave option_unknown(WordReader *r, const char *word, size_t len) {
  Session *s = r->s;
  const char *said = arena_printf(s->arena, "%.*s", (int)len, word), *name = said + strspn(said, "-"),
             *rest = word + (name - said);
  const char *cmd = r->a->command == COMMANDS ? "ein" : commands[r->a->command].name;
  bool sources = r->a->command != COMMANDS && strstr(commands[r->a->command].operands, "NAME=SOURCE");
  Nearest near = nearest_to(s->arena, name);
  for (OptionId o = 0; o < OPTIONS; o++)
    if (applies(r->a, o)) nearest_try(&near, options[o].name);
  if (near.best) return fail(s, LEAVE_USAGE, "%s has no option %s; did you mean --%s?", cmd, said, near.best);
  if (sources && rest[strlen(name)] == '=')
    return fail(s, LEAVE_USAGE, "%s has no option %s; an input is given without dashes: %s", cmd, said, rest);
  return fail(s, LEAVE_USAGE, "%s has no option %s; see %s", cmd, said, help_words(s, r->a));
}

static Leave command_unknown(Session *s, const char *word) {
  size_t n = strlen(word);
  if (n > 4 && strcmp(word + n - 4, ".ein") == 0)
    return fail(s, LEAVE_USAGE, "%s is no command; to run it: ein run %s", word, word);
  Nearest near = nearest_to(s->arena, word);
  for (CommandId c = 0; c < COMMANDS; c++) nearest_try(&near, commands[c].name);
  if (near.best)
    return fail(s, LEAVE_USAGE, "there is no command %s; did you mean %s?", word, near.best);
  return fail(s, LEAVE_USAGE, "there is no command %s; ein --help lists them", word);
}

/* ---- options -------------------------------------------------------------------------------- */

bool option_choice(OptionId o, const char *word) {
  size_t n = strlen(word);
  for (const char *at = options[o].choices; at; at = strchr(at, '|')) {
    if (*at == '|') at++;
    if (n && strncmp(at, word, n) == 0 && (at[n] == '|' || !at[n])) return true;
  }
  return false;
}

static Leave option_take(WordReader *r, OptionId o, const char *argument) {
  const OptionInfo *i = &options[o];
  if (i->choices && o != OPT_TARGET && o != OPT_STOP && !option_choice(o, argument))
    return fail(r->s, LEAVE_USAGE, "--%s is one of %s, not %s", i->name, i->choices, argument);
  if (o == OPT_DIM && !strchr(argument, '=')) return fail(r->s, LEAVE_USAGE, "-D wants NAME=N, not %s", argument);
  vec_push(r->s->arena, r->a->given[o], argument);
  return LEAVE_OK;
}

static Leave option_next(WordReader *r, OptionId o, const char *spelled) {
  if (r->at < r->n) return option_take(r, o, r->word[r->at++]);
  return fail(r->s, LEAVE_USAGE, "%s wants %s after it", spelled, option_there(o, place_of(r->a)).argument);
}

/* --name, --name=argument, --name argument */
static Leave option_long(WordReader *r, const char *word) {
  const char *name = word + 2, *equals = strchr(name, '=');
  size_t len = equals ? (size_t)(equals - name) : strlen(name);
  for (OptionId o = 0; o < OPTIONS; o++) {
    if (strncmp(options[o].name, name, len) != 0 || options[o].name[len] || !applies(r->a, o))
      continue;
    if (!options[o].argument)
      return equals ? fail(r->s, LEAVE_USAGE, "--%s takes nothing after it", options[o].name)
                    : option_take(r, o, "");
    return equals ? option_take(r, o, equals + 1) : option_next(r, o, word);
  }
  return option_unknown(r, word, len + 2);
}

/* -D N=4, -DN=4, -v, -vh */
static Leave option_letters(WordReader *r, const char *word) {
  for (const char *c = word + 1; *c; c++) {
    OptionId o = 0;
    while (o < OPTIONS && (options[o].letter != *c || !applies(r->a, o))) o++;
    if (o == OPTIONS)
      return option_unknown(r, word, c == word + 1 ? strlen(word) : (size_t)(c - word) + 1);
    if (options[o].argument) return c[1] ? option_take(r, o, c + 1) : option_next(r, o, word);
    Leave l = option_take(r, o, "");
    if (l) return l;
  }
  return LEAVE_OK;
}

static Leave word_take(WordReader *r, const char *word) {
  Args *a = r->a;
  if (word[0] == '-' && word[1] == '-') return option_long(r, word);
  if (word[0] == '-' && word[1] && word[1] != '>') return option_letters(r, word);
  if (a->command != COMMANDS) {
    vec_push(r->s->arena, a->operands, word);
    return LEAVE_OK;
  }
  for (CommandId c = 0; c < COMMANDS; c++)
    if (strcmp(commands[c].name, word) == 0) {
      a->command = c;
      return LEAVE_OK;
    }
  return command_unknown(r->s, word);
}

Leave args_read(Session *s, Args *a, uint32_t n, const char *const *word) {
  WordReader r = {s, a, word, n, 0};
  bool plain = false; /* after -- */
  while (r.at < n) {
    const char *w = word[r.at++];
    if (plain)
      vec_push(s->arena, a->operands, w);
    else if (strcmp(w, "--") == 0 && a->command != COMMANDS)
      plain = true;
    else {
      Leave l = word_take(&r, w);
      if (l) return l;
    }
  }
  const char *when = arg_last(a, OPT_COLOR);
  if (when && strcmp(when, "auto") != 0) s->colour = strcmp(when, "always") == 0;
  s->verbose |= arg_has(a, OPT_VERBOSE);
  return LEAVE_OK;
}

/* ---- NAME=... ------------------------------------------------------------------------------- */

static bool name_byte(unsigned char c, bool first) {
  if (c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return !first && ((c >= '0' && c <= '9') || c == '\'');
}

bool word_split(Session *s, const char *word, Str *name, const char **rest) {
  size_t n = 0;
  while (name_byte((unsigned char)word[n], n == 0)) n++;
  if (!n || word[n] != '=') return false;
  *name = str_of(s->strings, word, n);
  *rest = word + n + 1;
  return true;
}

Words commas_of(Arena *a, const char *text) {
  Words w = {0};
  for (bool more = text != NULL; more;) {
    text += strspn(text, " ");
    size_t n = strcspn(text, ","), m = n;
    while (m && text[m - 1] == ' ') m--;
    vec_push(a, w, arena_printf(a, "%.*s", (int)m, text));
    more = text[n] == ',';
    text += n + more;
  }
  return w;
}
