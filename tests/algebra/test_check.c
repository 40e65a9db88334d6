/* tests/algebra/test_check.c - algebra_check finds each broken invariant and names it, and nothing in what is sound:
 * texts that read well and say something wrong, and sound programs with one field spoiled by hand. */
#include "algebra/algebra.h"
#include "tap.h"

/* ---- texts ----------------------------------------------------------------------------------------------- */

static const char tra[] =
    "tra 1\nmonoid plus:f32 = (#0 + #1) identity 0.0:f32\n"
    "input %0 X {i:4, j:2} [8/i, 6/j] : f32\ninput %1 Y {j:2} [6/j] : f32\n"
    "join %2 n {} [] : i64 = 5\njoin %3 P {i:4, j:2} [a:8/i; b:6/j] : f32 places of %0{i, j} = argmax:f32 &0[a, b]\n";
static const char ia[] =
    "ia 1\nmesh 2 2\ninput %0 X {i:4, j:2} [8/i, 6/j] : f32 at 0 1\ninput %1 Y {j:2, k:2} [6/j, 2/k] : f32 at 1 0\n"
    "broadcast %2 Y {j:2, k:2} [6/j, 2/k] : f32 at * 0 of %1\nconcat %3 {j:2} [6/j, 2] : f32 at * 0 of %2 by {j}\n";

typedef struct Case { const char *head, *text, *want; } Case; /* want NULL: it is sound */

