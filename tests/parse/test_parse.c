/* What programs mean: their trees, where newlines end statements, and how the formatter lays them
 * out. */
#include "parsing.h"

/* ---- expressions: the tree of `y = TEXT`, or of the statement ----------------------------------
 */

typedef struct Case { const char *text, *want; } Case;

static const Case expressions[] = {
  {"a or b and c", "(or a (and b c))"},
  {"not a and b", "(and (not a) b)"},
  {"not a == b", "(not (== a b))"},
  {"a + b == c - d", "(== (+ a b) (- c d))"},
  {"a - b - c", "(- (- a b) c)"},
  {"a + b * c / d", "(+ a (/ (* b c) d))"},
  {"a // b % c", "(% (// a b) c)"},
  {"-a * b", "(* (neg a) b)"},
  {"-a^2", "(neg (^ a 2))"},
  {"a^b^c", "(^ a (^ b c))"},
  {"2^-3 * 4", "(* (^ 2 (neg 3)) 4)"},
  {"2^-3^2", "(^ 2 (neg (^ 3 2)))"},
  {"a - -b", "(- a (neg b))"},
  {"X[i-1] ?? 0 + X[i]", "(+ (?? X[(- i 1)] 0) X[i])"},
  {"a ?? b ?? c", "(?? (?? a b) c)"},
  {"a ?? -1^2", "(^ (?? a (neg 1)) 2)"},
  {"-a ?? 0", "(neg (?? a 0))"},
  {"a^b ?? c", "(^ a (?? b c))"},
  {"sum[k] a * b + c", "(+ (sum[k] (* a b)) c)"},
  {"sum[k] -a / b - c", "(- (sum[k] (/ (neg a) b)) c)"},
  {"2 * sum[k] a * b == c", "(== (* 2 (sum[k] (* a b))) c)"},
  {"sum[i] max[j] a * b", "(sum[i] (max[j] (* a b)))"},
  {"-sum[k] a * b", "(neg (sum[k] (* a b)))"},
  {"prod[i] x[i] * (sum[j] y[j])", "(prod[i] (* x[i] (paren (sum[j] y[j]))))"},
  {"sum[k] if a then b else c + d", "(sum[k] (if a b (+ c d)))"},
  {"1 + if a then b else c + d", "(+ 1 (if a b (+ c d)))"},
  {"if a then b else if c then d else e", "(if a b (if c d e))"},
  {"if a or b then sum[k] x else y", "(if (or a b) (sum[k] x) y)"},
  {"sum:f64[k where k <= i] a", "(sum:f64[k where (<= k i)] a)"},
  {"sum(a)", "(sum all: a)"},
  {"mean:f32(a + b)", "(mean:f32 all: (+ a b))"},
  {"max(a, b) + max(c)", "(+ (max a b) (max all: c))"},
  {"min(a, b, c + d)", "(min (min a b) (+ c d))"},
  {"fmin(a, b)", "(fmin a b)"},
  {"count[i where p[i]] * 2", "(* (count[i where p[i]]) 2)"},
  {"count[i, j:3]", "(count[i j:3])"},
  {"argmax[(i j)] x", "(argmax[(group i j)] x)"},
  {"logsumexp[k:2*N] x", "(logsumexp[k:(* 2 N)] x)"},
  {"any[i] not x[i]", "(any[i] (not x[i]))"},
  {"softmax[t where t <= s](S[h,s,t]) ?? 0", "(?? (softmax[t where (<= t s)] S[h s t]) 0)"},
  {"uniform[i,j](seed)", "(uniform[i j] seed)"},
  {"f()", "(f)"},
  {"f(a, b + c)", "(f a (+ b c))"},
  {"size(j) // 2", "(// (size j) 2)"},
  {"grad(loss, W[d,h])", "(grad loss W[d h])"},
  {"grad(grad(a, b), c)", "(grad (grad a b) c)"},
  {"f32(x) + i64(y)", "(+ (f32 x) (i64 y))"},
  {"u[x = x + r - 1, c = 0]", "u[x=(- (+ x r) 1) c=0]"},
  {"(a * b)[j = e]", "(subst (* a b) [j=e])"},
  {"[1, [a, 2,], x[i]]", "(list ?: 1 (list ?: a 2) x[i])"},
  {"X[i, 2*j+1, (h d), k:K, (h2:H d2)]", "X[i (+ (* 2 j) 1) (group h d) k:K (group h2:H d2)]"},
  {"X[(a + b), (a:2*N b c:3)]", "X[(paren (+ a b)) (group a:(* 2 N) b c:3)]"},
  {"E[tok[s], a, (s)]", "E[tok[s] a (paren s)]"},
  {"s' + s''", "(+ s' s'')"},
  {"12 + 1.5 - 1e-3 * 2E+4", "(- (+ 12 1.5) (* 0.001 20000.0))"},
  {"9223372036854775807 - 007", "(- 9223372036854775807 7)"},
  {"-9223372036854775808", "(neg 9223372036854775808)"},
  {"inf - nan * pi", "(- inf (* nan pi))"},
  {"true and false", "(and true false)"},
  {"a<b and c>=d or e!=f", "(or (and (< a b) (>= c d)) (!= e f))"},
  {"(a < b) == (c < d)", "(== (paren (< a b)) (paren (< c d)))"},
  {"Σ[k] π × ∞ · b", "(sum[k] (* (* pi inf) b))"},
  {"a ≤ b and c ≥ d or e ≠ f", "(or (and (<= a b) (>= c d)) (!= e f))"},
  {"αβ_1 * x̂_is_refused", NULL},
  {"größe + длина' * 長さ", "(+ größe (* длина' 長さ))"},
  {"πr + Σx", "(+ πr Σx)"},
  {"sum' + inputs + f32x", "(+ (+ sum' inputs) f32x)"},
};

