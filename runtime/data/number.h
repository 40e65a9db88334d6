/* SPDX-License-Identifier: MIT-0 */
/*
 * Numbers read from text without the C library, whose readers follow the locale.
 */
#ifndef EIN_NUMBER_H
#define EIN_NUMBER_H

#include "ein_rt.h"

/* The whole of text[0..length) as a decimal integer with an optional sign. EIN_ERR_FORMAT,
 * EIN_ERR_RANGE. */
ein_status ein_read_i64(const char *text, size_t length, int64_t *value);

/*
 * The whole of text[0..length) as a decimal number, rounded once, to nearest even: digits with an
 * optional sign, point and exponent, or inf or nan. EIN_ERR_FORMAT; EIN_ERR_RANGE where it would
 * become infinite.
 */
ein_status ein_read_f64(const char *text, size_t length, double *value);

#endif
