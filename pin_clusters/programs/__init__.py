"""One robot as a list of operations, and what is made of it.

``tracing`` makes the list; ``machine_code`` compiles it, ``specialising`` puts it in the place of kernels, ``codegen``
writes it as C and CUDA, ``cuda`` runs it on a GPU, ``hosts`` lets PyTorch, JAX and CasADi run it.
"""
