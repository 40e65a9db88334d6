/* driver/options/complete.c - writes options.def as completions for bash, zsh and fish. */
#include <string.h>

#include "driver/driver.h"

static void words_of(Buf *b, const char *choices) {
  for (const char *c = choices; *c; c++) buf_char(b, *c == '|' ? ' ' : *c);
}

/* Escapes text inside single quotes. */
static void quoted(Buf *b, const char *text) {
  for (; *text; text++)
    if (*text == '\'')
      buf_str(b, "'\\''");
    else
      buf_char(b, *text);
}

/* Prints a command's operands if they are not files; false: they are files. */
static bool operands(Buf *b, CommandId c) {
  if (c == CMD_HELP)
    for (CommandId k = 0; k < COMMANDS; k++) buf_printf(b, "%s%s", k ? " " : "", commands[k].name);
  if (c == CMD_EXPLAIN)
    for (DiagCode k = 0; k < DIAG_CODES; k++) buf_printf(b, "%s%s", k ? " " : "", diag_info(k)->code);
  return c == CMD_HELP || c == CMD_EXPLAIN;
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_options(Buf *b, unsigned in) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    if (!(options[o].in & in)) continue;
    buf_printf(b, " --%s", options[o].name);
    if (options[o].letter) buf_printf(b, " -%c", options[o].letter);
  }
}

/* By command and option: the same name may have other choices elsewhere. */
static void bash_choices(Buf *b) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    if (!options[o].choices) continue;
    const char *before = "    ";
    for (CommandId c = 0; c < COMMANDS; c++) {
      if (!(options[o].in & 1u << c)) continue;
      buf_printf(b, "%s%s.--%s", before, commands[c].name, options[o].name);
      before = "|";
    }
    if (options[o].in & OPTION_TOP) buf_printf(b, "%s*.--%s", before, options[o].name);
    buf_str(b, ") COMPREPLY=($(compgen -W '");
    words_of(b, options[o].choices);
    buf_str(b, "' -- \"$word\")); return ;;\n");
  }
}

/* One per line, as names may contain blanks and stars. The word is as typed, with quotes and backslashes; bash
 * quotes the proposals. */
static const char bash_files[] =
    "_ein_files() {\n"
    "  local word=$1 name\n"
    "  case $word in\n"
    "    \\'*) word=${word:1} ;;\n"
    "    *) word=${word#\\\"}; word=${word//\\\\/} ;;\n"
    "  esac\n"
    "  COMPREPLY=()\n"
    "  while IFS= read -r name; do COMPREPLY+=(\"$name\"); done < <(compgen -f -- \"$word\")\n"
    "}\n";

static void bash(Buf *b) {
  buf_printf(b, "# bash completion for ein; made by ein --completions bash\n%s", bash_files);
  buf_str(b, "_ein() {\n"
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} list operands=\n"
             "  [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
             "  [ \"$word\" = = ] && { before=${COMP_WORDS[COMP_CWORD-1]}; word=; }\n"
             "  case ${COMP_WORDS[1]}.$before in\n");
  bash_choices(b);
  buf_str(b, "  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    list='");
  for (CommandId c = 0; c < COMMANDS; c++) buf_printf(b, "%s%s", c ? " " : "", commands[c].name);
  bash_options(b, OPTION_TOP);
  buf_str(b, "'\n  else\n    case ${COMP_WORDS[1]} in\n");
  for (CommandId c = 0; c < COMMANDS; c++) {
    buf_printf(b, "    %s) list='", commands[c].name);
    bash_options(b, 1u << c);
    buf_str(b, "' operands='");
    operands(b, c);
    buf_str(b, "' ;;\n");
  }
  buf_str(b,
      "    esac\n  fi\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$list\" -- \"$word\")) ;;\n"
      "    *) [ \"$COMP_CWORD\" = 1 ] && operands=$list\n"
      "       if [ \"$operands\" ]; then COMPREPLY=($(compgen -W \"$operands\" -- \"$word\")); else _ein_files "
      "\"$word\"; fi ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _ein ein\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* Escapes text inside single quotes and the brackets of an _arguments spec. */
static void zsh_help(Buf *b, const char *text) {
  for (; *text; text++) {
    if (strchr("[]:\\", *text)) buf_char(b, '\\');
    quoted(b, (char[]){*text, 0});
  }
}

static void zsh_option(Buf *b, const char *spelled, const OptionInfo *i) {
  buf_printf(b, " \\\n    '*%s%s[", spelled, i->argument && spelled[1] == '-' ? "=" : "");
  zsh_help(b, i->help);
  buf_char(b, ']');
  if (i->argument) {
    buf_char(b, ':');
    zsh_help(b, i->argument);
    buf_char(b, ':');
    if (i->choices) {
      buf_char(b, '(');
      words_of(b, i->choices);
      buf_char(b, ')');
    } else if (strstr(i->argument, "FILE"))
      buf_str(b, "_files");
  }
  buf_char(b, '\'');
}

static void zsh_options(Buf *b, unsigned in) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    OptionInfo i = option_there(o, in);
    if (!(i.in & in)) continue;
    zsh_option(b, arena_printf(b->arena, "--%s", i.name), &i);
    if (i.letter) zsh_option(b, (char[]){'-', i.letter, 0}, &i);
  }
}

