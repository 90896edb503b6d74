"""Names of language models as sources and users write them, and the row of the catalog that is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from gpuplan.catalog import Catalog, Row


def key_of(name: str) -> str:
    """A name without what writers differ in: case, blanks, hyphens, makers, endings such as Instruct."""
    plain = re.sub(r"^.*/", "", name.lower())
    plain = re.sub(
        r"(?<![a-z])(instruct|chat|hf|it|base|fp8|bf16|nvfp4|awq|gptq|int4|preview|dynamic)(?![a-z])",
        "",
        plain,
    )
    return re.sub(r"[^a-z0-9.]", "", plain.replace("meta-", ""))


ALIKE = {
    "mistral7b": "mistral-7b-v0.3",
    "mistrallarge123b": "mistral-large-2407",
    "mistrallarge": "mistral-large-2407",
    "deepseekv3.1": "deepseek-v3",
    "deepseekv30324": "deepseek-v3",
    "deepseekr10528": "deepseek-r1",
    "llama38b": "llama-3.1-8b",
    "llama370b": "llama-3.1-70b",
    "mistralsmall24b": "mistral-small-24b-2501",
    "kimik2thinking": "kimi-k2",
}
"""Names of models of the same shape, as sources write them -> id."""


def model_named(catalog: Catalog, name: str) -> Row | None:
    """The row of ``llm_models`` that a name means; None where the catalog has none."""
    return _models(catalog).get(key_of(name))


@lru_cache(maxsize=4)
def _models(catalog: Catalog) -> Mapping[str, Row]:
    known: dict[str, Row] = {}
    for row in catalog.rows("llm_models"):
        for name in (row.id, row["name"], row["repository"]):
            known.setdefault(key_of(name), row)
    return known | {name: catalog.row("llm_models", id) for name, id in ALIKE.items()}
