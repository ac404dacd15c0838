"""Human annotation: samples of documents, campaigns for Pearmut, and their judgments."""
