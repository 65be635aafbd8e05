"""Made data in the shape of public learning-to-rank collections, the same to the bit on every machine.

Read in this order: :mod:`~rankplug_data.synthetic.shapes` (how many of what), :mod:`~rankplug_data.synthetic.latents`
(what a query and a document are), :mod:`~rankplug_data.synthetic.relevance` (what makes a document relevant),
:mod:`~rankplug_data.synthetic.features` (what of it can be seen) and :mod:`~rankplug_data.synthetic.generate`.
"""
