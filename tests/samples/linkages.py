"""Trees of mechanisms, each body with a frame of its own that is turned at random: nothing is aligned by luck."""

import numpy as np
import pinocchio as pin

Z = np.array([0.0, 0.0, 1.0])


class Builder:
    """Adds joints by where they are in the world when all coordinates are 0."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.tree = pin.Model()
        self.poses = {"universe": pin.SE3.Identity()}
        self.view = self.rotation()  # of the drawing, in which points and axes are given

    def rotation(self):
        q = self.rng.normal(size=4)
        return pin.Quaternion(q / np.linalg.norm(q)).toRotationMatrix()

    def joint(self, name, parent, point, axis=(0, 0, 1), prismatic=False, continuous=False):
        line = self.view @ np.asarray(axis, dtype=float)
        # Pinocchio's Python makes continuous joints about coordinate axes only
        rotation = pin.Quaternion.FromTwoVectors(Z, line).toRotationMatrix() if continuous else self.rotation()
        pose = pin.SE3(rotation, self.view @ np.asarray(point, dtype=float))
        own = rotation.T @ line
        if prismatic:
            model = pin.JointModelPrismaticUnaligned(own)
        elif continuous:
            model = pin.JointModelRUBZ()
        else:
            model = pin.JointModelRevoluteUnaligned(own)
        placement = self.poses[parent].inverse() * pose
        j = self.tree.addJoint(self.tree.getJointId(parent), model, placement, name)
        self.tree.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
        self.poses[name] = pose
        return self

    def at(self, body, point):
        """A frame on a body, at a point of the drawing."""
        place = self.poses[body].inverse().act(self.view @ np.asarray(point, dtype=float))
        return (body, pin.SE3(self.rotation(), place))


def four_bar(seed=0, serial=False, sign=1, height=0.0, points=None, continuous=False):
    """A, B, C, D as drawn at zero; assembled there."""
    builder = Builder(seed)
    a, b, c, d = points or ((0, 0), (0.1, 0.2), (0.5, 0.3), (0.4, 0.0))
    builder.joint("base", "universe", (0.3, 0.2, 0.1), axis=(1, 0, 0))
    builder.joint("crank", "base", (*a, 0), continuous=continuous)
    builder.joint("coupler", "crank", (*b, 0.02), axis=(0, 0, sign))
    builder.joint("rocker", *(("coupler", (*c, 0)) if serial else ("base", (*d, 0.01))), axis=(0, 0, -sign))
    if serial:
        return builder.tree, (builder.at("rocker", (*d, 0)), builder.at("base", (*d, height)))
    return builder.tree, (builder.at("coupler", (*c, 0)), builder.at("rocker", (*c, height)))


def slider_crank(seed=0, sign=1, slope=0.1):
    builder = Builder(seed)
    builder.joint("base", "universe", (0.3, 0.2, 0.1), axis=(1, 0, 0))
    builder.joint("crank", "base", (0, 0, 0))
    builder.joint("coupler", "crank", (0.1, 0.05, 0), axis=(0, 0, sign))
    builder.joint("slider", "base", (0.2, 0.1, 0.05), axis=np.array([1, slope, 0]) / np.hypot(1, slope), prismatic=True)
    return builder.tree, (builder.at("coupler", (0.4, 0.02, 0)), builder.at("slider", (0.4, 0.02, 0)))


def five_bar(seed=0, sign=1):
    builder = Builder(seed)
    builder.joint("base", "universe", (0.3, 0.2, 0.1), axis=(1, 0, 0))
    builder.joint("crank_1", "base", (0, 0, 0))
    builder.joint("coupler_1", "crank_1", (-0.1, 0.2, 0), axis=(0, 0, sign))
    builder.joint("crank_2", "base", (0.2, 0, 0), axis=(0, 0, -sign))
    builder.joint("coupler_2", "crank_2", (0.3, 0.2, 0), axis=(0, 0, -1))
    return builder.tree, (builder.at("coupler_1", (0.1, 0.4, 0)), builder.at("coupler_2", (0.1, 0.4, 0)))


SHANK_ENDS = ((-0.05, 0.04, 0.3), (-0.05, -0.045, 0.28))
PINS = ((-0.09, 0.04, 0.3), (-0.085, -0.045, 0.28))
FOOT_ENDS = ((-0.07, 0.04, 0.01), (-0.072, -0.041, 0.0))


def ankle(seed=0, pitch_first=True, cranks=False):
    """Shank, actuators or cranks on it, and a foot on pitch (about y) and roll (about x) with axes that do not meet."""
    builder = Builder(seed)
    builder.joint("shank", "universe", (0, 0, 0.5), axis=(0, 1, 0))
    for i, (end, low) in enumerate(zip(SHANK_ENDS, FOOT_ENDS, strict=True), start=1):
        along = np.subtract(low, end)
        axis = (0, 1, 0) if cranks else along / np.linalg.norm(along)
        builder.joint(f"motor_{i}", "shank", end, axis=axis, prismatic=not cranks)
    joints = [("pitch", (0, 0, 0.02), (0, 1, 0)), ("roll", (0.01, 0, 0), (1, 0, 0))]
    parent = "shank"
    for name, point, axis in joints if pitch_first else joints[::-1]:
        builder.joint(name, parent, point, axis=axis)
        parent = name
    return builder
