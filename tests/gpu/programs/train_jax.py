# SPDX-License-Identifier: Apache-2.0
"""60 training steps of a small network in JAX. Set XLA_PYTHON_CLIENT_PREALLOCATE=false."""

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
weights = [jax.random.normal(key, (1024, 1024)) * 0.02 for _ in range(4)]


def loss(weights, x, y):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - y) ** 2)


@jax.jit
def step(weights, x, y):
    value, gradients = jax.value_and_grad(loss)(weights, x, y)
    return [w - 0.01 * g for w, g in zip(weights, gradients)], value


inputs, wanted = jax.random.normal(key, (512, 1024)), jnp.ones((512, 1024))
for _ in range(60):
    weights, value = step(weights, inputs, wanted)
print(f"{float(value):.4f}")  # XLA tries kernels, and the last digits are those of the quickest
