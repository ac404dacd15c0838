# wholetext on a CPU, on Debian's own Python.
#
#   docker build -t wholetext .
#   docker run --rm -v "$PWD:/data" wholetext score -s src.txt -t sys.txt -r ref.txt -d docids.txt -m d-blonde chrf --out run
#
# Models that are not in the image are kept in /cache: give it a volume (-v wholetext-cache:/cache) to keep them.
# Packages of Debian have no version here: its mirrors keep only the latest of each.
FROM debian:bookworm-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/wholetext
COPY pyproject.toml README.md LICENSE constraints.txt /src/
COPY src /src/src
ARG EXTRAS=demo,de,zh
# PyPI's torch for Linux brings gigabytes of CUDA libraries; this index has the build for CPUs.
RUN /opt/wholetext/bin/pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
      -c /src/constraints.txt "/src[$EXTRAS]"

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 wholetext \
 && install -d -o wholetext -g wholetext /data /cache
COPY --from=build /opt/wholetext /opt/wholetext
ENV PATH=/opt/wholetext/bin:$PATH XDG_CACHE_HOME=/cache PYTHONUTF8=1
USER 1000
WORKDIR /data
ENTRYPOINT ["wholetext"]
CMD ["--help"]
