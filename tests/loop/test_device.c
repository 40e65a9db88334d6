/* tests/loop/test_device.c - Loop for a device: its text comes back equal, and the checker says of each kernel that is
 * none of a device's, or in which two threads may meet in an element, what is wrong with it. */
#include "text.h"

#include "loop/loop.h"

TEXT_FORM("x.loop", LoopProgram, loop_read, loop_print, loop_equal, loop_check)

/* A product by tiles, the sum of each row by a tree, and a map: two launches of one kernel. */
static const char full[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  dim N\n"
    "  buffer %0 input 0 A[$N, 512] : f32\n"
    "  buffer %1 input 1 B[512, 64] : f32\n"
    "  buffer %2 work C[$N, 64] : f32 alive 0..1\n"
    "  buffer %3 output 0 y[$N] : f32\n"
    "  input A = %0\n"
    "  input B = %1\n"
    "  output y = %3\n"
    "  kernel 0 C outer 0 {\n"
    "    stage C[i:$N, j:64] : f32 = sum:f32[k:512] (%0[i, k] * %1[k, j]) to %2[i, j]\n"
    "  }\n"
    "  kernel 1 y outer 0 {\n"
    "    stage y[i:$N] : f32 = sum:f32[j:64] %2[i, j] to %3[i]\n"
    "  }\n"
    "}\n"
    "kernel C step 0 work ($N * 32768) {\n"
    "  shared a : f32 [16, 16]\n"
    "  shared b : f32 [256]\n"
    "  register sum : f32 []\n"
    "  buffer A = %0 : f32 [$N, 512]\n"
    "  buffer B = %1 : f32 [512, 64]\n"
    "  buffer C = %2 : f32 [$N, 64] written\n"
    "  loops j0 i0 x y block k\n"
    "  for j0 < 4 grid x {\n"
    "    for i0 < (($N + 15) // 16) grid y {\n"
    "      var a\n"
    "      var b\n"
    "      for x < 16 block x {\n"
    "        for y < 16 block y {\n"
    "          var sum = 0.0:f32\n"
    "          for block < 512 step 16 {\n"
    "            a[y, x] = select((((i0 * 16) + y) < $N), A[((i0 * 16) + y), (block + x)], 0.0:f32)\n"
    "            b[((y * 16) + x)] = B[(block + y), ((j0 * 16) + x)]\n"
    "            barrier\n"
    "            for k < 16 unroll {\n"
    "              sum[] = (sum[] + (a[y, k] * b[((k * 16) + x)]))\n"
    "            }\n"
    "            barrier\n"
    "          }\n"
    "          if (((i0 * 16) + y) < $N) {\n"
    "            C[((i0 * 16) + y), ((j0 * 16) + x)] = sum[]\n"
    "          }\n"
    "        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "kernel y step 1 work ($N * 64) {\n"
    "  shared part : f32 [64]\n"
    "  stack own : f32 [4]\n"
    "  shared two : f32 [64]\n"
    "  buffer C = %2 : f32 [$N, 64]\n"
    "  buffer y = %3 : f32 [$N] written\n"
    "  shared bins : f32 [64]\n"
    "  register at : i64 []\n"
    "  loops i t h z v u w l r s q n m c\n"
    "  for i < $N grid x {\n"
    "    var part\n"
    "    for t < 64 block x {\n"
    "      part[t] = C[i, t]\n"
    "      barrier\n"
    "      if (t < 32) {\n"
    "        part[t] = (part[t] + part[(t + 32)])\n"
    "      }\n"
    "      barrier\n"
    "      for h < 32 from 1 {\n"
    "        if (t == 0) {\n"
    "          part[0] = (part[0] + part[h])\n"
    "        }\n"
    "      }\n"
    "      if (t == 0) {\n"
    "        y[i] = part[0]\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  for z < $N grid z {\n"
    "    for v < 1 block x {\n"
    "      for u < 1 block y {\n"
    "        for w < 1 block z {\n"
    "          var own = 1.0:f32\n"
    "          for l < 4 roll {\n"
    "            y[z] = (y[z] * own[l])\n"
    "          }\n"
    "        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  for r < $N grid x {\n"
    "    var two\n"
    "    for s < 32 block x {\n"
    "      for q < 2 block y {\n"
    "        two[((q * 32) + s)] = C[r, s]\n"
    "        barrier\n"
    "        if (s < 16) {\n"
    "          two[((q * 32) + s)] = (two[((q * 32) + s)] + two[(((q * 32) + s) + 16)])\n"
    "        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  for n < $N grid x {\n"
    "    var bins\n"
    "    for m < 8 block x {\n"
    "      let at = i64(C[n, m])\n"
    "      if ((0 <= at[]) and (at[] < 8)) {\n"
    "        index c = at[]\n"
    "        bins[((c * 8) + m)] = 1.0:f32\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char race_a[] =
    "kernel C: two threads of a block may touch one element of a, one of them to store, and no barrier is between";
static const char race_b[] =
    "kernel C: two threads of a block may touch one element of b, one of them to store, and no barrier is between";
static const char race_part[] =
    "kernel y: two threads of a block may touch one element of part, one of them to store, and no barrier is between";

static const char race_two[] =
    "kernel y: two threads of a block may touch one element of two, one of them to store, and no barrier is between";

static const char race_bins[] =
    "kernel y: two threads of a block may touch one element of bins, one of them to store, and no barrier is between";

static const TextBreak breaks[] = {
    /* where data say which element it is, a thread has those of its own */
    {"bins[((c * 8) + m)]", "bins[((c * 4) + m)]", race_bins},
    {"bins[((c * 8) + m)]", "bins[((c * 9) + m)]", race_bins},
    {"bins[((c * 8) + m)]", "bins[((c * 8) + (m // 2))]", race_bins},
    {"bins[((c * 8) + m)]", "bins[(c + (m * 8))]", race_bins},
    {"bins[((c * 8) + m)]", "bins[c]", race_bins},
    /* two rows of a block: what is read is another row's, or of threads that store */
    {"        barrier\n        if (s < 16)", "        if (s < 16)", race_two},
    {"two[(((q * 32) + s) + 16)]", "two[(((q * 32) + s) + 15)]", race_two},
    {"two[(((q * 32) + s) + 16)]", "two[(((q * 32) + s) + 32)]", race_two},
    {"two[(((q * 32) + s) + 16)]", "two[(((q * 16) + s) + 16)]", race_two},
    {"      if (s < 16) {", "      if (s < 17) {", race_two},
    /* barriers that are missing: ahead of what is read, behind it, and at the end of a loop whose beginning stores
       again */
    {"            barrier\n            for k", "            for k", race_a},
    {"            barrier\n            for k", "            for k", race_b},
    {"            }\n            barrier\n", "            }\n", race_a},
    {"      barrier\n      if (t < 32)", "      if (t < 32)", race_part},
    {"      barrier\n      for h", "      for h", race_part},
    /* elements that two threads have */
    {"a[y, x] =", "a[y, 0] =", race_a},
    {"b[((y * 16) + x)] =", "b[((y * 8) + x)] =", race_b},
    {"b[((y * 16) + x)] =", "b[(y + x)] =", race_b},
    {"b[((y * 16) + x)] =", "b[((y * 16) + (x // 2))] =", race_b},
    {"b[((y * 16) + x)] =", "b[((y * 16) + y)] =", race_b},
    {"part[(t + 32)]", "part[(t + 31)]", race_part},
    {"part[(t + 32)]", "part[((t * -9223372036854775808) + 32)]", race_part},
    {"part[(t + 32)]", "part[((t * 9223372036854775807) * 2)]", race_part},
    {"      if (t < 32) {", "      if (t < 33) {", race_part},
    {"        if (t == 0) {\n          part[0]", "        if (t < 2) {\n          part[0]", race_part},
    {"        if (t == 0) {\n          part[0]", "        if (t == 1) {\n          part[0]", race_part},
    /* barriers that some threads do not come to */
    {"      barrier\n      if (t < 32) {\n", "      if (t < 32) {\n        barrier\n",
        "kernel y: a barrier stands in a condition"},
    {"for block < 512 step 16", "for block < 512 from x step 16",
        "kernel C: what threads do together stands in the loop over block, whose threads go round differently often"},
    {"for block < 512 step 16", "for block < i64(A[0, 0]) step 16",
        "kernel C: what threads do together stands in the loop over block, whose threads go round differently often"},
    /* grids and blocks */
    {"for i < $N grid x", "for i < $N from 1 grid x",
        "kernel y: the loop over i is bound to a device, and is not from 0 by 1"},
    {"for x < 16 block x", "for x < 16 step 2 block x",
        "kernel C: the loop over x is bound to a device, and is not from 0 by 1"},
    {"for t < 64 block x", "for t < $N block x", "kernel y: the loop over t is no number of threads from 1 to 1024"},
    {"for t < 64 block x", "for t < 0 block x", "kernel y: the loop over t is no number of threads from 1 to 1024"},
    {"for w < 1 block z", "for w < 65 block z", "kernel y: the loop over w is no number of threads from 1 to 64"},
    {"for x < 16 block x", "for x < 65 block x", "kernel C: a block has 1040 threads, of 1024 at most"},
    {"for u < 1 block y", "for u < 1 block x", "kernel y: two loops of one launch are bound to block x"},
    {"// 16) grid y", "// 16) grid x", "kernel C: two loops of one launch are bound to grid x"},
    {"for y < 16 block y", "for y < 16 grid z", "kernel C: the grid over y stands in a block"},
    {"for x < 16 block x", "for x < 16", "kernel C: in the grid over i0 stands no block"},
    {"for k < 16 unroll", "for k < 16 block z", "kernel C: the loop over k is bound to a device, and is not outermost"},
    {"for k < 16 unroll", "for k < 16 vector", "kernel C: the loop over k is in order for no thread of a device"},
    {"for l < 4 roll", "for l < 4 polled 2", "kernel y: the loop over l is in order for no thread of a device"},
    {"for j0 < 4 grid x", "for j0 < 4",
        "kernel C: what is bound to a device, shared, a group, or what threads do together stands in no grid"},
    {"for z < $N grid z", "for z < $N thread",
        "kernel y: what is bound to a device, shared, a group, or what threads do together stands in no grid"},
    {"kernel C step 0 work ($N * 32768) {\n", "kernel C step 0 work ($N * 32768) {\n  dense\n",
        "kernel C: it is for a device, where all is in row-major order, and dense"},
    /* memory */
    {"shared b : f32 [256]", "shared b : f32 [16320]", "kernel C: a block shares 66304 bytes, of 65536 at most"},
    {"shared b : f32 [256]", "shared b : f32 [16385]", "kernel C: b is not of a constant size up to 65536 bytes"},
    {"shared b : f32 [256]", "shared b : f32 [$N]", "kernel C: b is not of a constant size up to 65536 bytes"},
    {"shared b : f32 [256]", "shared b : f32 []", "kernel C: b is shared and no array"},
    {"      var b\n", "      var b = 0.0:f32\n", "kernel C: b is shared and begins with a value"},
    {"      var b\n", "      var b\n      if true {\n      }\n",
        "kernel C: between a grid and its blocks stands what is no shared array"},
    {"      var b\n      for x < 16 block x {\n        for y < 16 block y {\n",
        "      for x < 16 block x {\n        for y < 16 block y {\n      var b\n",
        "kernel C: b is shared and comes to be in a thread"},
    {"stack own", "scratch own", "kernel y: own is of a worker's memory, which threads of a device have not"},
    {"          for l < 4 roll", "          fetch C[0, 0]\n          for l < 4 roll",
        "kernel y: a statement about lanes or lines stands in a thread of a device"},
};

static const TextRefused refused[] = {
    {"for i < $N grid x", "for i < $N grid", "E903", "expected the axis here: x, y or z"},
    {"for t < 64 block x", "for t < 64 block w", "E903", "expected the axis here: x, y or z"},
    {"      barrier\n      for h", "      barrier 2\n      for h", "E903", "expected the end of the line here"},
};

/* A product that a library may make, and a map behind it; one of pairs, of two kinds of labels. */
static const char product[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  dim N\n"
    "  buffer %0 input 0 A[$N, 512] : f32\n"
    "  buffer %1 input 1 B[512, 64] : f32\n"
    "  buffer %2 work C[$N, 64] : f32 alive 0..1\n"
    "  buffer %3 output 0 y[$N, 64] : f32\n"
    "  input A = %0\n"
    "  input B = %1\n"
    "  output y = %3\n"
    "  kernel 0 C outer 0 {\n"
    "    stage C[i:$N, j:64] : f32 = sum:f32[k:512] (%0[i, k] * %1[k, j]) to %2[i, j]\n"
    "  }\n"
    "  kernel 1 y outer 0 {\n"
    "    stage y[i:$N, j:64] : f32 = %2[i, j] to %3[i, j]\n"
    "  }\n"
    "}\n"
    "kernel C step 0 work ($N * 32768) {\n"
    "  register own : f32 []\n"
    "  buffer A = %0 : f32 [$N, 512]\n"
    "  buffer B = %1 : f32 [512, 64]\n"
    "  buffer C = %2 : f32 [$N, 64] written\n"
    "  loops i j k b t c u v\n"
    "  product C[i, j] = (0.5:f32 * (A[i, k] * B[k, j])) over i < $N, j < 64, k < 512 {\n"
    "    for b < $N grid x {\n"
    "      for t < 64 block x {\n"
    "        C[b, t] = (1.0:f32 + C[b, t])\n"
    "      }\n"
    "    }\n"
    "  } else {\n"
    "    for c < $N grid x {\n"
    "      for u < 64 block x {\n"
    "        var own = 0.0:f32\n"
    "        for v < 512 {\n"
    "          own[] = (own[] + (A[c, v] * B[v, u]))\n"
    "        }\n"
    "        C[c, u] = ((0.5:f32 * own[]) + 1.0:f32)\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "kernel y step 1 work ($N * 64) {\n"
    "  buffer C = %2 : f32 [$N, 64]\n"
    "  buffer y = %3 : f32 [$N, 64] written\n"
    "  loops i t\n"
    "  for i < $N grid x {\n"
    "    for t < 64 block x {\n"
    "      y[i, t] = C[i, t]\n"
    "    }\n"
    "  }\n"
    "}\n";

#define NONE "kernel C: C is no product that a library has: "
static const TextBreak product_breaks[] = {
    /* what it is of */
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, k] + B[k, j]) over", NONE "it is none of two reads"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "((A[i, k] * A[i, k]) * B[k, j]) over", NONE "it is none of two reads"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(0.0:f32 * (A[i, k] * B[k, j])) over",
        NONE "it is multiplied by 0, or by what is no number"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(f64(A[i, k]) * f64(B[k, j])) over", NONE "no library has its dtypes"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, k] * C[k, j]) over", NONE "its result is one of its sides"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, (k // 2)] * B[k, j]) over",
        NONE "an index is no sum of its loops, each times a number"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, k] * A[i, j]) over",
        NONE "its rows are not those of the result and of one side"},
    {"product C[i, j] =", "product C[j, i] =", NONE "its result does not lie in order along its lanes"},
    {"product C[i, j] =", "product C[i, 0] =", NONE "its lanes are not those of the result and of the other side"},
    {"product C[i, j] =", "product C[i, (j + k)] =", NONE "its sum does not go along both sides alone"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, (2 * k)] * B[k, j]) over",
        NONE "the side with its rows lies in order neither along these nor along the sum"},
    {"(0.5:f32 * (A[i, k] * B[k, j])) over", "(A[i, k] * B[(2 * k), (2 * j)]) over",
        NONE "the side with its lanes lies in order neither along these nor along the sum"},
    {"C[i, j] = (0.5:f32 * (A[i, k] * B[k, j])) over i < $N, j < 64, k < 512",
        "C[0, j] = (A[0, k] * B[k, j]) over j < 64, k < 512", NONE "it has too few loops, or too many"},
    {"over i < $N, j", "over b < 2, i < $N, j", NONE "a loop goes along no result"},
    /* loops and places */
    {"over i < $N, j < 64, k < 512", "over i < $N, j < 64, j < 512", "kernel C: two loops have the variable j"},
    {"        C[b, t] = (1.0:f32 + C[b, t])\n", "        C[b, t] = (1.0:f32 + C[i, t])\n",
        "kernel C: loop variable i stands outside of its loop"},
    {"product C[i, j] =", "product C[i] =", "kernel C: C has rank 2 and is stored to with 1 indices"},
    {"%2 : f32 [$N, 64] written\n  loops i j", "%2 : f32 [$N, 64]\n  loops i j",
        "kernel C: C is stored to and not written"},
    /* where it stands */
    {"      for t < 64 block x {\n        C[b", "      for t < 64 {\n        C[b",
        "kernel C: in the grid over b stands no block"},
    {"    for b < $N grid x", "    for b < $N",
        "kernel C: what is bound to a device, shared, a group, or what threads do together stands in no grid"},
};

