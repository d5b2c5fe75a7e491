"""Look-ups in the mapped views, and the index that a conversion hides."""

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.plan_check import LARGE_ROWS, check_plans

MANY = """
CREATE TABLE upstream.many (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), body bytea);
INSERT INTO upstream.many SELECT FROM generate_series(1, {rows});
DROP VIEW kb_source.ai_call_body;
CREATE VIEW kb_source.ai_call_body AS
SELECT id::text AS event_id, body AS request_body, body AS response_body,
       NULL::bytea AS prev_hash, NULL::bytea AS body_hash
FROM upstream.many;
ANALYZE upstream.many;
"""


def findings(database: Database) -> dict[str, bool]:
    return {finding.name: finding.ok for finding in check_plans(database)}


def test_the_example_tables_are_looked_up_by_their_indexes(database: Database) -> None:
    assert findings(database) == {"calls by time": True, "bodies by event_id": True}


def test_a_conversion_without_its_index_is_a_problem_that_names_the_table_until_the_index_is_there(
    database: Database,
) -> None:
    with database.connect() as connection:
        connection.execute(MANY.format(rows=LARGE_ROWS + 10_000))
    assert findings(database) == {"calls by time": True, "bodies by event_id": False}
    assert "upstream.many" in check_plans(database)[1].message
    with database.connect() as connection:
        connection.execute("CREATE INDEX ON upstream.many ((id::text))")
        connection.execute("ANALYZE upstream.many")
    assert findings(database) == {"calls by time": True, "bodies by event_id": True}
