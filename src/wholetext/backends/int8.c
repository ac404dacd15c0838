/* Linear layers in small integers, for processors with AVX2; int8.py compiles it and says what it computes.
 *
 * Inputs are 0..127 and weights -63..63, so two sums of two products fit into 16 bits (4 * 127 * 63 = 32004): they are
 * added before they are widened to 32 bits, which saves a quarter of the multiplications on processors that cannot sum
 * products of bytes at once (VNNI). Compile with -ffp-contract=off: floats are then rounded after each step, as torch
 * rounds them, and the results are torch's to the last bit.
 */
#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 16, STEP = 8, LEVELS = 127, CACHE = 256 * 1024 };

typedef struct {
    const int8_t *weights; /* panels of 16 outputs: for every 4 inputs, 16 outputs by 4 inputs; filled up with 0 */
    const float *scales, *totals, *bias; /* of each output; totals: the sum of its rounded weights */
    int64_t inputs, outputs;
} Layer;

typedef struct {
    float low, step; /* the value at level 0, and from one level to the next */
} Range;

static int64_t up_to(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

static Range range_of(const float *x, int64_t size) {
    __m256 low = _mm256_set1_ps(x[0]), high = low, odd = _mm256_setzero_ps();
    int64_t i = 0;
    for (; i + 8 <= size; i += 8) {
        const __m256 some = _mm256_loadu_ps(x + i);
        low = _mm256_min_ps(low, some), high = _mm256_max_ps(high, some);
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(some, some, _CMP_UNORD_Q)); /* min and max would pass over a NaN */
    }
    float lows[8], highs[8], least = x[0], most = x[0];
    int lost = _mm256_movemask_ps(odd);
    _mm256_storeu_ps(lows, low), _mm256_storeu_ps(highs, high);
    for (int at = 0; at < 8; at++) {
        least = lows[at] < least ? lows[at] : least;
        most = highs[at] > most ? highs[at] : most;
    }
    for (; i < size; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        lost |= x[i] != x[i];
    }
    return lost ? (Range){NAN, NAN} : (Range){least, (most - least) / LEVELS};
}

static Range round_row(const float *x, int64_t size, uint8_t *codes) {
    const Range range = range_of(x, size);
    const float levels = range.step >= FLT_MIN ? 1 / range.step : 0;
    const __m256 low = _mm256_set1_ps(range.low), factor = _mm256_set1_ps(levels);
    int64_t i = 0;
    for (; i + 8 <= size; i += 8) {
        const __m256i wide = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), low), factor));
        const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
        _mm_storel_epi64((__m128i *)(codes + i), _mm_packus_epi16(half, half));
    }
    for (; i < size; i++) codes[i] = (uint8_t)_mm_cvtss_si32(_mm_set_ss((x[i] - range.low) * levels));
    memset(codes + size, 0, up_to(size, STEP) - size);
    return range;
}

static __m256i load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

static __m256i repeat(const uint8_t *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return _mm256_set1_epi32(four);
}

/* 8 inputs of a row times their weights for 8 outputs: those of the first four inputs, and of the next */
static inline __m256i add_products(__m256i sum, const uint8_t *codes, __m256i first, __m256i next) {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_dpbusd_epi32(_mm256_dpbusd_epi32(sum, repeat(codes), first), repeat(codes + 4), next);
#else
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(repeat(codes), first),
                                           _mm256_maddubs_epi16(repeat(codes + 4), next));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}

typedef struct {
    __m256i of[ROWS][2];
} Sums;

static inline Sums multiply_tile(const uint8_t *codes, const int8_t *panel, int64_t inputs) {
    Sums sums;
    for (int row = 0; row < ROWS; row++) sums.of[row][0] = sums.of[row][1] = _mm256_setzero_si256();
    for (int64_t at = 0; at < inputs; at += STEP, panel += STEP * COLUMNS) {
        const __m256i first[2] = {load(panel), load(panel + 32)}, next[2] = {load(panel + 64), load(panel + 96)};
        for (int row = 0; row < ROWS; row++)
            for (int half = 0; half < 2; half++)
                sums.of[row][half] =
                    add_products(sums.of[row][half], codes + row * inputs + at, first[half], next[half]);
    }
    return sums;
}

static void multiply_panel(const Layer *layer, const uint8_t *codes, const Range *ranges, int64_t rows, int64_t column,
                           float *out) {
    const int64_t inputs = up_to(layer->inputs, STEP), left = layer->outputs - column;
    const size_t wide = sizeof(float) * (size_t)(left < COLUMNS ? left : COLUMNS);
    for (int64_t row = 0; row < rows; row += ROWS) {
        const Sums sums = multiply_tile(codes + row * inputs, layer->weights + column * inputs, inputs);
        for (int r = 0; r < ROWS && row + r < rows; r++) {
            const __m256 step = _mm256_set1_ps(ranges[row + r].step), low = _mm256_set1_ps(ranges[row + r].low);
            float line[COLUMNS];
            for (int half = 0; half < 2; half++) {
                const int64_t at = column + 8 * half;
                const __m256 total = _mm256_mul_ps(low, _mm256_loadu_ps(layer->totals + at));
                const __m256 sum = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums.of[r][half]), step), total);
                const __m256 value = _mm256_mul_ps(sum, _mm256_loadu_ps(layer->scales + at));
                _mm256_storeu_ps(line + 8 * half, _mm256_add_ps(value, _mm256_loadu_ps(layer->bias + at)));
            }
            memcpy(out + (row + r) * layer->outputs + column, line, wide);
        }
    }
}

/* out (rows, outputs) = x (rows, inputs) through the layer; 0, or 1 where there is no memory */
int apply(const Layer *layer, const float *x, int64_t rows, float *out) {
    const int64_t inputs = up_to(layer->inputs, STEP), fit = up_to(CACHE / inputs + 1, ROWS);
    const int64_t block = fit < up_to(rows, ROWS) ? fit : up_to(rows, ROWS); /* rows that stay near while panels pass */
    uint8_t *codes = malloc((size_t)(block * inputs));
    Range *ranges = malloc((size_t)block * sizeof *ranges);
    const int failed = !codes || !ranges;
    for (int64_t begin = 0; !failed && begin < rows; begin += block) {
        const int64_t size = rows - begin < block ? rows - begin : block;
        for (int64_t row = 0; row < size; row++)
            ranges[row] = round_row(x + (begin + row) * layer->inputs, layer->inputs, codes + row * inputs);
        for (int64_t column = 0; column < layer->outputs; column += COLUMNS)
            multiply_panel(layer, codes, ranges, size, column, out + begin * layer->outputs);
    }
    free(codes);
    free(ranges);
    return failed;
}
