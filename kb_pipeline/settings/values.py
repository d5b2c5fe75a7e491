"""The kinds of values that a setting can hold, each with the words for what it accepts.

Belongs here: types and their validators. Does not: which settings exist, reading files.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Annotated, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, Strict

DATABASE_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2")
DATABASE_DRIVER = "postgresql+psycopg"
LEAST_KEY_BYTES = 32
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Accepts:
    """The words for what a type accepts, where they do not follow from its bounds."""

    words: str


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a value that no message may show."""


class Section(BaseModel):
    """A part of the configuration: frozen, no unknown keys, no silent conversion of types."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        validate_default=False,
        use_attribute_docstrings=True,
    )


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("text without NUL characters is accepted")
    if not text.strip():
        raise ValueError("text of at least one visible character is accepted")
    return text


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("text without halves of surrogate pairs is accepted") from None
    return text


def _marker(text: str) -> str:
    if not any(map(str.isalnum, text)) or len(text.strip().splitlines()) > 1:
        raise ValueError("text of one line with a letter or a digit in it is accepted")
    return text


def _header_text(text: str) -> str:
    if not (text.isascii() and text.isprintable()) or text != text.strip():
        raise ValueError("printable ASCII without outer spaces is accepted, since it is sent in an HTTP header")
    return text


def _split(url: str, schemes: tuple[str, ...]) -> SplitResult:
    accepted = f"a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)} is accepted"
    if "://" in url and (scheme := url.partition("://")[0]) not in schemes and scheme.isascii() and scheme.isalnum():
        raise ValueError(f"{accepted}, and this one starts with {scheme}://")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(
            f"{accepted}, with a port of digits, and the characters / ? # @ of a password as %2F %3F %23 %40"
        ) from None
    if (
        parts.scheme not in schemes
        or any(character.isspace() or not character.isprintable() for character in url)
        or port == 0
    ):
        raise ValueError(accepted)
    return parts


def _http_url(url: str) -> str:
    if not _split(url, ("http", "https")).hostname:
        raise ValueError("a URL that names a host is accepted, for example http://gateway:8080")
    return url.rstrip("/")


def _judge_url(url: str) -> str:
    parts = _split(url, ("http", "https"))
    if parts.query or parts.fragment or parts.username or parts.password:
        raise ValueError("a URL without ?, #, user name and password is accepted, for example http://gateway:8080")
    return url


def _database_url(url: str) -> str:
    parts = _split(url, DATABASE_SCHEMES)
    if not parts.path.strip("/") and not parts.query:
        raise ValueError(
            f"a URL that names a database is accepted, for example {DATABASE_DRIVER}://user@host:5432/name"
        )
    if set("@/:") & set(parts.path.strip("/")):
        # What follows an unescaped sign of the password would be taken for host and database, and shown as such.
        raise ValueError("a URL whose password writes @ as %40, / as %2F and : as %3A is accepted")
    return DATABASE_DRIVER + url[len(parts.scheme) :]


def _redis_url(url: str) -> str:
    _split(url, ("redis", "rediss", "unix"))
    return url


def _network(text: str) -> str:
    accepted = "the address of a proxy, or a network such as 10.0.0.0/8, is accepted"
    try:
        network = ip_network(text)
    except ValueError as error:
        reason = " (with the bits behind the prefix at 0)" if "host bits" in str(error) else ""
        raise ValueError(accepted + reason) from None
    if network.prefixlen == 0:
        raise ValueError(f"{accepted}, and this one is everybody, who could then claim any address")
    return str(network) if "/" in text else str(network.network_address)


def _session_key(key: SecretStr) -> SecretStr:
    if len(_unicode(key.get_secret_value()).encode()) < LEAST_KEY_BYTES:
        raise ValueError(
            f"text of at least {LEAST_KEY_BYTES} bytes is accepted, for example of openssl rand -base64 32"
        )
    return key


def _queue_name(name: str) -> str:
    if ":" in name:
        raise ValueError("a name without a colon is accepted, as BullMQ asks, for example kb-retrieval-event")
    return name


def _scheme_url(url: str) -> str:
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://\S", url):
        raise ValueError("a notification URL such as mailto://… or slack://… is accepted")
    return url


def _instant(value: object) -> object:
    """`now`, or an ISO 8601 time with its zone, kept in UTC."""
    if value == "now" or (isinstance(value, datetime) and value.tzinfo is not None):
        return value
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise ValueError("now, or a time with its zone such as 2026-07-09T00:00:00+07:00, is accepted")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time from the year 1 to the year 9999 in UTC is accepted") from None


def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled pattern; raises ValueError for one that does not compile or that matches the empty text."""
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"a regular expression of Python's re module is accepted, and this one does not compile ({error})"
        ) from None
    if expression.search(""):
        raise ValueError(
            "a regular expression that needs at least one character is accepted, and this one matches the empty text"
        )
    return expression


