/* tests/loop/test_finish.c - passes over Loop, from text to text: what each makes of a kernel, and what it lets be.
 * What comes out is sound, comes back from its text, and but for borders and blocks passes a second time unchanged. */
#include "schedule/finish/finish.h"
#include "text.h"

TEXT_FORM("x.loop", LoopProgram, loop_read, loop_print, loop_equal, loop_check)

static const char before[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  dim N\n"
    "  buffer %0 input 0 X[$N, 64] : f32\n"
    "  buffer %1 input 1 t[$N] : i64\n"
    "  buffer %2 output 0 Y[$N] : f32\n"
    "  buffer %3 work w[$N] : f32 alive 0..1\n"
    "  input X = %0\n"
    "  input t = %1\n"
    "  output Y = %2\n"
    "  kernel 0 w outer 0 {\n"
    "    stage w[i:$N] : f32 = 3.0:f32 to %3[i]\n"
    "  }\n"
    "  kernel 1 Y outer 0 {\n"
    "    stage Y[i:$N] : f32 = %3[i] to %2[i]\n"
    "  }\n"
    "}\n"
    "site 0 \"index 1 of X\"\n"
    "kernel w step 0 work $N {\n"
    "  buffer w = %3 : f32 [$N] written\n"
    "  loops i\n"
    "  for i < $N {\n"
    "    w[i] = 3.0:f32\n"
    "  }\n"
    "}\n"
    "kernel Y step 1 work $N {\n";

static const char heads[] =
    "  buffer X = %0 : f32 [$N, 64]\n"
    "  buffer t = %1 : i64 [$N]\n"
    "  buffer Y = %2 : f32 [$N] written\n";

typedef struct Row { const char *says; FinishPass *pass; const char *from, *to; } Row; /* to NULL: as it was */

static const Row rows[] = {
    {"a border on either side is cut off, and nothing is asked inside", finish_border,
        "  loops i j\n  for i < $N {\n    for j < 512 vector {\n"
        "      Y[j] = select(((0 < j) and (j < 511)), X[i, (j - 1)], 1.0:f32)\n    }\n  }\n",
        "  loops i j j_2 j_3 j_4\n  for i < $N {\n    for j_2 < 1 vector {\n      Y[j_2] = 1.0:f32\n    }\n"
        "    for j < 449 from 1 vector {\n      Y[j] = X[i, (j - 1)]\n    }\n"
        "    for j_3 < 511 from 447 vector {\n      Y[j_3] = X[i, (j_3 - 1)]\n    }\n"
        "    for j_4 < 512 from 511 vector {\n      Y[j_4] = 1.0:f32\n    }\n  }\n"},
    {"what is left of whole vectors inside is as many as cover it", finish_border,
        "  register a : f32 []\n  loops j\n  for j < 140 vector {\n    let a = X[j, 0]\n"
        "    Y[j] = (a[] + select((1 < j), X[(j - 2), 0], 1.0:f32))\n  }\n",
        "  register a : f32 []\n  register a_2 : f32 []\n  register a_3 : f32 []\n  loops j j_2 j_3\n"
        "  for j_2 < 2 vector {\n    let a_2 = X[j_2, 0]\n    Y[j_2] = (a_2[] + 1.0:f32)\n  }\n"
        "  for j < 130 from 2 vector {\n    let a = X[j, 0]\n    Y[j] = (a[] + X[(j - 2), 0])\n  }\n"
        "  for j_3 < 140 from 124 vector {\n    let a_3 = X[j_3, 0]\n    Y[j_3] = (a_3[] + X[(j_3 - 2), 0])\n  }\n"},
    {"nothing is computed twice that changes what it reads", finish_border,
        "  loops j\n  for j < 140 vector {\n    Y[j] = (Y[j] + select((1 < j), X[(j - 2), 0], 1.0:f32))\n  }\n",
        "  loops j j_2\n  for j_2 < 2 vector {\n    Y[j_2] = (Y[j_2] + 1.0:f32)\n  }\n"
        "  for j < 140 from 2 vector {\n    Y[j] = (Y[j] + X[(j - 2), 0])\n  }\n"},
    {"nor in a long loop, whose rest is nothing beside it", finish_border,
        "  loops j\n  for j < 1100 vector {\n    Y[j] = select((1 < j), X[(j - 2), 0], 1.0:f32)\n  }\n",
        "  loops j j_2\n  for j_2 < 2 vector {\n    Y[j_2] = 1.0:f32\n  }\n"
        "  for j < 1100 from 2 vector {\n    Y[j] = X[(j - 2), 0]\n  }\n"},
    {"at an end that is not known", finish_border,
        "  loops j\n  for j < $N vector {\n    Y[j] = select(((j + 1) < $N), X[(j + 1), 0], 1.0:f32)\n  }\n",
        "  loops j j_2\n  for j < min($N, ($N - 1)) vector {\n    Y[j] = X[(j + 1), 0]\n  }\n"
        "  for j_2 < $N from max(0, min($N, ($N - 1))) vector {\n    Y[j_2] = 1.0:f32\n  }\n"},
    {"a ring whose length is not known, of what is read or stored", finish_border,
        "  loops j\n  for j < $N vector {\n    Y[j] = (X[((j + 1) % $N), 0] + X[(((j + $N) - 1) % $N), 0])\n  }\n",
        "  loops j j_2 j_3\n  for j_2 < min($N, 1) {\n"
        "    Y[j_2] = (X[((j_2 + 1) % $N), 0] + X[(((j_2 + $N) - 1) % $N), 0])\n  }\n"
        "  for j < min($N, min(($N + 1), ($N - 1))) from 1 vector {\n    Y[j] = (X[(j + 1), 0] + X[(j - 1), 0])\n  }\n"
        "  for j_3 < $N from max(1, min($N, min(($N + 1), ($N - 1)))) {\n"
        "    Y[j_3] = (X[((j_3 + 1) % $N), 0] + X[(((j_3 + $N) - 1) % $N), 0])\n  }\n"},
    {"what is the same for all of the loop is asked once; what is below and above need not be known", finish_border,
        "  register a : f32 []\n  loops i j\n  for i < $N {\n    for j < $N {\n      let a = X[i, 0]\n"
        "      Y[j] = select((((i == 0) or (j == 0)) or (j == 2)), a[], X[(j - 2), i])\n"
        "    }\n  }\n",
        "  register a : f32 []\n  register a_2 : f32 []\n  register a_3 : f32 []\n  loops i j j_2 j_3\n"
        "  for i < $N {\n    if not((i == 0)) {\n"
        "      for j_3 < min($N, 3) {\n        let a_3 = X[i, 0]\n"
        "        Y[j_3] = select((((i == 0) or (j_3 == 0)) or (j_3 == 2)), a_3[], X[(j_3 - 2), i])\n      }\n"
        "      for j < $N from 3 {\n        let a = X[i, 0]\n        Y[j] = X[(j - 2), i]\n      }\n    } else {\n"
        "      for j_2 < $N {\n        let a_2 = X[i, 0]\n"
        "        Y[j_2] = a_2[]\n      }\n    }\n  }\n"},
    {"in a short loop too", finish_border,
        "  loops i j\n  for i < $N {\n    for j < 16 vector {\n"
        "      Y[j] = (select((0 < i), X[(i - 1), j], 1.0:f32) + select(((i + 1) < $N), X[(i + 1), j], 1.0:f32))\n    }\n  }\n",
        "  loops i j j_2\n  for i < $N {\n    if (((i + 1) < $N) and (0 < i)) {\n      for j < 16 vector {\n"
        "        Y[j] = (X[(i - 1), j] + X[(i + 1), j])\n      }\n    } else {\n      for j_2 < 16 vector {\n"
        "        Y[j_2] = (select((0 < i), X[(i - 1), j_2], 1.0:f32) + select(((i + 1) < $N), X[(i + 1), j_2], 1.0:f32))\n"
        "      }\n    }\n  }\n"},
    {"short loops, data, a quotient, and values that are there in any case stay as they are", finish_border,
        "  register a : f32 []\n  loops i j k l m\n  for i < $N {\n    for j < 64 vector {\n"
        "      Y[j] = select((0 < j), X[i, (j - 1)], 1.0:f32)\n    }\n"
        "    for k < $N {\n      Y[k] = select((t[k] < 3), X[k, 1], 1.0:f32)\n    }\n    for l < $N {\n"
        "      Y[l] = select(((l // 2) < 3), X[l, 1], 1.0:f32)\n    }\n"
        "    for m < $N {\n      let a = X[m, 1]\n      Y[m] = select((m < 3), a[], 1.0:f32)\n    }\n  }\n",
        NULL},

    {"blocks of lanes: a condition on data is asked in one block, and what is low has no exponential", finish_blocks,
        "  register a : f32 []\n  loops i j l\n  for i < $N {\n    for j < 512 step 64 {\n"
        "      fetch X[i, j]\n      for l < 64 vector {\n"
        "        let a = (select(((j + l) <= t[i]), X[i, (j + l)], -inf:f32) - 2.0:f32)\n"
        "        Y[(j + l)] = exp(a[])\n      }\n    }\n  }\n",
        "  register a : f32 []\n  register bound : i64 [] written\n  register a_2 : f32 []\n"
        "  register a_3 : f32 []\n  loops i j l whole whole_2 j_2 l_2 j_3 l_3\n  for i < $N {\n"
        "    let bound = min(max((min(max(t[i], -1), 577) + 1), 0), 575)\n"
        "    index whole = ((bound[] // 64) * 64)\n    index whole_2 = (((bound[] + 63) // 64) * 64)\n"
        "    for j < min(512, whole) step 64 {\n      fetch X[i, j]\n      for l < 64 vector {\n"
        "        let a = (X[i, (j + l)] - 2.0:f32)\n        Y[(j + l)] = exp(a[])\n      }\n    }\n"
        "    for j_2 < min(512, whole_2) from whole step 64 {\n      fetch X[i, j_2]\n"
        "      for l_2 < 64 vector {\n"
        "        let a_2 = (select(((j_2 + l_2) <= t[i]), X[i, (j_2 + l_2)], -inf:f32) - 2.0:f32)\n"
        "        Y[(j_2 + l_2)] = exp(a_2[])\n      }\n    }\n    for j_3 < 512 from whole_2 step 64 {\n"
        "      for l_3 < 64 vector {\n        let a_3 = (-inf:f32 - 2.0:f32)\n"
        "        Y[(j_3 + l_3)] = exp((-inf:f32 - 2.0:f32))\n      }\n    }\n  }\n"},
    {"what is low is kept where what it reads is stored before its use", finish_blocks,
        "  register a : f32 []\n  loops i j l\n  for i < $N {\n    for j < 512 step 64 {\n"
        "      for l < 64 vector {\n"
        "        let a = (select(((j + l) <= t[i]), X[i, (j + l)], -inf:f32) + Y[(j + l)])\n"
        "        Y[(j + l)] = 2.0:f32\n        Y[(j + l)] = exp(a[])\n      }\n    }\n  }\n",
        "  register a : f32 []\n  register bound : i64 [] written\n  register a_2 : f32 []\n"
        "  register a_3 : f32 []\n  loops i j l whole whole_2 j_2 l_2 j_3 l_3\n  for i < $N {\n"
        "    let bound = min(max((min(max(t[i], -1), 577) + 1), 0), 575)\n"
        "    index whole = ((bound[] // 64) * 64)\n    index whole_2 = (((bound[] + 63) // 64) * 64)\n"
        "    for j < min(512, whole) step 64 {\n      for l < 64 vector {\n"
        "        let a = (X[i, (j + l)] + Y[(j + l)])\n        Y[(j + l)] = 2.0:f32\n"
        "        Y[(j + l)] = exp(a[])\n      }\n    }\n"
        "    for j_2 < min(512, whole_2) from whole step 64 {\n      for l_2 < 64 vector {\n"
        "        let a_2 = (select(((j_2 + l_2) <= t[i]), X[i, (j_2 + l_2)], -inf:f32) + Y[(j_2 + l_2)])\n"
        "        Y[(j_2 + l_2)] = 2.0:f32\n        Y[(j_2 + l_2)] = exp(a_2[])\n      }\n    }\n"
        "    for j_3 < 512 from whole_2 step 64 {\n      for l_3 < 64 vector {\n"
        "        let a_3 = (-inf:f32 + Y[(j_3 + l_3)])\n        Y[(j_3 + l_3)] = 2.0:f32\n"
        "        Y[(j_3 + l_3)] = exp(a_3[])\n      }\n    }\n  }\n"},
    {"a band: below and behind it nothing is read", finish_blocks,
        "  register a : bool []\n  loops i j l\n  for i < $N {\n    for j < $N step 16 {\n"
        "      for l < 16 short {\n        let a = ((i <= ((j + l) + 20)) and ((j + l) < (i + 20)))\n"
        "        Y[(j + l)] = select(a[], X[i, (j + l)], 0.0:f32)\n      }\n    }\n  }\n",
        "  register a : bool []\n  register a_2 : bool []\n  register a_3 : bool []\n"
        "  register a_4 : bool []\n  register a_5 : bool []\n"
        "  loops i j l whole whole_2 j_2 l_2 j_3 l_3 whole_3 whole_4 j_4 l_4 j_5 l_5\n  for i < $N {\n"
        "    index whole = ((min(max((i - 20), 0), ($N + 15)) // 16) * 16)\n"
        "    index whole_2 = (((min(max((i - 20), 0), ($N + 15)) + 15) // 16) * 16)\n"
        "    for j_2 < min($N, whole) step 16 {\n      for l_2 < 16 short {\n        let a_2 = false\n"
        "        Y[(j_2 + l_2)] = 0.0:f32\n      }\n    }\n"
        "    for j_3 < min($N, whole_2) from whole step 16 {\n      for l_3 < 16 short {\n"
        "        let a_3 = ((i <= ((j_3 + l_3) + 20)) and ((j_3 + l_3) < (i + 20)))\n"
        "        Y[(j_3 + l_3)] = select(a_3[], X[i, (j_3 + l_3)], 0.0:f32)\n      }\n    }\n"
        "    index whole_3 = ((min(max((i + 20), 0), ($N + 15)) // 16) * 16)\n"
        "    index whole_4 = (((min(max((i + 20), 0), ($N + 15)) + 15) // 16) * 16)\n"
        "    for j < min($N, whole_3) from whole_2 step 16 {\n      for l < 16 short {\n"
        "        let a = true\n        Y[(j + l)] = X[i, (j + l)]\n      }\n    }\n"
        "    for j_4 < min($N, max(whole_2, whole_4)) from max(whole_2, whole_3) step 16 {\n"
        "      for l_4 < 16 short {\n"
        "        let a_4 = ((i <= ((j_4 + l_4) + 20)) and ((j_4 + l_4) < (i + 20)))\n"
        "        Y[(j_4 + l_4)] = select(a_4[], X[i, (j_4 + l_4)], 0.0:f32)\n      }\n    }\n"
        "    for j_5 < $N from max(whole_2, whole_4) step 16 {\n      for l_5 < 16 short {\n"
        "        let a_5 = false\n        Y[(j_5 + l_5)] = 0.0:f32\n      }\n    }\n  }\n"},
    {"data behind a condition, of a label that moves, and what is stored stay as they are", finish_blocks,
        "  loops i j l m\n  for i < $N {\n    for j < 512 step 64 {\n      for l < 64 vector {\n"
        "        Y[(j + l)] = select(((0 < i) and ((j + l) <= t[(i - 1)])), X[i, (j + l)], 0.0:f32)\n      }\n"
        "      for m < 64 vector {\n"
        "        Y[(j + m)] = select(((j + m) <= t[(j + m)]), X[i, (j + m)], 0.0:f32)\n      }\n"
        "    }\n  }\n",
        NULL},

    {"an index that a loop over lanes lets be is looked at ahead of it, and of the loop around it", finish_ask,
        "  register a : i64 []\n  register b : f32 []\n  loops i j l\n  for i < $N {\n    let a = t[i]\n"
        "    for j < 64 step 16 {\n      let b = X[i, j]\n      for l < 16 short {\n"
        "        Y[(j + l)] = (b[] + X[within((a[] + 1), $N, 0), (j + l)])\n      }\n    }\n  }\n",
        "  register a : i64 []\n  register b : f32 []\n  register b_2 : f32 []\n  loops i j l j_2 l_2\n"
        "  for i < $N {\n    let a = t[i]\n"
        "    if ((0 <= (a[] + 1)) and ((a[] + 1) < $N)) {\n      for j < 64 step 16 {\n        let b = X[i, j]\n"
        "        for l < 16 short {\n"
        "          Y[(j + l)] = (b[] + X[(a[] + 1), (j + l)])\n        }\n      }\n    } else {\n"
        "      for j_2 < 64 step 16 {\n        let b_2 = X[i, j_2]\n"
        "        for l_2 < 16 {\n          Y[(j_2 + l_2)] = (b_2[] + X[within((a[] + 1), $N, 0), (j_2 + l_2)])\n"
        "        }\n      }\n    }\n  }\n"},
    {"two indices are one condition", finish_ask,
        "  register a : i64 []\n  loops i j\n  for i < $N {\n    let a = t[i]\n    for j < $N vector {\n"
        "      Y[j] = X[within(a[], $N, 0), within(a[], 64, 0)]\n    }\n  }\n",
        "  register a : i64 []\n  loops i j j_2\n  for i < $N {\n    let a = t[i]\n"
        "    if ((((0 <= a[]) and (a[] < 64)) and (0 <= a[])) and (a[] < $N)) {\n      for j < $N vector {\n"
        "        Y[j] = X[a[], a[]]\n      }\n    } else {\n      for j_2 < $N {\n"
        "        Y[j_2] = X[within(a[], $N, 0), within(a[], 64, 0)]\n      }\n    }\n  }\n"},
    {"what is in memory, what the loop makes, and a loop without lanes stay as they are", finish_ask,
        "  register a : i64 []\n  register b : i64 []\n  loops i j k l\n  for i < $N {\n    let a = t[i]\n"
        "    for j < 64 vector {\n      Y[j] = X[within(t[i], $N, 0), j]\n    }\n"
        "    for k < 64 vector {\n      let b = (a[] + k)\n      Y[k] = X[within(b[], $N, 0), k]\n    }\n"
        "    for l < 64 {\n      Y[l] = X[within(a[], $N, 0), l]\n    }\n  }\n",
        NULL},

    {"a loop of one iteration is its body, with a number for its variable", finish_once,
        "  loops i j\n  for i < 1 {\n    for j < $N {\n      Y[(i + j)] = 1.0:f32\n    }\n  }\n",
        "  loops i j\n  for j < $N {\n    Y[j] = 1.0:f32\n  }\n"},
    {"or with a name: of another loop, of a size", finish_once,
        "  loops i j k\n  for i < $N {\n    for j < (i + 1) from i vector {\n      for k < ($N + 1) from $N {\n"
        "        Y[((j + k) - $N)] = 1.0:f32\n      }\n    }\n  }\n",
        "  loops i j k\n  for i < $N {\n    Y[((i + $N) - $N)] = 1.0:f32\n  }\n"},
    {"or behind an index", finish_once,
        "  loops i j\n  for i < $N {\n    for j < ((i // 2) + 1) from (i // 2) {\n      Y[j] = 1.0:f32\n    }\n  }\n",
        "  loops i j\n  for i < $N {\n    index j = (i // 2)\n    Y[j] = 1.0:f32\n  }\n"},
    {"steps that go past the end count", finish_once,
        "  loops i\n  for i < 19 from 3 step 16 {\n    Y[i] = 1.0:f32\n  }\n", "  loops i\n  Y[3] = 1.0:f32\n"},
    {"two iterations are two, none is none, and what is not known stays", finish_once,
        "  loops i j k\n  for i < 20 from 3 step 16 {\n    Y[i] = 1.0:f32\n  }\n  for j < 3 from 3 {\n"
        "    Y[j] = 1.0:f32\n  }\n"
        "  for k < $N step 64 {\n    Y[k] = 1.0:f32\n  }\n",
        NULL},
    {"a thread loop stays, whatever it does", finish_once, "  loops i\n  for i < 1 thread {\n    Y[i] = 1.0:f32\n  }\n",
        NULL},

    {"what nobody reads goes, and what only that reads, with its names", finish_dead,
        "  register a : f32 []\n  register b : f32 []\n  register c : i64 []\n  loops i j\n  for i < $N {\n"
        "    let a = X[i, 0]\n    let b = (a[] * 2.0:f32)\n"
        "    lead c = Y[i]\n    index j = (i // 2)\n    Y[i] = 1.0:f32\n  }\n",
        "  loops i\n  for i < $N {\n    Y[i] = 1.0:f32\n  }\n"},
    {"so do loops and conditions with nothing in them", finish_dead,
        "  register a : f32 []\n  loops i j\n  for i < $N {\n    for j < t[i] {\n      if (j < 3) {\n"
        "        let a = X[i, j]\n      }\n    }\n    Y[i] = 1.0:f32\n  }\n",
        "  loops i\n  for i < $N {\n    Y[i] = 1.0:f32\n  }\n"},
    {"so does what is stored where it was, and what is around it", finish_dead,
        "  loops i j\n  for i < $N {\n    if (i < 3) {\n      for j < 64 {\n        Y[i] = Y[i]\n      }\n    }\n"
        "    Y[i] = 1.0:f32\n  }\n",
        "  loops i\n  for i < $N {\n    Y[i] = 1.0:f32\n  }\n"},
    {"what may fail the run stays", finish_dead,
        "  buffer X = %0 : f32 [$N, 64]\n  buffer t = %1 : i64 [$N]\n  buffer Y = %2 : f32 [$N] written\n"
        "  register a : f32 []\n  loops i j\n  for i < $N {\n    let a = X[within(t[i], $N, 0), 0]\n"
        "    for j < within(i, 9, 0) {\n    }\n    Y[i] = 1.0:f32\n  }\n",
        "  buffer X = %0 : f32 [$N, 64]\n  buffer t = %1 : i64 [$N]\n  buffer Y = %2 : f32 [$N] written\n"
        "  register a : f32 []\n  loops i j\n  for i < $N {\n    let a = X[within(t[i], $N, 0), 0]\n"
        "    for j < within(i, 9, 0) {\n    }\n    Y[i] = 1.0:f32\n  }\n"},
    {"what is read stays, in an index, a bound, a condition, another's value", finish_dead,
        "  buffer X = %0 : f32 [$N, 64]\n  buffer t = %1 : i64 [$N]\n  buffer Y = %2 : f32 [$N] written\n"
        "  register a : i64 []\n  register b : i64 []\n  register c : bool []\n  register d : f32 []\n  loops i j k\n"
        "  for i < $N {\n    let a = t[i]\n"
        "    let b = (i + 1)\n    let c = (i < 3)\n    let d = X[i, 0]\n    index k = (i // 2)\n    for j < b[] {\n"
        "      if c[] {\n        Y[a[]] = (d[] + f32(k))\n      }\n"
        "    }\n  }\n",
        NULL},

    {"a condition around loops is maybe, at any depth; others are not", finish_maybe,
        "  loops i j\n  for i < $N {\n    if (i < 5) {\n      if (i < 3) {\n        for j < 4 {\n"
        "          Y[j] = 1.0:f32\n        }\n      }\n    }\n"
        "    if (i < 2) maybe {\n      Y[i] = 1.0:f32\n    }\n  }\n",
        "  loops i j\n  for i < $N {\n    if (i < 5) maybe {\n      if (i < 3) maybe {\n        for j < 4 {\n"
        "          Y[j] = 1.0:f32\n        }\n      }\n    }\n"
        "    if (i < 2) {\n      Y[i] = 1.0:f32\n    }\n  }\n"},
    {"a loop in the else counts", finish_maybe,
        "  loops i\n  if ($N < 5) {\n    Y[0] = 1.0:f32\n  } else {\n    for i < 4 {\n      Y[i] = 1.0:f32\n    }\n"
        "  }\n",
        "  loops i\n  if ($N < 5) maybe {\n    Y[0] = 1.0:f32\n  } else {\n    for i < 4 {\n      Y[i] = 1.0:f32\n"
        "    }\n  }\n"},

    {"a vector loop of 16 iterations is short", finish_short,
        "  loops i j\n  for i < $N {\n    for j < 19 from 3 vector {\n      Y[j] = exp(X[i, j])\n    }\n  }\n",
        "  loops i j\n  for i < $N {\n    for j < 19 from 3 short {\n      Y[j] = exp(X[i, j])\n    }\n  }\n"},
    {"and held, where it takes and adds neighbours alone, and is a power of two", finish_short,
        "  loops i j k l\n  for i < $N {\n    for j < 8 vector {\n      Y[(i + j)] = X[i, (j + 3)]\n    }\n"
        "    for k < 16 vector {\n      Y[k] = fma(X[i, k], X[0, 1], X[i, (63 - k)])\n    }\n"
        "    for l < 12 vector {\n      Y[l] = X[i, l]\n    }\n  }\n",
        "  loops i j k l\n  for i < $N {\n    for j < 8 held {\n      Y[(i + j)] = X[i, (j + 3)]\n    }\n"
        "    for k < 16 short {\n      Y[k] = fma(X[i, k], X[0, 1], X[i, (63 - k)])\n    }\n"
        "    for l < 12 short {\n      Y[l] = X[i, l]\n    }\n  }\n"},
    {"not along another axis than the last, nor by twos, nor of what is no vector's", finish_short,
        "  loops i j k l\n  for i < $N {\n    for j < 8 vector {\n      Y[j] = X[j, i]\n    }\n"
        "    for k < 8 vector {\n      Y[k] = X[i, (2 * k)]\n    }\n"
        "    for l < 8 vector {\n      Y[l] = f32(l)\n    }\n  }\n",
        "  loops i j k l\n  for i < $N {\n    for j < 8 short {\n      Y[j] = X[j, i]\n    }\n    for k < 8 short {\n"
        "      Y[k] = X[i, (2 * k)]\n    }\n"
        "    for l < 8 short {\n      Y[l] = f32(l)\n    }\n  }\n"},
    {"several sums are held together, if they are vectors", finish_short,
        "  register a : f32 [16] written\n  register b : f32 [8] written\n  loops i j k\n"
        "  for i < $N {\n    var a = 0.0:f32\n    var b = 0.0:f32\n"
        "    for j < 8 vector {\n      b[j] = (X[i, j] + b[j])\n      a[j] = max(a[j], X[i, (7 + j)])\n    }\n"
        "    for k < 2 vector {\n      b[k] = (X[i, k] + b[k])\n      a[k] = max(a[k], X[i, k])\n    }\n  }\n",
        "  register a : f32 [16] written\n  register b : f32 [8] written\n  loops i j k\n"
        "  for i < $N {\n    var a = 0.0:f32\n    var b = 0.0:f32\n"
        "    for j < 8 held {\n      b[j] = (X[i, j] + b[j])\n      a[j] = max(a[j], X[i, (7 + j)])\n    }\n"
        "    for k < 2 short {\n      b[k] = (X[i, k] + b[k])\n      a[k] = max(a[k], X[i, k])\n    }\n  }\n"},
    {"longer ones are held where they bring sums up to date, or where all of it is a few vectors", finish_short,
        "  register a : f32 [32] written\n  register b : f32 [32] written\n  register c : f32 []\n  loops i j k l\n"
        "  for i < $N {\n    var a = 0.0:f32\n    var b = 0.0:f32\n"
        "    for j < 32 vector {\n      let c = X[i, 0]\n      a[j] = max(a[j], X[j, (2 * j)])\n"
        "      b[j] = (c[] + b[j])\n    }\n    for k < 64 vector {\n      Y[k] = X[i, k]\n    }\n"
        "    for l < 32 vector {\n      a[l] = (a[l] + 1.0:f32)\n      b[l] = X[i, l]\n    }\n  }\n",
        "  register a : f32 [32] written\n  register b : f32 [32] written\n  register c : f32 []\n  loops i j k l\n"
        "  for i < $N {\n    var a = 0.0:f32\n    var b = 0.0:f32\n"
        "    for j < 32 held {\n      let c = X[i, 0]\n      a[j] = max(a[j], X[j, (2 * j)])\n"
        "      b[j] = (c[] + b[j])\n    }\n    for k < 64 held {\n      Y[k] = X[i, k]\n    }\n"
        "    for l < 32 vector {\n      a[l] = (a[l] + 1.0:f32)\n      b[l] = X[i, l]\n    }\n  }\n"},
    {"but not beyond 256 bytes of one place, nor of another length than a power of two", finish_short,
        "  register a : f32 [128] written\n  loops i j k\n  for i < $N {\n    var a = 0.0:f32\n"
        "    for j < 128 vector {\n      a[j] = (a[j] + X[i, 0])\n    }\n    for k < 48 vector {\n      Y[k] = X[i, k]\n"
        "    }\n  }\n",
        NULL},
    {"one of 17 is not, nor one of an unknown length, nor one that is no vector loop", finish_short,
        "  loops i j k l\n  for i < $N vector {\n    Y[i] = 1.0:f32\n  }\n  for j < 17 vector {\n    Y[j] = 1.0:f32\n"
        "  }\n  for k < 4 unroll {\n    Y[k] = 1.0:f32\n"
        "  }\n  for l < 4 {\n    Y[l] = 1.0:f32\n  }\n",
        NULL},

    {"a loop of many points is polled: the outermost whose turns have few", finish_poll,
        "  loops i j k\n  for i < 100 {\n    for j < 1000000 {\n      for k < 3 {\n        Y[j] = X[k, 0]\n      }\n"
        "    }\n  }\n",
        "  loops i j k\n  for i < 100 polled 1 {\n    for j < 1000000 {\n      for k < 3 {\n        Y[j] = X[k, 0]\n"
        "      }\n    }\n  }\n"},
    {"inside of what is long already, of loops that are written out, and of threads; over lanes too", finish_poll,
        "  loops i j k\n  for i < 100 thread {\n    for j < 8 unroll {\n      for k < 4000000000 step 4 vector {\n"
        "        Y[k] = X[k, 0]\n      }\n    }\n  }\n",
        "  loops i j k\n  for i < 100 thread {\n    for j < 8 unroll {\n"
        "      for k < 4000000000 step 4 vector polled 1048576 {\n        Y[k] = X[k, 0]\n      }\n    }\n  }\n"},
    {"a part of known length is not what all of it would be", finish_poll,
        "  loops i j k\n  for i < 9000 thread {\n    for j < min($N, ((i * 600) + 600)) from (i * 600) {\n"
        "      for k < 9000 {\n        Y[j] = X[k, 0]\n      }\n    }\n  }\n",
        NULL},
    {"one loop whose size only a run can tell is no reason", finish_poll,
        "  loops i\n  for i < $N {\n    Y[i] = X[i, 0]\n  }\n", NULL},
    {"nor is one within a thread's share", finish_poll,
        "  loops c i j\n  for c < 100 thread {\n    for i < min($N, ((c * 600) + 600)) from (c * 600) {\n"
        "      for j < $N {\n        Y[i] = X[j, 0]\n      }\n    }\n  }\n",
        NULL},
    {"two within each other are, and the inner one is a turn", finish_poll,
        "  loops i j k\n  for i < $N {\n    for j < $N {\n      for k < $N {\n        Y[j] = X[k, 0]\n      }\n    }\n"
        "  }\n",
        "  loops i j k\n  for i < $N {\n    for j < $N polled 1 {\n      for k < $N {\n        Y[j] = X[k, 0]\n"
        "      }\n    }\n  }\n"},
    {"what an index is at most is known", finish_poll,
        "  loops b end i j\n  for b < $N step 4096 {\n    index end = min($N, (b + 4096))\n"
        "    for i < (end - 3) from b {\n      for j < 1024 {\n        Y[j] = X[i, 0]\n      }\n    }\n  }\n",
        "  loops b end i j\n  for b < $N step 4096 polled 1 {\n    index end = min($N, (b + 4096))\n"
        "    for i < (end - 3) from b {\n      for j < 1024 {\n        Y[j] = X[i, 0]\n      }\n    }\n  }\n"},

    {"what is left of a loop that goes by four is short", finish_poll,
        "  loops b end i r j\n  for b < $N step 4096 {\n    index end = min($N, (b + 4096))\n"
        "    for i < (end - 3) from b step 4 {\n      for j < 1024 {\n        Y[j] = X[i, 0]\n      }\n    }\n"
        "    for r < end from ((b + (end - b)) - ((end - b) % 4)) {\n      Y[r] = X[r, 0]\n    }\n  }\n",
        "  loops b end i r j\n  for b < $N step 4096 polled 2 {\n    index end = min($N, (b + 4096))\n"
        "    for i < (end - 3) from b step 4 {\n      for j < 1024 {\n        Y[j] = X[i, 0]\n      }\n    }\n"
        "    for r < end from ((b + (end - b)) - ((end - b) % 4)) {\n      Y[r] = X[r, 0]\n    }\n  }\n"},

    {"a kernel that a caller's tensor is given to is dense", finish_dense,
        "  loops i\n  for i < $N {\n    Y[i] = 1.0:f32\n  }\n",
        "  dense\n  loops i\n  for i < $N {\n    Y[i] = 1.0:f32\n  }\n"},

    {"a sum of a product is fma", finish_fuse,
        "  loops i\n  for i < $N {\n    Y[i] = ((X[i, 0] * X[i, 1]) + X[i, 2])\n  }\n",
        "  loops i\n  for i < $N {\n    Y[i] = fma(X[i, 0], X[i, 1], X[i, 2])\n  }\n"},
    {"a difference from a product has a sign", finish_fuse,
        "  loops i\n  for i < $N {\n    Y[i] = (X[i, 2] - (X[i, 0] * X[i, 1]))\n  }\n",
        "  loops i\n  for i < $N {\n    Y[i] = fma(neg(X[i, 0]), X[i, 1], X[i, 2])\n  }\n"},
    {"a factor that moves along the lanes has the sign", finish_fuse,
        "  loops i j\n  for i < $N {\n    for j < 8 vector {\n      Y[j] = (X[i, 2] - (X[i, 0] * X[i, j]))\n    }\n  }\n",
        "  loops i j\n  for i < $N {\n    for j < 8 vector {\n      Y[j] = fma(X[i, 0], neg(X[i, j]), X[i, 2])\n    }\n  }\n"},
    {"integers are not fused", finish_fuse, "  loops i\n  for i < $N {\n    Y[i] = f32(((t[i] * 2) + 1))\n  }\n", NULL},
};

/* The kernel's text behind its first line, and the three buffers where it has none of its own. `dense` stands before
 * them. */
static const char *whole(Arena *a, const char *kernel) {
  bool own = strstr(kernel, "  buffer ") != NULL, dense = strncmp(kernel, "  dense\n", 8) == 0;
  return arena_printf(
      a, "%s%s%s%s}\n", before, dense ? "  dense\n" : "", own ? "" : heads, dense ? kernel + 8 : kernel);
}

/* finish_dead leaves out buffers that nobody has: what is wanted of it names its own. */
static const char *wanted(Arena *a, const Row *r) {
  const char *to = r->to ? r->to : r->from;
  if (r->pass != finish_dead || strstr(to, "  buffer ")) return whole(a, to);
  return arena_printf(a, "%s  buffer Y = %%2 : f32 [$N] written\n%s}\n", before, to);
}

static void check_row(const Row *r) {
  Arena *a = arena_new();
  LoopProgram *p = text_well(a, whole(a, r->from));
  Buf out = buf_new(a), again = buf_new(a);
  if (!OK(p && text_sound(a, p), "%s: a sound text", r->says)) return;
  for (int turn = 0; turn < 2; turn++) {
    r->pass(p, vec_last(p->kernels));
    loop_print(turn ? &again : &out, p);
  }
  OK_STR(out.s, wanted(a, r), "%s", r->says);
  /* a border may have one of its own, and a block in which a condition turns keeps it */
  bool settles = r->pass != finish_border && r->pass != finish_blocks;
  OK(!settles || strcmp(out.s, again.s) == 0, "%s: once and for all", r->says);
  OK(text_sound(a, p) && text_back(p), "%s: sound, and comes back", r->says);
  arena_free(a);
}

/* A kernel that is given nothing by a caller has one version. */
static void check_own(void) {
  Arena *a = arena_new();
  LoopProgram *p = text_well(a, whole(a, "  Y[0] = 1.0:f32\n"));
  if (!OK(p, "a text with a kernel of its own buffers")) return;
  finish_dense(p, p->kernels.at[0]);
  OK(!p->kernels.at[0]->dense, "such a kernel is compiled once");
  arena_free(a);
}

int main(void) {
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
  check_own();
  return DONE();
}
