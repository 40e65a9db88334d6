/* codegen/jit/jit.h - compiles C to machine code within the process: Clang, behind a C interface. It is a shared
 * object, ein_jit.so, which is opened only when something must be compiled, because opening it costs more than
 * loading compiled code; a prompt has it opened while its user types. In: one text. Out: the bytes of an ELF object,
 * which object.h loads, here or in another process; or, for people, assembly or LLVM's language. */
#ifndef EIN_JIT_H
#define EIN_JIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct JitText {
  const char *name;          /* of a file, absolute; it need not exist */
  const char *text;          /* followed by a NUL */
  size_t len;
} JitText;

typedef enum { JIT_OBJECT, JIT_ASSEMBLY, JIT_IR } JitForm;

typedef struct JitMade {
  char *object;              /* or text, or the parsed head; NULL: it failed */
  size_t len;
  char *said;                /* Clang's messages; NULL: none */
} JitMade;

/* The common beginning of texts, which is parsed in advance: that is most of the time of a short text. */
typedef struct JitHead {
  const char *text;
  size_t len;
  JitText runtime;           /* the runtime that it includes */
  const char *parsed;        /* the result of ein_jit_head; NULL: it was not parsed */
  size_t parsed_len;
} JitHead;

/* Compiles a text with the words of a command line ("-O2"), for this machine if they say so. The head must have been
 * parsed with the same words. Thread-safe. */
typedef void JitCompile(const JitText *source, const JitHead *head, const char *const *words, size_t n_words,
    JitForm form, JitMade *out);
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
