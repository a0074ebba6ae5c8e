"""What other programs write, as they write it: the numbers are made up, the forms are theirs."""

from __future__ import annotations

import json

# vllm-project/vllm, vllm/v1/spec_decode/metrics.py, SpecDecodingLogging.log
VLLM_LINE = (
    "INFO 09-16 05:26:57 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.57, "
    "Accepted throughput: 14.60 tokens/s, Drafted throughput: 27.90 tokens/s, "
    "Accepted: 146 tokens, Drafted: 279 tokens, "
    "Per-position acceptance rate: 0.720, 0.505, 0.344, Avg Draft acceptance rate: 52.3%"
)
VLLM_LOG = f"""\
INFO 09-16 05:26:57 [loggers.py:123] Engine 000: Avg prompt throughput: 3.3 tokens/s, Avg generation
{VLLM_LINE}
INFO 09-16 05:27:07 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 3.00, Accepted \
throughput: 18.00 tokens/s, Drafted throughput: 27.00 tokens/s, Accepted: 180 tokens, Drafted: 270 \
tokens, Per-position acceptance rate: 0.789, 0.667, 0.544, Avg Draft acceptance rate: 66.7%
"""

_LABELS = 'engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"'
_COUNTER = "vllm:spec_decode_num_"
_PER_POSITION = f"{_COUNTER}accepted_tokens_per_pos_total{{{_LABELS},"
# the Prometheus client's own form of those counters
VLLM_METRICS = f"""\
# HELP {_COUNTER}drafts_total Number of spec decoding drafts.
# TYPE {_COUNTER}drafts_total counter
{_COUNTER}drafts_total{{{_LABELS}}} 100.0
# HELP {_COUNTER}drafts_created Number of spec decoding drafts.
# TYPE {_COUNTER}drafts_created gauge
{_COUNTER}drafts_created{{{_LABELS}}} 1.7813417e+09
# TYPE {_COUNTER}draft_tokens_total counter
{_COUNTER}draft_tokens_total{{{_LABELS}}} 300.0
# TYPE {_COUNTER}accepted_tokens_total counter
{_COUNTER}accepted_tokens_total{{{_LABELS}}} 150.0
# TYPE {_COUNTER}accepted_tokens_per_pos_total counter
{_PER_POSITION}position="0"}} 80.0
{_PER_POSITION}position="1"}} 50.0
{_PER_POSITION}position="2"}} 20.0
"""


def vllm_record(drafts: int, drafted: int, by_position: list[int]) -> dict[str, object]:
    """Return one `SpecDecodingStats` as its fields."""
    return {
        "num_spec_tokens": len(by_position),
        "num_drafts": drafts,
        "num_draft_tokens": drafted,
        "num_accepted_tokens": sum(by_position),
        "num_accepted_tokens_per_pos": by_position,
    }


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


# ggml-org/llama.cpp, tools/server/server-task.cpp, result_timings::to_json
LLAMA_TIMINGS: dict[str, object] = {
    "cache_n": 0,
    "prompt_n": 68,
    "prompt_ms": 1236.4,
    "prompt_per_token_ms": 18.18,
    "prompt_per_second": 55.0,
    "predicted_n": 47,
    "predicted_ms": 2350.0,
    "predicted_per_token_ms": 50.0,
    "predicted_per_second": 20.0,
    "draft_n": 40,
    "draft_n_accepted": 29,
}
LLAMA_CHAT: dict[str, object] = {
    "choices": [
        {
            "finish_reason": "length",
            "index": 0,
            "message": {"role": "assistant", "content": "The sky is blue."},
        }
    ],
    "created": 1764000000,
    "model": "qwen3-8b",
    "object": "chat.completion",
    "usage": {"completion_tokens": 47, "prompt_tokens": 68, "total_tokens": 115},
    "id": "chatcmpl-1",
    "timings": LLAMA_TIMINGS,
}
LLAMA_COMPLETION: dict[str, object] = {
    "index": 0,
    "content": " to find your purpose",
    "tokens": [],
    "id_slot": 0,
    "stop": True,
    "model": "gemma.gguf",
    "tokens_predicted": 47,
    "tokens_evaluated": 68,
    "generation_settings": {
        "n_predict": 47,
        "seed": 42,
        "temperature": 0.8,
        "speculative.n_max": 16,
    },
    "prompt": "the meaning of life is",
    "stop_type": "limit",
    "timings": LLAMA_TIMINGS,
}

