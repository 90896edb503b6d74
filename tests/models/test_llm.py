"""Language models: memory by hand and as engines printed it, physics of a step, replicas in the right direction."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

from gpuplan.models.llm.memory import (
    Overheads,
    cache_bytes,
    held,
    request_gib,
    requests_at_once,
    splits,
    weights_gib,
    weights_per_gpu_gib,
)
from gpuplan.models.llm.replicas import Load, Promise, limits, replicas
from gpuplan.models.llm.serving import (
    decode_step_ms,
    first_token_ms,
    prompt_ms,
    time_per_token_ms,
    token_rate,
)
from gpuplan.models.llm.shape import KEPT, Board, Setup, Shape, shape_of
from gpuplan.models.llm.speeds import Replica, Speeds

LLAMA_8B = Shape(8.03, 8.03, 32, 4096, 32, 128256, 131072, kv_heads=8)
LLAMA_70B = Shape(70.552, 70.552, 80, 8192, 64, 128256, 131072, kv_heads=8)
DEEPSEEK = Shape(
    671.025,
    37.551,
    61,
    7168,
    128,
    129280,
    163840,
    latent_size=512,
    rope_size=64,
    experts=256,
    experts_per_token=8,
)
GPT_OSS = Shape(
    *(116.789, 5.71, 36, 2880, 64, 201088, 131072),
    kv_heads=8,
    head_size=64,
    full_layers=18,
    window_tokens=128,
    experts=128,
    experts_per_token=4,
)
QWEN = Shape(235.093, 22.19, 94, 4096, 64, 151936, 40960, kv_heads=4, experts=128, experts_per_token=8)
SHAPES = (LLAMA_8B, LLAMA_70B, DEEPSEEK, GPT_OSS, QWEN)
H100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
B200 = Board(178, 7700, 2250, 4500, 9000, link_gb_s=900)
L40S = Board(45, 864, 362, 733, link_gb_s=32)
BOARDS = (H100, B200, L40S)
CASES = st.fixed_dictionaries(
    {
        "shape": st.sampled_from(SHAPES),
        "board": st.sampled_from(BOARDS),
        "setup": st.builds(
            Setup,
            weights=st.sampled_from(("bf16", "fp8", "nvfp4")),
            cache=st.sampled_from(("bf16", "fp8")),
            tensor=st.sampled_from((1, 2, 4, 8)),
            engine=st.sampled_from(("vllm", "sglang", "tensorrt-llm")),
        ),
        "requests": st.integers(1, 2000),
        "tokens_in": st.integers(1, 30000),
        "tokens_out": st.integers(1, 10000),
    }
)


# ---- shape


def test_a_shape_comes_from_a_row_and_refuses_one_without_widths() -> None:
    row = {"total_parameters": 8.03, "active_parameters": 8.03, "layers": 32, "hidden_size": 4096}
    row |= {"heads": 32, "kv_heads": 8, "head_size": 128, "vocabulary": 128256, "context_tokens": 131072}
    assert shape_of(row) == LLAMA_8B
    with pytest.raises(ValueError, match="it needs layers"):
        shape_of(row | {"layers": None})


ROW: dict[str, Any] = {
    "total_parameters": 8.0,
    "active_parameters": 8.0,
    "layers": 32,
    "hidden_size": 4096,
    "heads": 32,
    "kv_heads": 8,
    "head_size": 128,
    "vocabulary": 128256,
    "context_tokens": 131072,
}


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ({"active_parameters": None}, "active parameters"),
        ({"active_parameters": 3.0}, "experts, experts per token"),
        ({"active_parameters": 3.0, "experts": 64}, "experts per token"),
        ({"experts": 64}, "experts per token"),
        ({"recurrent_layers": True, "full_layers": 8}, "state mb"),
        ({"kv_heads": None}, "kv heads"),
        ({"head_size": None}, "head size"),
        ({"layers": None, "heads": None}, "layers, heads"),
        ({"active_parameters": 9.0}, "active_parameters are at most total_parameters"),
        ({"full_layers": 33}, "full_layers are at most layers"),
        ({"active_parameters": 3.0, "experts": 8, "experts_per_token": 9}, "experts_per_token are at most"),
    ],
)
def test_a_model_that_is_not_known_whole_is_never_taken_as_dense(cells: dict[str, Any], missing: str) -> None:
    assert shape_of(ROW).dense
    with pytest.raises(ValueError, match=missing):
        shape_of({**ROW, **cells})


def test_dense_mlps_and_shared_experts_are_counted_from_their_widths() -> None:
    assert shape_of({**ROW, "mlp_size": 14336}).mlp_parameters == pytest.approx(32 * 3 * 4096 * 14336 / 1e9)
    sparse = {"active_parameters": 3.0, "experts": 64, "experts_per_token": 4, "dense_layers": 2}
    shared = {"mlp_size": 14336, "expert_size": 1024, "shared_experts": 2}
    widths = 2 * 14336 + 30 * 2 * 1024
    assert shape_of({**ROW, **sparse, **shared}).mlp_parameters == pytest.approx(3 * 4096 * widths / 1e9)


def test_a_latent_or_a_width_of_its_own_needs_no_heads_of_keys() -> None:
    for cells in ({"latent_size": 512, "rope_size": 64}, {"cache_width": 4096}):
        assert shape_of({**ROW, "kv_heads": None, "head_size": None, **cells}).widths[0]


def test_routed_experts_follow_from_what_a_token_leaves_out() -> None:
    by_layers = 58 * 256 * 3 * 7168 * 2048 / 1e9
    assert DEEPSEEK.routed_parameters == pytest.approx(by_layers, rel=1e-3)
    assert (
        LLAMA_8B.routed_parameters == replace(LLAMA_8B, experts=8, experts_per_token=8).routed_parameters == 0
    )


def test_a_share_of_a_board_has_a_share_of_all_but_its_link() -> None:
    half = H100.part(0.5)
    assert (half.memory_gib, half.bandwidth_gb_s, half.fp8_tflops, half.link_gb_s) == (39.595, 1675, 989, 450)
    with pytest.raises(ValueError, match="share"):
        H100.part(0)


@pytest.mark.parametrize("wrong", [{"weights": "fp7"}, {"cache": "x"}, {"tensor": 0}, {"kept": "half"}])
def test_a_setup_that_is_none_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Setup(**wrong)


# ---- memory


@pytest.mark.parametrize(
    ("shape", "setup", "measured_gib"),
    [
        (LLAMA_8B, Setup(), 14.99),
        (LLAMA_8B, Setup("fp8"), 8.49),
        (LLAMA_8B, Setup(tensor=4), 3.77),
        (LLAMA_8B, Setup(pipeline=2), 7.51),
        (LLAMA_8B, Setup(pipeline=4), 4.26),
        (LLAMA_70B, Setup("fp8"), 67.72),
        (LLAMA_70B, Setup("fp8", tensor=2), 33.88),
        (DEEPSEEK, Setup("fp8", tensor=8), 79.41),
    ],
)
def test_weights_are_those_that_engines_printed(shape: Shape, setup: Setup, measured_gib: float) -> None:
    assert weights_per_gpu_gib(shape, setup=setup) == pytest.approx(measured_gib, rel=0.03)


def test_weights_at_four_bits_are_the_size_of_the_published_files() -> None:
    """gpt-oss-120b in MXFP4 is 65.2 GB; the tables and attention stay at 16 bits."""
    assert weights_gib(GPT_OSS, precision="mxfp4") * 2**30 / 1e9 == pytest.approx(65.2, rel=0.01)


LLAMA_405B = Shape(405.849, 405.849, 126, 16384, 128, 128256, 131072, kv_heads=8, mlp_parameters=329.773)


def test_weights_of_a_checkpoint_of_two_precisions_are_those_that_vllm_printed() -> None:
    """Attention, both ends and the tables of Llama 3.1 405B FP8 are at 16 bits; its first files held 16 heads of keys and values."""
    setup = Setup("fp8", tensor=8, kept="attention and ends")
    more_heads = 126 * 2 * 8 * 128 * 16384 * 2 / 8 / 2**30
    assert weights_per_gpu_gib(LLAMA_405B, setup=setup) + more_heads == pytest.approx(57.752, rel=0.002)
    assert weights_per_gpu_gib(LLAMA_405B, setup=setup) == pytest.approx(57.752, rel=0.02)


@pytest.mark.parametrize("shape", (*SHAPES, LLAMA_405B))
@pytest.mark.parametrize("precision", ("fp8", "int8", "int4", "nvfp4", "mxfp4"))
def test_the_more_stays_at_16_bits_the_more_is_held_and_read(shape: Shape, precision: str) -> None:
    setups = [Setup(precision, tensor=8, kept=kept) for kept in KEPT]
    sizes = [weights_per_gpu_gib(shape, setup=setup) for setup in setups]
    steps = [decode_step_ms(Replica(shape, H100, setup), requests=1, context_tokens=1000) for setup in setups]
    assert sizes == sorted(sizes) and steps == sorted(steps) and sizes[0] < sizes[-1]
    usual = Setup(precision, tensor=8)
    assert weights_per_gpu_gib(shape, setup=usual) in (sizes[0], sizes[-1])
    assert weights_gib(shape, precision="bf16", kept="attention") == weights_gib(shape, precision="bf16")


def test_a_step_reads_the_bytes_that_are_held() -> None:
    fast = replace(H100, bandwidth_gb_s=1.0)
    for kept in KEPT:
        setup = Setup("fp8", kept=kept)
        held_gb = weights_gib(LLAMA_405B, precision="fp8", kept=kept) * 2**30 / 1e9
        read_gb = held_gb - LLAMA_405B.embedding_parameters / 2 * 2
        step = decode_step_ms(Replica(LLAMA_405B, fast, setup), requests=1, context_tokens=1)
        share = Speeds().bandwidth_share
        assert step / 1e3 == pytest.approx(read_gb / share * Speeds().vllm, rel=0.02)


def test_data_parallel_attention_holds_all_but_the_experts() -> None:
    whole = weights_per_gpu_gib(DEEPSEEK, setup=Setup("fp8", tensor=8))
    apart = weights_per_gpu_gib(DEEPSEEK, setup=Setup("fp8", data=8))
    rest = DEEPSEEK.total_parameters - DEEPSEEK.routed_parameters + DEEPSEEK.embedding_parameters
    assert apart - whole == pytest.approx(rest * 7 / 8 * 1e9 / 2**30, rel=1e-6)


def test_a_cache_is_that_of_its_kind_of_attention() -> None:
    assert cache_bytes(LLAMA_70B, tokens=10) == 10 * 2 * 80 * 8 * 128 * 2
    assert cache_bytes(DEEPSEEK, tokens=10) == 10 * 61 * 576 * 2
    assert cache_bytes(GPT_OSS, tokens=1000) == 2 * 8 * 64 * 2 * (18 * 1000 + 18 * 128)
    assert cache_bytes(LLAMA_70B, tokens=10, precision="fp8") == cache_bytes(LLAMA_70B, tokens=5)


def test_a_latent_is_held_whole_by_every_gpu_and_heads_are_shared() -> None:
    one, eight = (request_gib(DEEPSEEK, setup=Setup("fp8", tensor=n), tokens=1000) for n in (1, 8))
    assert one == eight
    one, four, eight = (request_gib(QWEN, setup=Setup("fp8", tensor=n), tokens=1000) for n in (1, 4, 8))
    assert one / 4 == pytest.approx(four) == pytest.approx(eight)


def test_the_room_for_the_cache_is_what_vllm_printed() -> None:
    found = held(LLAMA_8B, setup=Setup(), memory_gib=79.19, overheads=Overheads(usable_share=0.95))
    assert found.cache_gib == pytest.approx(58.11, rel=0.01)
    assert sum(found) == pytest.approx(79.19)
    tokens = found.cache_gib / request_gib(LLAMA_8B, setup=Setup(), tokens=1)
    assert tokens == pytest.approx(476_016, rel=0.01)


@given(case=CASES, more=st.integers(1, 20000))
@settings(deadline=None, max_examples=examples(60, few=20))
def test_longer_contexts_and_more_bits_never_hold_more_requests(case: dict, more: int) -> None:
    shape, setup, tokens = case["shape"], case["setup"], case["tokens_in"]
    memory = case["board"].memory_gib
    n = requests_at_once(shape, setup=setup, memory_gib=memory, tokens=tokens)
    assert requests_at_once(shape, setup=setup, memory_gib=memory, tokens=tokens + more) <= n
    assert requests_at_once(shape, setup=replace(setup, cache="bf16"), memory_gib=memory, tokens=tokens) <= n
    assert requests_at_once(shape, setup=setup, memory_gib=memory, tokens=tokens, spread=0.7) <= n
    assert request_gib(shape, setup=setup, tokens=tokens + more) >= request_gib(
        shape, setup=setup, tokens=tokens
    )


def test_eight_gpus_hold_it_and_one_size_less_does_not() -> None:
    assert splits(DEEPSEEK, gpus_per_host=8) == (1, 2, 4, 8)
    at = {"memory_gib": 178, "tokens": 8192}
    held = [requests_at_once(DEEPSEEK, setup=Setup("fp8", tensor=gpus), **at) for gpus in (4, 8)]
    assert held[0] == 0 < held[1]


# ---- speed


def step_limit_ms(case: dict) -> float:
    """What bandwidth and tensor rate alone allow for a step, at their full rates."""
    shape, board, setup, requests = (case[name] for name in ("shape", "board", "setup", "requests"))
    context = case["tokens_in"] + case["tokens_out"] / 2
    head = shape.embedding_parameters / 2
    bits = {"bf16": 16, "fp8": 8, "nvfp4": 4.5}[setup.weights]
    rest = shape.total_parameters - shape.routed_parameters - shape.embedding_parameters
    used = 1 - (1 - shape.experts_per_token / shape.experts) ** requests if shape.experts else 0
    weights = (rest + shape.routed_parameters * used) * bits / 8 + head * 2
    cache = requests * cache_bytes(shape, tokens=context, precision=setup.cache) / 1e9
    bandwidth_s = (weights + cache) / setup.tensor / board.bandwidth_gb_s
    fast = max(board.fp4_tflops, board.fp8_tflops)
    arithmetic_s = 2 * (shape.active_parameters - head) * requests / setup.tensor / fast / 1e3
    return max(bandwidth_s, arithmetic_s) * 1e3


@given(case=CASES)
@settings(deadline=None, max_examples=examples(100, few=30))
def test_a_step_is_never_faster_than_bandwidth_and_tensor_rate(case: dict) -> None:
    shape, board, setup, requests = (case[name] for name in ("shape", "board", "setup", "requests"))
    context = case["tokens_in"] + case["tokens_out"] / 2
    step = decode_step_ms(Replica(shape, board, setup), requests=requests, context_tokens=context)
    limit = step_limit_ms(case)
    assert step >= limit
    rate = token_rate(Replica(shape, board, setup), **_rest(case)).value
    assert rate <= requests / limit * 1e3


@given(case=CASES)
@settings(deadline=None, max_examples=examples(100, few=30))
def test_tokens_with_their_prompts_never_take_more_than_the_tensor_rate(case: dict) -> None:
    """Each token out costs its own arithmetic and its share of that of the prompt; dense, so that every expert is one."""
    shape, board, setup = LLAMA_70B, case["board"], case["setup"]
    rate = token_rate(Replica(shape, board, setup), **_rest(case)).value
    head = shape.embedding_parameters / 2
    of_each = 2 * (shape.active_parameters - head) * (1 + case["tokens_in"] / case["tokens_out"])
    assert rate * of_each / 1e3 <= board.rate_tflops(setup.weights) * setup.gpus


def test_groups_of_their_own_requests_share_the_scheduling_and_send_tokens_to_their_experts_only() -> None:
    wide, narrow = (
        decode_step_ms(Replica(DEEPSEEK, B200, Setup("fp8", data=n)), requests=128 * n, context_tokens=2000)
        for n in (32, 8)
    )
    assert wide < narrow, "the same requests a GPU, fewer experts on each"


def _rest(case: dict) -> dict:
    return {name: case[name] for name in ("requests", "tokens_in", "tokens_out")}


NO_TRAFFIC = Speeds(traffic=0, expert_traffic=0)


@pytest.mark.parametrize(
    ("shape", "read"),
    [(LLAMA_8B, 8.03 - 128256 * 4096 / 1e9), (replace(LLAMA_8B, tied_embeddings=True), 8.03)],
)
def test_a_step_reads_all_weights_but_the_table_of_tokens_in(shape: Shape, read: float) -> None:
    """The table of tokens out is read, and a table that serves both ends is."""
    boards = [Board(80, bandwidth, 1e12) for bandwidth in (3350, 1e15)]
    finite, infinite = (
        decode_step_ms(Replica(shape, board, Setup(), NO_TRAFFIC), requests=1, context_tokens=1e-6)
        for board in boards
    )
    seconds = read * 2 / 3350 / NO_TRAFFIC.bandwidth_share * NO_TRAFFIC.vllm
    assert finite - infinite == pytest.approx(1e3 * seconds, rel=1e-6)


@pytest.mark.parametrize(
    ("shape", "products"),
    [(LLAMA_8B, 2 * 32 * 2 * 128 * 32), (DEEPSEEK, 2 * 128 * (2 * 512 + 64) * 61)],
)
def test_attention_multiplies_each_token_of_the_context_twice(shape: Shape, products: float) -> None:
    """With keys and with values; of a latent, whose keys have the position beside it."""
    board = Board(80, 1e15, 1000)
    near, far = (
        decode_step_ms(Replica(shape, board, Setup()), requests=4, context_tokens=tokens)
        for tokens in (1000, 3000)
    )
    seconds = 4 * products * 2000 / 1e15 / Speeds().compute_share * Speeds().vllm
    assert far - near == pytest.approx(1e3 * seconds, rel=1e-6)


@given(case=CASES)
@settings(deadline=None, max_examples=examples(60, few=20))
def test_more_of_anything_goes_the_right_way(case: dict) -> None:
    board, rest = case["board"], _rest(case)
    replica = Replica(case["shape"], board, case["setup"])
    for of in (time_per_token_ms, first_token_ms):
        found = of(replica, **rest)
        assert found.low < found.value < found.high
        assert of(replica, **rest | {"requests": rest["requests"] + 1}).value > found.value
        assert of(replica, **rest | {"tokens_in": rest["tokens_in"] + 100}).value > found.value
        for name in ("bandwidth_gb_s", "fp16_tflops", "fp8_tflops", "fp4_tflops", "link_gb_s"):
            if of is first_token_ms and name == "bandwidth_gb_s" and rest["requests"] > 1:
                continue  # as many requests at once end sooner, so more prompts come
            faster = replace(board, **{name: 2 * getattr(board, name)})
            assert of(replace(replica, board=faster), **rest).value <= found.value
    long, short = (prompt_ms(replica, tokens_in=n) for n in (2000, 1000))
    assert long > short


def test_an_engine_that_is_not_known_counts_as_vllm() -> None:
    speeds = Speeds(vllm=1.2, sglang=1.3)
    assert [speeds.engine(n) for n in ("tensorrt-llm", "vllm", "sglang", "lmdeploy")] == [1, 1.2, 1.3, 1.2]


# ---- replicas

FP8 = Setup("fp8", tensor=4)


@given(case=CASES, users=st.integers(1, 5000), more=st.integers(1, 500))
@settings(deadline=None, max_examples=examples(40, few=15))
def test_more_users_never_need_fewer_replicas(case: dict, users: int, more: int) -> None:
    lengths = (case["tokens_in"], case["tokens_out"])
    try:
        few = replicas(Replica(case["shape"], case["board"], case["setup"]), load=Load(*lengths, users))
    except ValueError:
        return
    many = replicas(Replica(case["shape"], case["board"], case["setup"]), load=Load(*lengths, users + more))
    assert many.replicas >= few.replicas
    assert few.replicas * few.limits.requests >= users
    assert few.requests <= few.limits.requests


def test_what_limits_a_replica_is_the_least_of_memory_and_promises() -> None:
    load = Load(2000, 400, requests=200)
    free = limits(Replica(LLAMA_70B, H100, FP8), load=load)
    assert free.by == "memory"
    fast = limits(Replica(LLAMA_70B, H100, FP8), load=load, promise=Promise(tokens_per_second=40))
    assert fast.by == "speed" and fast.memory == free.memory
    at, beyond = (
        time_per_token_ms(Replica(LLAMA_70B, H100, FP8), requests=n, tokens_in=2000, tokens_out=400).value
        for n in (fast.speed, fast.speed + 1)
    )
    assert at <= 25 < beyond
    safe = limits(Replica(LLAMA_70B, H100, FP8), load=load, promise=Promise(tokens_per_second=40, safe=True))
    assert safe.speed < fast.speed
    soon = limits(Replica(LLAMA_70B, H100, FP8), load=load, promise=Promise(first_token_s=0.2))
    assert soon.by == "first_token"


def test_requests_a_second_become_requests_at_once_by_littles_law() -> None:
    load = Load(2000, 400, requests_per_second=5)
    found = replicas(Replica(LLAMA_70B, H100, FP8), load=load, promise=Promise(tokens_per_second=25))
    stay_s = (found.first_token_ms.value + found.time_per_token_ms.value * 399) / 1e3
    assert 5 * stay_s == pytest.approx(found.requests * found.replicas, rel=0.02)
    assert found.requests <= found.limits.requests
    twice = replace(load, requests_per_second=10)
    more = replicas(Replica(LLAMA_70B, H100, FP8), load=twice, promise=Promise(tokens_per_second=25))
    assert more.replicas == pytest.approx(2 * found.replicas, abs=1)


def test_least_replicas_are_kept() -> None:
    found = replicas(Replica(LLAMA_70B, H100, FP8), load=Load(2000, 400, 10), least=3)
    assert found.replicas == 3 and found.requests == pytest.approx(10 / 3)


@pytest.mark.parametrize(
    ("promise", "setup", "words"),
    [
        (Promise(tokens_per_second=500), FP8, "promise at most"),
        (Promise(first_token_s=0.01), FP8, "promise at least"),
        (Promise(), Setup("bf16"), "do not fit on 1 GPU in bf16"),
    ],
)
def test_what_cannot_be_says_what_can(promise: Promise, setup: Setup, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replicas(Replica(LLAMA_70B, H100, setup), load=Load(2000, 400, 10), promise=promise)
    assert math.isfinite(weights_gib(LLAMA_70B, precision="bf16"))
