// A plain batch on embedded servers, whose payloads are encrypted: the results of its groups arrive.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { Stage } from '../stage/stage.ts';

const DEPLOYMENTS = JSON.stringify([{ name: 'portraits', coldStartSeconds: 0, runSeconds: 0.2 }]);
const stage = new Stage();
afterEach(() => stage.close());

it('every request to a healthy service is known to be accepted, and nothing that the workers write is refused', async () => {
  await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  const { code } = await stage.run(['run', stage.sheet(6), '-d', 'portraits', '-c', '3']);
  expect(code).toBe(0);
  const summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
  expect(summary.requests).toMatchObject({ sent: 6, accepted: 6, unconfirmed: 0 });
  expect(readFileSync(stage.path('.runsheet', 'logs', 'worker.log'), 'utf8')).not.toContain('was refused');
});
