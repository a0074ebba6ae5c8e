"""Blocks of quantised numbers, read one number at a time as ggml's own C code does.

Independent of the gguf package: a swapped nibble there or here would be seen.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
from gguf.constants import GGMLQuantizationType as Kind


def half(block: bytes, at: int) -> float:
    """Read a float16."""
    return float(struct.unpack_from("<e", block, at)[0])


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def f32(block: bytes) -> list[float]:
    return list(struct.unpack("<f", block))


def f16(block: bytes) -> list[float]:
    return list(struct.unpack("<e", block))


def bf16(block: bytes) -> list[float]:
    return list(struct.unpack("<f", b"\0\0" + block))


def q8_0(block: bytes) -> list[float]:
    return [half(block, 0) * signed(byte) for byte in block[2:]]


def q4_0(block: bytes) -> list[float]:
    nibbles = [byte & 15 for byte in block[2:]] + [byte >> 4 for byte in block[2:]]
    return [half(block, 0) * (nibble - 8) for nibble in nibbles]


def q4_1(block: bytes) -> list[float]:
    nibbles = [byte & 15 for byte in block[4:]] + [byte >> 4 for byte in block[4:]]
    return [half(block, 0) * nibble + half(block, 2) for nibble in nibbles]


def fives(high: bytes, low: bytes) -> list[int]:
    """Join 32 low nibbles with the 32 bits of one number."""
    bits = int.from_bytes(high, "little")
    nibbles = [byte & 15 for byte in low] + [byte >> 4 for byte in low]
    return [nibble | (bits >> at & 1) << 4 for at, nibble in enumerate(nibbles)]


def q5_0(block: bytes) -> list[float]:
    return [half(block, 0) * (value - 16) for value in fives(block[2:6], block[6:])]


def q5_1(block: bytes) -> list[float]:
    return [half(block, 0) * v + half(block, 2) for v in fives(block[4:8], block[8:])]


def q2_k(block: bytes) -> list[float]:
    scales, packed, d, least = block[:16], block[16:80], half(block, 80), half(block, 82)
    found = []
    for at in range(256):
        part, within = divmod(at, 128)
        pair, place = divmod(within, 32)
        value = packed[32 * part + place] >> 2 * pair & 3
        scale = scales[8 * part + 2 * pair + place // 16]
        found.append(d * (scale & 15) * value - least * (scale >> 4))
    return found


def q3_k(block: bytes) -> list[float]:
    high, packed, scales, d = block[:32], block[32:96], block[96:108], half(block, 108)
    found = []
    for at in range(256):
        part, within = divmod(at, 128)
        pair, place = divmod(within, 32)
        value = packed[32 * part + place] >> 2 * pair & 3
        value -= 0 if high[place] >> (4 * part + pair) & 1 else 4
        index = at // 16
        low = scales[index] & 15 if index < 8 else scales[index - 8] >> 4
        top = scales[8 + index % 4] >> 2 * (index // 4) & 3
        found.append(d * ((low | top << 4) - 32) * value)
    return found


def scale_and_least(scales: bytes, index: int) -> tuple[int, int]:
    """Unpack six bits each: ggml's get_scale_min_k4."""
    if index < 4:
        return scales[index] & 63, scales[index + 4] & 63
    joint = scales[index + 4]
    return joint & 15 | scales[index - 4] >> 6 << 4, joint >> 4 | scales[index] >> 6 << 4


def q4_k(block: bytes) -> list[float]:
    d, least, scales, packed = half(block, 0), half(block, 2), block[4:16], block[16:]
    found = []
    for at in range(256):
        group, place = divmod(at, 32)
        value = packed[32 * (group // 2) + place] >> 4 * (group % 2) & 15
        scale, low = scale_and_least(scales, group)
        found.append(d * scale * value - least * low)
    return found


def q5_k(block: bytes) -> list[float]:
    d, least, scales = half(block, 0), half(block, 2), block[4:16]
    high, packed = block[16:48], block[48:]
    found = []
    for at in range(256):
        group, place = divmod(at, 32)
        value = packed[32 * (group // 2) + place] >> 4 * (group % 2) & 15
        value += 16 if high[place] >> group & 1 else 0
        scale, low = scale_and_least(scales, group)
        found.append(d * scale * value - least * low)
    return found


def q6_k(block: bytes) -> list[float]:
    low, high, scales, d = block[:128], block[128:192], block[192:208], half(block, 208)
    found = []
    for at in range(256):
        part, within = divmod(at, 128)
        quarter, place = divmod(within, 32)
        byte = low[64 * part + 32 * (quarter % 2) + place]
        value = byte >> 4 * (quarter // 2) & 15
        value |= (high[32 * part + place] >> 2 * quarter & 3) << 4
        found.append(d * signed(scales[at // 16]) * (value - 32))
    return found


# Type, the numbers and bytes of a block, where its float16 scales lie, and how it is read.
READERS: dict[Kind, tuple[int, int, tuple[int, ...], Callable[[bytes], list[float]]]] = {
    Kind.F32: (1, 4, (), f32),
    Kind.F16: (1, 2, (0,), f16),
    Kind.BF16: (1, 2, (), bf16),
    Kind.Q8_0: (32, 34, (0,), q8_0),
    Kind.Q4_0: (32, 18, (0,), q4_0),
    Kind.Q4_1: (32, 20, (0, 2), q4_1),
    Kind.Q5_0: (32, 22, (0,), q5_0),
    Kind.Q5_1: (32, 24, (0, 2), q5_1),
    Kind.Q2_K: (256, 84, (80, 82), q2_k),
    Kind.Q3_K: (256, 110, (108,), q3_k),
    Kind.Q4_K: (256, 144, (0, 2), q4_k),
    Kind.Q5_K: (256, 176, (0, 2), q5_k),
    Kind.Q6_K: (256, 210, (208,), q6_k),
}


def random_rows(kind: Kind, rows: int, width: int, seed: int = 0) -> np.ndarray:
    """Draw packed rows: any bytes are a block, but the scales are made finite numbers."""
    numbers, size, scales, _ = READERS[kind]
    generator = np.random.default_rng(seed)
    blocks = generator.integers(0, 256, (rows * width // numbers, size), np.uint8)
    if not scales:  # plain numbers of 32 bits or the upper half of them
        values = generator.standard_normal(rows * width).astype(np.float32)
        return values.view(np.uint8).reshape(rows * width, 4)[:, 4 - size :].reshape(rows, -1)
    for at in scales:
        drawn = generator.uniform(0.01, 2, len(blocks)) * generator.choice([-1, 1], len(blocks))
        blocks[:, at : at + 2] = drawn.astype(np.float16)[:, None].view(np.uint8)
    return blocks.reshape(rows, -1)


def read_rows(kind: Kind, packed: np.ndarray, width: int) -> np.ndarray:
    """Read packed rows; [rows, width] of float64."""
    numbers, size, _, reader = READERS[kind]
    content = packed.tobytes()
    blocks = (content[at : at + size] for at in range(0, len(content), size))
    values = [value for block in blocks for value in reader(block)]
    assert len(values) == packed.size // size * numbers
    return np.array(values, np.float64).reshape(-1, width)
