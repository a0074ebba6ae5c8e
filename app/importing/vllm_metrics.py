"""vLLM's counters as /metrics prints them, or as `LLM.get_metrics()` lists them.

The counters are vllm:spec_decode_num_drafts, ..._num_draft_tokens, ..._num_accepted_tokens and
..._num_accepted_tokens_per_pos with a label `position` (vllm-project/vllm,
vllm/v1/spec_decode/metrics.py, SpecDecodingProm; the Prometheus client ends their names in _total).
The list has a name with `value`, or `values` by position (vllm/v1/metrics/reader.py). Knows the
counters' names and nothing of what follows from them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.importing.reading import whole
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.importing.reading import Material, Object

NAME = "vllm:spec_decode_num_"
_SAMPLE = re.compile(
    r"^(vllm:spec_decode_num_\w+?)(?:_total)?(\{[^}\n]*\})?[ \t]+(\S+)", re.MULTILINE
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_FURTHEST = 256  # draft positions


@dataclass
class Metrics:
    """The counters, added up over engines."""

    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    by_position: list[int] = field(default_factory=list)
    model: str = ""


def metrics_of(material: Material) -> Metrics | None:
    """Return the counters of a file, or None if it has none.

    Raises
    ------
    DraftscopeError
        If one stands there twice, is missing, or is no count.
    """
    samples = list(_listed(material.objects) if material.objects else _printed(material.text))
    if not samples:
        return None
    found, seen = Metrics(), set()
    for name, labels, value in samples:
        key = (name, tuple(sorted(labels.items())))
        if key in seen:
            raise DraftscopeError(
                f"{material.name} has {name} twice for the same labels: import one answer of "
                "/metrics at a time."
            )
        seen.add(key)
        found.model = found.model or labels.get("model_name", "")
        _add(found, name.removeprefix(NAME), labels, value)
    told = {name.removeprefix(NAME) for name, _, _ in samples}
    for name in ("drafts", "draft_tokens", "accepted_tokens"):
        if name not in told:
            raise DraftscopeError(
                f"{material.name} lacks {NAME}{name}: import the whole answer of /metrics."
            )
    return found


def _add(found: Metrics, name: str, labels: dict[str, str], value: int) -> None:
    if name == "drafts":
        found.drafts += value
    elif name == "draft_tokens":
        found.drafted += value
    elif name == "accepted_tokens":
        found.accepted += value
    elif name == "accepted_tokens_per_pos":
        place = int(labels["position"]) if labels.get("position", "").isdecimal() else -1
        if not 0 <= place < _FURTHEST:
            raise DraftscopeError(
                f"{NAME}{name} has no position from 0 to {_FURTHEST - 1}: import the whole answer "
                "of /metrics."
            )
        found.by_position += [0] * (place + 1 - len(found.by_position))
        found.by_position[place] += value


def _printed(text: str) -> Iterator[tuple[str, dict[str, str], int]]:
    for match in _SAMPLE.finditer(text):
        name, labels, value = match.groups()
        if name.endswith("_created"):
            continue
        try:
            number: object = float(value)
        except ValueError:
            number = value
        yield name, dict(_LABEL.findall(labels or "")), whole({name: number}, name) or 0


def _listed(objects: tuple[Object, ...]) -> Iterator[tuple[str, dict[str, str], int]]:
    for one in objects:
        name = str(one.get("name", "")).removesuffix("_total")
        if not name.startswith(NAME):
            continue
        held = one.get("labels")
        labels = {k: str(v) for k, v in held.items()} if isinstance(held, dict) else {}
        values = one.get("values")
        if isinstance(values, list):
            for place, value in enumerate(values):
                yield name, labels | {"position": str(place)}, whole({name: value}, name) or 0
        else:
            yield name, labels, whole({name: one.get("value")}, name) or 0
