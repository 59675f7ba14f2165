// Every error that needs no Temporal is provoked, and each command that it prints works or leads one step further.

import { afterAll, describe, expect, it } from 'vitest';
import { BATCHES } from './cases/batches.ts';
import { PROGRAMS } from './cases/programs.ts';
import { servicesWith } from './cases/services.ts';
import { SHEETS } from './cases/sheets.ts';
import { USAGE } from './cases/usage.ts';
import { openOtherServices } from './other-services.ts';
import { Recorded, recordOf } from '../printed/recorded.ts';
import { differences } from './provocation.ts';
import { openQuickGround } from './quick-ground.ts';

const services = await openOtherServices();
afterAll(() => services.close());

const ALL = [...SHEETS, ...servicesWith(services), ...BATCHES, ...USAGE, ...PROGRAMS];

const recorded = new Recorded();

describe('what is printed with', () => {
  it.each(ALL.map((row) => [`${row.code}, because ${row.name},`, row] as const))(
    '%s leads on',
    async (_, row) => {
      expect(await differences(row, { ...(await openQuickGround()), recorded })).toBe('');
    },
  );

  it('is pasted line by line as before', async () => {
    await expect(recorded.text).toMatchFileSnapshot(recordOf('errors-quick'));
  });
});
