"""Cost of tokens: values worked by hand, directions, conservation and refusals."""

from __future__ import annotations

import pytest

from gpuplan.models.llm.token_cost import million_tokens_cost, prompt_share, tokens_per_year, user_month_cost


def test_a_prompt_has_the_replica_alone_and_an_answer_a_share_of_each_step() -> None:
    # 0.1 s of prompt; 400 steps of 30 ms shared by 30 requests are 0.4 s
    assert prompt_share(0.1, step_s=0.03, tokens_out=400, requests=30) == pytest.approx(0.1 / 0.5)
    assert prompt_share(0.2, step_s=0.03, tokens_out=400, requests=30) > 0.2
    assert prompt_share(0.1, step_s=0.03, tokens_out=800, requests=30) < 0.2


def test_what_tokens_cost_adds_up_to_the_cost() -> None:
    out = tokens_per_year(800, replicas=3, load_share=0.5)
    assert out == 800 * 3 * 0.5 * 365 * 24 * 3600
    into, cost, share = 5 * out, 150_000, 0.3
    paid = sum(
        million_tokens_cost(cost, share=part, tokens=tokens) * tokens / 1e6
        for part, tokens in ((share, into), (1 - share, out))
    )
    assert paid == pytest.approx(cost)


def test_a_user_pays_a_share_of_every_month() -> None:
    assert user_month_cost(240_000, years=5, users=400) * 12 * 5 * 400 == 240_000


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: prompt_share(0, step_s=1, tokens_out=1, requests=1), "prompt_s"),
        (lambda: tokens_per_year(1, replicas=1, load_share=1.5), "load_share"),
        (lambda: million_tokens_cost(1, share=0.5, tokens=0), "tokens"),
        (lambda: user_month_cost(1, years=0, users=1), "years"),
    ],
)
def test_what_is_out_of_range_is_refused_by_its_name(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call()  # type: ignore[operator]
