"""Build a checked, versioned physics benchmark out of scanned exam papers."""

__version__ = "0.1.0"
__all__ = ["__version__"]
