"""From a corpus and spec strings to scores: the pipeline, its engine and its run folders."""
