# Two stages: bundle the server, and build the image, which holds neither compilers nor sources nor node_modules.

FROM node:24-slim AS build
WORKDIR /app
# Compilers for better-sqlite3 and argon2, when they have no binary for the platform or GitHub cannot be reached.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
ENV npm_config_nodedir=/usr/local
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY prisma prisma
COPY build build
COPY src src
COPY views views
COPY docs docs
RUN npm run build

FROM node:24-slim
LABEL org.opencontainers.image.title="Gatehouse" \
  org.opencontainers.image.description="A single sign-on server for OpenID Connect and SAML 2.0" \
  org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
# The bundle, with the native modules, the documentation, the style sheets, the icons and the font.
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY views views
# The XML schemas that SAML messages are validated against.
COPY src/protocols/saml/xml/schemas src/protocols/saml/xml/schemas
# The committed migrations are applied at each start.
COPY prisma/migrations prisma/migrations
RUN ln -s /app/bin/gatehouse.js /usr/local/bin/gatehouse \
  && install --directory --owner=node --group=node --mode=0700 /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# The C library reads these before the program starts: one pool of memory for all threads, and the memory of one password hash is
# not given back between two hashes. They save 110 MB after many requests (docs/performance.md).
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=25165824
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "dist/main.js"]
