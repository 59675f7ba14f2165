// Simulates the pool of a world: the real step of a pool, with messages that arrive late, twice or out of order, and another
// member that takes slots away and gives them back.

import { chargeOf, newPool, type PoolState } from '../../src/batch/pool/pool-state.ts';
import type { Usage } from '../../src/batch/pool/messages.ts';
import { poolDueAt, poolStep, type MemberGrant, type PoolEvent } from '../../src/batch/pool/pool-step.ts';
import { usedSlots } from '../../src/batch/state/state.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import type { SimExecution } from './execution.ts';
import type { WorldPlan } from './plan.ts';
import type { SimTemporal } from './temporal.ts';
import type { World } from './world.ts';

export type PoolPlan = {
  readonly pool: string;
  readonly poolSize: number;
  /** A user terminates the pool, or sets its size to 0, and mends that after a while. */
  readonly poolTrouble?: { readonly kind: 'gone' | 'empty'; readonly atMs: number; readonly forMs: number };
};

/** Drawn apart, so that the other parts of a world do not depend on it. */
export function poolOf({ seed, concurrency }: Pick<WorldPlan, 'seed' | 'concurrency'>): Partial<PoolPlan> {
  const draw = numbersFrom(seed + 0x9e37);
  for (let skip = 0; skip < 8; skip += 1) draw();
  if (draw() < 0.75) return {};
  // Small grants: a few unconfirmed attempts hold all of them.
  const most = draw() < 0.5 ? 1.5 * concurrency : 4;
  const pool = { pool: 'gpus', poolSize: 1 + Math.floor(draw() * most) };
  if (draw() < 0.5) return pool;
  const kind = draw() < 0.5 ? 'gone' : 'empty';
  const poolTrouble = {
    kind,
    atMs: Math.floor(draw() * 30_000),
    forMs: Math.floor(draw() * 200_000),
  } as const;
  return { ...pool, poolTrouble };
}

/** After this time every member has reported to a pool that was made again, except if Temporal's clock was set back meanwhile. */
const REPORTED_MS = 90_000;

const OTHER = 'another member';

class SimPool {
  state: PoolState;
  readonly batches = new Map<string, SimExecution>();
  readonly #world: World;
  readonly #temporal: SimTemporal;
  #other = { life: 1, number: 0, epoch: 0, limit: 0, used: 0 };
  /** Whether the workflow does not run, or does not know all members yet. */
  isGone = false;
  isNew = false;
  isMadeAgain = false;

