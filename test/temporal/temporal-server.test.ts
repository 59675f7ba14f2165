// The Temporal server of a state folder.

import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';

const stage = freshStage();

it.each(['a C# project', 'what?', 'p%41', '100%'])(
  'keeps its database in the folder, also in one named %s',
  async (name) => {
    const { kill, restart } = await stage.temporal(name);
    await kill();
    await restart();
    expect(readdirSync(stage.path(name))).toContain('temporal.db');
    expect(readdirSync(stage.folder)).toEqual([name]);
  },
);
