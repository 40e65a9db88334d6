#!/bin/sh
# What is misspelled gets the nearest name; what is no number is refused.
. "$(dirname "$0")/common"

want 2 "$EIN" rnu sum.ein
says "did you mean run?"
want 2 "$EIN" sum.ein
says "ein run sum.ein"
want 2 "$EIN" run sum.ein --tarjet=eval
says "did you mean --target?"
want 2 "$EIN" run sum.ein --zzz
says "ein help run"
want 2 "$EIN" run sum.ein -Z
says "-Z"
want 2 "$EIN" check sum.ein --target=eval
says "check has no option --target"
want 2 "$EIN" --versoin
says "did you mean --version?"
want 2 "$EIN" check sum.ein --diagnostics=xml
says "text|json"
want 2 "$EIN" run sum.ein -o
says "wants"
want 2 "$EIN" run --expect=3 sum.ein
says "takes nothing"
want 2 "$EIN" explain E9999
want 2 "$EIN" help chek
says "did you mean check?"

cat >dims.ein <<'END'
dim WIDTH = 3, HEIGHT = 2
input PIXELS[h:HEIGHT, w:WIDTH] : f32 = 1
output TOTAL = sum[h,w] PIXELS[h,w]
END
want 0 "$EIN" run dims.ein -D WIDTH=5
shows "TOTAL : f32 = 10.0"
want 0 "$EIN" run dims.ein -D WIDTH=7 -DWIDTH=7 --dim HEIGHT=1
shows "TOTAL : f32 = 7.0"
want 2 "$EIN" run dims.ein -D WIDTH=5 -DWIDTH=7 --dim HEIGHT=1
says "WIDTH is given twice: -D WIDTH=5 and -D WIDTH=7"
want 2 "$EIN" run dims.ein -D WITDH=5
says "did you mean WIDTH?"
want 2 "$EIN" run dims.ein -D Q=5
says "it has WIDTH, HEIGHT"
want 2 "$EIN" run dims.ein -D WIDTH=x
want 2 "$EIN" run dims.ein -D WIDTH=
want 2 "$EIN" run dims.ein -D WIDTH=1.5
want 2 "$EIN" run dims.ein -D WIDTH
says "NAME=N"
want 2 "$EIN" run dims.ein -D WIDTH=-1
says "not negative"
want 2 "$EIN" run dims.ein -D WIDTH=9223372036854775808
want 2 "$EIN" run dims.ein PIXEL=ones
says "did you mean PIXELS?"
want 2 "$EIN" run dims.ein PIXELS=onez
want 2 "$EIN" run dims.ein -o TOTALS=t.npy
says "did you mean TOTAL?"
want 2 "$EIN" run dims.ein -o TOTAL=t.xyz
says ".npy"
finish
