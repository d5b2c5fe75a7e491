"""What the service says of alerts is true of all of them, also of those that no list shows."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.planting import Planted, plant
from kb_pipeline_tests.service.served import OPERATOR, service_settings, serving

pytestmark = pytest.mark.postgres

NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
# More fire than are listed, so that nothing else is.
MANY = {"firing": 600, "recovering": 300, "pending": 300, "no_data": 300, "ok": 300}
COUNTS = MANY | {"firing": 601}
OF_QUALITY = "rag_low_faithfulness|faithfulness|prod:portal:public:rag"
STATES = """
INSERT INTO kb_alert_state (fingerprint, rule, metric, subject, status, severity, since, sentence, reading, memory,
  before, version)
SELECT %(status)s || n, 'rag_low_faithfulness', 'm', ARRAY['prod', 'tenant-' || n, 'public', 'rag'], %(status)s,
  CASE WHEN %(status)s IN ('firing', 'recovering') THEN 'critical' END, %(at)s, 'It is so.', '{}', '{}', '{}', 1
FROM generate_series(1, %(count)s) AS n
"""
STATE_OF_QUALITY = """
INSERT INTO kb_alert_state (fingerprint, rule, metric, subject, status, severity, since, sentence, reading, memory,
  before, version)
VALUES (%(key)s, 'rag_low_faithfulness', 'faithfulness', '{prod,portal,public,rag}', 'firing', 'warning', %(at)s,
  'It was low.', '{}', '{}', '{}', 1)
"""


@pytest.fixture(scope="module")
def client(module_database: Database) -> Iterator[httpx.Client]:
    """A client of a service over good turns and many alerts, one of them on the quality of those turns."""
    hours = [NOW.replace(minute=0) - HOUR * (1 + number % 20) for number in range(60)]
    plant(
        module_database,
        [Planted(event_id=f"t{number}", ts=at, scores=(0.9, 0.9, 0.9)) for number, at in enumerate(hours)],
    )
    with module_database.connect() as connection:
        for status, count in MANY.items():
            connection.execute(STATES.encode(), {"status": status, "count": count, "at": NOW - HOUR})
        connection.execute(STATE_OF_QUALITY.encode(), {"key": OF_QUALITY, "at": NOW - HOUR})
    with (
        serving(service_settings(module_database), at=NOW) as address,
        httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as found,
    ):
        yield found


def test_the_gauge_counts_every_alert(client: httpx.Client) -> None:
    samples = re.findall(r'^kb_pipeline_alerts\{state="(\w+)"\} (\S+)$', client.get("/metrics").text, re.MULTILINE)
    assert {status: float(count) for status, count in samples} == COUNTS


def test_the_api_lists_some_alerts_and_counts_all(client: httpx.Client) -> None:
    found = client.get("/api/alerts").json()
    assert found["counts"] == COUNTS
    assert [state["status"] for state in found["states"]] == ["firing"] * 500


def test_the_page_of_alerts_counts_all_and_says_how_many_it_leaves_out(client: httpx.Client) -> None:
    page = client.get("/alerts").text
    assert "901 alerts fire." in page
    assert "901 firing, 300 pending, 1,801 states in all." in page
    assert "1,601 more states" in page


def test_the_rail_of_rag_quality_counts_all(client: httpx.Client) -> None:
    assert "901 firing, 300 pending" in client.get("/").text


@pytest.mark.parametrize(
    ("fingerprint", "said"),
    [
        (OF_QUALITY, "1 firing, 0 pending, 1 state in all."),
        ("pending300", "0 firing, 1 pending, 1 state in all."),
        ("ok300", "No alert fires."),
        ("nobody", "No alert has this fingerprint now."),
    ],
)
def test_the_page_of_one_alert_speaks_of_it_wherever_it_stands(
    client: httpx.Client, fingerprint: str, said: str
) -> None:
    page = client.get("/alerts", params={"fingerprint": fingerprint}).text
    assert said in page
    assert "no rule was evaluated" not in page
    assert page.count('data-name="State"') == (fingerprint != "nobody")


@pytest.mark.parametrize(("tenant", "level"), [("portal", "warning"), ("tenant-600", "critical")])
def test_the_verdict_heeds_the_alert_of_what_is_looked_at_behind_many_others(
    client: httpx.Client, tenant: str, level: str
) -> None:
    found = client.get("/api/quality/summary", params={"window": "24h", "tenant": tenant}).json()
    assert found["verdict"]["level"] == level