static void product_tests(Arena *a) {
  LoopProgram *p = text_holds(a, product, "a text with a product");
  OK(p && loop_has_products(p), "it has products");
  text_breaks(product, COUNT(product_breaks), product_breaks);
}

/* A map of groups of neighbours, one of whose sides is of a row by number. */
static const char group[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  dim N\n"
    "  buffer %0 input 0 A[$N, 64] : bf16\n"
    "  buffer %1 input 1 tok[$N] : i64\n"
    "  buffer %2 output 0 Y[$N, 64] : bf16\n"
    "  input A = %0\n"
    "  input tok = %1\n"
    "  output Y = %2\n"
    "  kernel 0 Y outer 0 {\n"
    "    stage Y[i:$N, j:64] : bf16 = neg(%0[%1[i], j]) to %2[i, j]\n"
    "  }\n"
    "}\n"
    "site 0 \"index 1 of A, read for Y\"\n"
    "kernel Y step 0 work ($N * 64) {\n"
    "  register a : bf16 [8] written\n"
    "  register y : bf16 [8] written\n"
    "  buffer A = %0 : bf16 [$N, 64]\n"
    "  buffer tok = %1 : i64 [$N]\n"
    "  buffer Y = %2 : bf16 [$N, 64] written\n"
    "  loops i t j l\n"
    "  for i < $N grid x {\n"
    "    for t < 8 block x {\n"
    "      index j = (t * 8)\n"
    "      var a\n"
    "      group a = A[within(tok[i], $N, 0), j]\n"
    "      var y\n"
    "      for l < 8 unroll {\n"
    "        y[l] = neg(a[l])\n"
    "      }\n"
    "      group Y[i, j] = y[0]\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char no_registers[] =
    "kernel Y: what is grouped goes from a buffer to no array of registers, nor from the first element of such a one "
    "to a buffer";
static const TextBreak group_breaks[] = {
    {"index j = (t * 8)", "index j = (t * 4)",
        "kernel Y: A is grouped and begins perhaps at no multiple of 8 elements"},
    {"group Y[i, j] = y[0]", "group Y[i, (j + 4)] = y[0]",
        "kernel Y: Y is grouped and begins perhaps at no multiple of 8 elements"},
    {"group Y[i, j] = y[0]", "group Y[i, (64 - (t % 8))] = y[0]",
        "kernel Y: Y is grouped and begins perhaps at no multiple of 8 elements"},
    {"group Y[i, j] = y[0]", "group Y[i, j] = y[1]", no_registers},
    {"group Y[i, j] = y[0]", "group Y[i, j] = A[i, j]", no_registers},
    {"group a = A[within(tok[i], $N, 0), j]", "group a = y[0]", no_registers},
    {"register a : bf16 [8] written", "register a : bf16 [16] written", "kernel Y: a is a group and has 16 elements"},
    {"register y : bf16 [8] written", "register y : bf16 [6] written", "kernel Y: y is a group and has 6 elements"},
    {"      var a\n", "", "kernel Y: a is stored to where it is not there"},
    {"  buffer Y = %2 : bf16 [$N, 64] written", "  buffer Y = %2 : bf16 [$N, 64]",
        "kernel Y: Y is stored to and not written"},
    {"for i < $N grid x", "for i < $N",
        "kernel Y: what is bound to a device, shared, a group, or what threads do together stands in no grid"},
};

static void group_tests(Arena *a) {
  text_holds(a, group, "a text with groups");
  text_breaks(group, COUNT(group_breaks), group_breaks);
}

/* A product by matrix units: halves that stay small, eight of them at once. */
static const char matrix[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  buffer %0 input 0 A[1024, 64] : f16\n"
    "  buffer %1 input 1 B[64, 1024] : f16\n"
    "  buffer %2 output 0 C[1024, 1024] : f16\n"
    "  input A = %0\n"
    "  input B = %1\n"
    "  output C = %2\n"
    "  kernel 0 C outer 0 {\n"
    "    stage C[i:1024, j:1024] : f16 = sum:f32[k:64] (f32(%0[i, k]) * f32(%1[k, j])) to %2[i, j]\n"
    "  }\n"
    "}\n"
    "kernel C step 0 work 268435456 {\n"
    "  buffer B = %1 : f16 [64, 1024]\n"
    "  buffer A = %0 : f16 [1024, 64]\n"
    "  buffer C = %2 : f16 [1024, 1024] written\n"
    "  shared rows : f16 [2560] small written\n"
    "  shared lanes : f16 [2304] small written\n"
    "  register acc : f32 [16] written\n"
    "  register next : f16 [8] small written\n"
    "  register next_2 : f16 [8] small written\n"
    "  loops block x y i_2 f thread warp row lane row_2 lane_2 warp_2 point deep point_2 deep_2 point_3 point_4 f_2 "
    "next_3 part point_5 deep_3 point_6 deep_4 r c c_2 i_3 j_2\n"
    "  for block < 256 grid x beside 2 {\n"
    "    var rows\n"
    "    var lanes\n"
    "    for x < 16 block x {\n"
    "      for y < 16 block y {\n"
    "        index i_2 = (block % 16)\n"
    "        index f = (block // 16)\n"
    "        index thread = ((y * 16) + x)\n"
    "        index warp = (thread // 32)\n"
    "        index row = ((warp // 4) * 32)\n"
    "        index lane = ((warp % 4) * 16)\n"
    "        index row_2 = (f * 64)\n"
    "        index lane_2 = (i_2 * 64)\n"
    "        var acc = 0.0:f32\n"
    "        index warp_2 = (thread // 32)\n"
    "        index point = (((thread // 4) % 8) + (warp_2 * 8))\n"
    "        index deep = ((thread % 4) * 8)\n"
    "        var next = 0.0:f16\n"
    "        index point_2 = ((thread % 8) * 8)\n"
    "        index deep_2 = (thread // 8)\n"
    "        var next_2 = 0.0:f16\n"
    "        index point_3 = (row_2 + point)\n"
    "        next[0] = A[point_3, deep] wide 8\n"
    "        index point_4 = (lane_2 + point_2)\n"
    "        next_2[0] = B[deep_2, point_4] wide 8\n"
    "        for f_2 < 2 {\n"
    "          rows[((point * 40) + deep)] = next[0] wide 8\n"
    "          lanes[((deep_2 * 72) + point_2)] = next_2[0] wide 8\n"
    "          barrier\n"
    "          if ((f_2 + 1) < 2) {\n"
    "            index next_3 = (f_2 + 1)\n"
    "            index part = (next_3 * 32)\n"
    "            index point_5 = (row_2 + point)\n"
    "            index deep_3 = (part + deep)\n"
    "            next[0] = A[point_5, deep_3] wide 8\n"
    "            index point_6 = (lane_2 + point_2)\n"
    "            index deep_4 = (part + deep_2)\n"
    "            next_2[0] = B[deep_4, point_6] wide 8\n"
    "          }\n"
    "          matrix acc 32 by 16 by 32 of rows[(row * 40)] steps 40 1 and lanes[lane] steps 1 72\n"
    "          barrier\n"
    "        }\n"
    "        for r < 4 unroll {\n"
    "          for c < 2 unroll {\n"
    "            for c_2 < 2 unroll {\n"
    "              index i_3 = (row_2 + ((row + (r * 8)) + ((thread % 32) // 4)))\n"
    "              index j_2 = ((lane_2 + ((lane + (c * 8)) + (((thread % 32) % 4) * 2))) + c_2)\n"
    "              C[i_3, j_2] = f16(acc[((r * 4) + ((c * 2) + c_2))])\n"
    "            }\n"
    "          }\n"
    "        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

static const TextBreak matrix_breaks[] = {
    /* small */
    {"register next : f16 [8] small", "register next : f16 [] small",
        "kernel C: next is small, and no array of halves"},
    {"register acc : f32 [16] written", "register acc : f32 [16] small written",
        "kernel C: acc is small, and no array of halves"},
    {"buffer A = %0 : f16 [1024, 64]\n  buffer C", "buffer A = %0 : f16 [1024, 64] small\n  buffer C",
        "kernel C: A is small, and no array of halves"},
    /* wide */
    {"next[0] = A[point_3, deep] wide 8", "next[0] = 0.0:f16 wide 8",
        "kernel C: what is stored to next, several neighbours at once, is read from nowhere"},
    {"next[0] = A[point_3, deep] wide 8", "next[0] = A[point_3, deep] wide 16",
        "kernel C: 16 neighbours of next lie otherwise where they are stored, or are not 4, 8 or 16 bytes"},
    {"next[0] = A[point_3, deep] wide 8", "next[0] = A[point_3, (deep + 4)] wide 8",
        "kernel C: 8 neighbours of A do not begin at a multiple of so many, or do not end with a row"},
    {"next[0] = A[point_3, deep] wide 8", "next[4] = A[point_3, deep] wide 8",
        "kernel C: 8 neighbours of next do not begin at a multiple of so many, or do not end with a row"},
    {"((thread % 4) * 8)", "((thread % 4) * 4)",
        "kernel C: 8 neighbours of A do not begin at a multiple of so many, or do not end with a row"},
    {"register next : f16 [8] small", "register next : f16 [8]",
        "kernel C: 8 neighbours of next lie otherwise where they are stored, or are not 4, 8 or 16 bytes"},
    {"register next : f16 [8] small", "register next : f16 [12] small",
        "kernel C: 8 neighbours of next do not begin at a multiple of so many, or do not end with a row"},
    /* beside */
    {"beside 2", "beside 9", "kernel C: 9 blocks of 256 threads are beside each other, of 2048 threads at most"},
    /* matrix */
    {"matrix acc 32 by 16 by 32", "matrix acc 32 by 8 by 32",
        "kernel C: a matrix of 32 by 8 by 32 is none that there are units for"},
    {"matrix acc 32 by 16 by 32", "matrix acc 32 by 16 by 8",
        "kernel C: a matrix of 32 by 16 by 8 is none that there are units for"},
    {"matrix acc 32 by 16 by 32", "matrix acc 32 by 32 by 32", "kernel C: acc has not a thread's part of a matrix"},
    {"of rows[(row * 40)]", "of A[0, 0]", "kernel C: a side of a matrix is no shared array of rank 1"},
    {"steps 40 1", "steps 36 1",
        "kernel C: elements of rows are 36 and 1 apart, of which one has to be 1 and the other a multiple of 8"},
    {"steps 40 1", "steps 40 2",
        "kernel C: elements of rows are 40 and 2 apart, of which one has to be 1 and the other a multiple of 8"},
    {"of rows[(row * 40)] steps 40 1", "of next[0] steps 0 0",
        "kernel C: a side of a matrix is held, and is no thread's part of it"},
    {"of rows[(row * 40)] steps 40 1", "of rows[0] steps 0 0",
        "kernel C: a side of a matrix is held, and is no thread's part of it"},
    {"steps 40 1", "steps 0 1",
        "kernel C: elements of rows are 0 and 1 apart, of which one has to be 1 and the other a multiple of 8"},
    {"shared rows : f16 [2560] small", "shared rows : f16 [2560]",
        "kernel C: rows and lanes are no sides of a matrix of f32"},
    {"          matrix acc", "          if (x == 0) {\n            barrier\n          }\n          matrix acc",
        "kernel C: a barrier stands in a condition"},
    {"          matrix acc 32 by 16 by 32 of rows[(row * 40)] steps 40 1 and lanes[lane] steps 1 72\n",
        "          if (x == 0) {\n"
        "            matrix acc 32 by 16 by 32 of rows[(row * 40)] steps 40 1 and lanes[lane] steps 1 72\n"
        "          }\n",
        "kernel C: what warps do together stands in a condition that is not the same for all threads"},
    {"          barrier\n          if ((f_2", "          if ((f_2",
        "kernel C: two threads of a block may touch one element of rows, one of them to store, and no barrier is "
        "between"},
    {"steps 1 72\n          barrier\n", "steps 1 72\n",
        "kernel C: two threads of a block may touch one element of rows, one of them to store, and no barrier is "
        "between"},
    {"for x < 16 block x", "for x < 3 block x",
        "kernel C: a block of 48 threads is no number of warps, and these do something together"},
};

/* The same, of a side that threads hold, which is as wide as the sum is deep. */
static const TextBreak held_breaks[] = {
    {"register next : f16 [32]", "register next : f16 [16]",
        "kernel C: a side of a matrix is held, and is no thread's part of it"},
    {"register next : f16 [32]", "register next : bf16 [32]",
        "kernel C: next and lanes are no sides of a matrix of f32"},
    {"of next[0] steps 0 0", "of next[1] steps 0 0",
        "kernel C: a side of a matrix is held, and is no thread's part of it"},
    /* across */
    {"across 4", "across 3", "kernel C: v is taken across 3"},
    {"across 4", "across 32", "kernel C: v is taken across 32"},
    {"        let v = acc[0] across 4\n        C[i] = v[]\n",
        "        if (x == 0) {\n          let v = acc[0] across 4\n          C[i] = v[]\n        }\n",
        "kernel C: what warps do together stands in a condition that is not the same for all threads"},
    {"        var next = 0.0:f16\n", "", "kernel C: next is a side of a matrix where it is not there"},
    {"        matrix acc 32 by 16 by 32 of next[0] steps 0 0 and lanes[0] steps 1 72\n",
        "          if (y == 0) {\n"
        "            matrix acc 32 by 16 by 32 of next[0] steps 0 0 and lanes[0] steps 1 72\n"
        "          }\n",
        "kernel C: what warps do together stands in a condition that is not the same for all threads"},
};
static const char held[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  buffer %0 input 0 B[32, 16] : f16\n"
    "  buffer %1 output 0 C[256] : f32\n"
    "  input B = %0\n"
    "  output C = %1\n"
    "  kernel 0 C outer 0 {\n"
    "    stage C[i:256] : f32 = f32(%0[(i // 16), (i % 16)]) to %1[i]\n"
    "  }\n"
    "}\n"
    "kernel C step 0 work 1 {\n"
    "  shared lanes : f16 [2304] small written\n"
    "  register next : f16 [32] written\n"
    "  register acc : f32 [16] written\n"
    "  register v : f32 [] written\n"
    "  buffer C = %1 : f32 [256] written\n"
    "  loops block x y r i\n"
    "  for block < 1 grid x {\n"
    "    var lanes\n"
    "    for x < 16 block x {\n"
    "      for y < 16 block y {\n"
    "        var next = 0.0:f16\n"
    "        var acc = 0.0:f32\n"
    "        for r < 9 {\n"
    "          lanes[((r * 256) + ((y * 16) + x))] = 0.0:f16\n"
    "        }\n"
    "        barrier\n"
    "        matrix acc 32 by 16 by 32 of next[0] steps 0 0 and lanes[0] steps 1 72\n"
    "        index i = ((y * 16) + x)\n"
    "        let v = acc[0] across 4\n"
    "        C[i] = v[]\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

/* Copies in the background: what is copied in a turn of a loop is read two turns later, from one of four parts. */
static const char copies[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  buffer %0 input 0 A[64, 256] : f32\n"
    "  buffer %1 output 0 y[64] : f32\n"
    "  input A = %0\n"
    "  output y = %1\n"
    "  kernel 0 y outer 0 {\n"
    "    stage y[i:64] : f32 = sum:f32[k:256] %0[i, k] to %1[i]\n"
    "  }\n"
    "}\n"
    "kernel y step 0 work 1 {\n"
    "  buffer A = %0 : f32 [64, 256]\n"
    "  buffer y = %1 : f32 [64] written\n"
    "  shared part : f32 [1040] written\n"
    "  register none : f32 [4] written\n"
    "  register sum : f32 [] written\n"
    "  loops i t f k\n"
    "  for i < 64 grid x {\n"
    "    var part\n"
    "    for t < 64 block x {\n"
    "      var none = 0.0:f32\n"
    "      var sum = 0.0:f32\n"
    "      for f < 8 {\n"
    "        await 1\n"
    "        barrier\n"
    "        if (f < 6) {\n"
    "          copy part[(((f % 4) * 256) + (t * 4))] = A[i, (t * 4)] wide 4\n"
    "        } else {\n"
    "          part[(((f % 4) * 256) + (t * 4))] = none[0] wide 4\n"
    "        }\n"
    "        commit\n"
    "        for k < 256 {\n"
    "          sum[] = (sum[] + part[((((f + 2) % 4) * 256) + k)])\n"
    "        }\n"
    "      }\n"
    "      if (t == 0) {\n"
    "        y[i] = sum[]\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char under_way[] =
    "kernel y: an element of part may be touched while a copy to it is under way: no await is between";
static const char race_copy[] =
    "kernel y: two threads of a block may touch one element of part, one of them to store, and no barrier is between";
static const char lasting[] =
    "kernel y: a copy to part may be under way for more turns of the loop over f than its awaits leave groups";
static const TextBreak copy_breaks[] = {
    /* what is read has not come: too many groups are left under way, or it is another part, or not only one */
    {"        await 1\n", "        await 2\n", under_way},
    {"((f + 2) % 4) * 256) + k", "((f + 3) % 4) * 256) + k", under_way},
    {"((f + 2) % 4) * 256) + k", "(f % 4) * 256) + k", under_way},
    {"((f + 2) % 4) * 256) + k", "((f + 2) % 3) * 256) + k", under_way},
    {"((f + 2) % 4) * 256) + k", "((f + 2) % 4) * 257) + k", under_way},
    {"for k < 256 {", "for k < 260 {", under_way},
    /* copies that nobody awaits, or that are of no group */
    {"        await 1\n", "", lasting},
    {"        }\n        commit\n", "        }\n", under_way},
    /* a store to what is copied, which is no other branch's */
    {"        } else {\n", "        }\n        if (f < 4) {\n", under_way},
    {"none[0] wide 4\n        }\n", "none[0] wide 4\n        }\n        part[(((f % 4) * 256) + (t * 4))] = 0.0:f32\n",
        under_way},
    /* what has come, or what was read, and no barrier; the part that is being read */
    {"        barrier\n", "", race_copy},
    {"part[(((f % 4) * 256) + (t * 4))] = none", "part[((((f + 2) % 4) * 256) + (t * 4))] = none", race_copy},
    {"copy part[(((f % 4)", "copy part[((((f + 2) % 4)", under_way},
    /* groups of some threads */
    {"        commit\n        for k", "        if (t < 32) {\n          commit\n        }\n        for k",
        "kernel y: groups of copies are counted in a condition"},
    {"for f < 8 {", "for f < (t + 1) {",
        "kernel y: what threads do together stands in the loop over f, whose threads go round differently often"},
    /* what a copy is */
    {"= A[i, (t * 4)] wide 4", "= none[0] wide 4",
        "kernel y: what is copied to part does not go from a buffer to a shared array"},
    {"copy part[(((f % 4) * 256) + (t * 4))]", "copy none[0]",
        "kernel y: what is copied to none does not go from a buffer to a shared array"},
    {"= A[i, (t * 4)] wide 4", "= A[i, ((t * 4) + 2)] wide 4",
        "kernel y: 4 neighbours of A do not begin at a multiple of so many, or do not end with a row"},
    {"= A[i, (t * 4)] wide 4", "= A[i, (t * 4)] wide 8",
        "kernel y: 8 neighbours of part lie otherwise where they are stored, or are not 4, 8 or 16 bytes"},
};
static const TextRefused copy_refused[] = {
    {"await 1", "await 8", "E908", "a number of groups is from 0 to 7"},
    {"= A[i, (t * 4)] wide 4", "= A[i, (t * 4)]", "E903", "expected `wide`"},
};

static void copy_tests(Arena *a) {
  text_holds(a, copies, "a text with copies in the background");
  text_breaks(copies, COUNT(copy_breaks), copy_breaks);
  text_refusals(copies, COUNT(copy_refused), copy_refused);
}

static void matrix_tests(Arena *a) {
  text_holds(a, matrix, "a text with a matrix");
  text_breaks(matrix, COUNT(matrix_breaks), matrix_breaks);
  text_holds(a, held, "a text whose threads hold a side of a matrix, and take values across a warp,");
  text_breaks(held, COUNT(held_breaks), held_breaks);
}

int main(void) {
  Arena *a = arena_new();
  text_holds(a, full, "a text for a device");
  text_breaks(full, COUNT(breaks), breaks);
  text_refusals(full, COUNT(refused), refused);
  product_tests(a);
  group_tests(a);
  matrix_tests(a);
  copy_tests(a);
  arena_free(a);
  return DONE();
}
