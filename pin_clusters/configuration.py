def check(model, q): pass