static const Case cases[] = {
    /* the type by itself */
    {tra, "input %9 Z {i:4, _1=\"i\":2} [8/i] : f32", "two of its keys are called i"},
    {tra, "input %9 Z {_1=\"\":2} [8] : f32", "key 0 has no name"},
    {tra, "input %9 Z {i:4} [i..$N] : f32", "a box is not over keys alone"},
    {tra, "input %9 Z {i:4} [0..f32(i)] : f32", "a box is not i64"},
    {tra, "input %9 Z {i:4} [(i - 1)..4] : f32", "dimension 0 of key (i 0) is from -1 to 4"},
    {tra, "input %9 Z {i:4} [i..2] : f32", "dimension 0 of key (i 3) is from 3 to 2"},
    {tra, "input %9 {i:4} [8/i] : f32", "it has no name"},
    {tra, "input %9 X {i:4} [8/i] : f32", "two inputs are called X"},
    {tra, "input %9 Z {i:4} [8/i] : f32 holes", "an input has no holes and no places"},
    /* joins */
    {tra, "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 of %0{i, j}, %1{j} = (&0[a, b] + &1[b])", NULL},
    {tra, "join %9 {j:2} [b:6/j] : f32 panels b:2 of %1{j} = &0[b]", "it is in panels, and is no join of an Ia"},
    {tra, "join %9 {i:2, j:2} [a:8/i, b:6/j] : f32 of %0{i, j} = &0[a, b]",
        "key i of operand 0, %0, has frontier 4, and the join's key i has 2"},
    {tra, "join %9 {j:2} [a:8, b:6/j] : f32 of %0{-, j} = &0[a, b]",
        "key i of operand 0 agrees with none and has 4 values"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = &0[b, b]", "&0 has rank 1 and is read with 2 indices"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j}, %1{j} = (&1[b] + &0[0])", "slot 1 is not in canonical order"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j}, %1{j} = (&0[b] + &1[b])", "slot 1 is not in canonical order"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j}, %1{j} = &0[b]", "1 slots are never read"},
    {tra, "join %9 {j:2} [b:6/j] : f64 of %1{j} = &0[b]", "the body is f32 and not f64"},
    {tra, "join %9 {j:2} [b:6/j, _1=\"b\":3] : f32 of %1{j} = &0[b]", "two of its labels are called b"},
    {tra, "join %9 {j:2} [b:6/j; c:(j - 1)..3] : f32 of %1{j} = sum:f32 &0[b]", "label 1 of key (j 0) is from -1 to 3"},
    {tra, "join %9 {j:2} [b:6/j; c:3] : f32 of %1{j} = &0[b]", "it reduces 1 labels without a reducer"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = sum:f32[where b] &0[b]", "where is not bool"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = &0[b] gives i64", "f32 does not round to i64"},
    {tra, "join %9 {j:2} [; b:6/j] : f32 of %1{j} = argmax:f32 &0[b]", "it does not say that it has places"},
    {tra, "join %9 {j:2} [; b:6/j] : f32 places of %1{j} = max:f32 &0[b]", "it has no places"},
    {tra, "join %9 {i:4, j:2} [a:8/i] : f32 of %3{i, j} = &0[a]", "operand 0 has places, which a join does not take"},
    {tra, "join %9 {j:2} [b:6/j] to [6] : f32 of %1{j} = &0[b]",
        "dimension 0 of key (j 0) is from 0 to 3, and its type says from 0 to 6"},
    {tra, "join %9 {j:2} [b:6/j] : f16 of %1{j} = map:f32 &0[b] then cast f16",
        "in a Tra functions of the array stand alone"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = &0[b]\njoin %8 {j:2} [b:6/j] : f32 of %9{j} = &0[b]",
        "operand %9 has a larger id"},
    /* reads of operands' blocks: X has blocks of 2 by 3, Y of 3 */
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = &0[(b + 1)]",
        "dimension 0 of &0 is read from 1 to 4 at key (j 0), and the block of %1 there goes from 0 to 3"},
    {tra, "join %9 {j:2} [b:6/j] : f32 of %1{j} = &0[(5 - b)]", "dimension 0 of &0 is read from 3 to 6 at key (j 0)"},
    {tra, "join %9 {j:2} [b:6/j, c:2] : f32 of %1{j} = &0[((2 * c) + (b - c))]", "from 0 to 4 at key (j 0)"},
    {tra, "join %9 {k:2} [b:6/k] : f32 of %1{k} = &0[(b + (b - b))]", NULL},
    {tra, "join %9 {j:2, k:2} [b:6/k] : f32 of %1{j} = &0[b]",
        "from 3 to 6 at key (j 0, k 1), and the block of %1 there goes from 0 to 3"},
    {tra, "join %9 {j:2} [b:(3 * j)..((3 * j) + 3)] : f32 of %1{j} = &0[b]", NULL},
    {tra, "join %9 {j:2} [b:(3 * j)..((3 * j) + 2)] : f32 of %1{j} = &0[(b + 1)]", NULL},
    {tra, "join %9 {j:2} [b:6/j; c:(2 * j)..(2 + (2 * j))] : f32 of %1{j} = sum:f32 &0[c]",
        "from 2 to 4 at key (j 1), and the block of %1 there goes from 3 to 6"},
    {tra, "join %9 {j:2} [b:6/j; c:7..7] : f32 of %1{j} = sum:f32 &0[c]", NULL},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : f32 of %8{} = select((b < 3), &0[b], 0.0:f32)", NULL},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : f32 of %8{} = select((&0[b] > 0.0:f32), 1.0:f32, 0.0:f32)",
        "from 0 to 6 at key (), and the block of %8 there goes from 0 to 3"},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : bool of %8{} = ((b < 3) and (&0[b] > 0.0:f32))", NULL},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : bool of %8{} = ((&0[b] > 0.0:f32) or (b < 3))",
        "from 0 to 6 at key ()"},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [; b:6] : f32 of %8{} = sum:f32[where (b < 3)] &0[b]", NULL},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [; b:6] : f32 of %8{} = sum:f32[where (&0[b] > 0.0:f32)] 1.0:f32",
        "from 0 to 6 at key ()"},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : f32 of %8{} = &0[b] domain (b < 3)", NULL},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : f32 of %8{} = 1.0:f32 domain (&0[b] > 0.0:f32)",
        "from 0 to 6 at key ()"},
    {tra, "input %8 V {} [3] : f32\njoin %9 {} [b:6] : f32 of %8{} = &0[(b % 3)]", NULL},
    {tra, "join %9 {j:2} [b:6] : f32 of %1{j} = &0[(b - ((b // 3) * 3))]", NULL},
    {tra,
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\njoin %9 {j:2} [b:3] : f32 holes of %8{j} wanted = &0[b]",
        NULL},
    {tra,
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (0 < j)\njoin %9 {j:2} [b:3] : f32 holes of %8{j} wanted = &0[b]",
        "from 0 to 3 at key (j 1)"},
    {tra, "join %9 {j:2} [b:6/j; c:2] : f32 of %0{-, j} = sum:f32 &0[c, b]", "key i of operand 0 agrees with none"},
    {tra, "concat %8 {j:2} [8, 6/j] : f32 of %0 by {j}\njoin %9 {j:2} [b:6/j; c:9] : f32 of %8{j} = sum:f32 &0[c, b]",
        "dimension 0 of &0 is read from 0 to 9 at key (j 0), and the block of %8 there goes from 0 to 8"},
    /* aggregates */
    {tra, "aggregate %9 {i:4} [8/i, 6] : f32 of %0 by {i} sum", "dimension 1 of key (i 0, j 0) is from 0 to 3"},
    {tra, "aggregate %9 {j:2} [6/j] : f32 of %1 by {j} sum\noutput Y [6] = %9", NULL},
    {tra, "aggregate %9 {i:2} [6/i] : f32 of %1 by {j} plus:f32", NULL},
    {tra, "aggregate %9 {j:4} [6/j] : f32 of %1 by {j} sum", "the frontier of key j is 4 and not 2"},
    {tra, "aggregate %9 {j:2, i:2} [6/j] : f32 of %1 by {j} sum", "its type has 2 keys, and what it makes has 1"},
    {tra, "aggregate %9 {a:2, b:2} [6/a] : f32 of %1 by {j, j} sum",
        "what stays is not a key of the operand, or is it twice"},
    {tra, "aggregate %9 {j:2} [6/j] : f32 of %1 by {j} any", "any is over bools"},
    {tra, "aggregate %9 {j:2} [6/j] : f32 of %1 by {j} argmax", "it aggregates places that there are not"},
    {tra, "aggregate %9 {i:4} [8/i] : f32 places of %3 by {i} max", "it loses places"},
    {tra, "aggregate %9 {j:2} [6/j] : f64 of %1 by {j} sum", "it is f64 and not f32"},
    {tra, "concat %9 {i:4} [8/i, 6] : f32 of %0 by {i}\nconcat %10 {} [8, 6] : f32 of %9 by {}\noutput X [8, 6] = %10",
        NULL},
    {tra, "concat %9 {} [8, 6] : f32 of %0 by {}", NULL},
    {tra, "concat %9 {i:4} [8/i, 5] : f32 of %0 by {i}",
        "arrays do not make up the box: that of key (i 0, j 1) leads out"},
    {tra, "concat %9 {i:4} [8, 6] : f32 of %0 by {i}", "arrays do not make up the box: there is a gap"},
    {tra, "input %8 Z {i:4} [i..(i + 2)] : f32\nconcat %9 {} [5] : f32 of %8 by {}",
        "arrays do not make up the box: that of key (i 1) lies on another"},
    {tra, "input %8 Z {i:4} [6] : f32\nconcat %9 {} [6] : f32 of %8 by {}", "arrays do not make up the box"},
    /* shifts */
    {tra, "transform %9 {i:4, j:2} [8/i, ((6 * i) + (3 * j))..((6 * i) + ((3 * j) + 3))] : f32 of %0 shift 1 by 6 i",
        NULL},
    {tra, "transform %9 {i:4, j:2} [8/i, ((6 * i) + (3 * j))..((6 * i) + ((3 * j) + 3))] : f32 of %0 shift 1 by 5 i",
        "dimension 1 of key (i 1, j 0) is from 5 to 8, and its type says from 6 to 9"},
    {tra, "transform %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 shift 2 by 6 i",
        "it shifts what is no dimension, by no key, or beside other things"},
    {tra, "map %9 {j:2, i:4} [8/i, 6/j] : f32 of %0 to [j, i] then shift 1 by 6 i", "it shifts what is no dimension"},
    {tra,
        "tile %7 {j:2, k:2, lap:2} [max((((3 * k) - (6 * lap)) + 2), (3 * j))..min((((3 * k) - (6 * lap)) + 5), ((3 "
        "* j) + 3))] : f32 holes of %1 "
        "into {k:2, lap:2} [(((3 * k) - (6 * lap)) + 2)..(((3 * k) - (6 * lap)) + 5)]\n"
        "transform %8 {j:2, k:2, lap:2} [((6 * lap) + max((((3 * k) - (6 * lap)) + 2), (3 * j)))..((6 * lap) + "
        "min((((3 * k) - (6 * lap)) + 5), "
        "((3 * j) + 3)))] : f32 holes of %7 shift 0 by 6 lap\n"
        "concat %9 {k:2} [((3 * k) + 2)..((3 * k) + 5)] : f32 of %8 by {k}",
        NULL}, /* around the end, laid together */
    /* filters and holes */
    {tra, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 keep (i == j)",
        "key (i 0, j 1) is missing, and it does not say `holes`"},
    {tra, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 of %0 keep (i <= (j + 3))", NULL},
    {tra, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 holes of %0 keep i", "what it keeps is not bool"},
    {tra, "filter %9 {i:2, j:2} [8/i, 6/j] : f32 holes of %0 keep (i < 2)", "the frontier of key i is 2 and not 4"},
    {tra, "filter %9 {i:4, j:2} [6, 6/j] : f32 holes of %0 keep (i < 2)",
        "dimension 0 of key (i 0, j 0) is from 0 to 2"},
    {tra, "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\naggregate %9 {j:2} [6/j] : f32 of %8 by {j} sum",
        "key (j 1) is missing"},
    {tra,
        "filter %8 {i:4, j:2} [8/i, 6/j] : f32 holes of %0 keep ((i % 2) == j)\n"
        "concat %9 {i:4} [8/i, 6] : f32 of %8 by {i}",
        "arrays do not make up the box"},
    {tra, "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\noutput Y [6] = %8",
        "blocks of output Y do not make up all of it"},
    {tra, "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 0)\noutput Y [6] = %8",
        "blocks of output Y do not make up all of it"},
    /* what is wanted: just those keys at which it is there */
    {tra,
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\n"
        "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 of %0{i, j}, %8{j} wanted = (&0[a, b] + &1[b])",
        "key (i 0, j 1) is missing, and it does not say `holes`"},
    {tra,
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\n"
        "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 holes of %0{i, j}, %8{j} wanted = (&0[a, b] + &1[b])\n"
        "rekey %10 {i:4} [8/i, 3] : f32 of %9 to [i]",
        NULL},
    {tra,
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\n"
        "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 holes of %0{i, j}, %8{j} = (&0[a, b] + &1[b])\n"
        "rekey %10 {i:4} [8/i, 3] : f32 of %9 to [i]",
        "two keys become (i "},
    {tra,
        "filter %7 {i:4, j:2} [8/i, 6/j] : f32 holes of %0 keep ((i % 2) == j)\n"
        "filter %8 {j:2} [6/j] : f32 holes of %1 keep (j < 1)\n"
        "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 holes of %7{i, j} wanted, %8{j} wanted = (&0[a, b] + &1[b])\n"
        "filter %10 {i:4, j:2} [8/i, 6/j] : f32 holes of %9 keep (i < 2)\nrekey %11 {} [2, 3] : f32 of %10 to []",
        NULL},
    {tra,
        "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 of %0{i, j} wanted, %1{j} wanted = (&0[a, b] + &1[b])\n"
        "output Z [8, 6] = %9",
        NULL},
    /* rekeys: closed, each once, none missing */
    {tra,
        "rekey %9 {n:8} [((n // 2) * 2)..(((n // 2) * 2) + 2), ((n % 2) * 3)..(((n % 2) * 3) + 3)] : f32 of %0 to "
        "[((i * 2) + j)]",
        NULL},
    {tra, "rekey %9 {n:8} [6, 6] : f32 of %0 to [((i * 2) + j)]",
        "dimension 0 of key (i 0, j 0) is from 0 to 2, and its type says from 0 to 6"},
    {tra, "rekey %9 {n:8} [8, 6] : f32 holes of %0 to [((i * 3) + j)]",
        "what key (i 3, j 0) becomes is not below the frontier"},
    {tra, "rekey %9 {n:7} [8/n, 6] : f32 of %0 to [((i * 2) + j)]",
        "what key (i 3, j 1) becomes is not below the frontier"},
    {tra, "rekey %9 {n:5} [8/n, 6] : f32 of %0 to [(i + j)]", "two keys become (n "},
    {tra, "rekey %9 {n:4} [6/n] : f32 of %1 to [(j * 3)]", "key (n 1) is missing, and it does not say `holes`"},
    {tra, "rekey %9 {n:9} [n..(n + 3)] : f32 holes of %1 to [(j * 3)]", NULL},
    {tra, "rekey %9 {n:2} [6/n] : f32 of %1 to [$N]", "a new key is not over keys alone"},
    {tra, "rekey %9 {n:2} [6] : f32 holes of %1 to [(j - 1)]", "what key (j 0) becomes is not below the frontier"},
    {tra, "rekey %9 {a:4, b:2} [8/a, 6/b] : f32 of %0 to [(i + j), j]",
        "what key (i 3, j 1) becomes is not below the frontier"},
    {tra, "rekey %9 {i:4} [8/i, 6] : f32 of %0 to [i]", "two keys become (i "},
    {tra, "rekey %9 {a:2, b:2} [6/a] : f32 of %1 to [j, j]", "key (a 0, b 1) is missing"},
    /* more keys than are gone through: permutations, merges, and each dimension by itself */
    {tra,
        "input %8 Z {i:2000, j:2000} [4000/i, 6000/j] : f32\n"
        "rekey %9 {j:2000, i:2000} [4000/i, 6000/j] : f32 of %8 to [j, i]\n"
        "rekey %10 {n:4000000} [4000, 6000] : f32 holes of %8 to [((i * 2000) + j)]\noutput Z [4000, 6000] = %9",
        NULL},
    {tra, "input %8 Z {i:2000, j:2000} [4000/i, 6000/j] : f32\noutput Z [4000, 6001] = %8",
        "blocks of output Z do not make up all of it"},
    {tra,
        "input %8 Z {i:2000, j:2000} [4000/i, 6000/j] : f32\n"
        "rekey %9 {j:2000, i:2000} [4000/i, 6000/j] : f32 of %8 to [j, i]\n"
        "output Z [4000, 6001] = %9",
        "blocks of output Z do not make up all of it"},
    {tra, "input %8 Z {i:2000, j:2000} [4000/i, 6000/i] : f32\noutput Z [4000, 6000] = %8", NULL}, /* not seen */
    {tra, "input %8 Z {i:2000, j:2000} [4000/i, 6000/j] : f32\nconcat %9 {i:2000} [4000/i, 6000] : f32 of %8 by {i}",
        NULL},
    {tra, "input %8 Z {i:2000, j:2000} [4000/i, 6000/j] : f32\nconcat %9 {i:2000} [4000/i, 5999] : f32 of %8 by {i}",
        "arrays do not make up the box"},
    {tra,
        "input %8 Z {i:100, j:100} [300/i, 200/j] : f32\n"
        "tile %9 {i:100, j:100, s:100, t:100} [300/i, 200/j] : f32 holes of %8 into {s:100, t:100} [300/s, 200/t]\n"
        "concat %10 {s:100, t:100} [300/s, 200/t] : f32 of %9 by {s, t}\noutput Z [300, 200] = %10",
        NULL},
    {tra,
        "input %8 Z {i:100, j:100} [300/i, 200/j] : f32\n"
        "tile %9 {i:100, j:100, s:99, t:100} [max(((300 * s) // 99), (3 * i))..min(((300 * (s + 1)) // 99), ((3 * i) "
        "+ 3)), 200/j] : f32 holes of %8 "
        "into {s:99, t:100} [300/s, 200/t]\nconcat %10 {s:99, t:100} [300/s, 201/t] : f32 of %9 by {s, t}",
        "arrays do not make up the box"},
    /* tiles */
    {tra,
        "tile %9 {j:2, t:3} [((j * 3) + t)..(((j * 3) + t) + 1)] : f32 of %1 into {t:3} [((j * 3) + t)..(((j * 3) + "
        "t) + 1)]",
        NULL},
    {tra, "tile %9 {j:2, t:3} [max((t * 2), (j * 3))..min(((t * 2) + 2), ((j * 3) + 3))] : f32 of %1 into {t:3} [6/t]",
        "key (j 0, t 2) is missing, and it does not say `holes`"},
    {tra, "tile %9 {j:2, t:3} [6/t] : f32 holes of %1 into {t:3} [6/t]",
        "dimension 0 of key (j 0, t 1) is from 2 to 3, and its type says from 2 to 4"},
    {tra, "tile %9 {j:2, t:2} [6/j] : f32 of %1 into {_1=\"j\":2} [6]", "two of its keys are called j"},
    {tra, "tile %9 {j:2, t:4} [6/j] : f32 of %1 into {t:2} [6]", "the frontier of key t is 4 and not 2"},
    {tra, "tile %9 {j:2} [6/j] : f32 of %1 into {} [6]", "it has new keys and no pieces, or pieces and no new keys"},
    {tra,
        "input %8 Z {i:2} [1/i] : f32\n"
        "tile %9 {i:2, t:2} [max((t // 2), (i // 2))..min(((t + 1) // 2), ((i + 1) // 2))] : f32 of %8 into "
        "{t:2} [1/t]",
        "key (i 1, t 0) is missing"},
    /* functions */
    {tra, "transform %9 {i:4, j:2} [8/i] : i64 of %3 place", NULL},
    {tra, "transform %9 {j:2} [6/j] : i64 of %1 place", "it takes the place of what has none"},
    {tra, "transform %9 {j:2} [6/j] : f16 of %1 cast f16, merge [1]", NULL},
    {tra, "transform %9 {i:4, j:2} [8/i] : f32 of %0 merge [2]", "of which more than the first are cut"},
    {tra, "transform %9 {i:4, j:2} [8/i] : f32 of %0 merge [1]", "what it merges are not the 2 dimensions"},
    {tra,
        "concat %8 {i:4} [8/i, 6] : f32 of %0 by {i}\ntransform %9 {i:4} [48/i] : f32 of %8 merge [2]\n"
        "output X [48] = %9",
        NULL},
    {tra, "input %8 Z {i:4} [1, 8/i] : f32\ntransform %9 {i:4} [8/i] : f32 of %8 merge [2]", NULL},
    {tra, "map %9 {j:2} [6/j] : f32 of %1", "it does nothing"},
    {tra, "map %9 {i:2} [6/i] : f16 of %1 to [j] then cast f16", "in a Tra a map does one thing"},
    /* outputs, asserts */
    {tra, "output Y [7] = %1", "blocks of output Y do not make up all of it: there is a gap"},
    {tra, "input %9 Z {i:2} [i..(i + 2)] : f32\noutput Z [4] = %9", "blocks of output Z do not make up all of it"},
    {tra, "input %9 Z {i:2} [((i * 2) + 1)..((i * 2) + 3)] : f32\noutput Z [4] = %9",
        "blocks of output Z do not make up all of it"},
    {tra, "output Y [6, 1] = %1", "output Y has rank 1 and not 2"},
    {tra, "output P [8] = %3", "output P has places"},
    {tra, "input %9 Z {i:2} [6] : f32\noutput Z [6] = %9", "blocks of output Z do not make up all of it"},
    {tra, "output Y [6] = %1\noutput Y [6] = %1", "two outputs are called Y"},
    {tra, "assert %2", "an assert is not one bool"},
    /* repeats */
    {tra, "repeat %4 t < %1 {\n}", "the bound is not one i64"},
    {tra, "repeat %4 t < %2 {\n state %5 {j:2} [6/j] : f32 = %1\n next %5 = %0\n}", "its next has other keys"},
    {tra,
        "repeat %4 t < %2 {\n state %5 {j:2} [6/j] : f32 = %1\n"
        " rekey %6 {j:2} [(3 - (j * 3))..(6 - (j * 3))] : f32 of %5 to [(1 - j)]\n next %5 = %6\n}",
        "its next has another box in dimension 0, as at key (j 0)"},
    {tra, "repeat %4 t < %2 {\n state %5 {j:2} [6/j] : f64 = %1\n next %5 = %5\n}", "its init is f32 and not f64"},
    {tra, "repeat %4 t < %2 {\n stack L = %1 axis 0\n}", "it stacks and does not say over how many turns"},
    {tra, "repeat %4 t < %2 turns 5 {\n stack L = %1 axis 1\n}\nstacked %5 L {j:2} [6/j, 5] : f32 = %4.0", NULL},
    {tra, "repeat %4 t < %2 turns 5 {\n stack L = %1 axis 0\n}\nstacked %5 L {j:2} [6/j, 5] : f32 = %4.0",
        "what is stacked, with its turns, has another box"},
    {tra, "repeat %4 t < %2 turns 5 {\n stack L = %1 axis 2\n}", "the axis of stack 0 is beyond its rank"},
    {tra, "repeat %4 t < %2 {\n state %5 {j:2} [6/j] : f32 = %1\n next %5 = %5\n}\nfinal %6 {} [] : f32 = %4.0",
        "the state has other keys"},
    {tra, "repeat %4 t < %2 {\n until %2\n}", "the stop is not one bool"},
    {tra, "repeat %4 t < %2 {\n join %5 {} [] : bool = true\n}\noutput Y [] = %5",
        "an output %5 stands in a block that is closed"},
    /* where it is */
    {ia, "", NULL},
    {ia, "join %9 {i:4, j:2} [a:8/i, k:2; b:6/j] : f32 at 0 1 of %0{i, j}, %3{j} = sum:f32 (&0[a, b] * &1[b, k])",
        NULL},
    {ia, "join %9 {i:4, j:2} [a:8/i, k:2; b:6/j] : f32 at 1 0 of %0{i, j}, %3{j} = sum:f32 (&0[a, b] * &1[b, k])",
        "operand 0 is not where the result is to be made"},
    {ia,
        "join %9 {i:4, j:2} [a:8/i, k:2; b:6/j] : f32 at 0 1 panels b:3 of %0{i, j}, %3{j} = sum:f32 (&0[a, b] * "
        "&1[b, k])",
        NULL},
    {ia, "join %9 {i:4, j:2} [a:8/i; b:6/j] : f32 places at 0 1 panels a:2 of %0{i, j} = argmin:f32 &0[a, b]",
        "places of argmax and argmin are looked for in no panels"},
    {ia, "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 at 0 + of %0{i, j} = &0[a, b]", "a join makes no parts"},
    {ia, "join %9 {i:4, j:2} [a:8/i, b:6/j] : f32 at 0 2 of %0{i, j} = &0[a, b]",
        "axis 1 cuts key number 2, and there are 2"},
    {ia, "input %9 Z {i:4} [8/i] : f32 at 0 *", "it is there 2 times along axis 1"},
    {ia, "input %9 Z {i:4} [8/i] : f32 at 0 +", "an input has no parts"},
    {ia, "input %9 Z {i:4} [8/i] : f32 at 0 0\noutput Z [8] = %9", NULL},
    {ia, "concat %9 {i:4} [8/i, 6] : f32 at 0 + of %0 by {i}",
        "key j goes and is cut along axis 1: its arrays are not at one site"},
    {ia, "concat %9 {i:4} [8/i, 6] : f32 at 0 0 of %0 by {i}", "key j goes and is cut along axis 1"},
    {ia, "aggregate %9 {i:4, j:2} [8/i, 6/j] : f32 at * 1 of %0 by {i, j} sum", "along axis 0 it is cut by key i"},
    {ia, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 holes at 1 0 of %0 keep (i == j)", "is at place"},
    {ia, "filter %9 {i:4, j:2} [8/i, 6/j] : f32 holes at 0 * of %0 keep (i == j)",
        "along axis 1 it is not placed as its operand is"},
    {ia, "map %9 {j:2, i:4} [8/i, 6/j] : f64 at 1 0 of %0 to [j, i] then cast f64", NULL},
    {ia, "map %9 {j:2, i:4} [8/i, 6/j] : f64 at 0 1 of %0 to [j, i] then cast f64", "is at place"},
    {ia,
        "rekey %9 {n:8} [((n // 2) * 2)..(((n // 2) * 2) + 2), ((n % 2) * 3)..(((n % 2) * 3) + 3)] : f32 at 0 0 of "
        "%0 to [((i * 2) + j)]",
        "key (i 0, j 1) is at place 1 of axis 1, and what it becomes is to be at 0"},
    {ia,
        "shuffle %9 {i:4, j:2} [8/i, 6/j] : f32 at 0 0 of %0\n"
        "rekey %10 {n:8} [((n // 2) * 2)..(((n // 2) * 2) + 2), ((n % 2) * 3)..(((n % 2) * 3) + 3)] "
        ": f32 at 0 0 of %9 to [((i * 2) + j)]",
        NULL},
    {ia, "shuffle %9 {i:4, j:2} [8/i, 6/j] : f32 at 0 + of %0", "along axis 1 it makes parts of what is whole"},
    {ia, "shuffle %9 {j:2, i:4} [8/i, 6/j] : f32 at 0 1 of %0", "the frontier of key j is 2 and not 4"},
};

static const char parts[] =
    "ia 1\nmesh 4\ninput %0 X {k:4} [8/k] : f32 at 0\n"
    "join %1 {k:4} [i:8; k:8/k] : f32 at 0 of %0{k} = sum:f32 (&0[k] * f32(i))\n"
    "aggregate %2 {} [8] : f32 at + of %1 by {} sum\nbroadcast %3 {} [8] : f32 at * of %2\n";

static const Case part_cases[] = {
    {"ia 1\nmesh 4\nmonoid p:f32 = (#0 + #1) identity 0.0:f32\nmonoid q:f32 = (#1 + #0) identity 0.0:f32\n"
     "input %0 X {k:4} [8] : f32 at 0\n",
        "aggregate %1 {} [8] : f32 at + of %0 by {} p:f32\nbroadcast %2 {} [8] : f32 at * of %1\n"
        "aggregate %3 {} [8] : f32 at * of %2 by {} q:f32",
        "it aggregates by q what are parts of p"},
    {parts, "transform %9 {} [8] : f32 at + of %2 merge [1]", NULL},
    {parts, "aggregate %9 {} [8] : f32 at * of %3 by {} sum\noutput Y [8] = %9", NULL},
    {parts, "aggregate %9 {} [8] : f16 at * of %3 by {} sum then cast f16", NULL},
    {parts, "output Y [8] = %2", "an output %2 has parts that are still to be aggregated"},
    {parts, "output Y [8] = %3", "an output %3 has parts that are still to be aggregated"},
    {parts, "join %9 {} [i:8] : f32 at * of %2{} = &0[i]", "operand %2 has parts"},
    {parts, "join %9 {} [i:8] : f32 at * of %3{} = &0[i]", "operand %3 has parts"},
    {parts, "aggregate %9 {} [8] : f32 at * of %3 by {} max", "it aggregates by max what are parts of sum"},
    {parts, "transform %9 {} [8] : f16 at + of %2 cast f16", "it has a function of parts"},
    {parts, "aggregate %9 {} [8] : f16 at + of %1 by {} sum then cast f16", "it has a function of parts"},
    {parts, "concat %9 {} [8] : f32 at * of %3 by {}", "operand %3 has parts"},
    {parts, "join %8 {} [] : i64 at * = 3\nrepeat %9 t < %8 {\n state %10 {} [8] : f32 at + = %2\n next %10 = %10\n}",
        "has parts"},
};

static const char asks[] =
    "ia 1\nmesh 2\ninput %0 E {v:2, d:2} [8/v, 6/d] : f32 at 0\ninput %1 T {s:2} [6/s] : i64 at 0\n"
    "fetch %2 E {s:2} [s:6/s, d:6] : f32 at 0 of %1{s}, %0 = &1[&0[s], d]\n";

static const Case fetch_cases[] = {
    {asks, "output Y [6, 6] = %2", NULL},
    {asks, "fetch %9 {} [d:6] : f32 at * of %0 = &0[3, d]", NULL},
    {asks, "fetch %9 {s:2} [s:6/s, d:6] : f32 at * of %1{s}, %0 = &1[&0[s], d]",
        "operand 0 is not where the result is to be made"},
    {asks, "fetch %9 {s:2} [s:6/s; d:6] : f32 at 0 of %1{s}, %0 = sum:f32 &1[&0[s], d]",
        "what it fetches is not a read of its table"},
    {asks, "fetch %9 {s:2} [s:6/s, d:6] : f32 at 0 of %1{s}, %0 = (&1[&0[s], d] * 2.0:f32)",
        "what it fetches is not a read of its table"},
    {asks, "fetch %9 {s:2} [s:6/s] : i64 at 0 of %1{s}, %1 = &1[&1[&0[s]]]",
        "is not a read of its table, which nothing else reads"},
    {asks, "fetch %9 {s:2} [s:6/s, d:6] : f32 holes at 0 of %1{s}, %0 = &1[&0[s], d]", "a fetch has no holes"},
    {asks, "fetch %9 {s:2} [s:6/s, d:6] : f32 at 0 of %1{s} wanted, %0 = &1[&0[s], d]",
        "operand 0 is wanted, and it is no join"},
    {asks, "fetch %9 {s:2} [s:6/s, d:6] : f64 at 0 of %1{s}, %0 = f64(&1[&0[s], d])",
        "what it fetches is not a read of its table"},
    {asks,
        "aggregate %8 {} [8, 6] : f32 at + of %0 by {} sum\n"
        "fetch %9 {s:2} [s:6/s, d:6] : f32 at 0 of %1{s}, %8 = &1[&0[s], d]",
        "has parts"},
};

static void check_case(const Case *x) {
  Arena *a = arena_new();
  const char *name = x->want ? x->want : "a sound one";
  Diags *d = diags_new(a);
  const char *text = arena_printf(a, "%s%s\n", x->head, x->text);
  Algebra *p = algebra_read(a, strings_new(a), source_new(a, "x.tra", text, strlen(text)), d);
  Buf out = buf_new(a);
  diags_text(d, &out, false);
  if (OK(p, "reads: %s", name)) {
    bool ok = algebra_check(p, &out);
    if (!OK(x->want ? !ok && strstr(out.s, x->want) : ok && !out.len, "%s", name))
      tap_text("text", x->text), tap_text("got", out.s);
  } else {
    tap_text("complaints", out.s);
  }
  arena_free(a);
}

int main(void) {
  for (size_t i = 0; i < COUNT(cases); i++) check_case(&cases[i]);
  for (size_t i = 0; i < COUNT(part_cases); i++) check_case(&part_cases[i]);
  for (size_t i = 0; i < COUNT(fetch_cases); i++) check_case(&fetch_cases[i]);
  return DONE();
}
