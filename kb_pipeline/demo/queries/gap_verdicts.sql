-- The verdict about each corrected draft.
SELECT message_id, kind FROM kb_retrieval_gap
