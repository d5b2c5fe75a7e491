"""Names of subjects as they go out: fingerprints of a closed alphabet in which no two subjects become one.

Belongs here: cleaning, the grammar id|metric|subject, what covers what. Does not: which subjects there are.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

from kb_pipeline.records import Silence, Subject

PART_CHARS = 36
HASH_CHARS = 12
MAX_FINGERPRINT = 255
UNNAMED = "-"
_FOREIGN = re.compile(r"[^a-z0-9._-]+")
_SUBJECT = re.compile(r"[a-z0-9._-]+(?::[a-z0-9._-]+)*")
_BEGUN = re.compile(r"(?:[a-z0-9._-]+:)*[a-z0-9._-]*")
# What a changed name looks like: an original that looks like one is changed too, so that it cannot pass for another.
_MARKED = re.compile(r"\.h[0-9a-f]{12}$")


def clean(name: str) -> str:
    """A name in [a-z0-9._-], at most 36 characters; one that had to be changed ends in a hash of the original."""
    if not name:
        return UNNAMED
    cleaned = _FOREIGN.sub("-", name.lower())
    if cleaned == name and len(name) <= PART_CHARS and name != UNNAMED and not _MARKED.search(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]
    return f"{cleaned[: PART_CHARS - HASH_CHARS - 2]}.h{digest}"


def subject_text(subject: Subject) -> str:
    """The parts of a subject, cleaned and joined by colons."""
    return ":".join(map(clean, subject))


def fingerprint(rule: str, metric: str, subject: Subject) -> str:
    """`id|metric|subject`: the same for as long as it is the same thing; no severity, value or time is in it.

    Raises ValueError where it would be longer than 255 characters, which takes more than five parts.
    """
    text = f"{rule}|{metric}|{subject_text(subject)}"
    if len(text) > MAX_FINGERPRINT:
        raise ValueError(f"a fingerprint has at most {MAX_FINGERPRINT} characters, and this one has {len(text)}")
    return text


def covers(parent: Subject, child: Subject) -> bool:
    """Whether what is true of the parent is true of the child: its parts begin the child's."""
    return child[: len(parent)] == parent


def silenced(fingerprint_of_alert: str, silences: Iterable[Silence]) -> bool:
    """Whether any of the silences speaks of the alert; they are taken as those of now."""
    return any(matches(fingerprint_of_alert, silence.pattern) for silence in silences)


def matches(fingerprint_of_alert: str, pattern: str) -> bool:
    """Whether the pattern is the fingerprint, its rule, or its beginning with a final *."""
    if pattern.endswith("*"):
        return fingerprint_of_alert.startswith(pattern[:-1])
    return pattern in {fingerprint_of_alert, fingerprint_of_alert.partition("|")[0]}


def may_match(pattern: str, heads: Iterable[tuple[str, str]]) -> bool:
    """Whether a pattern of a silence names alerts that there may be, and not simply all of them.

    `heads` are rule and metric of every rule. A rule, a whole fingerprint, or with a final * the beginning of one.
    """
    beginnings = [f"{rule}|{metric}|" for rule, metric in heads]
    if not pattern.endswith("*"):
        is_rule = any(head.partition("|")[0] == pattern for head in beginnings)
        return is_rule or any(_is_below(pattern, head, _SUBJECT) for head in beginnings)
    begun = pattern[:-1]
    return bool(begun) and any(head.startswith(begun) or _is_below(begun, head, _BEGUN) for head in beginnings)


def _is_below(text: str, head: str, grammar: re.Pattern[str]) -> bool:
    is_short = len(text) <= MAX_FINGERPRINT
    return is_short and text.startswith(head) and bool(grammar.fullmatch(text.removeprefix(head)))
