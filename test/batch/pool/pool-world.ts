// A pool and the batches that share it, with their real steps. Messages between them wait until the test delivers them, in any
// order and any number of times.

import { chargeOf, newPool, type PoolState } from '../../../src/batch/pool/pool-state.ts';
import { poolDueAt, poolStep, type MemberGrant, type PoolEvent } from '../../../src/batch/pool/pool-step.ts';
import type { MemberUsage } from '../../../src/batch/pool/messages.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../../src/batch/state/snapshot.ts';
import { begin, usedSlots } from '../../../src/batch/state/state.ts';
import { World } from '../world.ts';

type Message =
  | { readonly to: 'pool'; readonly usage: MemberUsage }
  | { readonly to: 'batch'; readonly sent: MemberGrant };

export type PoolBatch = { readonly member: string; readonly world: World; isDead: boolean };

export class PoolWorld {
  state: PoolState;
  now = 1_000_000;
  readonly batches: PoolBatch[] = [];
  readonly messages: Message[] = [];
  readonly problems: string[] = [];
  #commands = 0;

  constructor(size: number) {
    this.state = newPool('gpus', this.now);
    this.resize(size);
  }

  add(params: Partial<BatchParams>): PoolBatch {
    const world = new World({ pool: 'gpus', retries: 0, ...params });
    // The batch uses the clock of the pool.
    world.wallAt = this.now;
    world.state = begin(world.state.params, 1, this.now);
    world.reports.length = 0;
    const batch = { member: `batch-${this.batches.length + 1}`, world, isDead: false };
    this.batches.push(batch);
    this.act(batch, () => world.apply({ type: 'started' }));
    return batch;
  }

  resize(size: number): void {
    this.#commands += 1;
    this.take({ type: 'resize', commandId: `command ${this.#commands}`, size });
  }

  release(batch: PoolBatch): void {
    this.#commands += 1;
    this.take({ type: 'release', commandId: `command ${this.#commands}`, member: batch.member });
  }

  /** Lets a living batch do something, and sends its reports. */
  act(batch: PoolBatch, work: (world: World) => unknown): void {
    if (batch.isDead || batch.world.state.finished) return;
    work(batch.world);
    for (const { usage } of batch.world.reports.splice(0))
      this.messages.push({ to: 'pool', usage: { ...usage, member: batch.member } });
    this.check();
  }

  take(event: PoolEvent): void {
    const before = this.#charged();
    for (const sent of poolStep(this.state, [event], this.now)) this.messages.push({ to: 'batch', sent });
    const after = this.#charged();
    // A report may say that more is used than the pool knew of, but a grant never takes what is not free.
    if (event.type !== 'usage' && after > Math.max(before, this.state.size))
      this.problems.push(`${after} of ${this.state.size} slots are charged, before ${before}`);
    this.check();
  }

  #charged(): number {
    return this.state.members.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
  }

  /** Delivers a message; with `again`, it will be delivered once more. */
  deliver(index: number, again = false): void {
    const at = index % Math.max(1, this.messages.length);
    const message = this.messages[at];
    if (message === undefined) return;
    if (!again) this.messages.splice(at, 1);
    if (message.to === 'pool') return this.#report(message.usage);
    const { member, number, grant } = message.sent;
    const batch = this.#batch(member);
    if (batch.isDead || batch.world.state.finished)
      this.take({ type: 'notRunning', member, life: grant.life, number });
    else this.act(batch, (world) => world.apply({ type: 'grant', ...grant }));
  }

  #report(usage: MemberUsage): void {
    this.take({ type: 'usage', usage });
    if (!usage.left) this.act(this.#batch(usage.member), (world) => world.apply({ type: 'usageReported' }));
  }

  /** The pool is not running, or the message is lost in another way: its sender learns that. */
  lose(index: number): void {
    const at = index % Math.max(1, this.messages.length);
    const message = this.messages[at];
    // A batch ends when its last report has arrived.
    if (message === undefined || (message.to === 'pool' && message.usage.left)) return;
    this.messages.splice(at, 1);
    if (message.to === 'batch') return;
    const failed = { type: 'usageReported', failure: 'not found' } as const;
    this.act(this.#batch(message.usage.member), (world) => world.apply(failed));
  }

  #batch(member: string): PoolBatch {
    return this.batches.find((batch) => batch.member === member) as PoolBatch;
  }

  pass(ms: number): void {
    this.now += ms;
    for (const batch of this.batches) this.act(batch, (world) => world.pass(this.now - world.wallAt));
    if (poolDueAt(this.state) <= this.now) this.take({ type: 'woke' });
  }

  continuePool(): void {
    this.state = JSON.parse(JSON.stringify(this.state)) as PoolState;
    this.take({ type: 'started' });
  }

  /** A batch is rebuilt from its folder: it knows its runs, and nothing of its pool. */
  rebuild(batch: PoolBatch): void {
    // No batch is rebuilt within a millisecond.
    this.pass(1);
    const { world } = batch;
    if (!maySnapshot(world.state) || world.state.finished) return;
    const { membership: _, leaves: __, ...compared } = snapshot(world.state);
    world.state = restore(JSON.parse(JSON.stringify({ ...compared, wallAt: this.now })) as Snapshot);
    batch.isDead = false;
    for (const lost of [world.collects, world.readings, world.polls, world.cancels]) lost.length = 0;
    this.act(batch, () => world.apply({ type: 'started' }));
  }

  /** A member never holds more slots than the pool charges it for. */
  check(): void {
    for (const { member, world } of this.batches) {
      const poolMember = this.state.members.find((candidate) => candidate.member === member);
      const used = usedSlots(world.state);
      const charged = poolMember === undefined ? 0 : chargeOf(poolMember);
      if (used > charged) this.problems.push(`${member} uses ${used} slots and is charged for ${charged}`);
      this.problems.push(...world.problems.splice(0));
    }
  }

  /** Delivers everything that is on its way, for longer than a member may be silent. */
  settle(): void {
    for (let turns = 0; turns < 10; turns += 1) {
      while (this.messages.length > 0) this.deliver(0);
      this.pass(turns === 0 ? 65_000 : 2_500);
    }
  }
}
