# The workbook for a team. README.md, "For a team", says how to build and run it, and behind which proxy.

FROM python:3.12.12-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md ./
COPY gpuplan gpuplan
COPY data data
COPY notebooks/workbook.ipynb notebooks/workbook.ipynb
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels ".[app,fast]"

FROM python:3.12.12-slim-bookworm
# No source, no cache and no build tool comes along: the wheels are only looked at while they are installed.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --find-links /wheels "gpuplan[app,fast]"
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
