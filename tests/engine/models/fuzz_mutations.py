"""Ways to damage a file: bytes, lengths, JSON values, templates. Each says what it did.

Everything is drawn from the generator that is passed in: one seed, one damage.
"""

from __future__ import annotations

import copy
import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Mutated = tuple[bytes, str]

BOUNDARIES = (
    *(0, 1, 2, 3, 7, 127, 128, 255, 256, 65_535, 65_536, 2**24, 2**31 - 1, 2**31, 2**32 - 1),
    *(2**32, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 32, 2**64 - 8, 2**64 - 1),
)
STAND_INS = (
    b"",
    b"\0",
    b"<!DOCTYPE html><html><body>404</body></html>",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    b"Entry not found",
    b'{"error": "gated"}',
    b"PK\x03\x04" + bytes(60),
    b"GGUF" + bytes(60),
    bytes(4096),
)


class Text(str):
    """JSON that is written as it is, whatever it is."""


class Twice:
    """A key that stands twice in its object, with two values."""

    def __init__(self, one: Any, other: Any) -> None:
        self.values = (one, other)


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 0.5, -0.0, 1e-30, 1e30, 2**31, 2**63, 2**64, 10**30),
    *(Text("NaN"), Text("Infinity"), Text("-Infinity"), Text("1e999"), Text("9" * 5000)),
    *("", "a", "1", "\n\u2028", "\0", "\ud800", "long" * 5000, "../../etc", "llama", "yarn"),
    *([], {}, [None], [[]], [1, "a", None], {"a": 1}, {"": {}}, [0] * 1000),
    *(Text("[" * 3000 + "]" * 3000), Text("[" * 100_000), Text("{}}"), Text("01"), Text("")),
)


# What a configuration may also say; some of it changes what is computed.
ADDED: tuple[tuple[str, Any], ...] = (
    ("rope_scaling", {"rope_type": "linear", "factor": 2.0}),
    ("rope_scaling", {"type": "dynamic", "factor": 4.0}),
    ("rope_scaling", {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}),
    (
        "rope_scaling",
        {
            **{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0},
            **{"high_freq_factor": 4.0, "original_max_position_embeddings": 64},
        },
    ),
    ("rope_parameters", {"rope_type": "default", "rope_theta": 500000.0}),
    *(("model_type", kind) for kind in ("mistral", "qwen2", "qwen3", "phi3", "gpt2")),
    *(("sliding_window", 4), ("use_sliding_window", True), ("max_window_layers", 0)),
    *(("layer_types", ["full_attention"]), ("layer_types", ["sliding_attention"])),
    *(("attention_bias", True), ("mlp_bias", True), ("partial_rotary_factor", 0.5)),
    *(("text_config", {"hidden_size": 32}), ("text_config", {}), ("head_dim", 8)),
    *(("quantization_config", {"quant_method": "gptq"}), ("tie_word_embeddings", False)),
    *(("num_experts", 8), ("logits_scaling", 8.0), ("chat_template", "{{ x }}"), ("extra", 1)),
)


def write_json(value: Any) -> str:
    """Write JSON, with what no honest writer would write."""
    if isinstance(value, Text):
        return str(value)
    if isinstance(value, dict):
        parts = []
        for key, inner in value.items():
            for one in inner.values if isinstance(inner, Twice) else (inner,):
                parts.append(f"{json.dumps(key)}: {write_json(one)}")
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_json, value)) + "]"
    return json.dumps(value)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values but the whole; of long lists and objects only some."""
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    else:
        return []
    kept = keys if len(keys) <= 40 else [*keys[:20], *keys[-20:]]
    return [(*path, key) for key in kept] + [
        place for key in kept for place in _places(value[key], (*path, key))
    ]


def mutate_json(content: bytes, draw: random.Random) -> Mutated:
    """Change, remove, rename, repeat or add up to three values of a JSON object."""
    document = json.loads(content)
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        places = _places(document)
        if not places:
            break
        shallow = [place for place in places if len(place) == 1]
        *path, key = draw.choice(shallow if draw.random() < 0.4 else places)
        holder = document
        for step in path:
            holder = holder[step]
        value = copy.deepcopy(draw.choice(VALUES))  # it may be changed in its turn
        match draw.randrange(9):
            case 0:
                del holder[key]
                done.append(f"remove {[*path, key]}")
            case 4 if isinstance(document, dict):
                name, value = copy.deepcopy(draw.choice(ADDED))
                document[name] = value
                done.append(f"add {name} {value!r:.60}")
            case 1 if isinstance(holder, dict):
                holder[str(key) + "x"] = holder.pop(key)
                done.append(f"rename {[*path, key]}")
            case 2 if isinstance(holder, dict) and not isinstance(holder[key], Twice):
                holder[key] = Twice(holder[key], value)
                done.append(f"repeat {[*path, key]} as {value!r:.60}")
            case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                try:
                    holder[key] = draw.choice((holder[key] + 1, -holder[key], holder[key] * 2**20))
                except OverflowError:
                    holder[key] = 0
                done.append(f"count {[*path, key]} to {holder[key]!r:.60}")
            case _:
                holder[key] = value
                done.append(f"set {[*path, key]} to {value!r:.60}")
    return write_json(document).encode("utf-8", "surrogatepass"), ", ".join(done)


def mutate_bytes(
    content: bytes, draw: random.Random, fields: Sequence[int] = (), head: int = 4096
) -> Mutated:
    """Flip, overwrite, cut, repeat or move bytes; `fields` are where lengths and counts stand."""
    changed = bytearray(content)
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at, said = _one_change(changed, draw, fields, head)
        done.append(f"{said} at {at}")
    return bytes(changed), ", ".join(done)


def _one_change(
    changed: bytearray, draw: random.Random, fields: Sequence[int], head: int
) -> tuple[int, str]:
    size = len(changed)
    at = draw.randrange(min(head, size) if draw.random() < 0.6 else size) if size else 0
    run = draw.choice((1, 2, 4, 8, 16, 64, 1024, size))
    match draw.randrange(9):
        case 0:
            for _ in range(draw.choice((1, 1, 8))):
                if size:
                    changed[min(size - 1, at + draw.randrange(32))] ^= 1 << draw.randrange(8)
            return at, "flip bits"
        case 1:
            filler = draw.choice((0, 255))
            changed[at : at + run] = bytes([filler]) * len(changed[at : at + run])
            return at, f"set {run} bytes to {filler}"
        case 2:
            del changed[at:]
            return at, "cut"
        case 3:
            changed[at:] = bytes(size - at)
            return at, "zeros from there on"
        case 4:
            del changed[at : at + run]
            return at, f"remove {run} bytes"
        case 5:
            changed[at:at] = changed[at : at + run]
            return at, f"repeat {run} bytes"
        case 6:
            changed[at:at] = draw.randbytes(run if run <= 1024 else 5)
            return at, "insert"
        case _:
            if fields and draw.random() < 0.8:
                at = draw.choice(fields)
            value = draw.choice((*BOUNDARIES, size, size - 1, size + 1, draw.getrandbits(64)))
            width = draw.choice((4, 8, 8))
            changed[at : at + width] = struct.pack("<Q", value)[:width]
            return at, f"write {value} in {width} bytes"


def stand_in(content: bytes, draw: random.Random) -> Mutated:
    """Put something else in the file's place."""
    other = draw.choice(STAND_INS)
    return other, f"replace by {other[:20]!r}"


