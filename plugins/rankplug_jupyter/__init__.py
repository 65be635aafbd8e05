"""Notebook kernels that start in a tenth of a second: forked from one process that has imported everything heavy.

``papermill --engine rankplug`` uses them (:mod:`rankplug_jupyter.engine`). Each notebook still has a process of its
own, which nothing another notebook did can reach. Where a fork is not safe, or a notebook asks for another kernel than
this interpreter's, the kernel is started as papermill always does.
"""
