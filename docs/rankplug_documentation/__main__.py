"""Program that writes every generated page into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from rankplug_documentation.losses import write_loss_pages
from rankplug_documentation.pictures.layers import write_layers_picture
from rankplug_documentation.reference import write_reference
from rankplug_documentation.reference_pages.clicks import write_clicks_page
from rankplug_documentation.reference_pages.defaults import write_defaults_page
from rankplug_documentation.reproduction import write_reproduction
from rankplug_documentation.which_loss import which_loss_page

docs = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
write_loss_pages(docs)
write_reference(docs)
write_layers_picture(docs)
write_reproduction(docs)
write_defaults_page(docs)
write_clicks_page(docs)
(docs / "which-loss.md").write_text(which_loss_page(docs), encoding="utf-8")
