"""The design document as one HTML file for screen and print, from ``templates/document.html.j2``."""

import re
from base64 import b64encode
from dataclasses import fields

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.document import Document
from gpuplan.deliver.html import templates
from gpuplan.locales import speaking
from gpuplan.wording import said

SHORT = 12
"""Characters of a cell at the right that are never wrapped."""
LINK = re.compile(r"</?a\b[^>]*>")
PAGE = '<div class="page">'


def html_text(document: Document, *, brand: Brand = PLAIN) -> str:
    """A design document as one self-contained HTML file: style and figures are inside, nothing runs or is requested."""
    shown = {field.name: getattr(document, field.name) for field in fields(document)}
    for_customer = said("document.for", title=document.title, customer=document.customer)
    named = for_customer if document.customer else document.title
    logo = {"logo": b64encode(brand.logo).decode(), "logo_kind": brand.logo_kind}
    foot = "  \u00b7  ".join(filter(None, (brand.footer, document.title)))
    with speaking(document.locale):
        template = templates("document").get_template("document.html.j2")
        shown |= {"brand": brand, "foot": foot, "named": named, "short_cell": SHORT}
        return template.render(shown, **logo)


def first_pages(page: str) -> str:
    """Front page, control and contents of a document without links; they take the focus as a whole."""
    label = said("document.first pages")
    front = LINK.sub("", page.partition("<main>")[0])
    reached = front.replace(PAGE, f'{PAGE[:-1]} role="region" aria-label="{label}" tabindex="0">', 1)
    return reached + "</div>\n</body>\n</html>\n"
