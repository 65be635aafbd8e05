"""Preparation of data sets: text is converted once, and atomically, to arrays on disk that are mapped into memory."""
