// The workflows of an application that awaits batches, with those of schedules.

import { CancelledFailure } from '@temporalio/workflow';
import { runBatch } from '../../workflows/application.ts';

export * from '../../workflows/application.ts';
export { runsheetFiring } from '../../workflows/firing-workflow.ts';

export const order = (callId: string) => runBatch({ sheet: '/nowhere.csv', deployment: 'portraits', callId });

/** Returns the error of the batch if it is cancelled. */
export async function thoroughOrder(callId: string): Promise<readonly unknown[]> {
  try {
    return [await order(callId)];
  } catch (error) {
    if (error instanceof CancelledFailure) return ['cancelled', ...(error.details ?? [])];
    throw error;
  }
}
