-- What time it is, as the database has it.
SELECT now()
