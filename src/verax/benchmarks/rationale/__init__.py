"""Verification with a rationale model: which explainers rank words that provably do nothing?"""
