/* tests/cuda/standin/nvrtc.c - a stand-in for NVIDIA's NVRTC on machines without a device: it compiles the kernels'
 * text, after the emulation of a device (tests/cuda/emulate.h), with the host's C++ compiler, and returns the result as
 * the "cubin". $EIN_STANDIN_CXX names the compiler; its errors go to the log. EIN_STANDIN=no-compile: all fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

typedef struct Program { char *text, *header, *as, *log, *made; size_t len; } Program;

int nvrtcVersion(int *major, int *minor);
int nvrtcGetNumSupportedArchs(int *n);
int nvrtcGetSupportedArchs(int *arch);
int nvrtcCreateProgram(
    Program **out, const char *text, const char *name, int n, const char *const *header, const char *const *as);
int nvrtcCompileProgram(Program *p, int n, const char *const *option);
int nvrtcGetProgramLogSize(Program *p, size_t *n);
int nvrtcGetProgramLog(Program *p, char *to);
int nvrtcGetCUBINSize(Program *p, size_t *n);
int nvrtcGetCUBIN(Program *p, char *to);
int nvrtcGetPTXSize(Program *p, size_t *n);
int nvrtcGetPTX(Program *p, char *to);
int nvrtcDestroyProgram(Program **p);

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0; }
int nvrtcGetNumSupportedArchs(int *n) { return *n = 2, 0; }
int nvrtcGetSupportedArchs(int *arch) { return arch[0] = 75, arch[1] = 90, 0; }

int nvrtcCreateProgram(
    Program **out, const char *text, const char *name, int n, const char *const *header, const char *const *as) {
  (void)name;
  Program *p = calloc(1, sizeof *p);
  if (!p || n != 1) return 1;
  *p = (Program){.text = strdup(text), .header = strdup(header[0]), .as = strdup(as[0]), .log = strdup("")};
  return *out = p, 0;
}

int nvrtcDestroyProgram(Program **p) {
  free((*p)->text), free((*p)->header), free((*p)->as), free((*p)->log), free((*p)->made), free(*p);
  return *p = NULL, 0;
}

/* ---- compiling ------------------------------------------------------------------------------------ */

static int file_put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) return 0;
  fputs(text, f);
  return fclose(f) == 0;
}

static char *file_get(const char *path, size_t head, size_t *len) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *len = (size_t)ftell(f);
  rewind(f);
  char *s = malloc(head + *len + 1);
  if (!s || fread(s + head, 1, *len, f) != *len) *len = 0;
  fclose(f);
  if (s) s[head + *len] = 0;
  return s;
}

/* Appends a launch function for each kernel of the text. */
static int text_put(const char *path, const char *text) {
  static const char kernel[] = " __global__ void ";
  FILE *f = fopen(path, "w");
  if (!f) return 0;
  fputs(text, f);
  for (const char *at = text; (at = strstr(at, kernel)) != NULL;) {
    at += sizeof kernel - 1;
    int n = (int)strcspn(at, "(");
    fprintf(f, "extern \"C\" int standin_launch_%.*s(const unsigned *g, const unsigned *b, unsigned s, void **p) {\n",
        n, at);
    fprintf(f, "  return emulate::launch_parameters(\"%.*s\", %.*s, g, b, s, p);\n}\n", n, at, n, at);
  }
  return fclose(f) == 0;
}

static int compiled(Program *p, const char *folder, const char *arch) {
  const char *cxx = getenv("EIN_STANDIN_CXX"), *inject = getenv("EIN_STANDIN");
  char path[4096], command[8192];
  size_t n;
  snprintf(path, sizeof path, "%s/%s", folder, p->as);
  if (!file_put(path, p->header)) return 0;
  snprintf(path, sizeof path, "%s/program.cpp", folder);
  if (!text_put(path, p->text)) return 0;
  snprintf(command, sizeof command, "cd %s && %s %s -shared -include %s %s program.cpp -o made >log 2>&1", folder,
      cxx && *cxx ? cxx : "g++", STANDIN_WORDS, STANDIN_EMULATION,
      inject && strcmp(inject, "no-compile") == 0 ? "--planted" : "");
  int failed = system(command);
  snprintf(path, sizeof path, "%s/log", folder);
  free(p->log);
  p->log = file_get(path, 0, &n);
  if (failed) return 0;
  snprintf(path, sizeof path, "%s/made", folder);
  p->made = file_get(path, sizeof(StandinImage), &n);
  if (!p->made || !n) return 0;
  StandinImage head = {.mark = STANDIN_MARK, .bytes = n};
  snprintf(head.arch, sizeof head.arch, "%s", arch);
  memcpy(p->made, &head, sizeof head);
  p->len = n + sizeof head;
  return 1;
}

int nvrtcCompileProgram(Program *p, int n, const char *const *option) {
  char folder[] = "/tmp/standin-XXXXXX", command[64];
  static const char of[] = "--gpu-architecture=";
  const char *arch = "";
  int fma = 1;
  for (int i = 0; i < n; i++) {
    fma &= strcmp(option[i], "--fmad=false") != 0;
    if (strncmp(option[i], of, sizeof of - 1) == 0) arch = option[i] + sizeof of - 1;
  }
  if (fma || !mkdtemp(folder)) return 5;
  int ok = compiled(p, folder, arch);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) || !ok ? 6 : 0;
}

int nvrtcGetProgramLogSize(Program *p, size_t *n) { return *n = strlen(p->log ? p->log : "") + 1, 0; }
int nvrtcGetProgramLog(Program *p, char *to) { return strcpy(to, p->log ? p->log : ""), 0; }
int nvrtcGetCUBINSize(Program *p, size_t *n) { return *n = p->len, 0; }
int nvrtcGetCUBIN(Program *p, char *to) { return memcpy(to, p->made, p->len), 0; }
int nvrtcGetPTXSize(Program *p, size_t *n) { return nvrtcGetCUBINSize(p, n); }
int nvrtcGetPTX(Program *p, char *to) { return nvrtcGetCUBIN(p, to); }
