"""Test pages that no threshold was tuned on: what is made (plan), how it is set (compose) and spoilt (damage)."""
