"""Meta-evaluation: human judgments, agreement tasks, paragraph data, contrastive sets."""
