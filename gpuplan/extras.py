"""Extras: packages that a core install leaves out, and the command that installs one where it is missing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from gpuplan.wording import NAMES, said

EXTRA_OF = NAMES["extra with a package"]
"""Package -> the extra of gpuplan that brings it."""


class MissingExtra(ModuleNotFoundError):
    """A package of an extra that is not installed; the message has the command that installs it."""


@contextmanager
def needs_extra(extra: str = "") -> Iterator[None]:
    """Name the extra that brings a missing package, or a larger one that is needed; as a decorator, too."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if isinstance(error, MissingExtra) or package not in EXTRA_OF:
            raise
        words = said("extra.missing", name=package, extra=extra or EXTRA_OF[package])
        raise MissingExtra(words, name=package) from None


def stand_in(error: ModuleNotFoundError) -> Callable[..., NoReturn]:
    """Stand for a public name without its extra: it can be imported and listed, and names the extra when it is called."""

    @needs_extra()
    def missing(*_args: Any, **_options: Any) -> NoReturn:
        raise error

    return missing