def _pattern(pattern: str) -> str:
    compiled(pattern)
    return pattern


def _passage_pattern(pattern: str) -> str:
    if not {"rank", "score"} & compiled(pattern).groupindex.keys():
        raise ValueError("a pattern with a group named rank, score or both is accepted, for example (?P<rank>\\d+)")
    return pattern


def _distinct(items: tuple[Item, ...]) -> tuple[Item, ...]:
    if len(set(items)) < len(items):
        raise ValueError("a list without repetitions is accepted")
    return items


Text = Annotated[str, AfterValidator(_without_nul), AfterValidator(_unicode), Accepts("text")]
Marker = Annotated[Text, AfterValidator(_marker), Accepts("text")]
HeaderText = Annotated[Text, AfterValidator(_header_text), Accepts("printable ASCII")]
QueueName = Annotated[Text, AfterValidator(_queue_name), Accepts("text without a colon")]
SecretText = Annotated[SecretStr, Field(min_length=1), Accepts("text"), Secret()]
SessionKey = Annotated[
    SecretStr, AfterValidator(_session_key), Accepts(f"text of at least {LEAST_KEY_BYTES} bytes"), Secret()
]
Network = Annotated[str, AfterValidator(_network), Accepts("an address or a network")]
Listed = Annotated[tuple[Item, ...], Strict(False)]
DistinctList = Annotated[tuple[Item, ...], Strict(False), AfterValidator(_distinct)]

HttpUrl = Annotated[str, AfterValidator(_http_url), Accepts("an http or https URL")]
JudgeUrl = Annotated[HttpUrl, AfterValidator(_judge_url), Accepts("an http or https URL")]
SecretHttpUrl = Annotated[HttpUrl, Accepts("an http or https URL"), Secret()]
DatabaseUrl = Annotated[str, AfterValidator(_database_url), Accepts("a PostgreSQL URL"), Secret()]
RedisUrl = Annotated[str, AfterValidator(_redis_url), Accepts("a redis, rediss or unix URL"), Secret()]
NotificationUrl = Annotated[str, AfterValidator(_scheme_url), Accepts("a notification URL"), Secret()]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$"), Accepts("64 lower-case hexadecimal digits"), Secret()]
Pattern = Annotated[str, AfterValidator(_pattern), Accepts("a regular expression")]
PassagePattern = Annotated[
    str, AfterValidator(_passage_pattern), Accepts("a regular expression with a group named rank, score or both")
]
StartAt = Annotated[
    datetime | Literal["now"], BeforeValidator(_instant), Accepts("now, or an ISO 8601 time with its zone")
]

Fraction = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
WholeSeconds = Annotated[int, Field(ge=1, le=86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Days = Annotated[int, Field(ge=1, le=36_500)]
Port = Annotated[int, Field(ge=1, le=65_535)]
AnyPort = Annotated[int, Field(ge=0, le=65_535)]
