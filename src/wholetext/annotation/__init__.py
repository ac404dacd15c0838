"""Human annotation: which documents to judge, campaigns for Pearmut, and their results as judgments."""
