"""From text to arrays on disk that are mapped into memory: once, whole or not at all."""
