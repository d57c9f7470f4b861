# Poproom in a container: docs/operations.md says how to run it.

# The command and the page. Nothing of this stage but dist/ reaches the image.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No scripts: the only one would bring a second Node, and the image has its own.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json openapi.json asyncapi.json ./
COPY scripts scripts
COPY src src
COPY web web
RUN npm run build

# The libraries that run.
FROM node:26-slim AS libraries
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:26-slim
LABEL org.opencontainers.image.title="Poproom" \
      org.opencontainers.image.description="Share one text and some files between your devices through short-lived rooms." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="docker.io/library/node:26-slim"

# The user "node" of the base image, by number, so that Kubernetes can see that it is not root.
RUN mkdir --mode=700 /data && chown 1000:1000 /data

# All of it belongs to root and is not written to: the root file system may be read-only, with a tmpfs on /tmp.
WORKDIR /app
COPY --from=libraries /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY --from=build /app/dist dist

ENV NODE_ENV=production \
    PORT=8080 \
    POPROOM_DATA_DIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 8080

# Whether the process answers. Whether it can serve is /readyz, for load balancers: a node whose store is away must not
# be restarted for it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# It stops within 30 seconds of this; give it as long (docker run --stop-timeout 35).
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/poproom.js"]
CMD ["serve"]
