/* codegen/jit/object.c - loads an ELF object into memory. Sections with the same permissions are grouped: code, with
 * the stubs through which it calls distant functions; constants, with the table of addresses (the GOT); data. Each
 * group begins at a page. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "object_inside.h"

typedef enum { GROUP_CODE, GROUP_CONSTANT, GROUP_DATA, GROUPS } Group;

static const int group_access[GROUPS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};

typedef struct Loading {
  Arena *arena;
  const char *bytes;
  size_t len;
  const Elf64_Shdr *section;
  uint32_t n_sections;
  const Elf64_Sym *symbol;
  uint32_t n_symbols;
  const char *names;         /* of symbols */
  size_t names_len;
  char **at;                 /* by section; NULL: not loaded */
  size_t begin[GROUPS], end[GROUPS], stubs, addresses; /* offsets from the start of the memory */
  ObjectPlaces places;
  Object *out;
} Loading;

/* ---- reading ---------------------------------------------------------------------------------- */

static bool inside(const Loading *o, uint64_t at, uint64_t size) {
  return at <= o->len && size <= o->len - at;
}

static const char *head_read(Loading *o) {
  Elf64_Ehdr head, *h = &head;
  if (o->len < sizeof head) return "it is no ELF file";
  memcpy(h, o->bytes, sizeof head);
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL)
    return "it is no object of 64 bits";
  if (h->e_machine != object_machine) return "it is for another kind of processor";
  if (h->e_shentsize != sizeof(Elf64_Shdr) || !inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return "its table of sections is damaged";
  o->section = arena_copy(o->arena, o->bytes + h->e_shoff, (size_t)h->e_shnum * sizeof(Elf64_Shdr));
  o->n_sections = h->e_shnum;
  for (uint32_t i = 0; i < o->n_sections; i++)
    if (o->section[i].sh_type != SHT_NOBITS && !inside(o, o->section[i].sh_offset, o->section[i].sh_size))
      return "a section is damaged";
  return NULL;
}

static const char *symbols_read(Loading *o) {
  for (uint32_t i = 0; i < o->n_sections; i++) {
    const Elf64_Shdr *s = &o->section[i];
    if (s->sh_type != SHT_SYMTAB) continue;
    if (s->sh_link >= o->n_sections || s->sh_size / sizeof(Elf64_Sym) > UINT32_MAX) return "its symbols are damaged";
    const Elf64_Shdr *names = &o->section[s->sh_link];
    o->n_symbols = (uint32_t)(s->sh_size / sizeof(Elf64_Sym));
    o->symbol = arena_copy(o->arena, o->bytes + s->sh_offset, (size_t)s->sh_size);
    o->names = o->bytes + names->sh_offset;
    o->names_len = (size_t)names->sh_size;
    if (names->sh_type != SHT_STRTAB || !o->names_len || o->names[o->names_len - 1])
      return "the names of its symbols are damaged";
  }
  for (uint32_t i = 0; i < o->n_symbols; i++)
    if (o->symbol[i].st_name >= o->names_len) return "a symbol's name is damaged";
  return o->symbol ? NULL : "it has no symbols";
}

/* ---- layout ----------------------------------------------------------------------------------- */

static bool is_loaded(const Elf64_Shdr *s) {
  return (s->sh_flags & SHF_ALLOC) &&
      (s->sh_type == SHT_PROGBITS || s->sh_type == SHT_NOBITS || s->sh_type == SHT_X86_64_UNWIND);
}

static Group group_of(const Elf64_Shdr *s) {
  return s->sh_flags & SHF_EXECINSTR ? GROUP_CODE : s->sh_flags & SHF_WRITE ? GROUP_DATA : GROUP_CONSTANT;
}

static size_t up(size_t x, size_t to) { return (x + to - 1) / to * to; }

enum { ALIGN_MOST = 4096 };
static const size_t object_most = (size_t)1 << 30; /* within reach of a relative address */

/* Places each section at an offset from the start of the memory, and our additions behind each group's. */
static const char *room_plan(Loading *o, size_t *offset, size_t *all) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), at = 0;
  for (int g = 0; g < GROUPS; g++) {
    o->begin[g] = at = up(at, page);
    for (uint32_t i = 0; i < o->n_sections; i++) {
      const Elf64_Shdr *s = &o->section[i];
      if (!is_loaded(s) || group_of(s) != (Group)g) continue;
      if (s->sh_flags & SHF_TLS) return "it has variables of a thread's own";
      if (s->sh_addralign > ALIGN_MOST || s->sh_size > object_most) return "a section is too large";
      offset[i] = at = up(at, s->sh_addralign ? (size_t)s->sh_addralign : 1);
      at += (size_t)s->sh_size;
      if (at > object_most) return "it is too large";
    }
    at = up(at, 16);
    if (g == GROUP_CODE) o->stubs = at, at += (size_t)o->n_symbols * OBJECT_STUB;
    if (g == GROUP_CONSTANT) o->addresses = at, at += (size_t)o->n_symbols * sizeof(void *);
    o->end[g] = at;
  }
  *all = up(at, page);
  return NULL;
}

