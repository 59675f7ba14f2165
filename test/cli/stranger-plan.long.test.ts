// A plan of a stranger's job, with the embedded servers: whoever only looks at it leaves nothing behind that a later command would use.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStandIn, portrait } from '../comfy/own-service.ts';
import { freshStage } from '../stage/shared-stage.ts';

const KEY = 'key-of-the-user-0123456789';

describe('a job of a stranger that names a server and a key file of the user', () => {
  const stage = freshStage();

  it('sends the key nowhere before it is trusted, once with plan, and never with a later command', async () => {
    const gpu = await openStandIn();
    const requests: IncomingHttpHeaders[] = [];
    gpu.alters = ({ headers }, made) => {
      requests.push(headers);
      return made;
    };
    const withKey = () =>
      requests.filter((headers) => Object.values(headers).some((value) => String(value).includes(KEY)));
    stage.write('home/.secrets/comfy', `Authorization: Bearer ${KEY}\n`);
    stage.write('clone/prompts.csv', 'prompt\na fox\n');
    stage.write('clone/wf.json', JSON.stringify(portrait()));
    const lines = ['sheet = "prompts.csv"', 'workflow = "wf.json"', `comfyui = ["${gpu.url}"]`];
    stage.write('clone/x.job.toml', [...lines, 'comfyui_headers = "../home/.secrets/comfy"', ''].join('\n'));
    const run = (...words: readonly string[]) => stage.run(words);

    expect(await run('plan', 'clone/x.job.toml')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('E615'),
    });
    expect(requests).toEqual([]);
    expect((await run('trust', 'clone/x.job.toml')).stdout).toContain(
      `sends the headers in ${stage.path('home/.secrets/comfy')} to ${gpu.url}`,
    );
    expect(await run('plan', 'clone/x.job.toml')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('nothing was sent'),
    });
    const looked = withKey().length;
    expect(looked).toBeGreaterThan(0);

    expect(await run('deployments', '--local')).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('wf'),
    });
    stage.write('mine.csv', 'prompt\nan owl\n');
    expect(await run('run', 'mine.csv', '-d', 'portraits', '--local')).toMatchObject({ code: 0 });
    expect(withKey().length).toBe(looked);
    const state = stage.path('.runsheet');
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).map((name) => join(state, name));
    const naming = files.filter(
      (file) => statSync(file).isFile() && readFileSync(file).includes('.secrets/comfy'),
    );
    expect(naming).toEqual([]);
  });
});
