import { expect, it } from 'vitest';
import { runSchema } from '../../src/service-client/contract/run.ts';

it.each(['__proto__', 'constructor', 'toString'])(
  'a GPU called %s is none: its uses are counted by its name',
  (gpu) => {
    expect(runSchema.parse({ id: 'r', status: 'success', gpu }).gpu).toBeUndefined();
  },
);
