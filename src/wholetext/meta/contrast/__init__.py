"""Contrastive sets: can a reference-free metric tell a correct translation from one that is wrong in its context?"""
