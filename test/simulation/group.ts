// Simulates Temporal's side of the activity that sends a group (R1): it has one attempt, and ends by its result, the
// heartbeat timeout or the total timeout.

import type { GroupResult } from '../../src/batch/events.ts';
import type { SimTemporal } from './temporal.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 5_000;
const GROUP_MS = 180_000;

/** `lost`: no heartbeat came for too long; `stopped`: no worker had taken it. */
export type Ending =
  | { readonly kind: 'result'; readonly result: GroupResult }
  | { readonly kind: 'lost'; readonly details: GroupResult | undefined }
  | { readonly kind: 'stopped' }
  /** The group has sent nothing. */
  | { readonly kind: 'failed'; readonly error: Error };
type ServerAnswer = 'taken' | 'abandoned' | 'nothing';

/** `ended` is called once, by the worker's result or by a timeout. */
export function openGroup(
  world: World,
  temporal: SimTemporal,
  ended: (ending: Ending) => void,
): {
  readonly heartbeat: (result: GroupResult) => ServerAnswer;
  readonly complete: (result: GroupResult) => ServerAnswer;
  readonly fail: (error: Error) => ServerAnswer;
  /** Asks the worker to start no further POST. A group that no worker has taken ends without having sent anything. */
  readonly stop: () => void;
} {
  let details: GroupResult | undefined;
  let isOpen = true;
  let isStopped = false;
  let heartbeats = 0;
  const end = (ending: Ending): void => {
    isOpen = false;
    ended(ending);
  };
  const abandon = (): void => {
    if (!isOpen) return;
    world.saw('group abandoned');
    end({ kind: 'lost', details });
  };
  const expectHeartbeat = (): void => {
    const count = (heartbeats += 1);
    temporal.after(HEARTBEAT_MS, () => count === heartbeats && abandon());
  };
  const answer = (take: () => void): ServerAnswer => {
    if (temporal.isDown) return 'nothing';
    if (!isOpen) return 'abandoned';
    take();
    return 'taken';
  };
  expectHeartbeat();
  temporal.after(GROUP_MS, abandon);
  return {
    heartbeat: (result) => {
      const answered = answer(() => {
        details = result;
        expectHeartbeat();
      });
      return answered === 'taken' && isStopped ? 'abandoned' : answered;
    },
    stop: () => {
      isStopped = true;
      if (isOpen && details === undefined) end({ kind: 'stopped' });
    },
    complete: (result) => answer(() => end({ kind: 'result', result })),
    fail: (error) => answer(() => end({ kind: 'failed', error })),
  };
}
