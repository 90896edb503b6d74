"""Whether a rebuilt house gives the answers of the one before: ``make same SINCE=<commit>``.

Two checkouts answer the same questions, each with its own package, and every answer is compared: the plan as JSON, the
text of every command, the content of every file for the customer, and the data of every part of every step of the app.
The questions are the examples and scenarios at random, made once, from the schema of the commit before: an example of
which a few inputs were changed, so that some are refused, as they would be for a user.

Only what both checkouts have is used: the command line, ``gpuplan.app.workbook``, and the state of its widgets.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import hashlib
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[1]
COMMANDS = (
    ("plan",),
    ("plan", "--json"),
    ("plan", "--customer"),
    ("demand",),
    ("demand", "--json"),
    ("network",),
    ("network", "--json"),
    ("cost",),
    ("cost", "--json"),
    ("cost", "--customer"),
    ("sensitivity",),
    ("sensitivity", "--json"),
)
"""Commands about one scenario."""
EXPLORED = ("--failures", "0", "--failures", "1", "--workers", "1")
"""What random scenarios are explored with; the examples are explored whole."""
ALONE = (
    *(("--help",), ("--version",), ("catalog",), ("catalog", "--json"), ("schema",)),
    *(
        (name, "--help")
        for name in ("plan", "demand", "network", "cost", "explore", "sensitivity", "compare")
    ),
    *((name, "--help") for name in ("report", "validate", "audit", "calibrate", "catalog", "schema", "app")),
    ("compare", "enterprise", "starter", "current"),
    ("compare", "enterprise", "starter", "--json"),
    ("plan", "nothing"),
    ("plan", "--nothing", "enterprise"),
    ("demand", "starter", "--simulate", "--around", "1"),
    ("demand", "enterprise", "--simulate", "--json"),
)
"""Commands about no scenario, or about the examples."""
SHORT_TRACES = {
    "jobs": "submit_time,start_time,duration,num_gpus,vc,user,state\n"
    + "".join(
        f"2024-05-{1 + n // 9:02} {8 + n % 9:02}:{7 * n % 60:02}:00,2024-05-{1 + n // 9:02} {9 + n % 9:02}:00:00,"
        f"{600 + 97 * n},{(1, 2, 4, 0.5)[n % 4]},{('vision', 'speech', 'text')[n % 3]},user{n % 7},Pass\n"
        for n in range(180)
    ),
    "sacct": "JobID|User|Account|Partition|Submit|Start|End|Elapsed|State|NNodes|ReqTRES|AllocTRES\n"
    + "".join(
        f"{100 + n}|u{n % 5}|physics|gpu|2024-05-{1 + n // 9:02}T08:{n % 60:02}:00|2024-05-{1 + n // 9:02}T09:00:00|"
        f"2024-05-{1 + n // 9:02}T1{n % 9}:10:00|0{1 + n % 9}:10:00|COMPLETED|1|cpu=8,gres/gpu={1 + n % 4}|"
        f"cpu=8,gres/gpu:a100={1 + n % 4},gres/gpu={1 + n % 4}\n"
        f"{100 + n}.batch||physics||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1||cpu=8\n"
        for n in range(90)
    ),
    "samples": "time,host,gpu,gpu_util,project\n"
    + "".join(
        f"2024-05-01 {n // 8 % 24:02}:{n // 192:02}:00,n{n % 4},{n // 4 % 2},{37 * n % 101},{('a', 'b')[n % 2]}\n"
        for n in range(960)
    ),
    "smi": "timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB]\n"
    + "".join(
        f"2024/05/01 12:{n // 120 % 60:02}:{n // 2 % 60:02}.123, {n % 2}, GPU-{n % 2}, NVIDIA A100, {n % 101} %, 1024 MiB\n"
        for n in range(600)
    ),
    "prometheus": json.dumps(
        {
            "status": "success",
            "data": {
                "resultType": "matrix",
                "result": [
                    {
                        "metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": str(gpu), "Hostname": "n1"},
                        "values": [[1714557600 + 60 * n, str((13 * n + gpu) % 101)] for n in range(300)],
                    }
                    for gpu in range(4)
                ],
            },
        }
    ),
}
"""Files for an audit, one of each kind; others are made by damaging them."""
DAMAGED = 60
SHOWN = 30
"""Lines of a difference that are printed."""
COMMANDS_ALONE = "commands"
ROOM = re.compile(r"\bmodels\.[\w.]*\.(?=\w)")
"""Where a model function stands is no answer: a line's ``function`` is compared by its name."""
STEPS = ("start", "usecases", "demand", "hosts", "network", "cost", "compare", "design", "deliver")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    compared = commands.add_parser("compare", help="a commit with the tree as it is")
    compared.add_argument("since", help="commit before")
    compared.add_argument("--random", type=int, default=300, metavar="N", help="scenarios at random")
    compared.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    compared.add_argument("--only", default="", help="scenarios whose name this expression finds")
    compared.add_argument("--at", type=Path, default=TREE / "build" / "same", help="folder for what is kept")
    compared.set_defaults(run=_compare)
    asked = commands.add_parser("answer", help="the questions of a folder, by the package on the path")
    asked.add_argument("questions", type=Path)
    asked.add_argument("answers", type=Path)
    asked.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("AT", "OF"))
    asked.add_argument("--only", default="")
    asked.set_defaults(run=_answer)
    args = parser.parse_args()
    return int(args.run(args))


