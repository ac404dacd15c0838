"""Files and untrusted text: parsing, atomic writing, the cache, hashes of model packages."""
