"""Clients that send too much, too slowly or not at all: they are told so or closed, and nobody else waits for them."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.service import connections, guard
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.served import AUDITOR, service_settings, serving

pytestmark = pytest.mark.postgres

SETTLE = "/api/ground-truth/settle"


@pytest.fixture
def address(planted_database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service that waits for a request, and for a body, for a second."""
    monkeypatch.setattr(connections, "HEADERS_S", 1.0)
    monkeypatch.setattr(guard, "BODY_S", 1.0)
    with serving(service_settings(planted_database)) as found:
        yield found


@contextmanager
def connected(address: str, begin: bytes) -> Iterator[socket.socket]:
    """A connection on which a part of a request was sent."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as client:
        client.sendall(begin)
        yield client


def test_three_hundred_half_requests_shut_nobody_out_and_are_closed(address: str) -> None:
    with ExitStack() as opened:
        half = b"GET / HTTP/1.1\r\nHost: x\r\nX-a: "
        clients = [opened.enter_context(connected(address, half)) for _ in range(300)]
        began = time.monotonic()
        for path in ("/healthz", "/readyz", "/api/alerts"):
            reply = httpx.get(f"{address}{path}", headers=AUDITOR, verify=PLAIN)
            assert reply.status_code == 200
        assert time.monotonic() - began < 5
        assert {client.recv(1) for client in clients} == {b""}


def test_a_request_that_stops_after_a_whole_one_is_closed_too(address: str) -> None:
    with connected(address, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HT") as client:
        answer = b""
        while part := client.recv(4096):
            answer += part
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_body_that_is_too_long_is_refused_before_it_is_read(address: str) -> None:
    head = f"POST {SETTLE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 400000000\r\n\r\n"
    with connected(address, head.encode() + b"{" * 1000) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 413")
    reply = httpx.post(f"{address}{SETTLE}", content=iter([b"x" * 9_000] * 9), headers=AUDITOR, verify=PLAIN)
    assert (reply.status_code, reply.headers["content-type"]) == (413, "application/problem+json")


def test_a_body_that_does_not_come_is_given_up(address: str) -> None:
    head = f"POST {SETTLE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    with connected(address, head.encode() + b"{") as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 408")


def test_a_client_that_goes_away_is_no_fault_of_the_service(address: str) -> None:
    with connected(address, b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"):
        time.sleep(0.2)
    time.sleep(0.3)
    metrics = httpx.get(f"{address}/metrics", headers=AUDITOR, verify=PLAIN).text
    assert 'kb_pipeline_http_requests_total{route="/login",status="499"} 1.0' in metrics
    assert 'status="500"' not in metrics


def test_no_redirect_names_the_host_that_a_client_named(address: str) -> None:
    for path in ("/login/", "/metrics/", "/retrieval/", "/static"):
        reply = httpx.get(f"{address}{path}", headers={**AUDITOR, "Host": "evil.example"}, verify=PLAIN)
        assert "evil" not in reply.headers.get("location", "")
        assert reply.status_code == 404


def test_headers_without_end_are_refused(address: str) -> None:
    with connected(address, b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-a: " + b"a" * 200_000) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 400")


def test_a_turn_too_long_to_be_marked_is_shown_as_it_is_and_soon(planted_database: Database, address: str) -> None:
    answer = "Biaya pendaftaran adalah Rp250.000 menurut tabel. " * 4_000
    statement = "UPDATE rag_triad SET answer = %s WHERE event_id = 'turn/whole?x=1&y#z' RETURNING event_id"
    before = table(planted_database, "SELECT answer FROM rag_triad WHERE event_id = 'turn/whole?x=1&y#z'")[0][0]
    table(planted_database, statement, answer)
    try:
        began = time.monotonic()
        page = httpx.get(
            f"{address}/turns/turn%2Fwhole%3Fx%3D1%26y%23z", headers=AUDITOR, verify=PLAIN, timeout=30
        ).text
        took = time.monotonic() - began
    finally:
        table(planted_database, statement, before)
    assert "This turn is too long to be marked sentence by sentence." in page
    assert answer.strip() in page
    assert took < 5
