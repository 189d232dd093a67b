# SPDX-License-Identifier: Apache-2.0
"""The model of this device, for gmanalyze."""


def calibrated(session) -> list:
    """Options of gmanalyze: the model of the step `calibrate`, or one that is made here and now."""
    path = session.out / "model.json"
    if not path.exists():
        done = session.plain([session.build / "bin" / "gmcalibrate", "-o", path])
        session.check("the device is calibrated", path.exists(), done.stderr[-300:])
    return ["--model", path]
