"""Who gets in: tokens, sessions, forms, patience, and the refusal to show anything to strangers."""

import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.roles import READER, database_as
from kb_pipeline.errors import SettingsError
from kb_pipeline.service.access import Patience, Sessions, Tokens
from kb_pipeline.service.guard import HEADERS
from kb_pipeline.service.serving import check_access
from kb_pipeline.settings import Settings, TokenSettings
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.served import service_settings, serving

NOW = datetime(2026, 11, 3, tzinfo=UTC)
TOKEN = TokenSettings(name="rina", role="auditor", sha256=sha256(b"secret").hexdigest())


def sign_in(client: httpx.Client, token: str, target: str = "/") -> httpx.Response:
    form = client.get("/login", params={"next": target}).text
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', form)
    assert csrf
    return client.post("/login", data={"token": token, "csrf": csrf[1], "next": target})


def test_only_a_configured_token_has_a_holder() -> None:
    tokens = Tokens([TOKEN])
    found = tokens.holder("secret")
    assert found is not None
    assert (found.name, found.role, found.sees_text) == ("rina", "auditor", True)
    assert [tokens.holder(wrong) for wrong in ("", "Secret", "secret ", TOKEN.sha256, "x" * 5000, "\ud800")] == [
        None
    ] * 6


@given(st.text(max_size=200))
def test_no_cookie_is_a_session_that_was_not_started_here(cookie: str) -> None:
    assert Sessions(Tokens([TOKEN]), lambda: NOW).visitor(cookie) is None


def test_a_session_ends_after_twelve_hours_or_when_its_token_is_withdrawn() -> None:
    clock, key, tokens = [NOW], b"k" * 32, Tokens([TOKEN])
    sessions = Sessions(tokens, lambda: clock[0], key)
    visitor = tokens.holder("secret")
    assert visitor is not None
    cookie = sessions.start(visitor)
    assert sessions.visitor(cookie) is not None
    assert Sessions(Tokens([]), lambda: NOW, key).visitor(cookie) is None
    assert Sessions(tokens, lambda: NOW).visitor(cookie) is None
    body, _, signature = cookie.partition(".")
    assert sessions.visitor(f"{body[:-1]}A.{signature}") is None
    clock[0] = NOW + timedelta(hours=12, seconds=1)
    assert sessions.visitor(cookie) is None


def test_after_five_failures_an_address_waits_until_the_first_is_a_quarter_of_an_hour_old() -> None:
    clock = [0.0]
    patience = Patience(lambda: clock[0])
    for second in range(5):
        assert patience.wait("a") == 0
        clock[0] = second
        patience.failed("a")
    assert patience.wait("a") > 800
    assert patience.wait("b") == 0
    clock[0] = 15 * 60 + 0.5
    assert patience.wait("a") == 0


@pytest.mark.parametrize(
    ("service", "no_auth", "says"),
    [
        ({}, False, "service.tokens is empty"),
        ({"host": "0.0.0.0"}, True, "loopback address only"),  # noqa: S104 it is refused
        ({"host": "quality.example"}, True, "loopback address only"),
        ({"tokens": [TOKEN.model_dump()]}, True, "both given"),
    ],
)
def test_it_refuses_to_show_turns_to_strangers(service: dict[str, object], no_auth: bool, says: str) -> None:  # noqa: FBT001
    settings = Settings.model_validate({"service": service})
    with pytest.raises(SettingsError, match=says):
        check_access(settings, no_auth=no_auth)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.1.2.3"])
def test_without_tokens_it_serves_the_loopback_address_where_that_is_asked_for(host: str) -> None:
    check_access(Settings.model_validate({"service": {"host": host}}), no_auth=True)


def test_a_stranger_signs_in_with_a_token_and_comes_back_to_the_page(address: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address) as client:
        first = client.get("/retrieval", params={"window": "24h"})
        assert (first.status_code, first.headers["location"]) == (303, "/login?next=%2Fretrieval%3Fwindow%3D24h")
        reply = sign_in(client, "operator-token", "/retrieval?window=24h")
        assert (reply.status_code, reply.headers["location"]) == (303, "/retrieval?window=24h")
        cookie = next(each for each in reply.headers.get_list("set-cookie") if each.startswith("kb_session="))
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
        page = client.get("/retrieval")
        assert page.status_code == 200
        assert "ops · operator" in page.text
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
        assert csrf
        assert client.post("/logout", data={"csrf": "0" * 64}).status_code == 403
        kept = dict(client.cookies)
        assert client.post("/logout", data={"csrf": csrf[1]}).status_code == 303
        assert client.get("/retrieval").status_code == 303
        with httpx.Client(verify=PLAIN, base_url=address, cookies=kept) as thief:
            assert thief.get("/retrieval").status_code == 303, "a cookie that was kept opens nothing any more"


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\r\nX: 1"]
)
def test_a_login_leads_nowhere_but_here(address: str, target: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address) as client:
        assert sign_in(client, "operator-token", target).headers["location"] == "/"


def test_a_form_from_elsewhere_signs_nobody_in_and_settles_nothing(address: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address) as client:
        assert client.post("/login", data={"token": "operator-token"}).status_code == 403
        sign_in(client, "auditor-token")
        row = client.get("/api/ground-truth").json()["items"][0]
        word = {name: row[name] for name in ("org_id", "specialist_id", "query_sha", "doc_id")}
        settled = {**word, "relevant": True, "reason": "x"}
        assert client.post("/retrieval/conflicts", data=settled | {"relevant": "true"}).status_code == 403
        assert client.post("/api/ground-truth/settle", json=settled).status_code == 403


