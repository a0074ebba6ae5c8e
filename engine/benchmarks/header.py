"""What every benchmark says first: the machine, the versions, the threads and the settings.

Knows how to ask for them; measures nothing.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.loading import machine
from engine.version import VERSION

if TYPE_CHECKING:
    from engine.loading import LoadedModel

NO_GPU = "Not measured on a GPU."
Setting = int | float | str | None


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """On what, with what and how something was measured."""

    benchmark: str
    machine: str  # GPU if it is one, processor, kernels, threads, torch
    processor: str  # its own name, if the system tells it
    system: str
    processors: int | None  # that the system has, whoever uses them
    load: float | None  # processes that ran or waited, mean of the last minute, before the start
    threads: int  # torch's
    draftscope: str
    python: str
    torch: str
    device: str | None = None
    target: str | None = None
    plan: str | None = None  # None: several, each named where its figures are
    dtype: str | None = None  # what the plan multiplies and sums
    settings: dict[str, Setting]  # as asked for: repeats, k, contexts and so on
    notes: tuple[str, ...] = ()  # what a reader of the figures must know


def header(
    benchmark: str,
    *,
    settings: dict[str, Setting],
    target: LoadedModel | None = None,
    device: torch.device | None = None,
) -> Header:
    """Describe what is about to be measured.

    Parameters
    ----------
    benchmark
        Its name on the command line.
    settings
        What was asked for; a list is written as text.
    target
        The only target, under the only plan. With several plans leave it out and give the device.
    """
    if target is not None:
        device = target.transformer.plan.device
    return Header(
        benchmark=benchmark,
        machine=machine(device),
        processor=_processor(),
        system=f"{platform.system()} {platform.release()}",
        processors=os.cpu_count(),
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        threads=torch.get_num_threads(),
        draftscope=VERSION,
        python=platform.python_version(),
        torch=str(torch.__version__),  # its own kind of text
        device=None if device is None else str(device),
        target=None if target is None else target.info.name,
        plan=None if target is None else target.info.plan,
        dtype=None if target is None else target.info.dtype,
        settings=settings,
        notes=() if device is not None and device.type == "cuda" else (NO_GPU,),
    )


def _processor() -> str:
    """Return the name that the processor gives itself: Linux keeps it in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def listed(values: object) -> str:
    """Write the values of a setting as the header keeps them: "1, 2, 4"."""
    return ", ".join(str(value) for value in values) if isinstance(values, (list, tuple)) else ""
