"""Writes every generated page into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from rankplug.documentation.bad_inputs import write_bad_inputs_page
from rankplug.documentation.losses import write_loss_pages

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
write_loss_pages(folder)
write_bad_inputs_page(folder)
