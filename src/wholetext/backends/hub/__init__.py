"""Where models lie, under which licence, and whether their files are whole and safe."""
