"""LLM judges: prompts and parsers; scores, error lists and rubrics; pairs of systems."""
