"""What people type: spellings of other tools, completion."""
