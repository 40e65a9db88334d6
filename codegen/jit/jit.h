/* codegen/jit/jit.h - C to machine code without leaving the process: Clang, behind a face of C. It is a shared object, ein_jit.so, that
 * is opened only where something has to be compiled: opening it costs more than loading what was compiled before. In comes one text,
 * out go the bytes of an ELF object, which object.h loads, here or in another process. */
#ifndef EIN_JIT_H
#define EIN_JIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct JitText {
  const char *name;          /* of a file, absolute; it need not exist */
  const char *text;          /* with a NUL behind it */
  size_t len;
} JitText;

typedef struct JitMade {
  char *object;              /* or what was parsed; NULL: it failed */
  size_t len;
  char *said;                /* what Clang said; NULL: nothing */
} JitMade;

/* What texts begin with, which is parsed before: that is most of the time of a short text. */
typedef struct JitHead {
  const char *text;
  size_t len;
  JitText runtime;           /* what it includes */
  const char *parsed;        /* what ein_jit_head made of it; NULL: it was not parsed */
  size_t parsed_len;
} JitHead;

/* Compiles a text with the words of a command line ("-O2"), for this machine where they say so. The head was parsed with the
 * same words. Several threads may. */
typedef void JitCompile(const JitText *source, const JitHead *head, const char *const *words, size_t n_words, JitMade *out);
/* Parses a head. */
typedef void JitParse(const JitHead *head, const char *const *words, size_t n_words, JitMade *out);
typedef void JitFree(JitMade *made);
JitCompile ein_jit_compile;
JitParse ein_jit_head;
JitFree ein_jit_free;

#ifdef __cplusplus
}
#endif

#endif
