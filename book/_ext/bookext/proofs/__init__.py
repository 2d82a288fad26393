"""Statements that Coq has checked: ``sources`` says what they are, ``coq`` whether it accepts them, ``record`` keeps that, ``pages`` shows it."""
