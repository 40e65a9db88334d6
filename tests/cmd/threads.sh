#!/bin/sh
# suite: ci
# Two models in one program, each in a file and a thread of its own: as C and as C++, with no symbol of the
# runtime's to be seen; and under ThreadSanitizer, without which the test is skipped.
. "$(dirname "$0")/common"

: "${CC:=cc}" "${CXX:=c++}"
tests=$here/../runtime
flags="-O1 -g -Wall -Wextra -Werror -I$here/../../runtime -DEIN_PTHREADS"

want 0 $CC $flags -c "$tests/run_threads.c" -o a.o
want 0 $CC $flags -c "$tests/run_second.c" -o b.o
want 0 $CC a.o b.o -o both -lm -lpthread
want 0 ./both
if command -v nm >/dev/null; then
  want 0 nm -g --defined-only b.o
  grep -E ' [A-Z] ein_' out && wrong "the runtime's symbols can be seen"
fi
if command -v "$CXX" >/dev/null; then
  want 0 $CXX $flags -x c++ "$tests/run_threads.c" "$tests/run_second.c" -o both -lm -lpthread
  want 0 ./both
fi
[ $failed = 0 ] || finish

echo 'int main(void) { return 0; }' >empty.c
$CC -fsanitize=thread empty.c -o empty 2>/dev/null && ./empty 2>/dev/null || exit 77
want 0 $CC $flags -fsanitize=thread "$tests/run_threads.c" "$tests/run_second.c" -o both -lm -lpthread
want 0 env TSAN_OPTIONS=halt_on_error=1 ./both
silent
finish
