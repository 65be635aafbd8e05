"""Pictures of the pages, drawn without any training."""
