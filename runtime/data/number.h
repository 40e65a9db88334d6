/* SPDX-License-Identifier: MIT-0 */
/*
 * Reads numbers from text without the C library, whose functions depend on the locale.
 */
#ifndef EIN_NUMBER_H
#define EIN_NUMBER_H

#include "ein_rt.h"

/* All of text[0..length) as a decimal integer with an optional sign. Fails with EIN_ERR_FORMAT or EIN_ERR_RANGE. */
ein_status ein_read_i64(const char *text, size_t length, int64_t *value);

/*
 * All of text[0..length) as a decimal number, rounded once, to nearest even: digits with an optional sign,
 * point and exponent, or inf or nan. Fails with EIN_ERR_FORMAT, or with EIN_ERR_RANGE if it would become
 * infinite.
 */
ein_status ein_read_f64(const char *text, size_t length, double *value);

/*
 * All of a text as an amount of bytes, with a unit or none: 4096, 512MiB, 1.5 GB. Fails with EIN_ERR_FORMAT, or
 * with EIN_ERR_RANGE for less than 1 byte and for 1e18 and more.
 */
ein_status ein_read_bytes(const char *text, uint64_t *bytes);

#endif
