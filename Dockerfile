# The workbook for a team. README.md, "For a team", says how to build and run it, and behind which proxy.

# The digest says which files, whatever the tag comes to mean; both stages use it.
ARG BASE=python:3.12.14-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254
FROM ${BASE} AS build
WORKDIR /src
COPY requirements/build.txt requirements/build.txt
RUN python -m pip install --no-cache-dir --require-hashes --only-binary :all: --requirement requirements/build.txt
COPY pyproject.toml README.md ./
COPY gpuplan gpuplan
COPY data data
COPY notebooks/workbook.ipynb notebooks/workbook.ipynb
RUN python -m pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /wheels .

FROM ${BASE}
# What was tested, in that version and with that hash. No source, no cache and no build tool comes along: lists and
# wheels are only looked at while they are installed.
RUN --mount=type=bind,source=requirements,target=/requirements \
    python -m pip install --no-cache-dir --require-hashes --only-binary :all: --requirement /requirements/image.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --no-deps --find-links /wheels gpuplan
# A fixed number, so that a cluster that forbids root can check it; the user owns no file of the image.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin gpuplan
# All that is written goes to /tmp, so the rest of the file system may be read-only.
ENV HOME=/tmp \
    TMPDIR=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GPUPLAN_BASE_URL=/
USER 10001:10001
WORKDIR /tmp
EXPOSE 8866
# A static file: the page itself would take a session each time.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; base = '/' + os.environ['GPUPLAN_BASE_URL'].strip('/'); u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:8866' + base.rstrip('/') + '/voila/templates/gpuplan/static/health.txt', timeout=4)"]
# The token comes from GPUPLAN_TOKEN; without one it is made up, and printed with the address.
STOPSIGNAL SIGTERM
ENTRYPOINT ["gpuplan", "app", "--host", "0.0.0.0", "--port", "8866", "--no-browser"]
CMD []