static const char *room_make(Loading *o) {
  size_t *offset = NEW_ARRAY(o->arena, size_t, o->n_sections + 1), all = 0;
  const char *why = room_plan(o, offset, &all);
  if (why) return why;
  char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "there is no memory for it";
  o->out->memory = memory;
  o->out->size = all;
  o->places.stub = memory + o->stubs;
  o->places.address = (void **)(void *)(memory + o->addresses);
  o->at = NEW_ARRAY(o->arena, char *, o->n_sections + 1);
  for (uint32_t i = 0; i < o->n_sections; i++) {
    const Elf64_Shdr *s = &o->section[i];
    if (!is_loaded(s)) continue;
    o->at[i] = memory + offset[i];
    if (s->sh_type != SHT_NOBITS && s->sh_size) memcpy(o->at[i], o->bytes + s->sh_offset, (size_t)s->sh_size);
  }
  return NULL;
}

/* ---- symbols ---------------------------------------------------------------------------------- */

static const char *symbol_place(Loading *o, ObjectWorld world, uint32_t i) {
  const Elf64_Sym *s = &o->symbol[i];
  const char *name = o->names + s->st_name;
  int bind = ELF64_ST_BIND(s->st_info), type = ELF64_ST_TYPE(s->st_info);
  if (s->st_shndx == SHN_UNDEF) {
    void *at = i && *name ? world.find(world.ctx, name) : NULL;
    o->places.symbol[i] = at;
    return at || !i || bind == STB_WEAK ? NULL : arena_printf(o->arena, "there is no %s", name);
  }
  if (s->st_shndx == SHN_ABS || type == STT_FILE) return NULL;
  if (s->st_shndx >= o->n_sections || type == STT_TLS || type == STT_GNU_IFUNC)
    return arena_printf(o->arena, "%s is of a kind that is not known", name);
  if (!o->at[s->st_shndx]) return NULL; /* notes, and sections for linkers only */
  if (s->st_value > o->section[s->st_shndx].sh_size)
    return arena_printf(o->arena, "%s lies outside of its section", name);
  o->places.symbol[i] = o->at[s->st_shndx] + s->st_value;
  if (bind != STB_LOCAL)
    vec_push(
        o->arena, o->out->symbols, ((ObjectSymbol){arena_copy(o->arena, name, strlen(name) + 1), o->places.symbol[i]}));
  return NULL;
}

static const char *symbols_place(Loading *o, ObjectWorld world) {
  const char *why = NULL;
  o->places.symbol = NEW_ARRAY(o->arena, void *, o->n_symbols + 1);
  for (uint32_t i = 0; i < o->n_symbols && !why; i++) {
    why = symbol_place(o, world, i);
    o->places.address[i] = o->places.symbol[i];
    object_stub(&o->places, i);
  }
  return why;
}

/* ---- relocations --------------------------------------------------------------------------------- */

static const char *section_relocate(Loading *o, const Elf64_Shdr *r) {
  char *base = o->at[r->sh_info];
  const Elf64_Shdr *of = &o->section[r->sh_info];
  if (!base) return NULL;
  for (uint64_t i = 0; i < r->sh_size / sizeof(Elf64_Rela); i++) {
    Elf64_Rela rela;
    memcpy(&rela, o->bytes + r->sh_offset + i * sizeof rela, sizeof rela);
    uint32_t symbol = (uint32_t)ELF64_R_SYM(rela.r_info), kind = (uint32_t)ELF64_R_TYPE(rela.r_info);
    if (symbol >= o->n_symbols || rela.r_offset > of->sh_size || of->sh_size - rela.r_offset < object_width(kind))
      return "a relocation is damaged";
    const char *why = object_relocate(&o->places, kind, base + rela.r_offset, symbol, rela.r_addend);
    if (why) return arena_printf(o->arena, "%s: %s (relocation %u)", o->names + o->symbol[symbol].st_name, why, kind);
  }
  return NULL;
}

static const char *relocate(Loading *o) {
  const char *why = NULL;
  for (uint32_t i = 0; i < o->n_sections && !why; i++) {
    const Elf64_Shdr *s = &o->section[i];
    if (s->sh_type == SHT_REL && s->sh_info < o->n_sections && o->at[s->sh_info])
      return "it has relocations without addends";
    if (s->sh_type != SHT_RELA) continue;
    if (s->sh_info >= o->n_sections) return "a relocation is of no section";
    why = section_relocate(o, s);
  }
  return why;
}

static const char *protect(Loading *o) {
  for (int g = 0; g < GROUPS; g++) {
    size_t size = o->end[g] - o->begin[g];
    if (size && mprotect(o->out->memory + o->begin[g], size, group_access[g]))
      return "code that was just made may not be run here";
  }
  __builtin___clear_cache(o->out->memory, o->out->memory + o->out->size);
  return NULL;
}

/* ---- entry points ------------------------------------------------------------------------------ */

const char *object_load(Arena *a, const char *bytes, size_t len, ObjectWorld world, Object *out) {
  Loading o = {.arena = a, .bytes = bytes, .len = len, .out = out};
  *out = (Object){0};
  const char *why = head_read(&o);
  if (!why) why = symbols_read(&o);
  if (!why) why = room_make(&o);
  if (!why) why = symbols_place(&o, world);
  if (!why) why = relocate(&o);
  if (!why) why = protect(&o);
  if (why) object_unload(out);
  return why;
}

void *object_find(const Object *o, const char *name) {
  for (uint32_t i = 0; i < o->symbols.len; i++)
    if (strcmp(o->symbols.at[i].name, name) == 0) return o->symbols.at[i].at;
  return NULL;
}

void object_unload(Object *o) {
  if (o->memory) munmap(o->memory, o->size);
  *o = (Object){0};
}
