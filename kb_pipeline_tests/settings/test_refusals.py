"""What cannot be used is refused by name, with what is accepted, and without showing a secret."""

import string
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.settings.schema import keys
from kb_pipeline_tests.settings.config import refusals, settings_of


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("rag_quality: {max_bacth: 5}", "1: rag_quality.max_bacth is not a known key; did you mean max_batch?"),
        ("rag_quality: {max-batch: 5}", "1: rag_quality.max-batch is not a known key; did you mean max_batch?"),
        ("judge_model: x", "1: judge_model is not a known key; did you mean rag_quality.judge_model?"),
        ("database: {zzz: x}", "1: database.zzz is not a known key; known here: url"),
        ("\nservice: {port: 0}", "2: service.port is 0; accepted: a whole number from 1 to 65535"),
        (
            "service: {port: '80'}",
            '1: service.port is "80"; accepted: a whole number from 1 to 65535, so write it without quotes',
        ),
        ("service: {port: true}", "1: service.port is true; accepted: a whole number from 1 to 65535"),
        ("service: {port: 80.5}", "1: service.port is 80.5; accepted: a whole number from 1 to 65535"),
        ("service: {host: 127}", "1: service.host is 127; accepted: text, so write it in quotes"),
        (
            "database: {url: 'postgresql://me:p@ss/w:rd@127.0.0.1/db'}",
            (
                "1: database.url is text (not shown); "
                "a URL whose password writes @ as %40, / as %2F and : as %3A is accepted"
            ),
        ),
        ("rag_quality: {sample_rate: 1.01}", "1: rag_quality.sample_rate is 1.01; accepted: a number from 0 to 1"),
        ("rag_quality: {sample_rate: .nan}", "1: rag_quality.sample_rate is NaN; accepted: a number from 0 to 1"),
        ("rag_quality: {enabled: maybe}", '1: rag_quality.enabled is "maybe"; accepted: true or false'),
        (
            "rag_quality: {judge_timeout_s: 0}",
            "1: rag_quality.judge_timeout_s is 0; accepted: a number above 0 to 86400",
        ),
        (
            "rag_quality: {max_batch: null}",
            "1: rag_quality.max_batch is null; accepted: a whole number from 1 to 1000000",
        ),
        ("rag_quality: {surfaces: {}}", "1: rag_quality.surfaces is empty; accepted: at least one entry"),
        ("rag_quality: 5", "1: rag_quality is a number (not shown); accepted: a section of keys"),
        ("retrieval: {engines: hybrid}", "1: retrieval.engines is text (not shown); accepted: a list, each entry text"),
        (
            "service: {tokens: [{name: a}]}",
            "1: service.tokens[0].sha256 is missing; accepted: 64 lower-case hexadecimal digits",
        ),
        ("service: {port: 010}", '1: service.port is "010"; accepted: a whole number from 1 to 65535'),
        (
            "rag_quality: {eval_interval_s: 5:00}",
            '1: rag_quality.eval_interval_s is "5:00"; accepted: a whole number from 1 to 86400',
        ),
        (
            "alerts: {keep_api_key: !!binary aGk=}",
            "1: alerts.keep_api_key is binary data (not shown); accepted: text or null",
        ),
        ("1: {}", "[1] is a key that is not text; write it in quotes"),
        (
            "rag_quality:\n  surfaces: {1: {}}",
            "2: rag_quality.surfaces[1] is a key that is not text; write it in quotes",
        ),
    ],
)
def test_a_slip_is_refused_with_place_value_and_what_is_accepted(text: str, refusal: str) -> None:
    assert refusals(text) == [refusal]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rag_quality: {start_at: 2026-07-09T00:00:00}", "a time with its zone"),
        ("rag_quality: {start_at: yesterday}", "a time with its zone"),
        ("rag_quality: {judge_base_url: 'gateway:8080'}", "starts with http:// or https://"),
        ("rag_quality: {judge_base_url: 'http://'}", "names a host"),
        ("rag_quality: {judge_base_url: 'http://gateway:8080?x=1'}", "without ?, #, user name and password"),
        ("rag_quality: {judge_base_url: 'http://gateway:port'}", "a port of digits"),
        ('rag_quality: {judge_tenant: "a\\nX-Priority: high"}', "printable ASCII"),
        ("rag_quality: {judge_tenant: '  '}", "at least one visible character"),
        (
            "rag_quality: {thresholds: {faithfulness_warn: 0.5}}",
            "faithfulness_warn (0.5) above faithfulness_crit (0.55)",
        ),
        ("rag_quality: {surfaces: {public: {passage_pattern: '(?P<rank>'}}}", "does not compile"),
        ("rag_quality: {surfaces: {public: {passage_pattern: 'RAG-(\\d+)'}}}", "a group named rank, score or both"),
        ("rag_quality: {surfaces: {public: {passage_pattern: '(?P<rank>\\d*)'}}}", "matches the empty text"),
        ("rag_quality: {surfaces: {public: {synthesis_markers: []}}}", "at least one entry of synthesis_markers"),
        ("rag_quality: {surfaces: {public: {question_marker: 'hasil alat: '}}}", "two different ones"),
        ("rag_quality: {surfaces: {public: {question_marker: ':'}}}", "a letter or a digit"),
        ('rag_quality: {surfaces: {public: {context_marker: "A\\nB:"}}}', "text of one line"),
        ("rag_quality: {surfaces: {public: {question_marker: HASIL}}}", "begin alike"),
        ("rag_quality: {start_at: '0001-01-01T00:00:00+14:00'}", "year 1 to the year 9999"),
        ('alerts: {environment: "a\\ud800"}', "halves of surrogate pairs"),
        ("redaction: {patterns: ['[a']}", "does not compile"),
        ("redaction: {patterns: ['a*']}", "matches the empty text"),
        ("retrieval: {engines: [a, a]}", "without repetitions"),
        ("retrieval: {enabled: true}", "together with redis_url"),
        ("database: {url: 'mysql://h/d'}", "this one starts with mysql://"),
        ("database: {url: 'postgresql+asyncpg://h/d'}", "postgresql+psycopg://"),
        ("database: {url: 'postgresql://h'}", "names a database"),
        ("database: {url: 'host=h dbname=d'}", "postgresql://"),
        ("alerts: {apprise_urls: [nobody]}", "a notification URL"),
        ("service: {trusted_proxies: [proxy]}", "a network such as 10.0.0.0/8"),
        ("service: {trusted_proxies: ['*']}", "a network such as 10.0.0.0/8"),
        ("service: {trusted_proxies: [10.0.0.7/8]}", "with the bits behind the prefix at 0"),
        ("service: {trusted_proxies: ['::/0']}", "this one is everybody"),
        ("service: {session_key: too short}", "at least 32 bytes"),
    ],
)
def test_an_impossible_value_is_refused_with_its_reason(text: str, reason: str) -> None:
    [refusal] = refusals(text)
    assert reason in refusal


