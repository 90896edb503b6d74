"""Sessions of a group: the part of a prompt that the cache of its replicas still holds, which depends on their number."""

import math
from typing import Any, NamedTuple

from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.models.llm.memory import request_gib
from gpuplan.models.llm.sessions import Holding, Session, cache_for_sessions_gib, read_spread, reused_tokens
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine
from gpuplan.plan.trail import Trail
from gpuplan.wording import kept_share, share_words

LEVELS = (0.999, 0.95, 0.75, 0.5, 0.25, 0.1, 0.0)
"""Shares of the sessions that find their context, for which replicas are sized: the first holds practically all."""


class Reuse(NamedTuple):
    """Prompts of a group that repeat what was read before."""

    session: Session
    wait_s: float
    """From an answer to the next turn: tools and pause."""
    stay_s: float
    """Of a request, at the promised pace."""
    page_tokens: float
    drafted: bool
    """True if the engine reuses nothing: it drafts tokens for a model with recurrent layers."""

    def cached(self, kept: float) -> float:
        """Tokens of a prompt that are not read again if this share of the sessions is kept."""
        found = reused_tokens(self.session, kept_share=kept, page_tokens=self.page_tokens)
        return 0.0 if self.drafted else found

    def spread(self, kept: float, spread_in: float) -> float:
        """Spread of what is read of a prompt."""
        return spread_in if self.drafted else read_spread(self.session, kept_share=kept, spread_in=spread_in)

    def hits(self, kept: float) -> float:
        """Share of a prompt that is not read again."""
        return self.cached(kept) / self.session.tokens_in

    def room_gib(self, engine: Engine, gpus: float) -> float:
        """Cache of each GPU of a replica for its sessions, beside the beginning that all of them share."""
        shared = self.session.shared_tokens
        return engine.held(gpus).cache_gib - (context_gib(engine, gpus, shared) if shared else 0.0)

    def least(self, engine: Engine, gpus: float, per_second: float, kept: float) -> int:
        """Replicas whose cache keeps this share of the sessions."""
        of, room = self.session, self.room_gib(engine, gpus)
        if not kept or room <= 0 or of.turns == 1 or self.drafted:
            return 1
        sizes = (of.tokens_in + of.tokens_out, of.waiting_tokens, of.last_tokens)
        held = (context_gib(engine, gpus, tokens) for tokens in sizes)
        holding = Holding(per_second, of.turns, self.wait_s, self.stay_s, *held)
        return max(1, math.ceil(cache_for_sessions_gib(holding, kept_share=kept) / room - 1e-9))

    def level(self, engine: Engine, gpus: float, per_second: float, replicas: int) -> float:
        """The largest of ``LEVELS`` that this many replicas keep."""
        least = (self.least(engine, gpus, per_second, level) for level in LEVELS)
        return next(
            level for level, count in zip(LEVELS, least, strict=True) if count <= replicas or not level
        )


def context_gib(engine: Engine, gpus: float, tokens: float) -> float:
    """Cache of this many tokens on each GPU of a replica."""
    return request_gib(engine.shape, setup=engine.on(gpus).setup, tokens=tokens)


def reuse_of(asks: Asks, engine: Engine, stay_s: float) -> Reuse | None:
    """Return what the prompts of a group repeat; None where each is new."""
    session, recurrent = session_of(asks), engine.shape.state_mb > 0
    if session.turns == 1 and not session.hit_share:
        return None
    wait_s = float(asks.value("think_s")) + float(asks.value("tool_s"))
    page = float(asks.value("page_tokens")) if recurrent else 0.0
    return Reuse(session, wait_s, stay_s, page, recurrent and engine.setup.draft.tokens > 0)


def _hits_of(asks: Asks) -> Fact | None:
    """Return the hits stated for a group, or published for its kind of use unless it states its own turns."""
    own = asks.group.turns is not None or asks.group.turn_tokens is not None
    if asks.group.hit_share is None and (own or "hit_share" not in asks.planned):
        return None
    return asks.fact("hit_share")


def session_of(asks: Asks) -> Session:
    """Return the sessions of a group; a ScenarioError where its context grows by more than its prompts allow.

    A growth that is not stated is that of its kind of use, and at most so much that a session begins with one of it.
    """
    tokens_in, turns = float(asks.value("tokens_in")), int(asks.value("turns"))
    hits, stated, planned = _hits_of(asks), asks.group.turn_tokens, asks.planned.get("turn_tokens")
    even = 2 * tokens_in / (turns + 1)
    growth = min(even, float(planned.value)) if planned else even
    if stated is not None and turns > 1:
        growth = float(stated)
        if growth >= (most := 2 * tokens_in / (turns - 1)):
            words = {"most": math.ceil(most) - 1, "turns": turns, "tokens": int(tokens_in)}
            raise asks.refuse("turn_tokens", stated, "limit.turn growth", **words)
    growth, share = growth if turns > 1 else 0.0, None if hits is None else float(hits.value)
    return Session(tokens_in, float(asks.value("tokens_out")), turns, growth, share)


def check_session(asks: Asks, most: int) -> None:
    """Reject sessions whose last turn is longer than the longest request, stated or of the model."""
    session = session_of(asks)
    if session.turns > 1 and session.last_tokens > most:
        words = {"last": math.ceil(session.last_tokens), "most": most}
        raise asks.refuse("turns", session.turns, "limit.session", **words)


def session_lines(here: Trail, asks: Asks, engine: Engine, reuse: Reuse, size: Any, replicas: int) -> None:
    """Add a line for the hits of a group, what is still read of a prompt, and the sessions that a replica keeps."""
    names = ("tokens_in", "turns", "tool_s", "think_s", *(["turn_tokens"] if asks.group.turn_tokens else []))
    inputs: dict[str, Any] = asks.given(*names)
    if hits := _hits_of(asks):
        inputs["measured"] = hits
    kept, session = size.sessions, reuse.session
    words = {"full": share_words(reuse.hits(1.0)), "kept": kept_share(kept), "replicas": replicas}
    when = "drafted" if reuse.drafted else "" if session.turns > 1 else "shared"
    share = here.record("hit_share", reused_tokens, 100 * reuse.hits(kept), inputs, when=when, words=words)
    read = round(session.tokens_in - reuse.cached(kept))
    here.record("read_tokens", reused_tokens, read, tokens_in=asks.fact("tokens_in"), hit_share=share)
    if session.turns > 1:
        room, context = reuse.room_gib(engine, size.gpus), session.waiting_tokens
        words = {"room": written(room, ",.1f"), "context": written(context, ",.0f")}
        count = int(room / context_gib(engine, size.gpus, context))
        here.record("sessions_kept", cache_for_sessions_gib, count, inputs, words=words)
