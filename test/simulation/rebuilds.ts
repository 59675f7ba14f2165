// Simulates users who rebuild a batch from its folder and the run list, in any stack and beside whatever else goes on. The real code
// decides; its calls take time, and the command may be killed between two of them.

import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import type { Snapshot } from '../../src/batch/state/snapshot.ts';
import { isRunsheetError } from '../../src/errors/error.ts';
import { takeOver, type TakeOver } from '../../src/library/handle/rebuilt-batch.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { Store } from '../../src/store/store.ts';
import type { SimBatch } from './batch.ts';
import { STATUS_OF, type SimRun } from './service.ts';
import type { SimStack } from './stack.ts';
import { untilIdle } from './world.ts';

/** How often a user repeats the command. */
const MAX_TRIES = 12;

export class Rebuilds {
  readonly #batch: SimBatch;
  #underWay = 0;

  constructor(batch: SimBatch) {
    this.#batch = batch;
    const { world, stacks } = batch;
    for (const { stack: number, atMs } of world.plan.rebuilds ?? []) {
      const stack = stacks[number];
      if (stack === undefined) continue;
      this.#underWay += 1;
      world.after(atMs, () => this.#try(stack, 1));
    }
  }

  /** Whether a user is about to rebuild the batch. */
  get areUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /** A command has told its user to recover the batch. */
  recover(stack: SimStack): void {
    if (this.areUnderWay) return;
    this.#batch.world.saw('a batch recovered because a command said so');
    this.#underWay += 1;
    this.#try(stack, 1);
  }

  /** A user gives up, or forgets the command, only while the batch goes on elsewhere. */
  #again(stack: SimStack, tries: number, afterMs: number): void {
    const { holder, world } = this.#batch;
    const forgets = world.chance(0.03);
    if ((tries >= MAX_TRIES || forgets) && holder.isRunning) {
      world.saw('a rebuild that was forgotten');
      this.#lookLater();
    } else world.after(afterMs, () => this.#try(stack, tries + 1));
  }

  /**
   * The remains of a rebuild that was given up show at the end: the batch then lacks its newest pass, and its user
   * resumes it.
   */
  #lookLater(): void {
    const { holder, world } = this.#batch;
    if (holder.isRunning) world.after(30_000, () => this.#lookLater());
    else this.#attach();
  }

  #try(stack: SimStack, tries: number): void {
    const { world, holder } = this.#batch;
    const { store, passes } = this.#batch;
    // Only the summary counts: the end of a pass before the newest one is no end for the command.
    if (store.summarizedPass === passes.newest) return this.#attach();
    if (stack.isOff || this.#batch.store.started === undefined) return this.#again(stack, tries, 30_000);
    world.saw(holder.stack === stack ? 'a rebuild in its own stack' : 'a rebuild in another stack');
    if (!holder.stack.isOff && holder.isRunning) world.saw('a rebuild beside a living batch');
    let isKilled = false;
    const command = new Command(this.#batch, stack, () => isKilled);
    void takeOver(command.params).then(
      ({ stays, unconfirmed }) => {
        command.isOver = true;
        world.saw('a batch rebuilt');
        if (unconfirmed > 0) world.saw('a row whose run the service may have deleted');
        this.#underWay -= 1;
        if (stays === undefined)
          this.#batch.signal({ type: 'resume', commandId: `rebuilt ${stack.number} ${world.now}` });
        this.#tellNewest();
      },
      (error: unknown) => {
        command.isOver = true;
        this.#refused(stack, tries, error);
      },
    );
    world.wait(untilIdle());
    if (world.chance(0.15))
      world.after(world.between(0, 2_000), () => {
        if (command.isOver) return;
        world.saw('a rebuild that was killed');
        isKilled = true;
        this.#again(stack, tries, world.between(1_000, 60_000));
      });
  }

  /** The batch has ended meanwhile; a rebuild that was given up may have left a pass, with which the command continues it. */
  #attach(): void {
    const { store, passes, user } = this.#batch;
    this.#underWay -= 1;
    // A rebuild may have terminated the workflow right after its summary: only the folder says that the batch has ended.
    if (store.summarizedPass === passes.newest) user.seeEnd(passes.newest);
    this.#tellNewest();
  }

  /** Attaches as each command does: another one may have added a pass where the batch was until it was rebuilt. */
  #tellNewest(): void {
    const { passes, holder, world } = this.#batch;
    const pass = passes.newest;
    if (holder.state.pass >= pass) return;
    world.saw('a pass that a rebuilt batch did not know');
    this.#batch.signal({ type: 'retry', commandId: `known ${pass} ${world.now}`, pass });
  }

  /** Does what the message says: the same command again, at the time that it names. */
  #refused(stack: SimStack, tries: number, error: unknown): void {
    const { world } = this.#batch;
    const text = isRunsheetError(error, 'E511') ? error.message : '';
    world.claim(text !== '', () => `a rebuild failed: ${(error as Error).stack ?? String(error)}`);
    const [, seconds] = /(?:in|complete) (\d+) s/.exec(text) ?? [];
    world.saw(`not rebuilt: ${text.replaceAll(/\d+/g, 'n').slice(0, 70)}`);
    this.#again(stack, tries, seconds === undefined ? world.between(1_000, 30_000) : Number(seconds) * 1_000);
  }
}

