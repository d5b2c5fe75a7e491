"""The certificate authorities that calls of this process trust.

Belongs here: reading them. Does not: calls.
"""

import ssl
from functools import cache

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """Those of SSL_CERT_FILE or SSL_CERT_DIR, so that a private authority can be trusted, else the public ones.

    Read once: reading the public ones takes longer than many a call.
    """
    return httpx.create_ssl_context()
