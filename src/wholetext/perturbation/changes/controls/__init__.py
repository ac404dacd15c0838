"""Controls: errors inside a sentence, which every metric should see, and changes that no metric should penalise."""
