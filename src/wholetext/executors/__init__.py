"""Executors: where work is computed; one scheduler over workers that are processes of this machine or Ray actors."""
