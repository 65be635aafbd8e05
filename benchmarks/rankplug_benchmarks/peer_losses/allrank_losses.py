"""A loss of allRank on padded lists: ``allrank_losses.py ARRAYS LOSS THREADS``; see ``peers.py``.

allRank's losses import its data loader, which imports torchvision for a helper that no loss uses. The index has
torchvision only for builds of torch with CUDA, so a module without it stands in; the losses are allRank's own.
"""

import sys
import time
import types

import numpy as np
import torch

arrays, name, threads = sys.argv[1:]
torch.set_num_threads(int(threads))
torchvision, transforms = types.ModuleType("torchvision"), types.ModuleType("torchvision.transforms")
torchvision.transforms, transforms.Compose = transforms, object
sys.modules.update({"torchvision": torchvision, "torchvision.transforms": transforms})

from allrank.data.dataset_loading import PADDED_Y_VALUE  # noqa: E402
from allrank.models import losses  # noqa: E402

OPTIONS = {"approxNDCGLoss": {"alpha": 10.0}, "lambdaLoss": {"weighing_scheme": "ndcgLoss2PP_scheme"}}

given = np.load(arrays)
scores = torch.from_numpy(given["scores"]).requires_grad_()
labels = torch.from_numpy(np.where(given["mask"], given["labels"], PADDED_Y_VALUE).astype(np.float32))
loss, options = getattr(losses, name), OPTIONS.get(name, {})

for _ in sys.stdin:
    begin = time.perf_counter()
    scores.grad = None
    loss(scores, labels, **options).backward()
    print(time.perf_counter() - begin, flush=True)