static const Case statements[] = {
    {"", ""},
    {"\n\n# nothing\n", ""},
    {"\xEF\xBB\xBF"
     "a = 1\r\nb = 2\r\n",
     "equation a 1\nequation b 2\n"},
    {"dim N = 1024, M = 2*N, K", "dim N=1024 M=(* 2 N) K\n"},
    {"input X[n:N,d:D] : f32 = 0.5", "input X[n:N d:D] : f32 0.5\n"},
    {"input X[8,8], Y[8,K] : f32", "input X[8 8] Y[8 K] : f32\n"},
    {"input a : bool", "input a : bool\n"},
    {"param W[2*N]", "param W[(* 2 N)]\n"},
    {"Z[i,k] : bf16 = e", "equation Z[i k] : bf16 e\n"},
    {"Y[s, (h d)] = O[s,h,d]", "equation Y[s (group h d)] O[s h d]\n"},
    {"output Z[i,k:3] = e", "equation output Z[i k:3] e\n"},
    {"output Z, Y", "output Z Y\n"},
    {"x ← 1", "equation x 1\n"},
    {"use nn", "use nn\n"},
    {"use \"../a b.ein\"", "use \"../a b.ein\"\n"},
    {"assert a < b, \"a # is not a comment\"", "assert \"a # is not a comment\" (< a b)\n"},
    {"monoid lse(a, b) = if a == b then a else max(a,b)\n  identity -inf",
     "monoid lse(a b) (if (== a b) a (max a b)) identity (neg inf)\n"},
    {"def f(x) = x", "def f(x) x\n"},
    {"def eye[i,j]() = if i == j then 1 else 0", "def eye[i j]() (if (== i j) 1 0)\n"},
    {"def softmax[j](x) { m = max[j] x;  e = exp(x - m);  e / (sum[j] e) }",
     "def softmax[j](x) {\n  equation m (max[j] x)\n  equation e (exp (- x m))\n  => (/ e (paren "
     "(sum[j] e)))\n"},
    {"def f(x) {\n  y[i] : f64 = x[i]\n\n  (-y[i])\n}",
     "def f(x) {\n  equation y[i] : f64 x[i]\n  => (paren (neg y[i]))\n"},
    {"def f(x) { -x }", "def f(x) {\n  => (neg x)\n"},
    {"repeat t < T until c { state s[i] : f32 = 0; next s[i] = s[i] + 1; L[t] = s[0] }\nz = 1",
     "repeat t T until c {\n  state s[i] : f32 0\n  next s[i] (+ s[i] 1)\n  equation L[t] "
     "s[0]\nequation z 1\n"},
    {"repeat t < N // 2 { repeat u < 3 {} }", "repeat t (// N 2) {\n  repeat u 3 {\n"},
    {"a = 1; b = 2;", "equation a 1\nequation b 2\n"},
    /* newlines */
    {"a =\n  b +\n  c", "equation a (+ b c)\n"},
    {"a = b\n  * c\n  and d", "equation a (and (* b c) d)\n"},
    {"a = f(b\n- c,\nd\n)", "equation a (f (- b c) d)\n"},
    {"a = sum[k]\n  b", "equation a (sum[k] b)\n"},
    {"a = sum:f64[k]\n  b", "equation a (sum:f64[k] b)\n"},
    {"a = count[k]\nb = c", "equation a (count[k])\nequation b c\n"},
    {"a = x[k]\nb = c", "equation a x[k]\nequation b c\n"},
    {"a = if b\n then c\n else d", "equation a (if b c d)\n"},
    {"repeat t < T\n until c\n{\n}", "repeat t T until c {\n"},
    {"a\n:\nf32\n=\nb # x\n# y\n* c", "equation a : f32 (* b c)\n"},
    {"input X[3],\n  Y[4]\n  , Z[5] : f32", "input X[3] Y[4] Z[5] : f32\n"},
    {"a = not\n b", "equation a (not b)\n"},
};

