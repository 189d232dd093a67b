#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPT-2 with random weights in half precision writes 60 tokens for each of four prompts: some 150 kernels and shapes, of which
attention has one for each length. Prints what it wrote, as a checksum. Exits 77 without PyTorch, transformers or a GPU."""

import sys

try:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
except ImportError as error:
    print(f"gpt2_decode.py: {error}", file=sys.stderr)
    sys.exit(77)

if not torch.cuda.is_available():
    print("gpt2_decode.py: no GPU", file=sys.stderr)
    sys.exit(77)

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=12, n_head=12, n_embd=768)).cuda().eval().half()
prompt = torch.randint(0, 50257, (4, 64), device="cuda")
with torch.no_grad():
    tokens = model.generate(prompt, max_new_tokens=60, do_sample=False, pad_token_id=0)
print(tuple(tokens.shape), int(tokens.sum()))
