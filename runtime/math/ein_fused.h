/* SPDX-License-Identifier: MIT-0 */
/*
 * Whether a product and a sum are one operation, with one rounding. A function defined by EIN_FUSES finds the answer in
 * ein_fused. It is EIN_FMA: whether the machine has the instruction that code is compiled for. (Defined by a user, it is
 * fused on every machine, by the library if need be.)
 *
 * Code compiled for any x86-64 has three versions of each kernel, and the one that suits the machine is called: see
 * EIN_KERNEL. Only the two later versions fuse. So there, ein_fused is a parameter of what is inlined into kernels, and a
 * function by EIN_FUSES passes its own on to those that it calls. Elsewhere in such code it is 0. EIN_ONE_VERSION turns
 * versions off. Included by ein_ops.h.
 */
#ifndef EIN_FUSED_H
#define EIN_FUSED_H

#if defined(EIN_RUN_H) && defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__AVX2__) && !defined(EIN_FMA) && \
    !defined(EIN_ONE_VERSION) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    ((defined(__clang__) && __clang_major__ >= 18) || (!defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 12))
#if !defined(__clang__)
#define EIN_VERSIONS 1
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define EIN_VERSIONS 1
#endif
#endif

#if !defined(EIN_FMA) && \
    (defined(__FMA__) || defined(__ARM_FEATURE_FMA) || (defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)))
#define EIN_FMA 1
#endif

