# SPDX-License-Identifier: Apache-2.0
"""Training steps of two convolutions in JAX: conv_jax.py [STEPS]. XLA tries kernels in one thread, held back by one that
waits for the host, and captures its command buffers in another. Set XLA_PYTHON_CLIENT_PREALLOCATE=false."""

import sys

import jax
import jax.numpy as jnp

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 30
key = jax.random.PRNGKey(0)
parameters = {
    "first": jax.random.normal(key, (3, 3, 3, 32)) * 0.1,
    "second": jax.random.normal(key, (3, 3, 32, 64)) * 0.05,
    "dense": jax.random.normal(key, (64, 10)) * 0.1,
}


def convolve(x, weights):
    return jax.nn.relu(jax.lax.conv_general_dilated(x, weights, (2, 2), "SAME",
                                                    dimension_numbers=("NHWC", "HWIO", "NHWC")))


def loss(parameters, images, labels):
    x = convolve(convolve(images, parameters["first"]), parameters["second"])
    scores = jax.nn.log_softmax(x.mean((1, 2)) @ parameters["dense"])
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))


@jax.jit
def step(parameters, images, labels):
    value, gradients = jax.value_and_grad(loss)(parameters, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value


images = jax.random.normal(key, (256, 64, 64, 3))
labels = jax.random.randint(key, (256,), 0, 10)
values = []
for _ in range(STEPS):
    parameters, value = step(parameters, images, labels)
    values.append(float(value))
# Which kernels are taken differs from run to run, and with them the last digits.
print(f"{len(values)} steps, finite: {all(v == v and abs(v) < 1e6 for v in values)}, falls: {values[-1] < values[0]}")
