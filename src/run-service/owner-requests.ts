// Counts the requests in progress, so that no owner can occupy all connections or the memory with slow
// bodies, or with answers that nobody reads.

import type { FastifyReply } from 'fastify';

/** Below this share of used connections, an owner may have any number of requests. */
const FREE_SHARE = 1 / 2;
/** The share of all connections that each owner may use beyond that. */
const OWN_SHARE = 1 / 64;
/** The most body bytes that the requests of one owner may hold in memory. */
const OWNER_BODY_BYTES = 256 * 1024 * 1024;

type Share = { requests: number; bodyBytes: number };

export class OwnerRequests {
  readonly #connections: number;
  readonly #shares = new Map<string, Share>();
  #requests = 0;

  constructor(connections: number) {
    this.#connections = connections;
  }

  /** Counts the request until its response is closed; false if the request was refused. `bodyBytes`: the memory that it may hold. */
  enter(who: string, reply: FastifyReply, bodyBytes = 0): boolean {
    const share = this.#shares.get(who) ?? { requests: 0, bodyBytes: 0 };
    const isFree = this.#requests < this.#connections * FREE_SHARE;
    const hasRoom = isFree || share.requests < Math.max(1, this.#connections * OWN_SHARE);
    if (!hasRoom || (share.requests > 0 && share.bodyBytes + bodyBytes > OWNER_BODY_BYTES)) {
      void reply.code(429).header('retry-after', '1').send({ detail: 'Too many requests at once' });
      return false;
    }
    this.#add(who, share, 1, bodyBytes);
    reply.raw.once('close', () => this.#add(who, share, -1, -bodyBytes));
    return true;
  }

  /** A download needs no key, so it counts for the file's owner, apart from requests with the owner's key. */
  enterDownload(owner: string, reply: FastifyReply): boolean {
    return this.enter(`files of ${owner}`, reply);
  }

  #add(who: string, share: Share, requests: number, bodyBytes: number): void {
    this.#requests += requests;
    share.requests += requests;
    share.bodyBytes += bodyBytes;
    if (share.requests === 0) this.#shares.delete(who);
    else this.#shares.set(who, share);
  }
}
