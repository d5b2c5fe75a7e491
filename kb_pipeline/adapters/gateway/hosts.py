"""Which hosts a turn's text may be sent to: private ones, unless the operator allows others.

Belongs here: addresses, names, the form of the judge's URL. Does not: the call.
"""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

from kb_pipeline.errors import JudgeRefused

Address = IPv4Address | IPv6Address

PRIVATE_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "0.0.0.0/32",
        "::1/128", "fc00::/7", "fe80::/10", "::/128",
    )
)  # fmt: skip
PRIVATE_SUFFIXES = (".local", ".internal", ".lan", ".svc", ".localhost", ".home.arpa")
_COMPLETIONS = "/chat/completions"
_HOST = re.compile(rb"[0-9A-Za-z_.-]+|[0-9A-Fa-f:.]+(?:%[0-9A-Za-z_.-]+)?")
_PORTS = 65_536


def refuse_public_host(url: str, *, allow_external: bool) -> None:
    """Raise JudgeRefused unless `url` is usable and its host private, or `allow_external`.

    Private are loopback, RFC 1918, unique-local, link-local and carrier-grade NAT addresses, names without a dot,
    and names under .local, .internal, .lan, .svc, .localhost and home.arpa. Any other name is resolved (this may
    block) and each of its addresses must be private; a name without an address is let through, since nobody can be
    called there.
    """
    parsed = parsed_url(url)
    if allow_external or is_private_name(parsed.host):
        return
    for address in _addresses(parsed):
        if not is_private_address(address):
            raise JudgeRefused(
                f"the judge's host {parsed.host} has the public address {address}: turns may only go to a private "
                "host; set rag_quality.judge_base_url to one, or rag_quality.allow_external_judge to true"
            )


def endpoint_of(url: str) -> str:
    """The chat completions URL of a base URL, which may end in a slash, in /v1 or in the whole path already."""
    parsed = parsed_url(url)
    path = parsed.path.rstrip("/")
    if not path.endswith(_COMPLETIONS):
        path += _COMPLETIONS if path.endswith("/v1") else f"/v1{_COMPLETIONS}"
    return str(parsed.copy_with(path=path, query=None, fragment=None))


def parsed_url(url: str) -> httpx.URL:
    """`url` in parts; raises JudgeRefused, never repeating a password, when it cannot be called."""
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError):
        raise JudgeRefused("the judge's URL cannot be read; write http://host:port or https://host") from None
    if parsed.userinfo:
        raise JudgeRefused("the judge's URL holds a user name or password; write it without, as http://host:port")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise JudgeRefused(
            f"the judge's URL has no host or the scheme {parsed.scheme!r}; write http://host:port or https://host"
        )
    if not _HOST.fullmatch(parsed.raw_host) or not 0 < (parsed.port or 1) < _PORTS:
        raise JudgeRefused("the judge's URL names an impossible host or port; write http://host:port or https://host")
    return parsed


def is_private_name(host: str) -> bool:
    """Whether `host` is private by its form: a private address, a name without a dot, a name in a private domain."""
    address = as_address(host)
    if address is not None:
        return is_private_address(address)
    name = host.lower()
    if name.endswith("."):
        # Written absolute, a name without another dot is a top-level domain.
        return name[:-1].endswith(PRIVATE_SUFFIXES) or name == "localhost."
    return "." not in name or name.endswith(PRIVATE_SUFFIXES)


def is_private_host(url: httpx.URL) -> bool:
    """Whether a URL's host is private by its form, or by every address that its name has now (this may block)."""
    return is_private_name(url.host) or all(map(is_private_address, _addresses(url)))


def is_private_address(address: Address) -> bool:
    """Whether `address`, or the IPv4 address that it maps, lies in a private network."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in PRIVATE_NETWORKS if network.version == address.version)


def as_address(host: str) -> Address | None:
    """The address that `host` spells, in any form the system accepts (8.8.8.8, 134744072, 0x08080808, ::1%lo)."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _addresses(url: httpx.URL) -> list[Address]:
    literal = as_address(url.host)
    if literal is not None:
        return [literal]
    try:
        found = socket.getaddrinfo(url.raw_host.decode("ascii"), url.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [address for entry in found if (address := as_address(str(entry[4][0]))) is not None]
