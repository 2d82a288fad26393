"""The whole run, known before the first step: how far training can stray from its linear run."""
