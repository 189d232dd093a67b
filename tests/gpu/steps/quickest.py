# SPDX-License-Identifier: Apache-2.0
"""A process gets one of two states, in one of which every call takes half as long again. So there are many
short rounds, in which the modes that are compared take turns, and of each mode the quickest quarter counts:
as long as a quarter of its processes got the quick state, that compares like with like."""


def quickest_quarter(values):
    """Its end."""
    return sorted(values)[(len(values) - 1) // 4]
