"""The table of real kernels: those that ship in the JAX wheel, unchanged,
in Palladion against an oracle that is not ours.

`python -m palladion.real_kernels` runs it. Cases: gpu_kernels.py, tpu_kernels.py; what a case is: case.py;
the run: table.py.
"""
