"""Commands about this machine: what works on it, and what is compiled for it ahead."""
