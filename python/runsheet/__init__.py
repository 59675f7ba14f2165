"""What a program that stays needs: the runs of runsheet, one after another."""

from .runs import Run, runs

__all__ = ["Run", "runs"]
