// Copying and checking of text by blocks, and checksums. In C because Swift's vectors cannot make a number of a mask,
// which is one instruction on most machines, and because Swift has no name for the instruction that makes a checksum.
// In each result the lowest bit is the first byte, on a little-endian machine: the vector of flags is read as a
// number as it lies in memory.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef signed char cvector_bytes __attribute__((ext_vector_type(16)));
// The result of a comparison of two such vectors.
typedef char cvector_mask __attribute__((ext_vector_type(16)));
typedef bool cvector_flags __attribute__((ext_vector_type(16)));

#define CVECTOR_INLINE static inline __attribute__((always_inline))

CVECTOR_INLINE cvector_bytes cvector_load(const void *from) {
    cvector_bytes bytes;
    memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

CVECTOR_INLINE uint16_t cvector_bits(cvector_mask mask) {
    return __builtin_bit_cast(uint16_t, __builtin_convertvector(mask, cvector_flags));
}

// Copies 16 bytes. Returns which of them are printable ASCII; with `json`, without quotes and backslashes.
CVECTOR_INLINE uint16_t cvector_copy_16(void *to, const void *from, bool json) {
    cvector_bytes bytes = cvector_load(from);
    memcpy(to, &bytes, sizeof bytes);
    // Signed: bytes that are not ASCII are negative.
    cvector_mask plain = (bytes > 0x1F) & (bytes != 0x7F);
    if (json) plain &= (bytes != '"') & (bytes != '\\');
    return cvector_bits(plain);
}

// Does the same with up to 15 bytes, and reads no more; the others are zeros, which are not printable.
CVECTOR_INLINE uint16_t cvector_copy_short(void *to, const void *from, size_t length, bool json) {
    const unsigned char *bytes = from;
    uint64_t words[2] = {0, 0};
    if (length > 8) {
        memcpy(&words[0], bytes, 8);
        memcpy(&words[1], bytes + length - 8, 8);
        words[1] >>= 8 * (16 - length);
    } else if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, bytes, 4);
        memcpy(&last, bytes + length - 4, 4);
        words[0] = first | (uint64_t)last << 8 * (length - 4);
    } else if (length > 0) {
        const size_t middle = length / 2, last = length - 1;
        words[0] = bytes[0] | (uint64_t)bytes[middle] << 8 * middle | (uint64_t)bytes[last] << 8 * last;
    }
    return cvector_copy_16(to, words, json);
}

// Copies 64 bytes in the same way.
CVECTOR_INLINE uint64_t cvector_copy_64(void *to, const void *from, bool json) {
    uint64_t plain = 0;
    for (int part = 0; part < 4; part++) {
        uint64_t bits = cvector_copy_16((char *)to + 16 * part, (const char *)from + 16 * part, json);
        plain |= bits << 16 * part;
    }
    return plain;
}

// Takes 64 bytes that begin with a character. Returns those of characters of two and three bytes, without one that
// the end cuts off. Returns 0 if anything is not well-formed, or needs a closer look: longer characters, those near
// control characters and surrogates, and with `json` also line separators.
CVECTOR_INLINE uint64_t cvector_text_64(const void *from, bool json) {
    uint64_t two = 0, three = 0, following = 0, all = 0, eighty = 0, last = 0;
    for (int part = 0; part < 4; part++) {
        cvector_bytes bytes = cvector_load((const char *)from + 16 * part);
        const int shift = 16 * part;
        // Signed: 80...BF are -128...-65, and so on.
        two |= (uint64_t)cvector_bits((bytes > (signed char)0xC2) & (bytes < (signed char)0xE0)) << shift;
        three |= (uint64_t)cvector_bits(
                     (bytes > (signed char)0xE0) & (bytes < (signed char)0xF0) & (bytes != (signed char)0xED)) << shift;
        following |= (uint64_t)cvector_bits(bytes < (signed char)0xC0) << shift;
        all |= (uint64_t)cvector_bits(bytes < 0) << shift;
        if (!json) continue;
        eighty |= (uint64_t)cvector_bits(bytes == (signed char)0x80) << shift;
        last |= (uint64_t)cvector_bits((bytes | 1) == (signed char)0xA9) << shift;
    }
    if (all != (two | three | following) || following != (two << 1 | three << 1 | three << 2)) return 0;
    // E2 80 A8 and E2 80 A9, and whatever ends alike.
    if ((three << 2 & eighty << 1 & last) != 0) return 0;
    uint64_t cut = (two & 1ull << 63) | (three & 3ull << 62);
    return cut == 0 ? all : all & (cut - 1);
}

// Computes the sum of RFC 3720 without the complements at its ends, by an instruction that most machines have: eight
// bytes at once.
#if defined(__x86_64__)
CVECTOR_INLINE bool cvector_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) static inline uint32_t cvector_crc32c(
    uint32_t crc, const unsigned char *from, size_t count) {
    for (; count >= 8; from += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        crc = (uint32_t)__builtin_ia32_crc32di(crc, word);
    }
    for (; count > 0; from++, count--) crc = __builtin_ia32_crc32qi(crc, *from);
    return crc;
}
#else
// Elsewhere the tables are used, and the second function is not called.
CVECTOR_INLINE bool cvector_has_crc32c(void) { return false; }
CVECTOR_INLINE uint32_t cvector_crc32c(uint32_t crc, const unsigned char *from, size_t count) { __builtin_trap(); }
#endif
