/* codegen/jit/clang.cpp - jit.h over Clang's CompilerInstance: the only file that sees headers of LLVM. What the driver
 * of clang would do in a process of its own is done here: a command line becomes an invocation, whose source and object
 * are in memory. */
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#if LLVM_VERSION_MAJOR >= 22
#include <clang/Driver/CreateInvocationFromArgs.h>
#endif

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

/* ---- what differs between versions of Clang ---------------------------------------------------- */

static std::shared_ptr<clang::CompilerInvocation> invocation(
    std::vector<const char *> line, llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags) {
#if LLVM_VERSION_MAJOR >= 15
  clang::CreateInvocationOptions options;
  options.Diags = diags;
  return clang::createInvocation(line, options);
#else
  return clang::createInvocationFromCommandLine(line, diags);
#endif
}

/* What Clang says goes to a stream. */
struct Said {
#if LLVM_VERSION_MAJOR >= 22
  clang::DiagnosticOptions options;

  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> to(llvm::raw_ostream &stream) {
    return clang::CompilerInstance::createDiagnostics(
        *llvm::vfs::getRealFileSystem(), options, new clang::TextDiagnosticPrinter(stream, options));
  }
#else
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions;

  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> to(llvm::raw_ostream &stream) {
    return clang::CompilerInstance::createDiagnostics(
        options.get(), new clang::TextDiagnosticPrinter(stream, options.get()));
  }
#endif
};

static std::unique_ptr<clang::CompilerInstance> instance_new(std::shared_ptr<clang::CompilerInvocation> what,
                                                             llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags,
                                                             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files) {
#if LLVM_VERSION_MAJOR >= 22
  auto instance = std::make_unique<clang::CompilerInstance>(what);
  instance->setVirtualFileSystem(files);
  instance->setDiagnostics(diags);
  instance->createFileManager();
#else
  auto instance = std::make_unique<clang::CompilerInstance>();
  instance->setInvocation(what);
  instance->setDiagnostics(diags.get());
  instance->createFileManager(files);
#endif
  return instance;
}

static std::unique_ptr<clang::PCHGenerator> head_writer(
    clang::CompilerInstance &of, const char *name, std::shared_ptr<clang::PCHBuffer> to) {
  const auto &extensions = of.getFrontendOpts().ModuleFileExtensions;
#if LLVM_VERSION_MAJOR >= 22
  return std::make_unique<clang::PCHGenerator>(
      of.getPreprocessor(), of.getModuleCache(), name, "", to, of.getCodeGenOpts(), extensions, false, false);
#else
  return std::make_unique<clang::PCHGenerator>(
      of.getPreprocessor(), of.getModuleCache(), name, "", to, extensions, false, false);
#endif
}

/* ---- invocations ------------------------------------------------------------------------------- */

/* The driver makes an invocation of a command line in a millisecond, most of it spent in looking for headers and other
 * compilers on the disk. Kernels have the same line, so the last invocation is copied. */
class Invocations {
  std::mutex lock;
  std::vector<std::string> line;
  std::shared_ptr<clang::CompilerInvocation> made;

 public:
  std::shared_ptr<clang::CompilerInvocation> of(
      const std::vector<const char *> &words, llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags) {
    const std::vector<std::string> wanted(words.begin(), words.end());
    {
      const std::lock_guard<std::mutex> held(lock);
      if (made && wanted == line) return std::make_shared<clang::CompilerInvocation>(*made);
    }
    auto fresh = invocation(words, diags);
    if (!fresh || diags->hasErrorOccurred()) return fresh;
    const std::lock_guard<std::mutex> held(lock);
    line = wanted;
    made = std::make_shared<clang::CompilerInvocation>(*fresh);
    return fresh;
  }
};

/* Not destroyed: another thread may compile while the process ends. */
static Invocations &invocations() {
  static Invocations *const all = new Invocations;
  return *all;
}

/* ---- one run of Clang's ------------------------------------------------------------------------ */

/* A command line, and files that are in memory, before those of the disk. */
struct Run {
  std::string words;
  llvm::raw_string_ostream said{words};
  Said how;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diags = how.to(said);
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory{new llvm::vfs::InMemoryFileSystem};
  std::unique_ptr<clang::CompilerInstance> instance;

