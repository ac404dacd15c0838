"""Files and untrusted text: guarded parsing, atomic writing, the cache, hashes of model packages."""
