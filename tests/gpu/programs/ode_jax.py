#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The orbits of 1024 points by an adaptive solver in JAX: loops whose end the device decides on, in one compiled function, which XLA
runs as command buffers. With `diffrax` as the only argument that package's solver does it. Exits 77 without JAX, that package or a
GPU. Set XLA_PYTHON_CLIENT_PREALLOCATE=false."""

import sys

try:
    import jax
    import jax.numpy as jnp
    if sys.argv[1:] == ["diffrax"]:
        import diffrax
except ImportError as error:
    print(f"ode_jax.py: {error}", file=sys.stderr)
    sys.exit(77)

if jax.default_backend() != "gpu":
    print("ode_jax.py: no GPU", file=sys.stderr)
    sys.exit(77)

END, FIRST_STEP, MOST_STEPS, TOLERANCE = 2.0, 0.01, 2048, 1e-4


def slope(y):
    a, b, c = y
    return jnp.stack([10.0 * (b - a), a * (28.0 - c) - b, a * b - 8.0 / 3.0 * c])


def by_hand(y):
    """Heun's method with Euler's as the estimate of its error; half a step or twice as much next time."""
    def goes_on(state):
        t, step, _, count = state
        return (t < END) & (count < MOST_STEPS)

    def advance(state):
        t, step, y, count = state
        step = jnp.minimum(step, END - t)
        first = slope(y)
        second = slope(y + step * first)
        error = jnp.max(jnp.abs(step * (second - first) / 2)) / (TOLERANCE * (1 + jnp.max(jnp.abs(y))))
        good = error < 100
        return (jnp.where(good, t + step, t), step * jnp.where(good, 1.2, 0.5),
                jnp.where(good, y + step * (first + second) / 2, y), count + 1)

    _, _, y, count = jax.lax.while_loop(goes_on, advance, (jnp.float32(0), jnp.float32(FIRST_STEP), y, jnp.int32(0)))
    return y, count


def by_diffrax(y):
    found = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, args: slope(y)), diffrax.Tsit5(), t0=0.0, t1=END, dt0=FIRST_STEP, y0=y,
                                saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, END, 21)), max_steps=MOST_STEPS,
                                stepsize_controller=diffrax.PIDController(rtol=TOLERANCE, atol=TOLERANCE))
    return found.ys[-1], found.stats["num_steps"]


solve = jax.jit(jax.vmap(by_diffrax if sys.argv[1:] else by_hand))
begin = jax.random.normal(jax.random.PRNGKey(0), (1024, 3)) * 0.1 + jnp.array([1.0, 1.0, 20.0])
for run in range(5):
    ends, counts = solve(begin + 0.01 * run)
    print(f"run {run}: all within reach: {bool((jnp.abs(ends) < 100).all())}, all to the end: {bool((counts < MOST_STEPS).all())}")
