"""DiscoScore (Zhao et al. 2023): the metrics and their word encoder."""
