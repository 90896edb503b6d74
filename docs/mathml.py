"""Formulas in the prose of docstrings, found and written as MathML: browsers draw it without a script.

A docstring says ``ceil(hosts / (most_hosts - spare_hosts))`` as a terminal shows it; the site shows a fraction in a ceiling.
"""

import re
from html import escape

TOKEN = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)|(?P<name>[A-Za-z]\w*(?:\[\w+\])?)"
    r"|(?P<operator>\*\*|-\+|<=|>=|[-+*/^=<>|])|(?P<open>[(])|(?P<close>[)])|(?P<comma>,)"
)
WORDS = set(
    re.findall(
        r"\w+",
        "a all an and any are as at be both but by each else for from has have if in into is it its most no none "
        "not of on one or over per so than that the their them then there these they this those to two what when where which who with within without",
    )
)
"""Words of a sentence: a formula ends before them."""
FUNCTIONS = {
    "min",
    "max",
    "ceil",
    "floor",
    "exp",
    "sqrt",
    "log",
    "log2",
    "sum",
    "P",
    "Gamma",
    "payload",
    "exposed",
}
SIGNS = {"*": "×", "x": "×", "-": "−", "<=": "≤", ">=": "≥", "-+": "∓"}
SUMS = {"sum_of": "∑", "product_of": "∏"}
LEVELS = ({"=", "<", ">", "<=", ">=", "|"}, {"+", "-", "-+"}, {"*", "x", "/"})


class NoFormula(ValueError):
    """The text is prose."""


