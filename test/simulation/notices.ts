// The receivers of a batch's notifications, which are away at times, and what they may expect.

import { nameOf } from '../../src/batch/decisions/notify.ts';
import type { Event } from '../../src/batch/events.ts';
import type { Notice } from '../../src/batch/notices/notice.ts';
import type { SimExecution } from './execution.ts';
import type { Try } from './temporal.ts';

export class SimReceivers {
  /** The numbers of the notifications of one thing in a pass, and how many commands the batch had by then. */
  readonly #received = new Map<string, { readonly numbers: Set<number>; commands: number }>();

  /** The activity of a notification. */
  issue(batch: SimExecution, notice: Notice): (attempt: Try, done: (event: Event) => void) => void {
    const { world, state } = batch;
    const { number, to, pass } = notice;
    // A rebuilt batch that stays paused says so once more: the rebuild was a command.
    const by = notice.news === 'paused' ? `${batch.runId} ` : '';
    const name = `${by}${pass} ${nameOf(notice)} ${to}`;
    // A cancel by Temporal has no id, and is forgotten when it is in force.
    const commands =
      state.knownCommands.length + state.pendingCommands.filter(({ id }) => id !== undefined).length;
    const before = this.#received.get(name) ?? { numbers: new Set<number>(), commands };
    // Another try, and the same notification from the next workflow run, are the same for the receiver.
    const isRepeated = before.numbers.has(number);
    world.claim(
      isRepeated || before.numbers.size === 0 || commands > before.commands,
      () => `${name} was notified twice, without a command in between`,
    );
    const asOf = isRepeated ? before.commands : commands;
    this.#received.set(name, { numbers: before.numbers.add(number), commands: asOf });
    world.saw(isRepeated ? 'the same notification again' : `notified: ${nameOf(notice)}`);
    return (_, done) => {
      const lost = world.chance(0.2) ? { reason: 'the receiver is away' } : {};
      world.after(world.between(0, 60_000), () => done({ type: 'notified', number, ...lost }));
    };
  }

  /** A batch that ended has tried to notify all its targets. */
  check({ state, world }: SimExecution): void {
    for (const to of state.params.notify ?? [])
      world.claim(
        this.#received.has(`${state.pass} done ${to}`),
        () => `${to} was not notified of the end of pass ${state.pass}`,
      );
    world.claim(
      state.notices.length === 0,
      () => `${state.notices.length} notifications were left at the end`,
    );
  }
}
