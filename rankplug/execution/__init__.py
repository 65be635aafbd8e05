"""Where trials run: in this process, in worker processes, in notebooks, on a Dask cluster.

Each way is an object with ``slots``, the number of tasks it works on at once, ``submit``, which gives a future of a
task's :class:`~rankplug.execution.tasks.Done`, and ``close``. What a worker computes comes back to the process that
asked, and that one writes it.
"""
