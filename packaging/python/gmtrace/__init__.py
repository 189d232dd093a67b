# SPDX-License-Identifier: Apache-2.0
"""What programs in Python can add to a recording of gmtrace: see gmtrace.torch."""
