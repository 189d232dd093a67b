# SPDX-License-Identifier: Apache-2.0
"""Each step encodes its text in Python, and the device waits for that."""

import fault
import torch

WORDS = [f"word{number}" for number in range(5000)]
NUMBERS = {word: number for number, word in enumerate(WORDS)}
TEXTS = [" ".join(WORDS[(7 * at + 13 * text) % len(WORDS)] for at in range(8192)) for text in range(4)]


def encode(text):
    numbers = []
    for word in text.split():
        lower = word.strip().lower()
        numbers.append(NUMBERS[lower] if lower in NUMBERS else 0)  # fault
    return numbers


def score(steps, numbers_of):
    net, total = fault.layers(512, 6), torch.zeros((), device="cuda")
    table = torch.randn(len(WORDS), 512, device="cuda")
    with torch.no_grad():
        for at in range(steps):
            total += net(table[numbers_of(at % len(TEXTS))]).mean()
    return total


def bad(steps):
    return score(steps, lambda text: torch.tensor(encode(TEXTS[text]), device="cuda"))  # fault


def good(steps):
    encoded = [torch.tensor(encode(text), device="cuda") for text in TEXTS]
    return score(steps, lambda text: encoded[text])


fault.run(bad, good, 200)
