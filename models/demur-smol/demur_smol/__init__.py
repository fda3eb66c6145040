"""The weights of demur's embedded model, as files beside this one; `demur.model` finds and checks them."""

__version__ = "0.1.0"
