"""A language model from its config.json: fields by their names on Hugging Face, and the parameters of its layers.

The names are in ``data/words/config_fields.csv``. Norms and biases, layers that predict further tokens, and other senses than text
are not counted. Recurrent layers keep their state at 32 bits, and the tokens of their convolution at 16.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.facts import own_rows

_TABLE: dict[str, dict[str, tuple[str, ...]]] = {}
for _row in own_rows("words/config_fields"):
    for _of in _row["of"].split(";"):
        _TABLE.setdefault(_of, {})[_row["is"]] = tuple(_row["fields"].split())
NAMES = _TABLE["names"]
"""Quantity -> the names of its field."""
LISTS = [name for name, kinds in _TABLE.items() if "full" in kinds]
"""Fields that list the layers: full, window, state, experts or mlp."""
EVERY = {kind: int(every) for every, kinds in _TABLE["every"].items() for kind in kinds}
"""Kind of model -> every how many layers one keeps the whole context, unless stated."""
SHAPE = re.compile("size|dim|rank|heads|layer|expert|window|state|ratio|group|latent|block|_config$")
"""Names of fields that may change a shape."""
TEXT = ("text_config", "llm_config", "language_config", "thinker_config")
LEFT_OUT = ("modules_to_not_convert", "ignore", "exclude_modules")
NOT_OF_WEIGHTS = (*LEFT_OUT, "kv_cache_scheme", "kv_cache_quant_algo", "transform_config")
"""Parts of a quantisation that do not say the precision of the weights."""
MOST, MOST_LAYERS = 10**8, 1000


class ConfigError(ValueError):
    """A configuration that describes no model: fields that are missing, or one that cannot be."""

    def __init__(self, missing: Sequence[str] = (), field: str = "", value: Any = None) -> None:
        self.missing, self.field, self.value = tuple(missing), field, value
        super().__init__(", ".join(missing) or field)


class _Fields:
    """The fields of a configuration, and those that were read."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data, self.read = data, set[str]()
        self.kind = str(data.get("model_type") or "").lower()

    def get(self, name: str) -> Any:
        self.read.add(name)
        return self.data.get(name)

    def of(self, quantity: str, usual: int = 0, *, names: Sequence[str] = ()) -> int:
        """Return the whole number of the first field of a quantity that has a value; else the usual one."""
        self.read.update(names := names or NAMES[quantity])
        for name in names:
            if (value := self.data.get(name)) is not None:
                whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST
                if not whole or value != int(value):
                    raise ConfigError(field=name, value=value)
                return int(value)
        return usual

    def listed(self, name: str, layers: int) -> list[str]:
        """Return the entries of a field for the layers as text; none where it has no value."""
        if (value := self.get(name)) is None:
            return []
        if not isinstance(value, list | str) or len(value) < layers:
            raise ConfigError(field=name, value=value)
        return [str(int(each) if isinstance(each, bool) else each) for each in value[:layers]]

    def among(self, kinds: str) -> bool:
        """Return whether the model is of such a kind, by the beginning of its name; a dot ends it."""
        return f"{self.kind}.".startswith(_TABLE[kinds][""])


