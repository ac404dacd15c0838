"""What notebooks show and take along: short reprs, tables in HTML, DataFrames."""
