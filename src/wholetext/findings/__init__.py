"""What does not fit a document: pronouns, tenses, connectives, names, order, coverage, with their places."""
