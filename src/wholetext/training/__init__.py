"""Training of learned metrics: a recipe in, a folder out that ``learned@FOLDER`` scores with."""
