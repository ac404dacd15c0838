"""What a document says in one way and then in another: pronouns, tense, names, terms, address."""
