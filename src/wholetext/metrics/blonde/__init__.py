"""BlonDe, d-BlonDe and BlonDe+ (Jiang et al. 2022)."""
