"""The index of a store, which answers questions without opening every result."""
