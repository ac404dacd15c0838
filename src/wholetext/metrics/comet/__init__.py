"""COMET models: checkpoints, sentence vectors, cross-encoders."""
