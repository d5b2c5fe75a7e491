-- Adds events, each a JSON object on a line of the request's body.
INSERT INTO kb_retrieval_event FORMAT JSONEachRow
