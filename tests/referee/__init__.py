"""The referee: behaviour that a redesign must not change, frozen in ``expected/``.

Everything goes through the command line and the top-level interface of the package (``api.py``), so that modules may
move. ``python -m tests.referee.freeze`` writes the expectations anew; its docstring says when that is allowed.
"""
