"""The stages, one file each; ``order.py`` lists them in running order."""
