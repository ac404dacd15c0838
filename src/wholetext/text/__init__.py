"""Plain-text work: sentence splitting, tagging, n-grams, alignment; one tool per file."""
