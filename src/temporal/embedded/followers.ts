// The commands that keep the embedded servers, and those among them for which batches run.
//
//   none ──keep──▶ some ──the last one leaves, or was killed and does not come back──▶ onLast
//   resting ──the first one works──▶ onWork ──the last of those leaves, or was killed …──▶ onRest

import type { Socket } from 'node:net';

export type Follower = {
  /** Only the user of this follower ends it. */
  readonly stays: boolean;
  /** Batches run for this follower. */
  readonly works: boolean;
  readonly pid?: number;
};

export type FollowersHandlers = {
  /** The last follower left, or was killed and did not come back in time. */
  onLast(): void;
  /** The first follower for which batches run has come. */
  onWork(): void;
  /** No remaining follower wants batches to run. Resolves when they stand still. */
  onRest(): Promise<void>;
  /** The followers have changed, and some stay. */
  onChange(): void;
};

export class Followers {
  readonly #handlers: FollowersHandlers;
  readonly #bySocket = new Map<Socket, Follower>();
  #lingering: NodeJS.Timeout | undefined;
  #resting: NodeJS.Timeout | undefined;

  /** `firstMs`: how long the first follower may take to come. */
  constructor(handlers: FollowersHandlers, firstMs: number) {
    this.#handlers = handlers;
    this.#lingering = setTimeout(handlers.onLast, firstMs);
  }

  get pids(): readonly number[] {
    return [...this.#bySocket.values()].flatMap(({ pid }) => pid ?? []);
  }

  /** Whether a follower stays until its user stops it. */
  get isKept(): boolean {
    return [...this.#bySocket.values()].some(({ stays }) => stays);
  }

  get isWorking(): boolean {
    return [...this.#bySocket.values()].some(({ works }) => works);
  }

  /** Whether this follower is the only one. */
  isLast(socket: Socket): boolean {
    return this.#bySocket.size === 1 && this.#bySocket.has(socket);
  }

  add(socket: Socket, follower: Follower): void {
    const isFirst = follower.works && !this.isWorking;
    this.#bySocket.set(socket, follower);
    clearTimeout(this.#lingering);
    if (!follower.works) return;
    clearTimeout(this.#resting);
    if (isFirst) this.#handlers.onWork();
  }

  /** Lets batches run for this follower; false if the socket belongs to none. */
  work(socket: Socket): boolean {
    const follower = this.#bySocket.get(socket);
    if (follower !== undefined) this.add(socket, { ...follower, works: true });
    return follower !== undefined;
  }

  /** `graceMs`: how long the follower may take to come back. Resolves when nothing runs for it any more. */
  async remove(socket: Socket, graceMs: number): Promise<void> {
    const { works } = this.#bySocket.get(socket) ?? {};
    if (!this.#bySocket.delete(socket)) return;
    if (this.#bySocket.size === 0) {
      if (graceMs === 0) this.#handlers.onLast();
      else this.#lingering = setTimeout(this.#handlers.onLast, graceMs);
      return;
    }
    this.#handlers.onChange();
    if (!works) return;
    if (graceMs === 0) await this.#rest();
    else this.#resting = setTimeout(() => void this.#rest(), graceMs);
  }

  async #rest(): Promise<void> {
    if (!this.isWorking) await this.#handlers.onRest();
  }

  clear(): void {
    clearTimeout(this.#lingering);
    clearTimeout(this.#resting);
    this.#bySocket.clear();
  }
}
