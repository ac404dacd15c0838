"""Files and untrusted text: guarded parsing, whole writing, the cache, hashes of model packages."""