static void zsh(Buf *b) {
  buf_str(b, "#compdef ein\n# zsh completion for ein; made by ein --completions zsh\n"
             "if (( CURRENT == 2 )); then\n  local -a list\n  list=(");
  for (CommandId c = 0; c < COMMANDS; c++) {
    buf_printf(b, "\n    '%s:", commands[c].name);
    zsh_help(b, commands[c].summary);
    buf_char(b, '\'');
  }
  buf_str(b, ")\n  _describe command list\n  _arguments");
  zsh_options(b, OPTION_TOP);
  buf_str(
      b,
      "\n  return\nfi\nlocal command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n");
  for (CommandId c = 0; c < COMMANDS; c++) {
    buf_printf(b, "%s)\n  _arguments", commands[c].name);
    zsh_options(b, 1u << c);
    buf_str(b,
        c == CMD_HELP          ? " \\\n    '1:command:("
            : c == CMD_EXPLAIN ? " \\\n    '*:code:("
                               : " \\\n    '*:file:_files'");
    buf_str(b, operands(b, c) ? ")' ;;\n" : " ;;\n");
  }
  buf_str(b, "esac\n");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static void fish_text(Buf *b, const char *text) {
  buf_str(b, " -d '");
  for (const char *c = text; *c; c++) {
    if (*c == '\'' || *c == '\\') buf_char(b, '\\');
    buf_char(b, *c);
  }
  buf_str(b, "'\n");
}

static void fish_option(Buf *b, const char *condition, OptionId o, unsigned in) {
  OptionInfo there = option_there(o, in), *i = &there;
  buf_printf(b, "complete -c ein -n '%s' -l %s", condition, i->name);
  if (i->letter) buf_printf(b, " -s %c", i->letter);
  if (i->choices) {
    buf_str(b, " -x -a '");
    words_of(b, i->choices);
    buf_char(b, '\'');
  } else if (i->argument)
    buf_str(b, " -r");
  fish_text(b, i->help);
}

static void fish(Buf *b) {
  buf_str(b, "# fish completion for ein; made by ein --completions fish\n");
  for (CommandId c = 0; c < COMMANDS; c++) {
    buf_printf(b, "complete -c ein -f -n __fish_use_subcommand -a %s", commands[c].name);
    fish_text(b, commands[c].summary);
    Buf words = buf_new(b->arena);
    if (operands(&words, c))
      buf_printf(b, "complete -c ein -f -n '__fish_seen_subcommand_from %s' -a '%s'\n", commands[c].name, words.s);
  }
  for (OptionId o = 0; o < OPTIONS; o++) {
    if (options[o].in & OPTION_TOP) fish_option(b, "__fish_use_subcommand", o, OPTION_TOP);
    for (CommandId c = 0; c < COMMANDS; c++)
      if (options[o].in & 1u << c)
        fish_option(b, arena_printf(b->arena, "__fish_seen_subcommand_from %s", commands[c].name), o, 1u << c);
  }
}

Leave help_completions(Session *s, const char *shell) {
  Buf b = buf_new(s->arena);
  switch (shell[0]) {
  case 'b': bash(&b); break;
  case 'z': zsh(&b); break;
  default: fish(&b);
  }
  print(s, &b);
  return LEAVE_OK;
}
