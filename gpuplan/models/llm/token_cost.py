"""Cost of a million tokens: the share of a replica that prompts take, and a cost over the tokens of the same time.
[gpuplan-method]_
"""

from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

SECONDS_PER_YEAR = 365 * 24 * 3600


def prompt_share(prompt_s: float, *, step_s: float, tokens_out: float, requests: float) -> float:
    """Share of a replica's time that its prompts take; its answers take the rest.

    Parameters:
        prompt_s: Time to read the prompt of a request. [s]
        step_s: Time of a step that gives every request one token more. [s]
        tokens_out: Tokens of an answer. [-]
        requests: Requests that share a step. [-]

    prompt / (prompt + tokens_out x step / requests): a request has the replica to itself while its prompt is read, and a share of
    each step after that.

    >>> prompt_share(0.1, step_s=0.03, tokens_out=400, requests=30)
    0.2
    """
    above_zero(prompt_s=prompt_s, step_s=step_s, tokens_out=tokens_out, requests=requests)
    return prompt_s / (prompt_s + tokens_out * step_s / requests)


def tokens_per_year(replica_tokens: float, *, replicas: float, load_share: float = 1.0) -> float:
    """Tokens that replicas produce in a year.

    Parameters:
        replica_tokens: Tokens a second of one replica at the load that it is planned for. [-]
        replicas: Replicas that run on average over the year. [-]
        load_share: Share of that load at which they run. [-]

    tokens a second x replicas x share x 31,536,000 s.

    >>> tokens_per_year(1000, replicas=2, load_share=0.5)
    31536000000.0
    """
    not_negative(replica_tokens=replica_tokens, replicas=replicas)
    zero_to_one(load_share=load_share)
    return replica_tokens * replicas * load_share * SECONDS_PER_YEAR


def million_tokens_cost(total_cost: float, *, share: float, tokens: float) -> float:
    """Cost of a million tokens, from a share of the cost.

    Parameters:
        total_cost: Cost of the replicas in some time. [currency]
        share: Share of it that these tokens take. [-]
        tokens: Tokens in the same time. [-]

    cost x share / tokens x 10^6.

    >>> million_tokens_cost(100_000, share=0.8, tokens=40e9)
    2.0
    """
    not_negative(total_cost=total_cost)
    zero_to_one(share=share)
    above_zero(tokens=tokens)
    return total_cost * share / tokens * 1e6


def user_month_cost(total_cost: float, *, years: int, users: float) -> float:
    """Cost of one user for a month.

    Parameters:
        total_cost: Cost over the years. [currency]
        years: Years. [-]
        users: Users, on average over the years. [-]

    cost / (12 x years x users).

    >>> user_month_cost(240_000, years=5, users=400)
    10.0
    """
    not_negative(total_cost=total_cost)
    at_least_one(years=years)
    above_zero(users=users)
    return total_cost / (12 * years * users)
