"""The brand of an example firm, as its file has it, for the tests of all files."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

from gpuplan.deliver.brand import Brand, brand_of, plain_picture

LOGO = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAIAAAB/FOjAAAAAGUlEQVR4nGOsk7dlIAUwkaR6VMOohiGlAQDElgEKCV8u9AAAAABJRU5ErkJggg=="
)
"""A picture of 16 x 8 points."""
OWN_LOGO = plain_picture(LOGO)
"""The same as it is in the files."""
TEXT = """
name: ACME Systems
logo: logo.png
colours: {accent: "#7A1F3D", ink: "#201018", quiet: "#5E4A52"}
fonts: {headings: Georgia, text: Verdana}
footer: ACME Systems, confidential
currency: EUR
paper: letter
"""


def acme(folder: Path) -> Brand:
    """The brand, read from a folder as a user would have it."""
    (folder / "logo.png").write_bytes(LOGO)
    return brand_of(TEXT.encode(), folder)


ACME = Brand(
    name="ACME Systems",
    logo=OWN_LOGO,
    accent="7A1F3D",
    ink="201018",
    quiet="5E4A52",
    headings="Georgia",
    text="Verdana",
    footer="ACME Systems, confidential",
    currency="EUR",
    paper="letter",
)
