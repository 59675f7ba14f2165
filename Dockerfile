# The worker, and every other command. Built in two steps, so that the image carries what a package carries.
FROM node:24.21-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY bin/development-node ./bin/development-node
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node bin/build.mjs && npm ci --ignore-scripts --no-audit --no-fund --omit=dev
# Temporal's native part comes for five platforms, 28 MB each.
RUN cd node_modules/@temporalio/core-bridge/releases && ls | grep -v "$(node -p "process.arch === 'x64' ? 'x86_64' : 'aarch64'")-unknown-linux-gnu" | xargs rm -rf

FROM node:24.21-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/bin ./bin
COPY --from=build /build/dist ./dist
COPY --from=build /build/node_modules ./node_modules
RUN mkdir /state && chown 1000:1000 /state
USER node
ENTRYPOINT ["node", "/app/bin/runsheet.mjs"]