  void file_add(const JitText *file) {
    memory->addFile(
        file->name, 0, llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(file->text, file->len), file->name));
  }

  bool prepare(const std::vector<const char *> &line) {
    auto made = invocations().of(line, diags);
    if (!made || diags->hasErrorOccurred()) return false;
    made->getFrontendOpts().DisableFree = made->getCodeGenOpts().DisableFree =
        false; /* a process of clang's own leaves that to its end */
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> files{
        new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem())};
    files->pushOverlay(memory);
    instance = instance_new(made, diags, files);
    instance->setVerboseOutputStream(said);
    return true;
  }

  void tell(JitMade *out) {
    said.flush();
    out->said = words.empty() ? nullptr : copy_of(words.data(), words.size());
  }
};

/* Whether this processor reads the elements of a vector from places apart sooner one by one than with the instruction
 * for that, which Clang 19 prefers. Older versions cannot be told. */
static bool gathers_slowly() {
#if LLVM_VERSION_MAJOR >= 17 && defined(__x86_64__)
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

/* The driver's own name says where its headers are. */
static std::vector<const char *> command_line(const char *source, const char *to, const char *const *words, size_t n) {
  std::vector<const char *> line = {EIN_JIT_CLANG};
  if (gathers_slowly()) line.push_back("-mno-gather");
  line.insert(line.end(), words, words + n);
  line.insert(line.end(), {"-o", to, source});
  return line;
}

static const char head_source[] = "/ein/head.h", head_parsed[] = "/ein/head.pch";

/* What was parsed is taken as it is: who keeps it knows of what it was made. */
static void head_use(clang::PreprocessorOptions &o) {
  o.ImplicitPCHInclude = head_parsed;
  o.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
}

static std::unique_ptr<clang::CodeGenAction> action_for(JitForm form) {
  if (form == JIT_ASSEMBLY) return std::make_unique<clang::EmitAssemblyAction>();
  if (form == JIT_IR) return std::make_unique<clang::EmitLLVMAction>();
  return std::make_unique<clang::EmitObjAction>();
}

void ein_jit_compile(const JitText *source, const JitHead *head, const char *const *words, size_t n_words,
    JitForm form, JitMade *out) {
  const JitText text = {head_source, head->text, head->len}, parsed = {head_parsed, head->parsed, head->parsed_len};
  llvm::SmallVector<char, 0> object;
  Run run;
  targets_ready();
  run.file_add(source);
  run.file_add(&head->runtime);
  if (head->parsed) {
    run.file_add(&text);
    run.file_add(&parsed);
  }
  bool ok = run.prepare(command_line(source->name, "-", words, n_words));
  if (ok) {
    auto action = action_for(form);
    if (head->parsed) head_use(run.instance->getPreprocessorOpts());
    run.instance->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
    ok = run.instance->ExecuteAction(*action) && object.size();
  }
  run.tell(out);
  out->object = ok ? copy_of(object.data(), object.size()) : nullptr;
  out->len = out->object ? object.size() : 0;
}

/* Clang's own action writes a file, and ends the process where there is no room for it. */
struct HeadAction : clang::GeneratePCHAction {
  std::shared_ptr<clang::PCHBuffer> made = std::make_shared<clang::PCHBuffer>();

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &of, llvm::StringRef) override {
    return head_writer(of, head_parsed, made);
  }
};

void ein_jit_head(const JitHead *head, const char *const *words, size_t n_words, JitMade *out) {
  Run run;
  HeadAction action;
  targets_ready();
  const JitText source = {head_source, head->text, head->len};
  run.file_add(&source);
  run.file_add(&head->runtime);
  bool ok = run.prepare(command_line(head_source, head_parsed, words, n_words));
  if (ok) {
    run.instance->getFrontendOpts().ProgramAction = clang::frontend::GeneratePCH;
    ok = run.instance->ExecuteAction(action) && action.made->IsComplete;
  }
  run.tell(out);
  out->object = ok ? copy_of(action.made->Data.data(), action.made->Data.size()) : nullptr;
  out->len = out->object ? action.made->Data.size() : 0;
}

void ein_jit_free(JitMade *made) {
  std::free(made->object);
  std::free(made->said);
  made->object = made->said = nullptr;
}
