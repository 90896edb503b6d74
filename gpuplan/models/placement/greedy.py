"""Greedy: many hosts filled one VM after the other, with the rules of one host."""

from collections.abc import Mapping, Sequence

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Room, State


class Greedy:
    """Hosts filled kind by kind in a given order."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def placed(
        self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None, order: Sequence[int], by: int | None
    ) -> Blocks | None:
        """The hosts of ``filled_up``; None if something does not fit."""
        empty = tuple(Block(n, room, ()) for room, n in rooms.items())
        blocks, left = self.filled_up(empty, vms, extra, order, by)
        return None if any(left) else blocks

    def filled_up(
        self, hosts: Blocks, vms: Sequence[int], extra: Room | None, order: Sequence[int], by: int | None
    ) -> tuple[Blocks, list[int]]:
        """Hosts with so many VMs more, as far as they fit, and those that do not: kind by kind in this order, each VM onto the
        host on which it takes the fewest free GPUs.

        Of several such hosts best fit takes that with least left of one resource (``by`` 0 GPUs, 1 vCPUs, 2 memory,
        3 the scarcest), first fit (None) the first. Any number of hosts ``extra`` may be added, but only for what fits
        nowhere else.
        """
        blocks = [(n, room, self.rules.state(room, content), content) for n, room, content in hosts if n]
        if extra:
            blocks.append((sum(vms), extra, self.rules.state(extra), Content()))
        missing = list(vms)
        for kind in order:
            left = vms[kind]
            while left:
                # what is not used yet of the extra hosts is always the last block
                last = len(blocks) - 1 if extra else -1
                ranks = [
                    (at == last, fit.new_gpus, 0 if by is None else _left(state, room, by), at)
                    for at, (_, room, state, _) in enumerate(blocks)
                    if (fit := self.rules.fit(state, kind)) is not None
                ]
                if not ranks:
                    break
                _, new_gpus, _, at = min(ranks)
                times, room, state, content = blocks[at]
                now, filled, n = self._heaped(state, content, kind, left, new_gpus)
                often = min(times, left // n)  # the same on as many hosts of the block as there are VMs for
                left -= often * n
                untouched = [(times - often, room, state, content)] if times > often else []
                blocks[at : at + 1] = [(often, room, now, filled), *untouched]
            missing[kind] = left
        placed = tuple(Block(n, room, content) for n, room, _, content in blocks if content)
        return placed, missing

    def _heaped(
        self, state: State, content: Content, kind: int, most: int, new_gpus: int
    ) -> tuple[State, Content, int]:
        """A host with VMs of a kind until the next one would take more free GPUs, and how many they are."""
        for n in range(most):
            more = self.rules.fit(state, kind)
            if more is None or more.new_gpus > new_gpus:
                return state, content, n
            content, state = self.rules.put(content, kind, more), more.state
        return state, content, most


def _left(state: State, room: Room, by: int) -> float:
    """Return the unused part of a host's resource (3: of the scarcest)."""
    parts = [
        max(0, left) / offered if offered else 1.0
        for left, offered in zip(state[:3], room.sizes, strict=True)
    ]
    return parts[by] if by < 3 else min(parts)
