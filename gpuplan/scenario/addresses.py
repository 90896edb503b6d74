"""Names and addresses as text in one form, however they are typed: host names, IPv4 and IPv6 addresses, subnets, ranges, e-mail."""

import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network

LONGEST_NAME = 253
"""Most characters of a host name with its domain."""
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*(?!\d+$){_LABEL}", re.ASCII)
_MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}", re.ASCII)


def address_text(given: str) -> str | None:
    """Return an IPv4 or IPv6 address.

    >>> address_text("2001:DB8::0001"), address_text("10.0.0.256")
    ('2001:db8::1', None)
    """
    try:
        return str(ip_address(given)) if "%" not in given else None
    except ValueError:
        return None


def subnet_text(given: str) -> str | None:
    """Return a subnet with its prefix; None if its address is that of a host in it."""
    try:
        return str(ip_network(given)) if re.search(r"/\d+$", given) else None
    except ValueError:
        return None


def range_text(given: str) -> str | None:
    """Return the first and the last of consecutive addresses.

    >>> range_text("10.22.13.11 to 10.22.13.26"), range_text("10.22.13.26-10.22.13.11")
    ('10.22.13.11-10.22.13.26', None)
    """
    ends = [address_text(end) or "" for end in re.split(r"\s*(?:-|\u2013|\bto\b)\s*", given)]
    if len(ends) != 2 or "" in ends:
        return None
    first, last = (ip_address(end) for end in ends)
    return "-".join(ends) if first.version == last.version and int(first) <= int(last) else None


def name_text(given: str) -> str | None:
    """Return the name of a host or a domain, in small letters.

    >>> name_text("VC01.Example.com"), name_text("vc_01"), name_text("10.0.0.1")
    ('vc01.example.com', None, None)
    """
    name = given.lower()
    return name if len(name) <= LONGEST_NAME and _NAME.fullmatch(name) else None


def server_text(given: str) -> str | None:
    """Return the name or the address of a server."""
    return address_text(given) or name_text(given)


def mail_text(given: str) -> str | None:
    """Return an e-mail address."""
    mailbox, _, domain = given.rpartition("@")
    return f"{mailbox}@{domain.lower()}" if _MAILBOX.fullmatch(mailbox) and name_text(domain) else None


def each(read: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Return a reader of several such values, with commas or spaces between them."""

    def several(given: str) -> str | None:
        values = [read(part) for part in re.split(r"[,;\s]+", given.strip(",; "))]
        return ", ".join(dict.fromkeys(value for value in values if value)) if all(values) else None

    return several
