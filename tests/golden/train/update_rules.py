"""Every update rule played for two steps: what TensorFlow gives, and what Ebbflow must.

A case is an op, its slots in order, its attrs, and whether single rows are updated. The same small start, gradients and
numbers serve all. `tools/record/update_rules.py` writes the answers.
"""

import json
import pathlib

import numpy as np

ANSWERS = pathlib.Path(__file__).with_suffix(".json")
STEPS = 2

NUMBERS = {
    "lr": 0.1,
    "alpha": 0.1,
    "momentum": 0.9,
    "rho": 0.8,
    "epsilon": 0.01,
    "beta1_power": 0.81,
    "beta2_power": 0.7,
    "beta1": 0.9,
    "beta2": 0.7,
    "l1": 0.05,
    "l2": 0.2,
    "l2_shrinkage": 0.1,
    "lr_power": -0.5,
    "logbase": 1.5,
    "sign_decay": 0.5,
    "beta": 0.6,
    "global_step": 3,
}

# op: slots, then the other inputs in the op's order
RULES = {
    "GradientDescent": ("", "alpha delta"),
    "ProximalGradientDescent": ("", "alpha l1 l2 delta"),
    "Momentum": ("accum", "lr grad momentum"),
    "KerasMomentum": ("accum", "lr grad momentum"),
    "Adagrad": ("accum", "lr grad"),
    "AdagradV2": ("accum", "lr epsilon grad"),
    "AdagradDA": ("gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step"),
    "ProximalAdagrad": ("accum", "lr l1 l2 grad"),
    "Adadelta": ("accum accum_update", "lr rho epsilon grad"),
    "RMSProp": ("ms mom", "lr rho momentum epsilon grad"),
    "CenteredRMSProp": ("mg ms mom", "lr rho momentum epsilon grad"),
    "Adam": ("m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdamWithAmsgrad": ("m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdaMax": ("m v", "beta1_power lr beta1 beta2 epsilon grad"),
    "Ftrl": ("accum linear", "grad lr l1 l2 lr_power"),
    "FtrlV2": ("accum linear", "grad lr l1 l2 l2_shrinkage lr_power"),
    "AddSign": ("m", "lr alpha sign_decay beta grad"),
    "PowerSign": ("m", "lr logbase sign_decay beta grad"),
}

ATTRS = {
    "": {},
    "nesterov": {"use_nesterov": True},
    "frozen": {"update_slots": False},
    "by_lr": {"multiply_linear_by_lr": True},
}
VARIANTS = {
    "nesterov": ("Momentum", "KerasMomentum", "Adam"),
    "frozen": ("Adagrad", "AdagradV2"),
    "by_lr": ("Ftrl", "FtrlV2"),
}
DENSE_ONLY = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")

CASES = [
    (op, variant, sparse)
    for op in RULES
    for variant in ("", *[v for v, ops in VARIANTS.items() if op in ops])
    for sparse in ((False,) if op in DENSE_ONLY else (False, True))
]


def label(case):
    return " ".join(word for word in (case[0], case[1], "sparse" if case[2] else "") if word)


def start(op, dtype):
    """The variable and its slots before the first step."""
    arrays = {"var": np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]], dtype)}
    for i, slot in enumerate(RULES[op][0].split()):
        arrays[slot] = (np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]) * (i + 1)).astype(dtype)
    return arrays


def inputs(case, step, dtype):
    """The op's other inputs at a step, by name."""
    op, _, sparse = case
    given = {}
    for name in RULES[op][1].split():
        if name not in ("grad", "delta"):
            given[name] = np.array(NUMBERS[name], np.int64 if name == "global_step" else dtype)
            continue
        grad = (np.array([[0.3, -0.4], [1.0, 0.05], [-0.6, 2.0]]) * (1 + step)).astype(dtype)
        given["grad" if sparse else name] = grad[[2, 0]] if sparse else grad
        if sparse:
            given["indices"] = np.array([2, 0], np.int32)
    return given


def op_name(case, kind="Resource"):
    return f"{kind}{'Sparse' if case[2] else ''}Apply{case[0]}"


def play(tf, case, dtype=np.float32):
    """Take the steps eagerly; return variable and slots afterwards."""
    variables = {name: tf.Variable(value) for name, value in start(case[0], dtype).items()}
    handles = {name: variable.handle for name, variable in variables.items()}
    for step in range(STEPS):
        getattr(tf.raw_ops, op_name(case))(**handles, **inputs(case, step, dtype), **ATTRS[case[1]])
    return {name: variable.numpy() for name, variable in variables.items()}


def answers():
    return json.loads(ANSWERS.read_text())
