// Refuses the activities of a firing that has no ticket (`src/schedule/tickets.ts`).

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { codedMessage, problem } from '../errors/error.ts';
import type { ScheduleDefinition } from '../schedule/definition.ts';
import type { TicketFolder } from '../schedule/tickets.ts';
import { before } from './activity-guards.ts';

type Input = { readonly definition: ScheduleDefinition; readonly nominalTime: number };

export const guardFirings = (tickets: TicketFolder): ActivityInterceptorsFactory =>
  before(({ activityType, workflowExecution }, input) => {
    const { definition, nominalTime } = (input ?? {}) as Input;
    const firing = { nominalTime, run: workflowExecution?.runId ?? '' };
    if (activityType === 'createFiring')
      refuse(definition.name, tickets.refusal(definition, firing, Date.now()));
    if (ABOUT_ACCEPTED.has(activityType) && !tickets.isLast(definition, firing))
      refuse(definition.name, 'its batch was refused before');
  });

/** They follow `createFiring`: a refused firing must not send anything. */
const ABOUT_ACCEPTED: ReadonlySet<string> = new Set(['findMissed', 'notifyFiring']);

function refuse(name: string, reason: string | undefined): void {
  if (reason === undefined) return;
  const refused = problem('E561', { name, reason });
  throw ApplicationFailure.nonRetryable(codedMessage(refused), refused.code);
}
