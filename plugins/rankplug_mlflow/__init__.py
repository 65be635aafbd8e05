"""Each trial as a run of MLflow, where it is installed and ``MLFLOW_TRACKING_URI`` names its store."""