def read_config(config: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Columns of ``llm_models`` and ``kept`` as a config.json describes them, and the fields that may matter and were not read.

    A ConfigError names what is missing, or cannot be.
    """
    fields = _Fields(_text_part(config))
    cells: dict[str, Any] = _first_cells(fields)
    kinds = _kinds(fields, cells["layers"])
    attention, cached = _attention(fields, cells, kinds)
    mlps, routed, columns = _mlps(fields, cells["hidden_size"], kinds)
    tied = fields.get("tie_word_embeddings")
    tied = fields.among("one table") if tied is None else bool(tied)
    total = attention + mlps + routed + cells["vocabulary"] * cells["hidden_size"] * (1 if tied else 2)
    unused = 1 - columns["experts_per_token"] / columns["experts"] if routed else 0.0
    cells |= {**cached, **columns, "tied_embeddings": tied}
    cells["total_parameters"] = round(total / 1e9, 3)
    cells["active_parameters"] = round((total - routed * unused) / 1e9, 3)
    cells |= _precision(fields, config, cells["layers"])
    left = {name for name, value in fields.data.items() if value and SHAPE.search(name)}
    left |= {name for name in config if name.endswith("_config")}
    unread = left - fields.read - {*TEXT, *_TABLE["no shape"][""]}
    return {name: value for name, value in cells.items() if value != ""}, tuple(sorted(unread))


def _first_cells(fields: _Fields) -> dict[str, int]:
    """Return the columns that each model has; a ConfigError names what is missing."""
    cells = {
        name: fields.of(name) for name in ("hidden_size", "layers", "heads", "vocabulary", "context_tokens")
    }
    missing = [NAMES[name][0] for name, value in cells.items() if not value]
    if not (fields.of("mlp_size") or fields.of("expert_size") or fields.among("two matrices")):
        missing.append("intermediate_size")
    if fields.of("experts") > 1 and not fields.of("experts_per_token"):
        missing.append(NAMES["experts_per_token"][0])
    if missing:
        raise ConfigError(missing)
    if cells["layers"] > MOST_LAYERS:
        raise ConfigError(field=NAMES["layers"][0], value=cells["layers"])
    return cells


def _text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of the language model, also of one that sees or hears, with those that its kind leaves out."""
    part = config
    while inner := next((part[name] for name in TEXT if isinstance(part.get(name), Mapping)), None):
        part = {name: part[name] for name in ("model_type", "tie_word_embeddings") if name in part} | inner
    usual = (each.split("=") for each in _TABLE["usual"].get(str(part.get("model_type")), ()))
    return {**{name: int(value) for name, value in usual}, **part}


def _kinds(fields: _Fields, layers: int) -> list[str]:
    """Return what each layer is: attention to all tokens or to a window, with a state, experts, or an MLP alone."""
    if ratios := fields.get("compress_ratios"):
        raise ConfigError(field="compress_ratios", value=ratios)
    ways = (_as_listed, _by_place, _with_states, _with_windows)
    return next((kinds for way in ways if (kinds := way(fields, layers))), ["full"] * layers)


def _as_listed(fields: _Fields, layers: int) -> list[str]:
    """Return them from the first field that lists the layers."""
    for name in LISTS:
        if listed := fields.listed(name, layers):
            kinds = {entry: kind for kind, entries in _TABLE[name].items() for entry in entries}
            if unknown := [each for each in listed if each not in kinds]:
                raise ConfigError(field=name, value=unknown[0])
            return [kinds[each] for each in listed]
    return []


def _by_place(fields: _Fields, layers: int) -> list[str]:
    """Return them from the places of the layers with attention; those of ``linear_attn_config`` count from 1."""
    linear = fields.get("linear_attn_config")
    for apart, at in ((linear, "full_attn_layers"), (fields.data, "attn_layer_indices")):
        if isinstance(apart, Mapping) and isinstance(full := apart.get(at), list):
            fields.read.add(at)
            return ["full" if n + (apart is linear) in full else "state" for n in range(layers)]
    return []


def _every(fields: _Fields) -> tuple[int, int]:
    """Return every how many layers one keeps the whole context, 0 where none does, and the first of these."""
    every = fields.of("full_every", EVERY.get(fields.kind, 0))
    return every, fields.of("full_offset", max(0, every - 1))


def _with_states(fields: _Fields, layers: int) -> list[str]:
    every, offset = _every(fields)
    if not fields.of("state_size"):
        return []
    if not every:
        raise ConfigError(["layer_types"])
    return ["full" if n % every == offset else "state" for n in range(layers)]


def _with_windows(fields: _Fields, layers: int) -> list[str]:
    if not fields.of("window_tokens") or fields.get("use_sliding_window") is False:
        return []
    every, offset = _every(fields)
    if fields.data.get("attention_chunk_size"):
        every, offset = 4, 3
        if fields.data.get("no_rope_layers"):
            return [{"0": "full"}.get(each, "window") for each in fields.listed("no_rope_layers", layers)]
    first = fields.of("window_first") if fields.get("use_sliding_window") else 0
    return ["full" if n < first or (every and n % every == offset) else "window" for n in range(layers)]


def _attention(
    fields: _Fields, cells: Mapping[str, int], kinds: Sequence[str]
) -> tuple[float, dict[str, Any]]:
    """Return the parameters of attention and recurrent layers, and the columns of the cache."""
    hidden, heads = cells["hidden_size"], cells["heads"]
    full, window, states = (kinds.count(kind) for kind in ("full", "window", "state"))
    cached: dict[str, Any] = {"recurrent_layers": bool(states)}
    cached |= {"full_layers": full} if full < len(kinds) else {}
    if window:
        cached["window_tokens"] = fields.of("window_tokens")
        if not cached["window_tokens"]:
            raise ConfigError([NAMES["window_tokens"][0]])
    if latent := fields.of("latent_size"):
        rope, rank = fields.of("rope_size"), fields.of("query_rank")
        nope, wide = fields.of("key_size", 128), fields.of("value_size", 128)
        query = rank * (hidden + heads * (nope + rope)) if rank else hidden * heads * (nope + rope)
        each = query + hidden * (latent + rope) + heads * (latent * (nope + wide) + wide * hidden)
        if index := fields.of("index_size"):
            cached["index_width"] = full * index
            each += index * (hidden + (rank or hidden) * fields.of("index_heads"))
        cached |= {"attention": "mla", "latent_size": latent, "rope_size": rope}
        total = (full + window) * each
    else:
        total = _by_heads(fields, cells, kinds, cached)
    if states:
        count, state_bytes = _state(fields, hidden)
        total += states * count
        cached["state_mb"] = round(states * state_bytes / 1e6, 4)
    return total, cached


def _by_heads(fields: _Fields, cells: Mapping[str, int], kinds: Sequence[str], cached: dict[str, Any]) -> int:
    """Return the parameters of attention by heads; layers with a window may have heads of their own."""
    hidden, heads, total = cells["hidden_size"], cells["heads"], 0
    kv = fields.of("kv_heads") or (1 if fields.get("multi_query") else heads)
    size = fields.of("head_size") or hidden // heads
    gate = fields.get("attn_output_gate")
    queries = 2 if gate or (gate is None and fields.among("gated heads")) else 1
    cached |= {"attention": "mha" if kv == heads else "gqa", "kv_heads": kv, "head_size": size}
    for kind, column in (("full", "cache_width"), ("window", "window_width")):
        layers, wide = kinds.count(kind), fields.of(f"{kind}_size", size)
        keys, values = fields.of(f"{kind}_kv", kv), fields.of(f"{kind}_values", wide)
        one = kind == "full" and fields.get("attention_k_eq_v")
        shared = keys * (wide if one else wide + values)
        total += layers * hidden * (fields.of(f"{kind}_heads", heads) * (queries * wide + values) + shared)
        if layers and keys * (wide + values) != 2 * kv * size:
            cached[column] = layers * keys * (wide + values)
    return total


def _state(fields: _Fields, hidden: int) -> tuple[int, int]:
    """Return the parameters of a recurrent layer (Mamba, gated delta), and the bytes of a sequence in it."""
    linear = fields.get("linear_attn_config")
    part = _Fields(linear) if isinstance(linear, Mapping) else fields
    heads, wide = part.of("state_heads"), part.of("state_head_size", 64)
    groups, size = part.of("state_groups", 1), part.of("state_size")
    if part is not fields:
        heads = groups = part.of("heads")
        wide = size = part.of("head_size")
    inner, kernel = heads * wide or fields.of("state_expand", 2) * hidden, part.of("state_kernel", 4)
    if not size:
        raise ConfigError([NAMES["state_size"][0]])
    mixed = inner + 2 * groups * size
    count = hidden * (mixed + 2 * inner + heads) + mixed * kernel
    return count, inner * size * 4 + mixed * (kernel - 1) * 2


def _mlps(fields: _Fields, hidden: int, kinds: Sequence[str]) -> tuple[int, int, dict[str, Any]]:
    """Return the parameters of MLPs and shared experts, those of routed experts, and their columns."""
    matrices = 2 if fields.among("two matrices") else 3
    mlp = fields.of("mlp_size") or (4 * hidden if matrices == 2 else 0)
    experts, layers, apart = fields.of("experts"), len(kinds), {"experts", "mlp"} & {*kinds}
    if experts < 2:
        return (kinds.count("mlp") if apart else layers) * matrices * hidden * mlp, 0, {"mlp_size": mlp}
    size = fields.of("expert_size") or fields.of("mlp_size", names=NAMES["mlp_size"][1:])
    sparse = kinds.count("experts") if apart else _sparse(fields, layers)
    dense = kinds.count("mlp") if apart else layers - sparse
    shared = max(fields.of("shared_size"), fields.of("shared_experts") * size)
    shared = size if fields.among("one shared expert") else shared
    shared += mlp if fields.get("enable_moe_block") else 0
    narrow = fields.of("narrow", hidden)
    beside = hidden * (matrices * shared + experts + (2 * narrow if narrow < hidden else 0))
    columns = {"experts": experts, "expert_size": size, "mlp_size": mlp or "", "dense_layers": dense}
    columns["experts_per_token"] = min(experts, fields.of("experts_per_token"))
    columns["shared_experts"] = round(shared / max(1, size))
    mlps = dense * matrices * hidden * mlp + sparse * beside
    return mlps, sparse * experts * matrices * narrow * size, columns


def _sparse(fields: _Fields, layers: int) -> int:
    if listed := fields.listed("mlp_layer_types", layers):
        return listed.count("sparse")
    if isinstance(fields.get("moe_layer_freq"), list):
        return layers - fields.listed("moe_layer_freq", layers).count("0")
    if named := fields.get("moe_layers_enum") or fields.get("moe_layers"):
        return len(re.findall(r"\d+", str(named)))
    dense = fields.get("mlp_only_layers")
    sparse = (layers - fields.of("dense_first")) // max(1, fields.of("expert_every"))
    return max(0, sparse - (len(dense) if isinstance(dense, list) else 0))


def _precision(fields: _Fields, config: Mapping[str, Any], layers: int) -> dict[str, str]:
    """Return the precision of the weights, and the parts of a quantised checkpoint at 16 bits."""
    quantised = config.get("quantization_config") or fields.data.get("quantization_config")
    if not isinstance(quantised, Mapping):
        stated = fields.data.get("torch_dtype") or fields.data.get("dtype") or config.get("torch_dtype")
        return {"native_precision": {"float16": "fp16", "float32": "fp32"}.get(str(stated), "bf16")}
    text = str({name: value for name, value in quantised.items() if name not in NOT_OF_WEIGHTS}).lower()
    four = re.search(r"bits': 4|4bit': true|awq", text)
    found = re.search("nvfp4|mxfp4|fp8", text) or (None if four else re.search("float", text))
    precision = found[0].replace("float", "fp8") if found else "int4" if four else "int8"
    return {"native_precision": precision, "kept": _kept(fields, quantised, layers)}


def _kept(fields: _Fields, quantised: Mapping[str, Any], layers: int) -> str:
    """Return the parts at 16 bits: those whose modules are left out in most layers, by name or by a pattern."""
    lists = [quantised[name] for name in LEFT_OUT if isinstance(quantised.get(name), list)]
    left = [str(module) for listed in lists for module in listed]

    def most(part: str) -> bool:
        named = [module for module in left if part in module]
        everywhere = any("*" in module or not re.search(r"\d", module) for module in named)
        return everywhere or len(named) >= layers / 2

    if not most("attn"):
        return "none"
    if fields.of("experts") > 1:
        return "rest" if most("shared_expert") else "attention"
    return "attention and ends" if any("layers.0.mlp" in module for module in left) else "attention"