def test_two_tokens_of_one_name_are_refused() -> None:
    token = {"name": "ops", "sha256": "0" * 64}
    [refusal] = refusals(yaml.safe_dump({"service": {"tokens": [token, token]}}))
    assert "two share one" in refusal


@pytest.mark.parametrize(
    "text",
    [
        "database: {url: 'postgresql://me:HUSH@h:x/d'}",
        "database: {url: 'HUSH'}",
        "database: 'postgresql://me:HUSH@h/d'",
        "database: ['HUSH']",
        "database: {password: HUSH}",
        "alerts: {keep_api_key: [HUSH]}",
        "alerts: {keep_url: 'ftp://me:HUSH@h'}",
        "alerts: {webhook_url: 'HUSH'}",
        "alerts: {apprise_urls: HUSH}",
        "alerts: {apprise_urls: [HUSH]}",
        "service: {tokens: [{name: a, sha256: HUSH}]}",
        "service: {tokens: [HUSH]}",
        "service: {session_key: HUSH}",
        "service: {session_key: [HUSH]}",
        "retrieval: {redis_url: 'http://:HUSH@h'}",
        "rag_quality: {judge_base_url: 'http://me:HUSH@h/v1'}",
        "service: {public_url: 'me:HUSH@h'}",
        "'postgresql://me:HUSH@h/d': x",
        "alerts: {keep_api_key: !HUSH}",
        "alerts: {keep_api_key: *HUSH}",
    ],
)
def test_a_refusal_never_shows_a_secret(text: str) -> None:
    assert all("HUSH" not in refusal for refusal in refusals(text))


