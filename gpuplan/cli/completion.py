"""``gpuplan completion``: a script that lets the shell complete commands, options, examples and files."""

import argparse
from collections.abc import Iterator

from gpuplan.cli import COMMANDS, parser
from gpuplan.scenario import example_names

BASH = """_gpuplan() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  case "${{COMP_WORDS[1]}}" in
{cases}
  *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$COMP_CWORD" -gt 1 ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _gpuplan gpuplan
"""
ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"


def run_completion(args: argparse.Namespace) -> int:
    print(_fish() if args.shell == "fish" else ZSH * (args.shell == "zsh") + _bash(), end="")
    return 0


def _options(name: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Return (option, its help, its values) of a command; a file or an example has no option."""
    whole = parser(name)
    commands = next(a for a in whole._actions if isinstance(a, argparse._SubParsersAction))
    for action in commands.choices[name]._actions:
        values = tuple(map(str, action.choices or ()))
        if action.dest in ("file", "files"):
            values = example_names()
        yield next((o for o in action.option_strings if o.startswith("--")), ""), str(action.help), values


def _bash() -> str:
    cases = []
    for name in COMMANDS:
        options = list(_options(name))
        words = [option for option, *_ in options if option]
        words += dict.fromkeys(value for *_, values in options for value in values)
        cases.append(f'  {name}) words="{" ".join(words)}" ;;')
    return BASH.format(cases="\n".join(cases), commands=" ".join(COMMANDS))


def _fish() -> str:
    start = "complete -c gpuplan -n __fish_use_subcommand -f"
    lines = [f"{start} -a {name} -d {_text(COMMANDS[name][1])}" for name in COMMANDS]
    for name in COMMANDS:
        here = f"complete -c gpuplan -n '__fish_seen_subcommand_from {name}'"
        for option, words, values in _options(name):
            choices = f" -a '{' '.join(values)}'" if values else ""
            named = f" -l {option[2:]}{' -x' * bool(values)}" if option else ""
            if named or choices:
                lines.append(f"{here}{named}{choices} -d {_text(words)}")
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
