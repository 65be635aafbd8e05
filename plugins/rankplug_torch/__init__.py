"""Networks by PyTorch."""
