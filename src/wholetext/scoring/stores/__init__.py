"""Forms of run folders besides JSON lines and NumPy archives."""
