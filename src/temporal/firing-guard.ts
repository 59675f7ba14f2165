// Refuses the activities of a firing that has no ticket (`src/schedule/tickets.ts`).

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { problem } from '../errors/error.ts';
import type { ScheduleDefinition } from '../schedule/definition.ts';
import type { TicketFolder } from '../schedule/tickets.ts';

type Input = { readonly definition: ScheduleDefinition; readonly nominalTime: number };

export const guardFirings =
  (tickets: TicketFolder): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const { definition, nominalTime } = (input.args[0] ?? {}) as Input;
        const firing = { nominalTime, run: info.workflowExecution?.runId ?? '' };
        if (info.activityType === 'createFiring')
          refuse(definition.name, tickets.refusal(definition, firing, Date.now()));
        if (ABOUT_ACCEPTED.has(info.activityType) && !tickets.isLast(definition, firing))
          refuse(definition.name, 'its batch was refused before');
        return next(input);
      },
    },
  });

/** They follow `createFiring`: a refused firing must not send anything. */
const ABOUT_ACCEPTED: ReadonlySet<string> = new Set(['findMissed', 'notifyFiring']);

function refuse(name: string, reason: string | undefined): void {
  if (reason === undefined) return;
  const { code, message, hint } = problem('E561', { name, reason });
  throw ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
}
