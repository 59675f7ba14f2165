// Counts the requests in progress, so that no owner occupies all connections or the memory with slow bodies, or with answers that
// nobody reads.

import type { FastifyReply } from 'fastify';

/** While a smaller share of the connections is in use, an owner may have any number of requests. */
const FREE_SHARE = 1 / 2;
/** The share of all connections that each owner may have after that. */
const OWN_SHARE = 1 / 64;
/** The most bytes of bodies that the requests of one owner may hold in memory. */
const OWNER_BODY_BYTES = 256 * 1024 * 1024;

type Share = { requests: number; bodyBytes: number };

export class OwnerRequests {
  readonly #connections: number;
  readonly #shares = new Map<string, Share>();
  #requests = 0;

  constructor(connections: number) {
    this.#connections = connections;
  }

  /** Counts the request until its response is closed; false if it has been refused. `bodyBytes`: what it may hold in memory. */
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

  /** A download needs no key: it counts for the owner of the file, and not among the requests with their key. */
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
