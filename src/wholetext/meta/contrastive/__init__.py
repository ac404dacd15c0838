"""Contrastive sets: does a metric prefer a correct translation to one that is wrong in its context?"""
