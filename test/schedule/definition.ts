// A definition of a schedule for tests.

import type { ScheduleDefinition } from '../../src/schedule/schedule-definition.ts';

export function definitionOf({
  set = {},
  ...overrides
}: Partial<ScheduleDefinition> & { readonly set?: Readonly<Record<string, string>> }): ScheduleDefinition {
  return {
    name: 'nightly',
    cron: '0 2 * * *',
    timezone: 'Europe/Paris',
    overlap: 'skip',
    catchupMs: 3_600_000,
    sheet: '/data/sheet.csv',
    out: '/data/batches',
    request: {
      service: { base: 'local', api: 'v2' },
      deployment: 'portraits',
      options: { map: {}, set, drop: [], types: {} },
      settings: { deadlines: {}, webhooks: true },
      order: {},
    },
    reuse: false,
    ...overrides,
  };
}
