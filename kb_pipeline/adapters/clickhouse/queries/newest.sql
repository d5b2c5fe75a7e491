-- When the newest event of the copy was written, in microseconds since 1970; 0 for an empty table.
SELECT toUnixTimestamp64Micro(max(created_at)) FROM kb_retrieval_event FORMAT TabSeparated