def _compare(args: argparse.Namespace) -> int:
    args.at.mkdir(parents=True, exist_ok=True)
    commit = _git("rev-parse", "--short=12", args.since)
    before = args.at / f"tree-{commit}"
    if not before.exists():
        with tarfile.open(fileobj=io.BytesIO(_git_bytes("archive", commit))) as archive:
            archive.extractall(before, filter="data")
    questions = args.at / f"questions-{commit}"
    _ask(before, questions, args.random)
    _answers(before, questions, args.at / f"answers-{commit}", args, again=False)
    _answers(TREE, questions, args.at / "answers-now", args, again=True)
    names = _named(questions, args.only)
    return _differences(args.at / f"answers-{commit}", args.at / "answers-now", names)


def _named(questions: Path, only: str) -> list[str]:
    return [path.stem for path in sorted(questions.glob("*.json")) if re.search(only, path.stem)]


def _git_bytes(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=TREE, check=True, stdout=subprocess.PIPE).stdout


def _git(*words: str) -> str:
    return _git_bytes(*words).decode().strip()


def _environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree), "COLUMNS": "100", "PYTHONHASHSEED": "0"}


def _ask(tree: Path, questions: Path, count: int) -> None:
    """Write the questions as scenario files: the examples, and others at random."""
    questions.mkdir(exist_ok=True)
    made = subprocess.run(
        [sys.executable, "-m", "gpuplan.cli", "schema"],
        env=_environment(tree),
        check=True,
        capture_output=True,
        text=True,
    )
    schema = json.loads(made.stdout)
    import yaml

    examples = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted((tree / "data" / "scenarios").glob("*.yaml"))
    }
    for name, example in examples.items():
        (questions / f"{name}.json").write_text(json.dumps(example, default=str))
    for number in range(count):
        dice = random.Random(number)
        example = json.loads(json.dumps(examples[dice.choice(sorted(examples))], default=str))
        _change(example, schema, dice)
        (questions / f"random-{number:03}.json").write_text(json.dumps(example))
    for number in range(-len(SHORT_TRACES), DAMAGED):
        dice = random.Random(number)
        kind = sorted(SHORT_TRACES)[number % len(SHORT_TRACES)]
        text = SHORT_TRACES[kind]
        for _ in range(dice.randint(1, 3) if number >= 0 else 0):
            at = int(len(text) * dice.random() ** 2)
            text = (
                text[:at]
                + dice.choice(("", "x", "-1", ",", "|", "\n", '"', "999999999", "\t"))
                + text[at + 1 :]
            )
        name = f"{kind}-{number:02}" if number >= 0 else kind
        (questions / f"{name}.trace").write_text(text)


def _change(scenario: dict[str, Any], schema: dict[str, Any], dice: random.Random) -> None:
    """Change a few inputs of a scenario, and now and then its groups, to what the schema allows."""
    parts = schema["properties"]
    if dice.random() < 0.5 and len(scenario["groups"]) > 1:
        scenario["groups"].pop(dice.randrange(len(scenario["groups"])))
    leaves = [
        (scenario.setdefault(section, {}), name, rule)
        for section, rules in parts.items()
        if rules.get("type") == "object" and section not in ("origins", "internal")
        for name, rule in rules.get("properties", {}).items()
    ]
    by_group = parts["groups"]["items"]["properties"]
    leaves += [
        (group, name, rule)
        for group in scenario["groups"]
        for name, rule in by_group.items()
        if name not in ("id", "name")
    ]
    for holder, name, rule in dice.sample(leaves, min(len(leaves), dice.randint(1, 7))):
        value = _value(holder.get(name), rule, dice)
        if value is not _NOTHING:
            holder[name] = value