def test_settings_never_show_a_secret() -> None:
    text = """
database: {url: 'postgresql://me:HUSH@h/d'}
retrieval: {redis_url: 'redis://:HUSH@h', clickhouse_url: 'http://me:HUSH@h'}
service: {session_key: 'HUSH HUSH HUSH HUSH HUSH HUSH HUSH'}
alerts: {keep_api_key: HUSH, keep_read_key: HUSH, webhook_url: 'http://h/HUSH', apprise_urls: ['slack://HUSH']}
"""
    settings = settings_of(text)
    assert "HUSH" not in repr(settings) + str(settings)


def test_all_problems_are_listed_at_once_in_the_order_of_the_file() -> None:
    text = "wat: 1\nservice:\n  port: 0\n  port: 0\nrag_quality:\n  sample_rate: 2\n"
    found = refusals(text, {"KB_PIPELINE__SERVICE__PROT": "1"})
    assert [refusal.partition(" ")[0] for refusal in found] == ["1:", "3:", "4:", "6:", "KB_PIPELINE__SERVICE__PROT"]


def test_a_key_given_twice_is_refused_with_both_lines() -> None:
    assert refusals("service:\n  port: 1\n  host: a\n  port: 2") == [
        "4: service.port is given twice, first in line 2; one is accepted"
    ]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("service: {port: 80", "1: this is not YAML"),
        ("\nservice: port: 80", "2: this is not YAML"),
        ("service:\n\tport: 80", "2: this is not YAML"),
        ("a: !!python/name:os.system x", "1: this is not YAML: could not determine a constructor"),
        ("? [a]\n: 1", "1: this is not YAML"),
        ("--- {}\n--- {}", "2: this is not YAML"),
    ],
)
def test_broken_notation_is_refused_with_file_and_line(text: str, refusal: str) -> None:
    [found] = refusals(text)
    assert found.startswith(refusal)


@pytest.mark.parametrize("text", ["- a", "text", "5", "x: \x07", "[" * 1500, f"a: {'9' * 5000}"])
def test_what_is_not_a_configuration_at_all_is_one_sentence(text: str) -> None:
    [_] = refusals(text)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes("service: {host: é}".encode("latin-1"))
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings(file, environ={})


def complaints(text: str) -> list[str]:
    """The sentences that refuse a text, none for one that is accepted; any other error is the test's to see."""
    try:
        settings_of(text)
    except SettingsError as refused:
        return str(refused).splitlines()
    return []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(string.printable, max_size=12),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(string.ascii_letters, max_size=8), below, max_size=3)
    ),
    max_leaves=5,
)
SIMPLE_PATHS = st.sampled_from([key.path for key in keys(Settings) if "<n>" not in key.path])


@examples(deadline=None)
@given(path=SIMPLE_PATHS, value=VALUES)
def test_any_value_of_any_key_is_accepted_or_refused_by_that_key(path: tuple[str, ...], value: object) -> None:
    names = ["public" if name == "<name>" else name for name in path]
    document: object = value
    for name in reversed(names):
        document = {name: document}
    assert all(names[0] in line for line in complaints(yaml.safe_dump(document)))


@examples(deadline=None)
@given(st.text(string.printable, max_size=200))
def test_any_text_is_settings_or_sentences(text: str) -> None:
    assert all(line.strip() for line in complaints(text))
