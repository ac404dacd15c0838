"""The models behind metrics; the only home of torch, which is imported only when a model runs."""
