"""Sessions: requests that follow one another, repeat the context of the one before, and leave it in the cache meanwhile."""

import math
from dataclasses import dataclass

from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one


@dataclass(frozen=True, slots=True)
class Session:
    """Requests of a conversation or of an agent's task, in tokens; the context grows evenly from turn to turn."""

    tokens_in: float
    """Mean prompt over all turns, with its history."""
    tokens_out: float
    turns: int = 1
    turn_tokens: float = 0.0
    """Growth of the prompt from one turn to the next."""
    hit_share: float | None = None
    """Share of the prompts that was read before, as measured with a cache that holds all; None: what the turns repeat."""

    def __post_init__(self) -> None:
        """Refuse a growth that leaves nothing for the first prompt."""
        above_zero(tokens_in=self.tokens_in, tokens_out=self.tokens_out)
        at_least_one(turns=self.turns)
        not_negative(turn_tokens=self.turn_tokens)
        zero_to_one(hit_share=self.hit_share or 0.0)
        if self.turns * self.turn_tokens >= 2 * self.tokens_in + self.turn_tokens:
            most = 2 * self.tokens_in / (self.turns - 1)
            raise ValueError(
                f"turn_tokens is {self.turn_tokens:g}; the first prompt has none from {most:.4g} on"
            )

    @property
    def last_tokens(self) -> float:
        """Prompt and answer of the last turn: the most that a session holds."""
        return self.tokens_in + (self.turns - 1) / 2 * self.turn_tokens + self.tokens_out

    @property
    def waiting_tokens(self) -> float:
        """Context that a session leaves in the cache between two turns, on average."""
        return self.tokens_in - self.turn_tokens / 2 + self.tokens_out

    @property
    def repeated_share(self) -> float:
        """Share of an average prompt that was the prompt of the turn before; at most what is measured."""
        share = (1 - 1 / self.turns) * (1 - self.turn_tokens / 2 / self.tokens_in)
        return share if self.hit_share is None else min(share, self.hit_share)

    @property
    def shared_share(self) -> float:
        """Share of an average prompt that is measured beyond what turns repeat: a beginning that is the same for all."""
        return (self.hit_share or self.repeated_share) - self.repeated_share

    @property
    def shared_tokens(self) -> float:
        """Tokens of that beginning, which the first turn of a session finds; a replica holds it once."""
        return min(self.shared_share * self.turns * self.tokens_in, self.tokens_in)


@dataclass(frozen=True, slots=True)
class Holding:
    """Sessions in a cache: how many requests come, how long each part of a session takes, and what it holds meanwhile."""

    requests_per_second: float
    turns: int
    """Requests of a session."""
    wait_s: float
    """Mean time from an answer to the next request of its session: tools and pauses."""
    stay_s: float
    """Time that a request is worked on."""
    request_gib: float
    """Cache of a request that is worked on."""
    waiting_gib: float
    """Context that a session leaves while it waits."""
    ended_gib: float
    """Context that a session leaves at its end."""

    def __post_init__(self) -> None:
        at_least_one(turns=self.turns)
        not_negative(requests_per_second=self.requests_per_second, wait_s=self.wait_s, stay_s=self.stay_s)
        not_negative(request_gib=self.request_gib, waiting_gib=self.waiting_gib, ended_gib=self.ended_gib)


def cache_for_sessions_gib(sessions: Holding, *, kept_share: float) -> float:
    """Cache with which a share of the sessions that come back still find their context.

    Parameters:
        kept_share: Share of these turns, below 1. [-]

    What is worked on is held; of the rest the engine gives up what was used longest ago. So the cache holds all that is younger
    than an age t: with exponential waits 1 - exp(-t / wait) of the waiting sessions, which is the share that is kept, and what
    ended in the last t seconds, which is of no use any more. One age for all is the usual approximation of such a cache; of a
    published chat trace it gives the hits at seven sizes within 4 points of 100, with a wait of 150 s. [che-lru-2002]_
    [mooncake-traces]_

    >>> sessions = Holding(requests_per_second=1, turns=20, wait_s=15, stay_s=10, request_gib=2, waiting_gib=2, ended_gib=4)
    >>> [round(cache_for_sessions_gib(sessions, kept_share=share), 1) for share in (0, 0.5, 0.99)]
    [20.0, 36.3, 62.0]
    """
    if not 0 <= kept_share < 1:
        raise ValueError(f"kept_share is {kept_share!r}; it must be at least 0 and below 1")
    running = sessions.stay_s * sessions.request_gib
    waiting = (1 - 1 / sessions.turns) * sessions.wait_s * sessions.waiting_gib * kept_share
    ended = sessions.wait_s / sessions.turns * sessions.ended_gib * -math.log1p(-kept_share)
    return sessions.requests_per_second * (running + waiting + ended)


def reused_tokens(session: Session, *, kept_share: float, page_tokens: float = 0.0) -> float:
    """Tokens of an average prompt that the cache still holds.

    Parameters:
        kept_share: Share of the sessions that find their context. [-]
        page_tokens: Tokens that are reused together; a model with recurrent layers keeps its state only at their ends. [-]

    In tokens. [-] What turns repeat is there for the sessions that are kept; the beginning that all share stays. Half a page is
    lost on average, and at least one token is read. [prefix-cache-hybrids]_

    >>> session = Session(48000, 370, turns=33, turn_tokens=2200)
    >>> [round(reused_tokens(session, kept_share=share)) for share in (1, 0.5, 0)]
    [45479, 22739, 0]
    """
    zero_to_one(kept_share=kept_share)
    not_negative(page_tokens=page_tokens)
    found = session.tokens_in * (session.shared_share + session.repeated_share * kept_share)
    return min(max(0.0, found - page_tokens / 2), session.tokens_in - 1)


def read_spread(session: Session, *, kept_share: float, spread_in: float) -> float:
    """Spread of the tokens that are read of a prompt: of few sessions that lost their context, all.

    Parameters:
        kept_share: Share of the sessions that find their context. [-]
        spread_in: Standard deviation of prompts over their mean. [-]

    Standard deviation over mean, of a mixture: later turns whose context is gone read what they repeat, too; each part has the
    spread of the prompts. [-] [gpuplan-method]_

    >>> session = Session(48000, 370, turns=33, turn_tokens=2200)
    >>> [round(read_spread(session, kept_share=share, spread_in=1), 1) for share in (1, 0.9, 0)]
    [1.0, 3.0, 1.0]
    """
    not_negative(spread_in=spread_in)
    new, mean = (session.tokens_in - reused_tokens(session, kept_share=kept) for kept in (1.0, kept_share))
    later = 1 - 1 / session.turns
    lost = later * (1 - kept_share)
    whole = new + session.tokens_in * session.repeated_share / later if lost else new
    square = ((1 - lost) * new**2 + lost * whole**2) * (1 + spread_in**2) / mean**2
    return math.sqrt(max(0.0, square - 1))
