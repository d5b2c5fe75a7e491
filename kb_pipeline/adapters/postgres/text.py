"""What PostgreSQL can store of a text: it takes neither NUL nor lone surrogates.

Belongs here: the one replacement that every writer of foreign text uses. Does not: redaction.
"""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """The text with NUL and lone surrogates replaced by U+FFFD; unchanged where it has none."""
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)
    return text
