// The activity that sends a group, as Temporal sees it (R1): given to one worker once, and given up by its heartbeats or its
// whole time.

import type { GroupResult } from '../../src/batch/events.ts';
import type { SimTemporal } from './temporal.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 5_000;
const GROUP_MS = 180_000;

export type Ending = GroupResult & { readonly rest: 'not-sent' | 'unconfirmed'; readonly reason?: string };
type Answer = 'taken' | 'given up' | 'nothing';

/** What a worker says of the group; `ended` is told once, by the worker or by the server. */
export function openGroup(
  world: World,
  temporal: SimTemporal,
  ended: (ending: Ending) => void,
): {
  readonly heartbeat: (result: GroupResult) => Answer;
  readonly complete: (result: GroupResult) => Answer;
} {
  let details: GroupResult | undefined;
  let isOpen = true;
  let heartbeats = 0;
  const end = (ending: Ending): void => {
    isOpen = false;
    ended(ending);
  };
  const giveUp = (): void => {
    if (!isOpen) return;
    world.saw('group given up');
    const rest = details === undefined ? 'not-sent' : 'unconfirmed';
    end({ ...(details ?? { results: [] }), rest, reason: 'the worker was lost' });
  };
  const beat = (): void => {
    const heard = (heartbeats += 1);
    temporal.after(HEARTBEAT_MS, () => heard === heartbeats && giveUp());
  };
  const answer = (take: () => void): Answer => {
    if (temporal.isDown) return 'nothing';
    if (!isOpen) return 'given up';
    take();
    return 'taken';
  };
  beat();
  temporal.after(GROUP_MS, giveUp);
  return {
    heartbeat: (result) =>
      answer(() => {
        details = result;
        beat();
      }),
    complete: (result) => answer(() => end({ ...result, rest: 'unconfirmed' })),
  };
}
