"""LETOR and SVMlight text, in files, streams and archives, as arrays."""
