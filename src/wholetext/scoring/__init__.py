"""From a corpus and spec strings to scores: the pipeline, its engine, its cache and its run folders."""
