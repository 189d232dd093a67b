# SPDX-License-Identifier: Apache-2.0
"""Of the stand-in for PyTorch."""

from . import module

__all__ = ["module"]
