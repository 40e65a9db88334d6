/* SPDX-License-Identifier: MIT-0 */
/*
 * Half precision by bit operations: floats in, 16-bit patterns out, and back. Narrowing does no arithmetic on
 * the floats themselves, so it does not depend on the rounding mode or flush-to-zero.
 */
#include "ein_num.h"

#include <string.h>

static uint64_t f64_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint32_t f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/*
 * Converts a double's bits to a 16-bit format with `mantissa` stored bits: 10 (f16) or 7 (bf16). Rounds once,
 * to nearest even. Exponent and mantissa are treated as one integer, so a carry out of the mantissa increments
 * the exponent and, at the top, gives infinity.
 */
static uint16_t narrow(uint64_t bits, int mantissa) {
  const int exponent_bits = 15 - mantissa;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa;
  const uint32_t sign = (uint32_t)(bits >> 48) & 0x8000u;
  const uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFu;
  if (magnitude > 0x7FF0000000000000u) return (uint16_t)(sign | infinity | 1u << (mantissa - 1));
  int exponent = (int)(magnitude >> 52) - 1023 + bias;
  if (exponent >= (1 << exponent_bits) - 1) return (uint16_t)(sign | infinity);
  uint64_t significand = magnitude & 0xFFFFFFFFFFFFFu;
  int drop = 52 - mantissa; /* bits that do not fit */
  if (exponent > 0) {
    significand |= (uint64_t)exponent << 52;
  } else { /* subnormal in the target: the leading one becomes a stored bit and moves down */
    significand |= (uint64_t)1 << 52;
    drop += 1 - exponent;
    if (drop > 54) return (uint16_t)sign;
  }
  uint64_t half = (uint64_t)1 << (drop - 1);
  uint64_t rest = significand & ((half << 1) - 1);
  uint64_t kept = significand >> drop;
  kept += rest > half || (rest == half && (kept & 1));
  return (uint16_t)(sign | (uint32_t)kept);
}

EIN_API uint16_t ein_f64_to_f16(double x) {
  return narrow(f64_bits(x), 10);
}

EIN_API uint16_t ein_f64_to_bf16(double x) {
  return narrow(f64_bits(x), 7);
}

/* Every float is a double, so widening first adds no rounding. (A subnormal float is far below f16.) */
EIN_API uint16_t ein_f32_to_f16(float x) {
  return narrow(f64_bits((double)x), 10);
}

/* The upper half of a float, rounded: f32 and bf16 have the same exponent. */
EIN_API uint16_t ein_f32_to_bf16(float x) {
  uint32_t bits = f32_bits(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

EIN_API float ein_bf16_to_f32(uint16_t half) {
  return f32_from_bits((uint32_t)half << 16);
}

EIN_API float ein_f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = half >> 10 & 0x1Fu;
  uint32_t mantissa = half & 0x3FFu;
  if (exponent == 31) /* infinity; a NaN keeps its payload and becomes quiet */
    return f32_from_bits(sign | 0x7F800000u | mantissa << 13 | (mantissa ? 0x400000u : 0));
  if (exponent > 0) return f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  if (mantissa == 0) return f32_from_bits(sign);
  exponent = 113;
  while (!(mantissa & 0x400u)) {
    mantissa <<= 1;
    exponent--;
  }
  return f32_from_bits(sign | exponent << 23 | (mantissa & 0x3FFu) << 13);
}
