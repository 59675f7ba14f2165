// D13: what a command does, a program can do too. A new command has to be added here, with what the library has for it.

import type { buildRouteMap } from '@stricli/core';
import { describe, expect, it } from 'vitest';
import { BatchHandle } from '../../src/library/handle/batch-handle.ts';
import { Runsheet } from '../../src/library/runsheet.ts';
import { application } from '../../src/cli/command-list.ts';

type Member = `Runsheet.${Extract<keyof Runsheet, string>}` | `BatchHandle.${keyof BatchHandle}`;

/** Commands that a program has no need of, with the reason. */
const ABOUT_THE_MACHINE: Readonly<Record<string, string>> = {
  service: 'is a server of its own process',
  worker: 'is a server of its own process',
  dev: 'keeps servers running; connect() starts the same ones while it is open',
  embedded: 'is the process that connect() starts',
  doctor: 'explains a machine to its user; connect() and plan() throw the same errors',
  completion: 'is for a shell',
  clean: 'removes folders that a user has looked at',
  demo: 'is shown to a person',
  'demo-loop': 'is a process that demo starts',
  'migrate-check': 'is done once, by a person, before a migration',
};

const LIBRARY: Readonly<Record<string, readonly Member[]>> = {
  run: ['Runsheet.start', 'BatchHandle.progress', 'BatchHandle.result', 'BatchHandle.append'],
  plan: ['Runsheet.plan'],
  deployments: ['Runsheet.deployments'],
  submit: ['Runsheet.start'],
  list: ['Runsheet.list'],
  status: ['BatchHandle.status'],
  watch: ['BatchHandle.progress', 'BatchHandle.rows'],
  wait: ['BatchHandle.result'],
  rows: ['BatchHandle.rows'],
  show: ['BatchHandle.row'],
  logs: ['BatchHandle.logs'],
  results: ['BatchHandle.rows', 'BatchHandle.location'],
  export: ['BatchHandle.export'],
  open: ['BatchHandle.report'],
  events: ['BatchHandle.events'],
  compare: ['Runsheet.compare'],
  verify: ['BatchHandle.verify'],
  pause: ['BatchHandle.pause'],
  resume: ['BatchHandle.resume'],
  scale: ['BatchHandle.scale'],
  retry: ['BatchHandle.retry'],
  cancel: ['BatchHandle.cancel'],
  pool: ['Runsheet.pools'],
  schedule: ['Runsheet.schedules'],
};

const members = new Set<string>(
  [Runsheet, BatchHandle].flatMap((one) =>
    Object.getOwnPropertyNames(one.prototype).map((name) => `${one.name}.${name}`),
  ),
);

describe('the library', () => {
  it('has something for each command, except those about the machine', () => {
    const { root } = application;
    expect(root).toHaveProperty('getAllEntries');
    const commands = (root as ReturnType<typeof buildRouteMap>)
      .getAllEntries()
      .map(({ name }) => name['convert-camel-to-kebab']);
    expect(commands.toSorted()).toEqual(
      [...Object.keys(LIBRARY), ...Object.keys(ABOUT_THE_MACHINE)].toSorted(),
    );
  });

  it('has the members that stand here', () => {
    // The only member that is not a method.
    const named = Object.values(LIBRARY)
      .flat()
      .filter((name) => name !== 'BatchHandle.location');
    expect(named.filter((name) => !members.has(name))).toEqual([]);
  });
});