_NOTHING = object()


def _value(now: Any, rule: dict[str, Any], dice: random.Random) -> Any:
    """A value that a rule of the schema allows, near the one that is there."""
    if "anyOf" in rule:
        return _value(now, dice.choice(rule["anyOf"]), dice)
    if "enum" in rule:
        return dice.choice(rule["enum"])
    low, high = rule.get("minimum", 0), rule.get("maximum", 100)
    if rule.get("type") in ("integer", "number"):
        near = now if isinstance(now, int | float) and not isinstance(now, bool) and now else max(low, 1)
        near *= math.exp(dice.gauss(0, 0.7))
        found = min(max(near, low), min(high, 10 * max(abs(near), 1)))
        return round(found) if rule["type"] == "integer" else float(f"{found:.3g}")
    return {"boolean": dice.random() < 0.5, "null": None}.get(rule.get("type", ""), _NOTHING)


def _answers(tree: Path, questions: Path, answers: Path, args: argparse.Namespace, *, again: bool) -> None:
    """Let a checkout answer what it has not answered yet, in as many processes as asked for."""
    answers.mkdir(exist_ok=True)
    if again:
        for old in answers.iterdir():
            old.unlink()
    script = Path(__file__).resolve()
    words = [sys.executable, str(script), "answer", str(questions), str(answers), "--only", args.only]
    asked = [
        subprocess.Popen([*words, "--part", str(at), str(args.jobs)], env=_environment(tree), cwd=tree)
        for at in range(args.jobs)
    ]
    if [process for process in asked if process.wait()]:
        raise SystemExit(f"{tree} could not answer")


def _answer(args: argparse.Namespace) -> int:
    at, of = args.part
    names = _named(args.questions, args.only)
    for name in [name for number, name in enumerate(names) if number % of == at]:
        kept = args.answers / f"{name}.json.gz"
        if not kept.exists():
            _keep(kept, _about(args.questions / f"{name}.json", whole=not name.startswith("random-")))
    kept = args.answers / f"{COMMANDS_ALONE}.json.gz"
    if at == 0 and not kept.exists() and re.search(args.only, COMMANDS_ALONE):
        audited = {
            f"audit {path.stem} {' '.join(form)}": _said("audit", str(path), *form).replace(str(path), "FILE")
            for path in sorted(args.questions.glob("*.trace"))
            for form in ((), ("--json",), ("--on", "enterprise"))
        }
        _keep(kept, {" ".join(words): _said(*words) for words in ALONE} | audited)
    return 0


def _keep(path: Path, answers: dict[str, Any]) -> None:
    with gzip.open(path, "wt", compresslevel=3) as file:
        json.dump(answers, file, sort_keys=True)