#define HEAD(s) \
  (int)(strcspn((s), "\r\n") < 40 ? strcspn((s), "\r\n") : 40), (s) /* names stay on their line */

static void check(const char *text, const char *want) {
  Parsed p = parse_text(text, strlen(text));
  if (!want) {
    OK(p.file->broken, "refused: %.*s", HEAD(text));
  } else {
    OK_STR(tree_of(&p), want, "tree of: %.*s", HEAD(text));
    if (p.file->broken) tap_text("complaints", complaints_of(&p));
    OK(!p.file->broken, "no complaint");
  }
  arena_free(p.arena);
}

static void trees(void) {
  for (size_t i = 0; i < COUNT(expressions); i++) {
    Arena *a = arena_new();
    const char *want = expressions[i].want;
    check(arena_printf(a, "y = %s", expressions[i].text),
          want ? arena_printf(a, "equation y %s\n", want) : NULL);
    arena_free(a);
  }
  for (size_t i = 0; i < COUNT(statements); i++) check(statements[i].text, statements[i].want);
}

/* ---- the formatter -----------------------------------------------------------------------------
 */

static const Case layouts[] = {
    {"dim  S=128,A = 64;\n", "dim S = 128, A = 64\n"},
    {"Z[ i , k ]=sum[ j ]X[i,j]*Y[j,k]", "Z[i,k] = sum[j] X[i,j] * Y[j,k]\n"},
    {"y[i]=x[2 * i + r - 1 , c]", "y[i] = x[2*i+r-1, c]\n"},
    {"y=sum [ t where t<=s-1 ] x [t-1]", "y = sum[t where t <= s - 1] x[t-1]\n"},
    {"y = u[x=x+r-size(r)//2]??0*w", "y = u[x = x + r - size(r) // 2] ?? 0 * w\n"},
    {"y = ( x - mu ) ^ 2 ^ - 3 - - z", "y = (x - mu)^2^-3 - -z\n"},
    {"input X [ n : N , d : D ]:f32=sum : f64 [ k ]( a )",
     "input X[n:N,d:D] : f32 = sum:f64[k] (a)\n"},
    {"y = softmax[ j ] ( f ( x ) , max ( a,b ) )", "y = softmax[j](f(x), max(a, b))\n"},
    {"y[s,(h   d)] ← Σ[k] π×∞", "y[s, (h d)] = sum[k] pi * inf\n"},
    {"a = (b)  [j=c]", "a = (b)[j = c]\n"},
    {"a = f32 ( x ) + not_a", "a = f32(x) + not_a\n"},
    {"a=not(b)and-c", "a = not (b) and -c\n"},
    {"a\n  =\n b\n  * c", "a =\n    b *\n    c\n"},
    {"a = f(\nb,\nc\n)", "a = f(\n    b,\n    c\n)\n"},
    {"a = if b\nthen c\nelse d", "a = if b\n    then c\n    else d\n"},
    {"a = 1; b = 2;c=3;\n\n\n\nd = 4\n\n", "a = 1; b = 2; c = 3\n\nd = 4\n"},
    {"\n\n# one  \n#two\n\n\na = 1# three\n\n # four", "# one\n#two\n\na = 1  # three\n\n# four\n"},
    {"a = b # why\n  # own\n  * c # end", "a = b *  # why\n    # own\n    c  # end\n"},
    {"def f( x ){m=x;m+1}", "def f(x) { m = x; m + 1 }\n"},
    {"def f(x)\n{ m=x\n  m+1 }", "def f(x) {\n  m = x\n  m + 1\n}\n"},
    {"def f(x) # c\n{ x }", "def f(x) {  # c\n  x\n}\n"},
    {"def f(x) { y = x;\n -y }", "def f(x) {\n  y = x;\n  -y\n}\n"},
    {"repeat t<T until c{\n\nstate a=0;next a=a+1\n\n# last\n\n}",
     "repeat t < T until c {\n  state a = 0; next a = a + 1\n\n  # last\n}\n"},
    {"repeat t < 3 {}", "repeat t < 3 { }\n"},
    {"repeat t < 3 {\n}", "repeat t < 3 {\n}\n"},
    {"repeat t < 3 {\nrepeat u < 2 {a=1}\n}", "repeat t < 3 {\n  repeat u < 2 { a = 1 }\n}\n"},
    {"\xEF\xBB\xBF"
     "a=1\r\n# x \r\n",
     "a = 1\n# x\n"},
    {"monoid m( a,b )=a+b identity-inf", "monoid m(a, b) = a + b identity -inf\n"},
    {"assert a<b,\"x  y\"", "assert a < b, \"x  y\"\n"},
    {"use\"a.ein\"", "use \"a.ein\"\n"},
    {"a = sum:f64 ( x ) + count[ i where p ]*2", "a = sum:f64(x) + count[i where p] * 2\n"},
    {"a=x[-i,i--j]", "a = x[-i, i--j]\n"},
    {"a = 007 + 1E5 + 1.50", "a = 007 + 1E5 + 1.50\n"},
};

