"""Each trial as a run of MLflow, where ``MLFLOW_TRACKING_URI`` names a store; the store of results stays the source."""