def _kept(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt") as file:
        return dict(json.loads(ROOM.sub("models.", file.read())))


def _about(file: Path, *, whole: bool) -> dict[str, Any]:
    """All that a checkout says about one scenario."""
    found: dict[str, Any] = {
        " ".join(words): _said(words[0], str(file), *words[1:]).replace(str(file), "FILE")
        for words in COMMANDS
    }
    for form in ((), ("--json",), ("--csv",)):
        some = () if whole else EXPLORED
        found[" ".join(("explore", *form))] = _said("explore", str(file), *some, *form)
    found["explore"] = re.sub(r"[\d.]+ (ms|s)\b", "TIME", found["explore"])
    for internal in ((), ("--internal",)):
        with tempfile.TemporaryDirectory() as to:
            said = _said("report", str(file), "--to", to, *internal).replace(to, "DIR")
            found[" ".join(("report", *internal))] = said
            for path in sorted(path for path in Path(to).rglob("*") if path.is_file()):
                found |= {f"file {' '.join(internal)} {name}": text for name, text in _content(path)}
    if "Traceback" not in found["plan"] and found["plan"].startswith("code 0"):
        found |= _screens(file, whole=whole)
    return found


def _said(*words: str) -> str:
    """Exit code and output of a command."""
    from gpuplan.cli import main as run

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code: Any = run(list(words))
        except SystemExit as left:
            code = left.code
    return f"code {code}\n{out.getvalue()}"


def _content(path: Path) -> Iterator[tuple[str, str]]:
    """Name and content of a file, and of each member of one that is packed."""
    if path.suffix in (".docx", ".pptx", ".xlsx", ".zip"):
        with zipfile.ZipFile(path) as packed:
            for name in sorted(packed.namelist()):
                yield f"{path.name}/{name}", _text(packed.read(name))
    else:
        yield path.name, _text(path.read_bytes())


def _text(content: bytes) -> str:
    """Text as it is, with a line for each XML element; anything else by its hash."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return f"{len(content)} bytes, {hashlib.sha256(content).hexdigest()}"
    text = re.sub(
        r"data:image/png;base64,([\w+/=]+)",
        lambda found: hashlib.sha256(base64.b64decode(found[1])).hexdigest(),
        text,
    )
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text).replace("><", ">\n<")


def _screens(file: Path, *, whole: bool) -> dict[str, Any]:
    """The data of every part of every step, as our own version and as the customer's, with a host that failed."""
    import ipywidgets

    from gpuplan import load_scenario
    from gpuplan.app import workbook

    app = workbook(load_scenario(str(file)))
    book = app.workbook
    found: dict[str, Any] = {}

    def look(about: str) -> None:
        for step in STEPS:
            book.go(step)
            found.update({f"app {about} {step} {at}": data for at, data in _parts(app)})

    look("own")
    for key in book.plan.lines if whole else ():
        book.drawer = key
        found[f"app why {key}"] = [data for at, data in _parts(app.children[2])]
    pools = [pool.id for pool in book.plan.pools]
    if pools:
        book.toggle_host(pools[0], 1)
        book.go("hosts")
        found.update({f"app host 1 down, {at}": data for at, data in _parts(app)})
    book.look_as(True)
    look("customer")
    ipywidgets.Widget.close_all()
    return found


def _parts(widget: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Where each part of the screen stands, and its data; of a chart its rows and its specification."""
    for name in ("data", "rows", "spec"):
        if widget.has_trait(name):
            yield f"{at}/{name}", json.loads(json.dumps(getattr(widget, name), default=str))
    for number, child in enumerate(getattr(widget, "children", ())):
        yield from _parts(child, f"{at}/{number}")


def _differences(before: Path, now: Path, names: list[str]) -> int:
    """Print what differs, each kind of thing with one example, and how often."""
    kinds: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    lost: dict[str, set[str]] = {}
    counted = 0
    for name in [*names, COMMANDS_ALONE]:
        paths = [folder / f"{name}.json.gz" for folder in (before, now)]
        if not paths[1].exists():
            continue
        old, new = (_kept(path) for path in paths)
        counted += len(old)
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                kind = re.sub(r"file (.*?) [^/ ]*?(\.\w+)(/|$)", r"file \1 *\2\3", key)
                kinds.setdefault(kind, []).append(name)
                examples.setdefault(kind, _difference(old.get(key), new.get(key)))
                if missing := _numbers_lost(old.get(key), new.get(key)):
                    lost.setdefault(kind, set()).update(missing)
    for kind, where in kinds.items():
        print(f"\n== {kind}: {len(where)} differ, first in {where[0]}\n{examples[kind]}")
        if kind in lost:
            print(f"numbers that are no longer there: {', '.join(sorted(lost[kind])[:SHOWN])}")
    print(f"\n{len(names)} scenarios, {counted} answers compared, {sum(map(len, kinds.values()))} differ")
    return 1 if kinds else 0


NUMBER = re.compile(r"\d[\d\u202f.]*")


def _numbers_lost(old: Any, new: Any) -> list[str]:
    """Numbers that a text had and has no longer, wherever they stood: what a change of form must not do."""
    if not isinstance(old, str) or not isinstance(new, str) or re.match(r"\s*<|\d+ bytes, ", old):
        return []
    kept = {found.rstrip(".") for found in NUMBER.findall(new)}
    return sorted({found.rstrip(".") for found in NUMBER.findall(old)} - kept)


def _difference(old: Any, new: Any) -> str:
    lines = [
        ("" if side is None else side if isinstance(side, str) else json.dumps(side, indent=1)).splitlines()
        for side in (old, new)
    ]
    found = list(unified_diff(*lines, "before", "now", lineterm="", n=1))
    return "\n".join(line[:240] for line in found[:SHOWN])


if __name__ == "__main__":
    sys.exit(main())
