// Vectors of floats, and what is computed with them alone: sums, exponentials, the RMS norm.
//
// Knows a processor's instructions (AVX-512, else AVX2 with FMA and F16C); no weights, no cache.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

#if defined(__AVX512F__)
constexpr int LANES = 16;
constexpr int TALLEST = 12;  // rows at once: 2 sums a row, and there are 32 registers
#else
constexpr int LANES = 8;
constexpr int TALLEST = 6;  // ... and here 16
#endif

typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t Whole __attribute__((vector_size(4 * LANES)));

inline Lanes load(const float* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A number kept in half the room: the upper half of a float32.
struct Brain {
  uint16_t bits;
};

inline Lanes load(const Brain* from) {
#if defined(__AVX512F__)
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)from));
  return (Lanes)_mm512_slli_epi32(wide, 16);
#else
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)from));
  return (Lanes)_mm256_slli_epi32(wide, 16);
#endif
}

inline void put_lanes(float* to, Lanes value) { std::memcpy(to, &value, sizeof value); }

inline Lanes widen(const uint16_t* from) {
#if defined(__AVX512F__)
  return (Lanes)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)from));
#else
  return (Lanes)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#endif
}

// Whole numbers from -128 to 127 as floats.
inline Lanes widen(const int8_t* from) {
#if defined(__AVX512F__)
  return (Lanes)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)from)));
#else
  return (Lanes)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)from)));
#endif
}

// Whether a comparison holds in any place.
inline bool any(Whole found) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)found, (__m512i)found) != 0;
#else
  return !_mm256_testz_si256((__m256i)found, (__m256i)found);
#endif
}

inline __m256 fold(Lanes value) {
#if defined(__AVX512F__)
  const __m512d both = _mm512_castps_pd((__m512)value);
  return _mm256_add_ps(_mm512_castps512_ps256((__m512)value),
                       _mm256_castpd_ps(_mm512_extractf64x4_pd(both, 1)));
#else
  return (__m256)value;
#endif
}

// The sums of four vectors, side by side.
inline void sums(Lanes a, Lanes b, Lanes c, Lanes d, float* to) {
  const __m256 ab = _mm256_hadd_ps(fold(a), fold(b)), cd = _mm256_hadd_ps(fold(c), fold(d));
  const __m256 all = _mm256_hadd_ps(ab, cd);
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

inline float sum(Lanes value) {
  float four[4];
  sums(value, value, value, value, four);
  return four[0];
}

// exp to about 1e-7, by a polynomial on [-ln 2 / 2, ln 2 / 2] (Cephes, expf). NaN stays NaN.
inline Lanes exponential(Lanes x) {
  const Lanes zero{};
  x = x < -87.0f ? zero - 87.0f : x;
  x = x > 88.0f ? zero + 88.0f : x;
  const Lanes turns = x * 1.44269504088896341f;
  const Lanes half = turns < 0.0f ? zero - 0.5f : zero + 0.5f;
  const Whole power = __builtin_convertvector(turns + half, Whole);
  const Lanes whole = __builtin_convertvector(power, Lanes);
  const Lanes rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Lanes value = zero + 1.9875691500e-4f;
  value = value * rest + 1.3981999507e-3f;
  value = value * rest + 8.3334519073e-3f;
  value = value * rest + 4.1665795894e-2f;
  value = value * rest + 1.6666665459e-1f;
  value = value * rest + 5.0000001201e-1f;
  value = value * (rest * rest) + rest + 1.0f;
  const Whole bits = (power + 127) << 23;
  Lanes scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return value * scale;
}

// Natural logarithm of normal positive numbers to about 1e-7 (Cephes, logf).
inline Lanes logarithm(Lanes x) {
  Whole bits;
  std::memcpy(&bits, &x, sizeof bits);
  Whole power = (bits >> 23) - 126;
  const Whole mantissa = (bits & 0x007fffff) | 0x3f000000;  // in [0.5, 1)
  Lanes part;
  std::memcpy(&part, &mantissa, sizeof part);
  const Whole low = part < 0.707106781186547524f;  // -1 where it is
  power += low;
  const Lanes rest = (low ? part + part : part) - 1.0f, square = rest * rest;
  const Lanes zero{};
  Lanes value = zero + 7.0376836292e-2f;
  value = value * rest - 1.1514610310e-1f;
  value = value * rest + 1.1676998740e-1f;
  value = value * rest - 1.2420140846e-1f;
  value = value * rest + 1.4249322787e-1f;
  value = value * rest - 1.6668057665e-1f;
  value = value * rest + 2.0000714765e-1f;
  value = value * rest - 2.4999993993e-1f;
  value = value * rest + 3.3333331174e-1f;
  const Lanes whole = __builtin_convertvector(power, Lanes);
  value = value * rest * square - 2.12194440e-4f * whole - 0.5f * square;
  return rest + value + 0.693359375f * whole;
}

// Zhang and Sennrich 2019: x over its root mean square, times a weight.
void rms_norm(const float* x, const float* weight, float epsilon, int64_t width, float* to) {
  Lanes squares{};
  int64_t at = 0;
  for (; at + LANES <= width; at += LANES) squares += load(x + at) * load(x + at);
  float total = sum(squares);
  for (; at < width; at++) total += x[at] * x[at];
  const float scale = 1.0f / std::sqrt(total / (float)width + epsilon);
  for (at = 0; at < width; at++) to[at] = x[at] * scale * weight[at];
}

}  // namespace
