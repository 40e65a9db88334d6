/* codegen/jit/clang.cpp - jit.h over Clang's CompilerInstance: the only file that sees headers of LLVM. What the driver of clang would do
 * in a process of its own is done here: a command line becomes an invocation, whose source and object are in memory. */
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit.h"

static char *copy_of(const char *bytes, size_t len) {
  char *copy = static_cast<char *>(std::malloc(len + 1));
  if (copy && len) std::memcpy(copy, bytes, len);
  if (copy) copy[len] = 0;
  return copy;
}

static void targets_ready() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser(); /* the runtime has asm statements */
  });
}

static std::shared_ptr<clang::CompilerInvocation> invocation(const JitText *source, const char *const *words, size_t n,
                                                             llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags) {
  std::vector<const char *> line = {EIN_JIT_CLANG, "-c", source->name, "-o", "-"};
  line.insert(line.end(), words, words + n);
#if LLVM_VERSION_MAJOR >= 15
  clang::CreateInvocationOptions options;
  options.Diags = diags;
  return clang::createInvocation(line, options);
#else
  return clang::createInvocationFromCommandLine(line, diags);
#endif
}

static bool compile(const JitText *source, const char *const *words, size_t n, llvm::SmallVectorImpl<char> &object, llvm::raw_ostream &said) {
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions;
  auto diags = clang::CompilerInstance::createDiagnostics(options.get(), new clang::TextDiagnosticPrinter(said, options.get()));
  auto made = invocation(source, words, n, diags);
  if (!made || diags->hasErrorOccurred()) return false;
  auto text = llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(source->text, source->len), source->name);
  made->getPreprocessorOpts().addRemappedFile(source->name, text.release());
  clang::CompilerInstance instance;
  instance.setInvocation(made);
  instance.setDiagnostics(diags.get());
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  clang::EmitObjAction action;
  return instance.ExecuteAction(action) && object.size();
}

void ein_jit_compile(const JitText *source, const char *const *words, size_t n_words, JitMade *out) {
  llvm::SmallVector<char, 0> object;
  std::string said;
  llvm::raw_string_ostream stream(said);
  targets_ready();
  bool ok = compile(source, words, n_words, object, stream);
  stream.flush();
  out->object = ok ? copy_of(object.data(), object.size()) : nullptr;
  out->len = ok ? object.size() : 0;
  out->said = said.empty() ? nullptr : copy_of(said.data(), said.size());
}

void ein_jit_free(JitMade *made) {
  std::free(made->object);
  std::free(made->said);
  made->object = made->said = nullptr;
}