class _Reader:
    """Reads tokens of one candidate from left to right: relations, sums, products, powers."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.at, self.depth = tokens, 0, 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.at += 1
        return token

    def chain(self, level: int = 0) -> str:
        """Operands of a level with their signs between them."""
        if level == len(LEVELS) - 1:
            return self.product()
        sign = self.take()[1] if level == 1 and self.peek()[1] == "-" else ""
        parts = [sign and "<mo>−</mo>", self.chain(level + 1)]
        while self.peek()[1] in LEVELS[level]:
            sign = self.take()[1]
            parts += [f"<mo>{escape(SIGNS.get(sign, sign))}</mo>", self.chain(level + 1)]
        return "".join(parts)

    def product(self) -> str:
        """Factors; ``a / b / c`` is one fraction with two factors below."""
        factors: list[tuple[list[str], list[str]]] = [([self.power()], [])]
        while self.peek()[1] in LEVELS[2]:
            if self.take()[1] == "/":
                factors[-1][1].append(self.power())
            else:
                factors.append(([self.power()], []))
        return "<mo>×</mo>".join(map(_fraction, factors))

    def power(self) -> str:
        """Neighbours without a sign are a product, or words that belong together."""
        parts = [self.raised()]
        words = [self.tokens[self.at - 1][1]]
        while self.peek()[0] in ("number", "name", "open") and self.peek()[1] not in LEVELS[2]:
            kind, text = self.peek()
            if (
                not self.depth
                and kind == "name"
                and len(text) > 2
                and len(words[-1]) > 2
                and words[-1].isalpha()
            ):
                raise NoFormula("two words of prose")
            words.append(text)
            parts.append(self.raised())
        return '<mspace width="0.25em"/>'.join(parts)

    def raised(self) -> str:
        base = self.atom()
        while self.peek()[1] in ("**", "^"):
            self.take()
            base = f"<msup><mrow>{base}</mrow><mrow>{self.atom(bare=True)}</mrow></msup>"
        return base

    def group(self) -> list[str]:
        """What stands in parentheses, by commas."""
        self.depth += 1
        parts = [self.chain()]
        while self.peek()[0] == "comma":
            self.take()
            parts.append(self.chain())
        if self.take()[0] != "close":
            raise NoFormula("a parenthesis is not closed")
        self.depth -= 1
        return parts

    def atom(self, bare: bool = False) -> str:
        kind, text = self.take()
        if kind == "number":
            return f"<mn>{text}</mn>"
        if kind == "open":
            inner = "<mo>,</mo>".join(self.group())
            return inner if bare else f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"
        if kind == "operator" and text == "-":
            return f"<mo>−</mo>{self.atom()}"
        if kind != "name":
            raise NoFormula(f"{text!r} is no operand")
        if text in SUMS:
            return f"<mo>{SUMS[text]}</mo>{self.raised()}"
        if self.peek()[0] == "open" and (text in FUNCTIONS or len(text) == 1):
            self.take()
            return _call(text, "<mo>,</mo>".join(self.group()))
        head, _, foot = text.partition("_")
        if foot and len(head) == 1:
            return f"<msub><mi>{head}</mi><mtext>{foot}</mtext></msub>"
        return f"<mi>{text}</mi>" if len(text) == 1 else f"<mtext>{escape(text)}</mtext>"


def _bare(part: str) -> str:
    """A part without its parentheses, if it is all in one pair."""
    depths = [0]
    for tag in re.findall(r"</?mrow>", part):
        depths.append(depths[-1] + (1 if tag == "<mrow>" else -1))
    whole = (
        part.startswith("<mrow><mo>(</mo>") and part.endswith("<mo>)</mo></mrow>") and 0 not in depths[1:-1]
    )
    return part.removeprefix("<mrow><mo>(</mo>").removesuffix("<mo>)</mo></mrow>") if whole else part


def _fraction(factor: tuple[list[str], list[str]]) -> str:
    above, below = factor
    if not below:
        return "".join(above)
    under = _bare(below[0]) if len(below) == 1 else "<mo>×</mo>".join(below)
    return f"<mfrac><mrow>{''.join(map(_bare, above))}</mrow><mrow>{under}</mrow></mfrac>"


def _call(name: str, inner: str) -> str:
    if name == "sqrt":
        return f"<msqrt><mrow>{inner}</mrow></msqrt>"
    for function, left, right in (("ceil", "⌈", "⌉"), ("floor", "⌊", "⌋")):
        if name == function:
            return f"<mrow><mo>{left}</mo>{inner}<mo>{right}</mo></mrow>"
    label = "<mo>∑</mo>" if name == "sum" else f"<mi>{'Γ' if name == 'Gamma' else name}</mi>"
    return f"<mrow>{label}<mo>(</mo>{inner}<mo>)</mo></mrow>"


def mathml(text: str, block: bool = False) -> str:
    """A formula as MathML; `NoFormula` if the text is prose."""
    tokens = [(str(m.lastgroup), m[0]) for m in TOKEN.finditer(text)]
    tokens = [("operator", word) if word == "x" else (kind, word) for kind, word in tokens]
    if TOKEN.sub("", text).strip():
        raise NoFormula("a sign that no formula has")
    reader = _Reader(tokens)
    if tokens and tokens[-1][1] in ("sum", "product", "times"):
        raise NoFormula("it goes on in words")
    inner = reader.chain()
    if reader.peek()[0] != "end":
        raise NoFormula("more than one expression")
    return f'<math display="{"block" if block else "inline"}"><mrow>{inner}</mrow></math>'


SPACED = re.compile(r"\S (?:[-+*/=<>x^]|\*\*|-\+|<=|>=) \S|\b(?:ceil|floor|min|max|sqrt|exp)\(")
"""What only a formula has: a sign between two spaces, or one of the functions."""


def _pieces(text: str) -> list[str]:
    """The text cut where a formula may begin or end: at punctuation and words of prose outside of parentheses."""
    pieces, depth, start = [], 0, 0
    for match in re.finditer(
        r"[()]|[.,:;](?=\s|$)|(?<![\w-])[A-Za-z]+(?![\w(\[-])|``[^`]*``|\[[^\]]*\]_?", text
    ):
        token = match[0]
        depth = max(0, depth + (token == "(") - (token == ")"))
        if depth or token in "()" or not (token in WORDS or token in ".,:;" or token[0] in "`["):
            continue
        pieces += [text[start : match.start()], token]
        start = match.end()
    return [*pieces, text[start:]]


def _aside(text: str) -> bool:
    """Whether it is a remark in parentheses."""
    return text[:1] == "(" and ")" not in text[:-1] and bool(WORDS & set(re.findall(r"[a-z]+", text)))


LEAD = re.compile(r"^(\s*(?:[A-Za-z]{2,} (?=[\w(])(?!x ))*)(.*?)((?:(?<=\)) [a-z]{4,})?\s*)$", re.S)
"""Words before a formula, the formula, and a word or spaces after it."""


BLOCK_END = "\\ \u200b"
"""Ends a formula of its own line, and lets the next one have a line, too."""


def marked(text: str) -> str:
    """The text with each formula in it as a role of Sphinx; one that is a sentence, or begins one, is a block."""
    pieces = _pieces(re.sub(r"\b(sum|product) of (?=[(a-z])", r"\1_of ", text))
    done = ""
    for n, piece in enumerate(pieces):
        lead, formula, rest = re.findall(LEAD, piece)[0]
        after = pieces[n + 1] if n + 1 < len(pieces) else "."
        try:
            if (
                not SPACED.search(formula)
                or pieces[n - 1] in ("a", "and", "of")
                or after == "of"
                or _aside(formula)
            ):
                raise NoFormula("no sign, or part of a phrase")
            mathml(formula)
        except NoFormula:
            done += re.sub(r"(sum|product)_of", r"\1 of", piece)
            continue
        starts = not done.strip() or done.rstrip().endswith((".", ":", "]_", BLOCK_END))
        begins = starts and not rest.strip()
        role = "formula-block" if begins and not lead.strip() and after in ".,:;" else "formula"
        if role == "formula-block" and after in ".," and n + 1 < len(pieces):
            pieces[n + 1] = ""
        done += f"{lead}:{role}:`{formula}`" + (rest or (BLOCK_END if role == "formula-block" else "\\ "))
    return re.sub("\u200b ?", "", done)
