INSERT INTO rag_call_window
SELECT * FROM jsonb_populate_recordset(NULL::rag_call_window, %(rows)s)
WHERE examined > 0
ON CONFLICT DO NOTHING