def mutate_safetensors(content: bytes, draw: random.Random) -> Mutated:
    """Change the header as JSON, or the file as bytes."""
    size = int.from_bytes(content[:8], "little")
    match draw.randrange(8):
        case 0 | 1 | 2:
            header, said = mutate_json(content[8 : 8 + size], draw)
        case 3 | 4:
            header, said = _exchange(content[8 : 8 + size], draw)
        case 5 if draw.random() < 0.4:
            return stand_in(content, draw)
        case 6:
            return mutate_bytes(content, draw, (0,), 8 + size)
        case _:
            changed, said = mutate_bytes(content[8 + size :], draw, head=1 << 30)
            return content[: 8 + size] + changed, said
    return len(header).to_bytes(8, "little") + header + content[8 + size :], said


def _exchange(header: bytes, draw: random.Random) -> Mutated:
    """Exchange the places, shapes or names of two tensors, or turn a shape round."""
    entries = json.loads(header)
    one, other = draw.choices([name for name in entries if name != "__metadata__"], k=2)
    match draw.randrange(4):
        case 0:
            field = draw.choice(("data_offsets", "shape", "dtype"))
            entries[one][field], entries[other][field] = entries[other][field], entries[one][field]
        case 1:
            entries[one], entries[other] = entries[other], entries[one]
        case 2:
            entries[one]["shape"].reverse()
        case _:
            entries[one]["dtype"] = draw.choice(("F64", "F32", "F16", "BF16", "I32", "F8_E4M3"))
            entries[one]["shape"][-1:] = [draw.choice((1, 2, 64)), entries[one]["shape"][-1] // 2]
    return json.dumps(entries).encode(), f"exchange {one} and {other}"


SNIPPETS = (
    *("{{", "}}", "{%", "%}", "{#", "#}", "{% for m in messages %}", "{% endfor %}", "{% if x %}"),
    *("{% endif %}", "{% set x = ", "{% macro f(x) %}", "{% endmacro %}", "{{ f(f) }}", "{{ x }}"),
    *(
        "messages",
        "[0]",
        ".content",
        "|",
        "| string",
        "| length",
        "| list",
        "| join(x)",
        "| tojson",
    ),
    *(
        "~",
        " ~ x",
        "+",
        "*",
        "**",
        " * 99999",
        "%",
        "-",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        '"',
    ),
    *("range(99999)", "x[1:]", "namespace(x=1)", "self", "loop", "caller()", "lipsum(9)", "cycler"),
    *("__class__", ".format(x)", "raise_exception('no')", "strftime_now('%c')", "{% include x %}"),
    *("{% import x as y %}", "{% generation %}", "{% endgeneration %}", "{% block a %}", "\0", "é"),
    *("{% raw %}", "{% endraw %}", "{%- ", " -%}", "\n", "\ud800", "0x", "1e999", "9" * 5000),
)


def mutate_template(source: str, draw: random.Random) -> tuple[str, str]:
    """Insert, remove, repeat and exchange parts of a template."""
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at, run = draw.randrange(len(source) + 1), draw.choice((1, 2, 8, 40))
        match draw.randrange(5):
            case 0:
                source = source[:at] + source[at + run :]
                done.append(f"remove {run} at {at}")
            case 1:
                source = source[:at] + source[at : at + run] * draw.choice((2, 3, 50)) + source[at:]
                done.append(f"repeat {run} at {at}")
            case 2:
                other = draw.randrange(len(source) + 1)
                source = source[:at] + source[other : other + run] + source[at + run :]
                done.append(f"copy {run} from {other} to {at}")
            case _:
                snippet = draw.choice(SNIPPETS)
                source = source[:at] + snippet + source[at:]
                done.append(f"insert {snippet!r:.30} at {at}")
    return source, ", ".join(done)


MUTATORS: dict[str, Callable[[bytes, random.Random], Mutated]] = {
    "json": mutate_json,
    "bytes": mutate_bytes,
    "safetensors": mutate_safetensors,
    "stand-in": stand_in,
}
