"""What is drawn in the tests of pictures."""

import warnings

import numpy as np

import pin_clusters as pc


def load(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # about inertias of two robots
        return pc.load(name, **options)


def swinging(model, n=101, amplitude=0.4, duration=2.0):
    """Return times and configurations of a motion."""
    time = np.linspace(0.0, duration, n)
    q, done = [model.q_reference], 0.0
    for x in amplitude * np.sin(2.0 * np.pi * time[1:] / duration):
        q.append(pc.integrate(model, q[-1], np.full(model.nv, x - done)))
        done = x
    return time, np.array(q)