#if defined(EIN_VERSIONS)
enum { ein_fused = 0 };
#define EIN_FUSES(name, ...) name##_if(int ein_fused, __VA_ARGS__)
#define ein_acos_f32(...)      ein_acos_f32_if(ein_fused, __VA_ARGS__)
#define ein_acos_f64(...)      ein_acos_f64_if(ein_fused, __VA_ARGS__)
#define ein_asin_f32(...)      ein_asin_f32_if(ein_fused, __VA_ARGS__)
#define ein_asin_f64(...)      ein_asin_f64_if(ein_fused, __VA_ARGS__)
#define ein_atan2_f32(...)     ein_atan2_f32_if(ein_fused, __VA_ARGS__)
#define ein_atan2_f64(...)     ein_atan2_f64_if(ein_fused, __VA_ARGS__)
#define ein_atan_f32(...)      ein_atan_f32_if(ein_fused, __VA_ARGS__)
#define ein_atan_f64(...)      ein_atan_f64_if(ein_fused, __VA_ARGS__)
#define ein_cbrt_f32(...)      ein_cbrt_f32_if(ein_fused, __VA_ARGS__)
#define ein_cbrt_f64(...)      ein_cbrt_f64_if(ein_fused, __VA_ARGS__)
#define ein_cos_f32(...)       ein_cos_f32_if(ein_fused, __VA_ARGS__)
#define ein_cos_f64(...)       ein_cos_f64_if(ein_fused, __VA_ARGS__)
#define ein_cos_lanes_f32(...) ein_cos_lanes_f32_if(ein_fused, __VA_ARGS__)
#define ein_cos_lanes_f64(...) ein_cos_lanes_f64_if(ein_fused, __VA_ARGS__)
#define ein_cos_near_f32(...)  ein_cos_near_f32_if(ein_fused, __VA_ARGS__)
#define ein_cos_near_f64(...)  ein_cos_near_f64_if(ein_fused, __VA_ARGS__)
#define ein_cosh_f32(...)      ein_cosh_f32_if(ein_fused, __VA_ARGS__)
#define ein_cosh_f64(...)      ein_cosh_f64_if(ein_fused, __VA_ARGS__)
#define ein_digamma_f32(...)   ein_digamma_f32_if(ein_fused, __VA_ARGS__)
#define ein_digamma_f64(...)   ein_digamma_f64_if(ein_fused, __VA_ARGS__)
#define ein_digamma_right(...) ein_digamma_right_if(ein_fused, __VA_ARGS__)
#define ein_erf_f32(...)       ein_erf_f32_if(ein_fused, __VA_ARGS__)
#define ein_erf_f64(...)       ein_erf_f64_if(ein_fused, __VA_ARGS__)
#define ein_erf_fused_f64(...) ein_erf_fused_f64_if(ein_fused, __VA_ARGS__)
#define ein_exp2_f32(...)      ein_exp2_f32_if(ein_fused, __VA_ARGS__)
#define ein_exp2_f64(...)      ein_exp2_f64_if(ein_fused, __VA_ARGS__)
#define ein_exp_f32(...)       ein_exp_f32_if(ein_fused, __VA_ARGS__)
#define ein_exp_f64(...)       ein_exp_f64_if(ein_fused, __VA_ARGS__)
#define ein_exp_lanes_f32(...) ein_exp_lanes_f32_if(ein_fused, __VA_ARGS__)
#define ein_exp_rest_f64(...)  ein_exp_rest_f64_if(ein_fused, __VA_ARGS__)
#define ein_expm1_f32(...)     ein_expm1_f32_if(ein_fused, __VA_ARGS__)
#define ein_expm1_f64(...)     ein_expm1_f64_if(ein_fused, __VA_ARGS__)
#define ein_fma_f32(...)       ein_fma_f32_if(ein_fused, __VA_ARGS__)
#define ein_fma_f64(...)       ein_fma_f64_if(ein_fused, __VA_ARGS__)
#define ein_hypot_f32(...)     ein_hypot_f32_if(ein_fused, __VA_ARGS__)
#define ein_hypot_f64(...)     ein_hypot_f64_if(ein_fused, __VA_ARGS__)
#define ein_log10_f32(...)     ein_log10_f32_if(ein_fused, __VA_ARGS__)
#define ein_log10_f64(...)     ein_log10_f64_if(ein_fused, __VA_ARGS__)
#define ein_log1p_f32(...)     ein_log1p_f32_if(ein_fused, __VA_ARGS__)
#define ein_log1p_f64(...)     ein_log1p_f64_if(ein_fused, __VA_ARGS__)
#define ein_log2_f32(...)      ein_log2_f32_if(ein_fused, __VA_ARGS__)
#define ein_log2_f64(...)      ein_log2_f64_if(ein_fused, __VA_ARGS__)
#define ein_log_f32(...)       ein_log_f32_if(ein_fused, __VA_ARGS__)
#define ein_log_f64(...)       ein_log_f64_if(ein_fused, __VA_ARGS__)
#define ein_mod_f32(...)       ein_mod_f32_if(ein_fused, __VA_ARGS__)
#define ein_pow_any_f32(...)   ein_pow_any_f32_if(ein_fused, __VA_ARGS__)
#define ein_pow_f32(...)       ein_pow_f32_if(ein_fused, __VA_ARGS__)
#define ein_pow_f64(...)       ein_pow_f64_if(ein_fused, __VA_ARGS__)
#define ein_power_f32(...)     ein_power_f32_if(ein_fused, __VA_ARGS__)
#define ein_power_f64(...)     ein_power_f64_if(ein_fused, __VA_ARGS__)
#define ein_sin_f32(...)       ein_sin_f32_if(ein_fused, __VA_ARGS__)
#define ein_sin_f64(...)       ein_sin_f64_if(ein_fused, __VA_ARGS__)
#define ein_sin_lanes_f32(...) ein_sin_lanes_f32_if(ein_fused, __VA_ARGS__)
#define ein_sin_lanes_f64(...) ein_sin_lanes_f64_if(ein_fused, __VA_ARGS__)
#define ein_sin_near_f32(...)  ein_sin_near_f32_if(ein_fused, __VA_ARGS__)
#define ein_sin_near_f64(...)  ein_sin_near_f64_if(ein_fused, __VA_ARGS__)
#define ein_sinh_f32(...)      ein_sinh_f32_if(ein_fused, __VA_ARGS__)
#define ein_sinh_f64(...)      ein_sinh_f64_if(ein_fused, __VA_ARGS__)
#define ein_tan_f32(...)       ein_tan_f32_if(ein_fused, __VA_ARGS__)
#define ein_tan_f64(...)       ein_tan_f64_if(ein_fused, __VA_ARGS__)
#define ein_tan_lanes_f32(...) ein_tan_lanes_f32_if(ein_fused, __VA_ARGS__)
#define ein_tan_lanes_f64(...) ein_tan_lanes_f64_if(ein_fused, __VA_ARGS__)
#define ein_tan_near_f32(...)  ein_tan_near_f32_if(ein_fused, __VA_ARGS__)
#define ein_tan_near_f64(...)  ein_tan_near_f64_if(ein_fused, __VA_ARGS__)
#define ein_tanh_f32(...)      ein_tanh_f32_if(ein_fused, __VA_ARGS__)
#define ein_tanh_f64(...)      ein_tanh_f64_if(ein_fused, __VA_ARGS__)
#define ein_trigamma_f32(...)  ein_trigamma_f32_if(ein_fused, __VA_ARGS__)
#define ein_trigamma_f64(...)  ein_trigamma_f64_if(ein_fused, __VA_ARGS__)
#define ein_wide_asin(...)     ein_wide_asin_if(ein_fused, __VA_ARGS__)
#define ein_wide_atan(...)     ein_wide_atan_if(ein_fused, __VA_ARGS__)
#define ein_wide_atan2(...)    ein_wide_atan2_if(ein_fused, __VA_ARGS__)
#define ein_wide_cos(...)      ein_wide_cos_if(ein_fused, __VA_ARGS__)
#define ein_wide_erf_f32(...)  ein_wide_erf_f32_if(ein_fused, __VA_ARGS__)
#define ein_wide_exp2(...)     ein_wide_exp2_if(ein_fused, __VA_ARGS__)
#define ein_wide_exp2m1(...)   ein_wide_exp2m1_if(ein_fused, __VA_ARGS__)
#define ein_wide_log1p(...)    ein_wide_log1p_if(ein_fused, __VA_ARGS__)
#define ein_wide_log2(...)     ein_wide_log2_if(ein_fused, __VA_ARGS__)
#define ein_wide_sin(...)      ein_wide_sin_if(ein_fused, __VA_ARGS__)
#define ein_wide_turn(...)     ein_wide_turn_if(ein_fused, __VA_ARGS__)
#define ein_wide_wave(...)     ein_wide_wave_if(ein_fused, __VA_ARGS__)
#elif defined(EIN_FMA)
#define ein_fused            1
#define EIN_FUSES(name, ...) name(__VA_ARGS__)
#else
#define ein_fused            0
#define EIN_FUSES(name, ...) name(__VA_ARGS__)
#endif

#endif