/* fmt says the same, and says it once. */
static void laws(const char *text, const char *want) {
  Parsed p = parse_text(text, strlen(text));
  if (p.file->broken) {
    OK(!want, "laid out: %.*s", HEAD(text));
    arena_free(p.arena);
    return;
  }
  Buf once = fmt_of(&p);
  Parsed q = parse_text(once.s, once.len);
  Buf twice = fmt_of(&q);
  if (want) OK_STR(once.s, want, "layout of: %.*s", HEAD(text));
  OK_STR(twice.s, once.s, "stable: %.*s", HEAD(text));
  OK_STR(tree_of(&q), tree_of(&p), "the same tree: %.*s", HEAD(text));
  OK_INT(q.file->comments.len, p.file->comments.len, "the same number of comments");
  arena_free(q.arena);
  arena_free(p.arena);
}

static void formatting(void) {
  for (size_t i = 0; i < COUNT(layouts); i++) laws(layouts[i].text, layouts[i].want);
  for (size_t i = 0; i < COUNT(statements); i++) laws(statements[i].text, NULL);
  for (size_t i = 0; i < COUNT(expressions); i++) {
    Arena *a = arena_new();
    laws(arena_printf(a, "y = %s", expressions[i].text), NULL);
    laws(arena_printf(a, "def f(x) {\n  # c\n  z = %s # d\n\n\n  (x)\n}", expressions[i].text),
         NULL);
    arena_free(a);
  }
}

/* Every word broken onto a line of its own, with and without comments, where it stays one program.
 */
static void torn(const char *text) {
  static const char *const between[] = {"\n", " # c\n", "\n\n  # c\n\n"};
  for (size_t k = 0; k < COUNT(between); k++) {
    Arena *a = arena_new();
    Buf b = buf_new(a);
    for (const char *s = text; *s; s++)
      if (*s == '~')
        buf_str(&b, between[k]);
      else
        buf_char(&b, *s);
    Parsed p = parse_text(b.s, b.len);
    OK(!p.file->broken, "torn apart: %.*s", HEAD(text));
    arena_free(p.arena);
    laws(b.s, NULL);
    arena_free(a);
  }
}

static void tearing(void) {
  torn("Z[~i~,~(~h~d~)~]~:~f32~=~if~a~<~b~then~-~c~else~sum~:~f64[~k~where~k~<=~i~]~d~*~max~(~a~,~"
       "b~)~^~2~?\?~-~1~");
  torn("def~f[~j~](~x~)~{~m~=~x[~a~=~1~]~;~(~-~m~)[~j~=~k~]~}~");
  torn("repeat~t~<~T~*~2~until~c~{~state~a~=~0~;~next~a~=~a~*~(~1~)~;~repeat~u~<~2~{~b~=~1~}~}~;~"
       "output~c~=~1~");
  torn("monoid~m(~a~,~b~)~=~a~*~b~identity~-~inf~;~use~nn~;~use~\"x\"~;~assert~a~,~\"t\"~");
  torn("dim~N~=~1~,~M~;~input~X[~n~:~N~]~,~Y[~8~]~:~f32~=~0~;~output~X~,~Y~");
}

/* ---- the scanner's words are the tables' --------------------------------------------------------
 */

static void words(void) {
  Arena *a = arena_new();
  for (int r = RED_NONE + 1; r < REDUCERS; r++) {
    if (r == RED_MONOID) continue;
    bool count = r == RED_COUNT;
    const char *text = arena_printf(a, count ? "y = %s[k]" : "y = %s[k] x", reducer_info[r].name);
    Parsed q = parse_text(text, strlen(text));
    OK(!q.file->broken && q.file->stmts.at[0]->e->kind == AST_REDUCE &&
           q.file->stmts.at[0]->e->op == r,
       "%s is a reducer", reducer_info[r].name);
    arena_free(q.arena);
  }
  for (int t = 0; t < DTYPES; t++) {
    const char *text = arena_printf(a, "y = %s(x)", dtype_name((DType)t));
    Parsed q = parse_text(text, strlen(text));
    OK(!q.file->broken && q.file->stmts.at[0]->e->kind == AST_CAST &&
           q.file->stmts.at[0]->e->dtype == (DType)t,
       "%s is a dtype", dtype_name((DType)t));
    arena_free(q.arena);
  }
  arena_free(a);
}

int main(void) {
  trees();
  formatting();
  tearing();
  words();
  return DONE();
}
