-- Parameters cannot stand here, so the snapshot's name is put in as a literal.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET TRANSACTION SNAPSHOT {snapshot}
