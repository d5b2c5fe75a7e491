"""The grading street as a whole, on a real database and a real judge over HTTP."""