# tools/server/server-context.cpp, print_timings, and common/speculative.cpp
LLAMA_SERVER_LOG = """\
slot print_timing: id  0 | task 3 |
prompt eval time =     412.10 ms /    12 tokens (   34.34 ms per token,    29.12 tokens per second)
       eval time =     161.86 ms /     8 tokens (   20.23 ms per token,    49.43 tokens per second)
      total time =   16905.31 ms /    20 tokens
draft acceptance rate = 0.37500 (    3 accepted /     8 generated)
statistics draft: #calls(b,g,a) = 1 4 4, #gen drafts = 4, #acc drafts = 2, #gen tokens = 8, \
#acc tokens = 3, dur(b,g,a) = 0.006, 21.272, 0.010 ms
slot print_timing: id  0 | task 9 |
prompt eval time =     100.00 ms /     8 tokens (   12.50 ms per token,    80.00 tokens per second)
       eval time =    1000.00 ms /    40 tokens (   25.00 ms per token,    40.00 tokens per second)
      total time =    1100.00 ms /    48 tokens
draft acceptance rate = 0.75000 (   30 accepted /    40 generated)
statistics draft: #calls(b,g,a) = 2 14 14, #gen drafts = 14, #acc drafts = 11, #gen tokens = 48, \
#acc tokens = 33, dur(b,g,a) = 0.010, 90.1, 0.020 ms
"""

# examples/speculative-simple/speculative-simple.cpp
LLAMA_SPECULATIVE = """\
The sky is blue because

encoded    5 tokens in    0.250 seconds, speed:   20.000 t/s
decoded  130 tokens in    2.600 seconds, speed:   50.000 t/s

n_draft   = 16
n_predict = 130
n_drafted = 180
n_accept  = 90
accept    = 50.000%

draft:

statistics draft: #calls = 40, #gen drafts = 40, #acc drafts = 31, #gen tokens = 180, \
#acc tokens = 90

target:

llama_perf_context_print: prompt eval time =    2500.00 ms /   185 tokens
llama_perf_context_print:        eval time =      10.00 ms /     1 runs
"""

# lmstudio.ai/docs/developer/api-changelog (0.3.10) and docs/api/rest-api
LM_REST: dict[str, object] = {
    "id": "chatcmpl-i3gkjwthhw96whukek9tz",
    "object": "chat.completion",
    "created": 1731990317,
    "model": "deepseek-r1-distill-qwen-7b",
    "choices": [
        {
            "index": 0,
            "logprobs": None,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Greetings, I'm a helpful AI."},
        }
    ],
    "usage": {"prompt_tokens": 24, "completion_tokens": 53, "total_tokens": 77},
    "stats": {
        "tokens_per_second": 51.43709529007664,
        "time_to_first_token": 0.111,
        "generation_time": 0.954,
        "stop_reason": "eosFound",
        "draft_model": "deepseek-r1-distill-qwen-0.5b",
        "total_draft_tokens_count": 60,
        "accepted_draft_tokens_count": 41,
        "rejected_draft_tokens_count": 17,
        "ignored_draft_tokens_count": 2,
    },
    "model_info": {"arch": "qwen2", "quant": "Q4_K_M", "format": "gguf", "context_length": 4096},
    "runtime": {"name": "llama.cpp-mac-arm64-apple-metal-advsimd", "version": "1.3.0"},
}
# lmstudio-ai/lmstudio-js, packages/lms-shared-types/src/llm/LLMPredictionStats.ts
LM_SDK: dict[str, object] = {
    "stopReason": "maxPredictedTokensReached",
    "tokensPerSecond": 48.1,
    "numGpuLayers": -1,
    "timeToFirstTokenSec": 0.2,
    "totalTimeSec": 2.3,
    "promptTokensCount": 24,
    "predictedTokensCount": 100,
    "totalTokensCount": 124,
    "usedDraftModelKey": "qwen2.5-0.5b-instruct",
    "totalDraftTokensCount": 90,
    "acceptedDraftTokensCount": 41,
    "rejectedDraftTokensCount": 49,
    "ignoredDraftTokensCount": 0,
}

PLAIN: dict[str, object] = {
    "format": "draftscope-plain",
    "version": 1,
    "program": "my decoder",
    "model": "big",
    "drafter": "small",
    "k": 3,
    "temperature": 0.7,
    "seed": 7,
    "text": "a text",
    "ended": "limit",
    "rounds": [
        {"drafted": 3, "accepted": 3, "emitted": 4, "ns": 30_000_000},
        {"drafted": 3, "accepted": 1, "emitted": 2, "ns": 28_000_000},
        {"drafted": 3, "accepted": 0, "emitted": 1, "ns": 27_000_000},
        {"drafted": 0, "accepted": 0, "emitted": 1, "ns": 20_000_000},
        {"drafted": 3, "accepted": 1, "cut": 2, "emitted": 1, "ns": 25_000_000},
    ],
}