RIGHT = {"Authorization": "Bearer operator-token"}


def guess(client: httpx.Client, times: int, *forwarded: str) -> list[int]:
    """The status of so many wrong tokens, each with the next of the values of X-Forwarded-For."""
    named = [{"X-Forwarded-For": forwarded[number % len(forwarded)]} if forwarded else {} for number in range(times)]
    return [
        client.get("/api/alerts", headers={"Authorization": "Bearer wrong", **headers}).status_code for headers in named
    ]


def test_who_guesses_tokens_is_told_to_wait_and_who_has_the_right_one_is_not(planted_database: Database) -> None:
    with serving(service_settings(planted_database)) as address, httpx.Client(verify=PLAIN, base_url=address) as client:
        # Who names another address each time is the same one all the same.
        assert guess(client, 6, *(f"10.0.0.{number}" for number in range(6))) == [401] * 5 + [429]
        reply = client.get("/api/alerts", headers={"Authorization": "Bearer wrong"})
        assert int(reply.headers["retry-after"]) > 800
        refused = sign_in(client, "wrong")
        assert (refused.status_code, int(refused.headers["retry-after"]) > 800) == (429, True)
        assert "Too many wrong tokens" in refused.text
        assert client.get("/api/alerts", headers=RIGHT).status_code == 200
        assert sign_in(client, "operator-token").status_code == 303


def service_behind(database: Database, *proxies: str) -> Settings:
    settings = service_settings(database)
    service = settings.service.model_copy(update={"trusted_proxies": proxies})
    return settings.model_copy(update={"service": service})


@pytest.mark.parametrize("proxy", ["127.0.0.1", "127.0.0.0/8"])
def test_behind_a_named_proxy_each_client_has_its_own_patience(planted_database: Database, proxy: str) -> None:
    with (
        serving(service_behind(planted_database, proxy)) as address,
        httpx.Client(verify=PLAIN, base_url=address) as client,
    ):
        # What the client claims stands before what the proxy saw.
        claims = [f"192.0.2.{number}, 198.51.100.1" for number in range(6)]
        assert guess(client, 6, *claims) == [401] * 5 + [429]
        assert guess(client, 1, "198.51.100.2") == [401]
        assert guess(client, 1, "198.51.100.2, 127.0.0.1") == [401], "a proxy's own address is passed over"
        assert guess(client, 1, "198.51.100.1:4711") == [429]
        assert guess(client, 6, *(f"2001:db8::{number}" for number in range(6))) == [401] * 5 + [429]
        assert guess(client, 6, *(f"no address {number}" for number in range(6))) == [401] * 5 + [429]


def test_a_session_with_a_configured_key_outlasts_a_restart_and_one_without_does_not(
    planted_database: Database,
) -> None:
    statuses = []
    for key in ("k" * 32, None):
        settings = service_settings(planted_database)
        service = settings.service.model_copy(update={"session_key": SecretStr(key) if key else None})
        kept: dict[str, str] = {}
        for _ in range(2):
            with (
                serving(settings.model_copy(update={"service": service})) as address,
                httpx.Client(verify=PLAIN, base_url=address, cookies=kept) as client,
            ):
                if not kept:
                    sign_in(client, "operator-token")
                    kept = dict(client.cookies)
                statuses.append(client.get("/alerts").status_code)
    assert statuses == [200, 200, 200, 303]


def test_without_tokens_another_name_for_this_machine_is_refused(planted_database: Database) -> None:
    settings = Settings.model_validate({"database": {"url": service_settings(planted_database).database_url}})
    with serving(settings, is_open=True) as address, httpx.Client(verify=PLAIN, base_url=address) as client:
        assert client.get("/api/alerts").status_code == 200
        for host in ("evil.example", "evil.example:8000", "", "127.0.0.1.evil.example"):
            assert client.get("/api/alerts", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/login", "/nothing", "/api/alerts", "/static/style.css", "/healthz"])
def test_every_answer_carries_the_security_headers(operator: httpx.Client, path: str) -> None:
    headers = operator.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in headers["content-security-policy"]


def test_the_readers_role_sees_no_text_and_nothing_of_the_source(planted_database: Database) -> None:
    for role, may in (("kb_api_reader", False), ("kb_auditor", True)):
        statement = (
            "SELECT has_column_privilege(%s, 'rag_triad', 'answer', 'SELECT'),"
            " has_schema_privilege(%s, 'kb_source', 'USAGE')"
        )
        with planted_database.connect() as connection:
            assert connection.execute(statement, (role, role)).fetchone() == (may, may)


def test_a_role_that_was_given_no_rights_in_this_database_is_not_taken(database: Database) -> None:
    url = database.url.render_as_string(hide_password=False)
    for revoked, role in ((False, READER), (True, None)):
        if revoked:
            with database.connect() as connection:
                connection.execute("REVOKE ALL ON rag_quality_window FROM kb_api_reader")
        taken = database_as(url, READER, application_name="kb_pipeline_tests")
        assert taken.role == role
        taken.dispose()


def test_a_replaced_token_ends_the_sessions_of_the_one_before() -> None:
    def sessions(digest: str) -> Sessions:
        return Sessions(Tokens([TokenSettings(name="rina", role="auditor", sha256=digest)]), lambda: NOW, b"k" * 32)

    first, same, replaced = sessions("a" * 64), sessions("a" * 64), sessions("b" * 64)
    visitor = Tokens([TokenSettings(name="rina", role="auditor", sha256="a" * 64)]).named("rina")
    assert visitor is not None
    cookie = first.start(visitor)
    assert [each.visitor(cookie) is not None for each in (first, same, replaced)] == [True, True, False]
