DELETE FROM rag_stale_hour WHERE hour >= %(window_start)s AND hour < %(window_end)s AND stage = %(stage)s
