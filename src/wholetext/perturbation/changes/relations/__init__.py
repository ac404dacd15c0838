"""What ties a sentence to the one before it: connectives, ellipsis, antecedents."""
