// Refuses firings of an embedded server that its user did not ask for; see schedule-tickets.ts.

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { ScheduleDefinition } from '../create-batch/schedule/definition.ts';
import { problem } from '../errors/error.ts';
import type { TicketFolder } from './schedule-tickets.ts';

type Input = { readonly definition: ScheduleDefinition; readonly nominalTime: number };

export const guardFirings =
  (tickets: TicketFolder): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        if (info.activityType === 'createFiring') refuse(tickets, input.args[0] as Input);
        return next(input);
      },
    },
  });

function refuse(tickets: TicketFolder, { definition, nominalTime }: Input): void {
  const reason = tickets.refusal(definition, nominalTime, Date.now());
  if (reason === undefined) return;
  const { code, message, hint } = problem('E561', { name: definition.name, reason });
  throw ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
}