/** A single run of the command. */
class Command {
  isOver = false;
  readonly params: TakeOver;
  readonly #batch: SimBatch;
  readonly #stack: SimStack;
  readonly #isKilled: () => boolean;

  constructor(batch: SimBatch, stack: SimStack, isKilled: () => boolean) {
    this.#batch = batch;
    this.#stack = stack;
    this.#isKilled = isKilled;
    const { world, service } = batch;
    this.params = {
      session: { batches: this.#client(), holder: stack.holder },
      batchFolder: {
        batch: `b${batch.mark}`,
        folder: '/batches/simulated',
        file: fileOf(batch),
        store: this.#store(),
      },
      service: {
        listRuns: (_, { offset }) => this.#readPage(offset),
        nowMs: () => service.clock.now,
      },
      listedMs: world.plan.retentionMs ?? Number.POSITIVE_INFINITY,
      now: () => stack.clock.now,
      steady: () => world.now,
    };
  }

  /** After some time, unless the command is killed meanwhile: then never. */
  async #later<T>(work: () => T, mostMs = 300): Promise<Awaited<T>> {
    const { world } = this.#batch;
    return world.later(world.between(1, mostMs), () => {
      if (!this.#isKilled()) return work();
      return new Promise<never>(() => undefined);
    });
  }

  /** A page that cannot be read is tried again. */
  async #readPage(offset: number): Promise<readonly Run[] | undefined> {
    const { world, service } = this.#batch;
    if (!world.plan.lists) return undefined;
    for (;;) {
      const page = await this.#later(() => service.page(offset), 50);
      if (page !== undefined) return page.map((run) => shownRun(run, world.now));
      await world.later(500, () => undefined);
    }
  }

  /** Writes take time before and after they are visible, sometimes long. */
  #store(): Store {
    const { world, store } = this.#batch;
    const mostMs = (): number => (world.chance(0.1) ? 6_000 : 50);
    return {
      ...store.asStore,
      create: async (name, content) => {
        const isNew = await this.#later(() => store.asStore.create(name, content), mostMs());
        return this.#later(() => isNew, mostMs());
      },
      update: async (name, next) => {
        await this.#later(() => store.asStore.update(name, next), mostMs());
        await this.#later(() => undefined, mostMs());
      },
    };
  }

  #client(): TakeOver['session']['batches'] {
    const batch = this.#batch;
    const own = () => batch.executionIn(this.#stack);
    return {
      isRunning: () => this.#later(() => own()?.isRunning === true),
      terminate: () => this.#later(() => own()?.terminate() as never),
      start: (_, continuation) =>
        this.#later(() => {
          if (own()?.isRunning === true) return 'running';
          const { snapshot } = continuation as { readonly snapshot: Snapshot };
          batch.start(this.#stack, { version: WRITES, snapshot: pricedAs(batch.params, snapshot) });
          return 'started';
        }),
      firstRun: () => this.#later(() => ({ workflowId: workflowIdIn(batch), runId: own()?.runId ?? '' })),
    };
  }
}

/** The prices of a simulated world are no part of its batch.json. */
function pricedAs({ attemptCostNano }: BatchParams, { params, ...snapshot }: Snapshot): Snapshot {
  const { attemptCostNano: _, ...unpriced } = params;
  return {
    ...snapshot,
    params: { ...unpriced, ...(attemptCostNano === undefined ? {} : { attemptCostNano }) },
  };
}

export const workflowIdIn = ({ mark }: SimBatch): string => `w${mark}`;

const markOf = (mark: number): string => mark.toString(16).padStart(16, '0');

/** The fields of batch.json that a rebuild reads. */
const fileOf = ({ params, mark, world }: SimBatch): BatchFile =>
  ({
    ...params,
    batch: `b${mark}`,
    mark: markOf(mark),
    content: '',
    createdAt: new Date(world.now).toISOString(),
    sheet: {
      name: 's.csv',
      rows: params.rows,
      lanes: params.lanes,
      isQueued: params.placesAreRows !== true,
      options: params.ladder === undefined ? {} : { ladder: params.ladder },
    },
    deployment: { id: 'd', workflowId: 'w' },
    service: { base: '', api: 'v2', timing: params.timing, prices: {} },
    deadlines: {},
  }) as unknown as BatchFile;

/** A run as a list shows it. */
function shownRun(run: SimRun, now: number): Run {
  const hasEnded = run.endsAt <= now;
  const token = `${run.place}/${run.attempt}/${'0'.repeat(32)}`;
  return {
    id: run.id,
    status: hasEnded ? STATUS_OF[run.outcome] : 'running',
    createdAtMs: run.createdAtMs,
    ...(hasEnded ? { endedAtMs: run.updatedAtMs } : {}),
    ...(run.gpu === undefined ? {} : { gpu: run.gpu }),
    ...(run.mark === undefined
      ? {}
      : { webhook: `http://r/hook/2/b${run.mark}/${markOf(run.mark)}/${token}` }),
  } as unknown as Run;
}
