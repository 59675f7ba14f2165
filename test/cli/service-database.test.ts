import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { databaseOf } from '../../src/cli/servers/service-database.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

it('a service in front of real GPUs keeps its runs and uploads in a file, also if its user names none', () => {
  const home = join(freshFolder(), 'home');
  expect(databaseOf({ db: undefined, home, hasGpus: true })).toBe(join(home, 'service.db'));
  expect(statSync(home).mode & 0o077).toBe(0);
  expect(databaseOf({ db: 'runs.db', home, hasGpus: true })).toBe('runs.db');
  expect(databaseOf({ db: ':memory:', home, hasGpus: true })).toBe(':memory:');
});

it('a rehearsal keeps nothing unless a file is named', () => {
  const home = join(freshFolder(), 'home');
  expect(databaseOf({ db: undefined, home, hasGpus: false })).toBe(':memory:');
  expect(databaseOf({ db: 'runs.db', home, hasGpus: false })).toBe('runs.db');
});
