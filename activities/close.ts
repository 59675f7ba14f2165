import type { BatchView } from '../src/batch/view.ts';
import { writeResults } from '../src/results/results.ts';
import { onFolder } from './folder.ts';
import type { BatchPlace, Hands } from './hands.ts';

export type CloseOrder = BatchPlace & {
  readonly view: BatchView;
  /** When the batch began, in milliseconds since 1970. */
  readonly startedAt: number;
};

/** Writes what the user asked for in the first place. Doing it twice makes the same files. */
export async function close(hands: Hands, order: CloseOrder): Promise<void> {
  const { file, store } = await hands.open(order);
  await onFolder(() => writeResults({ file, store, view: order.view, startedAt: order.startedAt }));
}
