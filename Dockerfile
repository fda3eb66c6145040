# The serving image. GPU by default; `docker build --build-arg SET=cpu .` for a machine without one.
# Built from what it is today: `make base-digest` prints `--build-arg BASE=python@sha256:...` for a build that repeats.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE} AS build
ARG SET=gpu
# vLLM compiles small kernels when it starts on a CPU, and so needs a compiler at run time too.
RUN apt-get update && apt-get install --yes --no-install-recommends g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# The packages of others first: a change of the source leaves that layer as it is.
COPY requirements requirements
COPY scripts scripts
COPY pyproject.toml ./
COPY clients/python/pyproject.toml clients/python/
RUN scripts/setup "$SET" python3.11 pinned
COPY README.md LICENSE ./
COPY server server
COPY clients clients
COPY deploy/ray_serve.py deploy/
RUN scripts/setup "$SET" python3.11
# The embedded model is made here, so that a container starts without doing it again.
ENV HF_HUB_OFFLINE=1 XDG_CACHE_HOME=/app/cache
RUN .venv/bin/demur model prepare

FROM ${BASE}
RUN apt-get update && apt-get install --yes --no-install-recommends g++ libnuma1 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 demur && useradd --create-home --uid 10001 --gid demur demur
# Root's, so that a process that is taken over cannot change what runs next.
COPY --from=build /app /app
# As a number, so that Kubernetes can tell that it is not root.
USER 10001:10001
WORKDIR /home/demur
ENV PATH=/app/.venv/bin:$PATH XDG_CACHE_HOME=/app/cache PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["demur"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
