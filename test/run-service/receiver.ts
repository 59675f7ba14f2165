// A webhook receiver of one test.

import { onTestFinished } from 'vitest';
import { openInboxes, type Received } from '../conformance/receiver.ts';

export type { Received };

const PATIENCE_MS = 10_000;

/** `answer` returns the status of the n-th request, counted from 1. */
export async function openReceiver(answer: (nth: number, received: Received) => number = () => 200) {
  const inboxes = await openInboxes(PATIENCE_MS);
  onTestFinished(() => inboxes.close());
  return inboxes.open((webhook, webhooks) => answer(webhooks.length, webhook));
}
