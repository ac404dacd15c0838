"""`wholetext serve`: a local web page and a JSON interface for scoring, with a queue of jobs that survives restarts."""
