"""DiscoScore (Zhao et al. 2023): ds-focus and ds-sent."""
