# See docs/operations.md for how to run the image.

# Builds the command and the page. Only dist/ is copied from this stage.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# --ignore-scripts: the only install script would download another Node.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json openapi.json asyncapi.json ./
COPY scripts scripts
COPY src src
COPY web web
RUN npm run build

# The production dependencies.
FROM node:26-slim AS libraries
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:26-slim
# A release sets these three.
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Poproom" \
      org.opencontainers.image.description="Share one text and some files between your devices through short-lived rooms." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.base.name="docker.io/library/node:26-slim"

# 1000 is the user "node" of the base image. With a number, Kubernetes can verify that it is not root.
RUN mkdir --mode=700 /data && chown 1000:1000 /data

# These files belong to root and are never written, so the root file system can be read-only, with a tmpfs on /tmp.
WORKDIR /app
COPY --from=libraries /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY --from=build /app/dist dist

ENV NODE_ENV=production \
    POPROOM_DATA_DIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 8080

# Checks /livez, not /readyz, because restarting a node does not help if its store is down. Load balancers use /readyz.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.POPROOM_PORT || process.env.PORT || 8080) + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# The server stops within 30 seconds. Allow for it: docker run --stop-timeout 35
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/poproom.js"]
CMD ["serve"]
