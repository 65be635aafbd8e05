"""Speed and memory beside other libraries, one module a subject; see :mod:`rankplug_benchmarks.harness`."""
