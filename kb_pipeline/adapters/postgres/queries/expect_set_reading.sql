-- Everything that one evaluation reads, it reads as of one instant; and it only reads.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY
