"""Contrastive sets: can a metric tell a correct translation from one that is wrong in its context?"""
