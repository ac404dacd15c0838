"""Human judgments: MQM, direct assessment, ESA, rankings, aspects; who gave which score to what."""
