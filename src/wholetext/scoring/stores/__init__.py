"""The forms of run folders: JSON lines with NumPy archives, and Parquet."""
