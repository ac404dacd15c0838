"""Chat models as judges: calls and their costs; the model behind an endpoint."""
