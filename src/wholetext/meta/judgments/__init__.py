"""Human judgments: MQM, direct assessment, ESA; who gave which score to what."""