  constructor(world: World, temporal: SimTemporal) {
    this.#world = world;
    this.#temporal = temporal;
    this.state = newPool('gpus', temporal.clock.now);
    this.take({ type: 'resize', commandId: 'first', size: world.plan.poolSize ?? 1 });
    this.#useSlots();
    const { poolTrouble } = world.plan;
    if (poolTrouble !== undefined) world.after(poolTrouble.atMs, () => this.#suffer(poolTrouble));
  }

  #suffer({ kind, forMs }: NonNullable<PoolPlan['poolTrouble']>): void {
    const size = this.#world.plan.poolSize ?? 1;
    this.#world.saw(`pool ${kind}`);
    if (kind === 'empty') {
      this.take({ type: 'resize', commandId: 'empty', size: 0 });
      this.#world.after(forMs, () => this.take({ type: 'resize', commandId: 'full', size }));
      return;
    }
    this.isGone = true;
    this.#world.after(forMs, () => {
      this.isGone = false;
      this.isNew = true;
      this.isMadeAgain = true;
      this.state = newPool('gpus', this.#temporal.clock.now);
      this.#world.after(REPORTED_MS, () => {
        this.isNew = false;
        this.take({ type: 'resize', commandId: 'again', size });
      });
    });
  }

  take(event: PoolEvent): void {
    if (this.isGone) return;
    const before = this.#charged();
    const told = poolStep(this.state, [event], this.#temporal.clock.now);
    const after = this.#charged();
    this.#world.claim(
      event.type === 'usage' || after <= Math.max(before, this.state.size),
      () => `${after} of ${this.state.size} slots of the pool are charged`,
    );
    for (const grant of told) this.#tell(grant);
    if (this.#world.chance(0.01)) this.#continueAsNew();
  }

  #charged(): number {
    return this.state.members.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
  }

  #continueAsNew(): void {
    this.#world.saw('pool continued as new');
    this.state = JSON.parse(JSON.stringify(this.state)) as PoolState;
    for (const grant of poolStep(this.state, [{ type: 'started' }], this.#temporal.clock.now))
      this.#tell(grant);
  }

  #tell({ member, number, grant }: MemberGrant): void {
    const batch = this.batches.get(member);
    if (batch === undefined) return this.#temporal.signal(() => this.#obey(grant));
    this.#temporal.signal(() => {
      if (batch.isRunning) batch.take({ type: 'grant', ...grant });
      else this.take({ type: 'notRunning', member, life: grant.life, number });
    });
  }

  #obey({ epoch, limit }: MemberGrant['grant']): void {
    if (epoch > this.#other.epoch) this.#other = { ...this.#other, epoch, limit };
  }

  /** The other member uses what it may, or less, and ends some of its runs, until faults stop. */
  #useSlots(): void {
    const { limit, used } = this.#other;
    const next = Math.min(Math.max(limit, used), this.#world.between(0, 2 * this.state.size));
    const isCalm = this.#world.isCalm;
    this.#other = { ...this.#other, number: this.#other.number + 1, used: isCalm ? 0 : next };
    const wanted = isCalm ? 0 : Math.max(next, this.#world.between(0, this.state.size));
    const usage = { ...this.#other, member: OTHER, wanted, weight: 1, urgency: this.#world.between(0, 1) };
    this.#temporal.signal(() =>
      this.take({ type: 'usage', usage: isCalm ? { ...usage, left: true } : usage }),
    );
    if (!isCalm) this.#world.after(this.#world.between(500, 20_000), () => this.#useSlots());
  }

  /** Silent members get their grant again. */
  look(): void {
    if (poolDueAt(this.state) <= this.#temporal.clock.now) this.take({ type: 'woke' });
  }
}

const POOLS = new WeakMap<World, SimPool>();

/** Delivers a report, unless the pool cannot be reached; `done` is called once. */
export function reportTo(
  batch: SimExecution,
  { usage }: { readonly usage: Usage },
  done: (error?: Error) => void,
): void {
  const { world, temporal, mark } = batch;
  const pool = POOLS.get(world) ?? new SimPool(world, temporal);
  POOLS.set(world, pool);
  const member = `batch ${mark}`;
  pool.batches.set(member, batch);
  world.after(70_000, () => pool.look());
  // The batch ends with the last one, and its user may send rows again meanwhile, also when faults have stopped.
  const isSlow = world.shouldInject('slowReport') || (usage.left && world.chance(0.5));
  const slowMs = isSlow ? world.between(1, world.chance(0.5) ? 100 : 30_000) : 0;
  if (pool.isGone || (!world.isCalm && world.chance(0.05))) {
    world.saw('pool not reached');
    return world.after(slowMs, () => done(new Error('not found')));
  }
  let isDone = false;
  world.after(slowMs, () =>
    temporal.signal(() => {
      pool.take({ type: 'usage', usage: { ...usage, member } });
      if (!isDone) done();
      isDone = true;
    }),
  );
}

/** Before a group is sent: the batch keeps to its grant, and the pool counts on it. */
export function checkGrant({ state, world, mark }: SimExecution): void {
  const { membership } = state;
  world.claim(
    (membership === undefined) === (world.plan.pool === undefined),
    () => 'a batch of a pool was no member when it sent a group',
  );
  if (membership === undefined) return;
  const pool = POOLS.get(world);
  const poolMember = pool?.state.members.find(({ member }) => member === `batch ${mark}`);
  const charged = poolMember === undefined ? 0 : chargeOf(poolMember);
  world.claim(
    usedSlots(state) <= membership.limit,
    () => `${usedSlots(state)} slots are in use, ${membership.limit} are granted`,
  );
  world.claim(
    membership.limit <= charged ||
      pool === undefined ||
      pool.isGone ||
      pool.isNew ||
      (pool.isMadeAgain && poolMember === undefined),
    () => `a batch has ${membership.limit} slots, its pool counts ${charged}`,
  );
  world.saw('sent with a grant');
}
