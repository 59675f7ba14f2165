import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { openSchedules } from '../../src/temporal/temporal-schedules.ts';
import { definitionOf } from './definition.ts';

const refusal = Object.assign(new Error('Failed to create schedule'), {
  cause: Object.assign(new Error('3 INVALID_ARGUMENT: unknown'), {
    code: 3,
    details: 'unknown time zone Mars/Olympus\u001b[2J',
    metadata: {},
  }),
});

it('what Temporal refuses in a schedule is an error with a code, without control characters', async () => {
  const schedule = {
    getHandle: () => ({ describe: () => Promise.reject(new ScheduleNotFoundError('none', 'nightly')) }),
    create: () => Promise.reject(refusal),
  };
  const schedules = openSchedules(() => ({ schedule }) as unknown as Client);
  await expect(schedules.create(definitionOf({}))).rejects.toMatchObject({
    code: 'E602',
    message: 'Temporal refuses the schedule: unknown time zone Mars/Olympus [2J',
    hint: expect.stringContaining('--tz') as string,
  });
});
