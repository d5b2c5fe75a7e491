"""A private certificate authority is trusted by every call, and the public ones are read once."""

from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from kb_pipeline.adapters.authorities import trusted
from kb_pipeline_tests.test_layout import MODULES

END = "-----END CERTIFICATE-----\n"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    trusted.cache_clear()
    yield
    trusted.cache_clear()


def test_the_authorities_of_a_file_are_trusted_in_place_of_the_public_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(END)
    (tmp_path / "own.pem").write_text(first + end, encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    assert len(trusted().get_ca_certs()) == 1


def test_they_are_read_once() -> None:
    assert trusted() is trusted()
    assert len(trusted().get_ca_certs()) > 1


@pytest.mark.parametrize("opened", ["httpx.Client(", "httpx.AsyncClient(", "httpx.AsyncHTTPTransport("])
def test_every_client_trusts_them(opened: str) -> None:
    calls = [call for module in MODULES for call in module.read_text(encoding="utf-8").split(opened)[1:]]
    assert calls
    for call in calls:
        assert "verify=trusted()" in call[:120]
