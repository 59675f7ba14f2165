// A program gets its inputs with all digits, files as local paths, and an environment without keys.

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pictureOf } from '../comfy/image-files.ts';
import { NOTE, PICTURE, ProgramService, untilFile } from './program-service.ts';

const KEEP = 'cat >"$RUNSHEET_FOLDER/inputs"';

it('inputs arrive with all digits on stdin and in $RUNSHEET_INPUT', async () => {
  const scene = await ProgramService.of([KEEP, 'cp "$RUNSHEET_INPUT" "$RUNSHEET_FOLDER/file"', PICTURE]);
  const body = `{"deployment_id": "${scene.own.deployment}", "inputs": {"seed": 18446744073709551615, "scale": 0.10, "text": "a\\nb \\u00e9", "none": null}}`;
  const answer = await fetch(`${scene.own.service.url}/api/run/deployment/queue`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body,
  });
  const { run_id: id } = (await answer.json()) as { run_id: string };
  expect((await scene.own.until(id)).status).toBe('success');
  const text = scene.lines('inputs').join('\n');
  expect(text).toContain('18446744073709551615');
  expect(JSON.parse(text)).toMatchObject({ text: 'a\nb é', none: null });
  expect(scene.lines('file').join('\n')).toBe(text);
});

it('no text of a cell reaches a shell', async () => {
  const scene = await ProgramService.of([KEEP, PICTURE]);
  const evil = `'; touch ${scene.path('owned')}; $(touch ${scene.path('owned')}) \`touch ${scene.path('owned')}\` "`;
  const run = await scene.ended({ prompt: evil, [evil]: 'name' });
  expect(run.status).toBe('success');
  expect(JSON.parse(scene.lines('inputs').join('\n'))).toEqual({ prompt: evil, [evil]: 'name' });
  expect(scene.lines('owned')).toEqual([]);
  expect(() => statSync(scene.path('owned'))).toThrow('ENOENT');
});

it('an input that the schema calls a file arrives as a path on this machine', async () => {
  const scene = await ProgramService.open();
  const schema = {
    type: 'object',
    properties: { photo: { type: 'string', contentMediaType: 'image/png' }, prompt: { type: 'string' } },
    required: ['photo'],
  };
  writeFileSync(scene.path('program.inputs.json'), JSON.stringify(schema));
  await scene.script([KEEP, PICTURE]);
  const picture = pictureOf(3);
  const run = await scene.ended({ photo: await scene.own.upload(picture), prompt: 'http://127.0.0.1/text' });
  expect(run.status).toBe('success');
  const inputs = JSON.parse(scene.lines('inputs').join('\n')) as { photo: string; prompt: string };
  expect(inputs.prompt).toBe('http://127.0.0.1/text');
  expect(inputs.photo).toMatch(/^\/.*\.png$/);
  expect(readFileSync(inputs.photo)).toEqual(picture);
});

it('an unknown input and one out of bounds are refused before the program begins', async () => {
  const scene = await ProgramService.open();
  const schema = {
    type: 'object',
    properties: { prompt: { type: 'string' }, steps: { type: 'integer', minimum: 1, maximum: 50 } },
    required: ['prompt'],
  };
  writeFileSync(scene.path('program.inputs.json'), JSON.stringify(schema));
  await scene.script([NOTE, PICTURE]);
  const refusal = async (inputs: object): Promise<string> => {
    const body = { deployment_id: scene.own.deployment, inputs };
    const { status, json } = await scene.own.ask('POST', '/run/deployment/queue', body);
    return `${status} ${JSON.stringify(json)}`;
  };
  expect(await refusal({ prompt: 'a', stepz: 3 })).toMatch(/^422 .*did you mean steps/);
  expect(await refusal({ prompt: 'a', steps: 51 })).toMatch(/^422 .*steps/);
  expect(scene.executions).toBe(0);
});

it('the environment is that of the terminal in which the program was named, without keys', async () => {
  const scene = await ProgramService.of(
    ['env >"$RUNSHEET_FOLDER/env"', 'pwd >"$RUNSHEET_FOLDER/pwd"', PICTURE],
    {
      gpus: ['3'],
      environment: {
        PATH: `/opt/venv/bin:${process.env['PATH']}`,
        VIRTUAL_ENV: '/opt/venv',
        HF_HOME: '/data/hf',
        RUNSHEET_API_KEY: 'key-1',
        RUNSHEET_SERVICE_TOKEN: 'key-2',
        AWS_SECRET_ACCESS_KEY: 'key-3',
        AWS_PROFILE: 'key-4',
        HF_TOKEN: 'key-5',
        OPENAI_API_KEY: 'key-6',
      },
    },
  );
  const run = await scene.ended();
  const lines = scene.lines('env');
  expect(lines).toEqual(
    expect.arrayContaining([
      `PATH=/opt/venv/bin:${process.env['PATH']}`,
      'VIRTUAL_ENV=/opt/venv',
      'HF_HOME=/data/hf',
      'CUDA_VISIBLE_DEVICES=3',
      'RUNSHEET_GPU=3',
      `RUNSHEET_FOLDER=${scene.folder}`,
      `RUNSHEET_RUN=${run.id}`,
      `RUNSHEET_TRY=${run.id}.1`,
      `RUNSHEET_OUTPUT=${scene.lines('pwd')[0]}`,
    ]),
  );
  expect(lines.filter((line) => /key-\d|AWS|TOKEN|API_KEY/.test(line))).toEqual([]);
  const names = lines.map((line) => line.split('=')[0]).filter((name) => name?.startsWith('RUNSHEET_'));
  expect(new Set(names)).toEqual(
    new Set([
      'RUNSHEET_COMMAND',
      'RUNSHEET_FOLDER',
      'RUNSHEET_GPU',
      'RUNSHEET_INPUT',
      'RUNSHEET_LIMIT',
      'RUNSHEET_OUTPUT',
      'RUNSHEET_RUN',
      'RUNSHEET_TRY',
    ]),
  );
});

it('a secret is passed on by name and is stored nowhere; without it the program waits and says so', async () => {
  const scene = await ProgramService.open();
  const value = 'hf_0123456789abcdef';
  const id = await scene.script(['printf %s "$HF_TOKEN" >"$RUNSHEET_FOLDER/secret"', PICTURE], {
    secrets: { HF_TOKEN: value },
  });
  expect((await scene.ended()).status).toBe('success');
  expect(scene.lines('secret')).toEqual([value]);
  expect(readFileSync(join(scene.programs, `${id}.json`), 'utf8')).not.toContain(value);
  await scene.reopened();
  const body = { deployment_id: scene.own.deployment, inputs: {} };
  const refused = await scene.own.ask('POST', '/run/deployment/queue', body);
  expect([refused.status, JSON.stringify(refused.json)]).toEqual([
    403,
    expect.stringContaining('needs HF_TOKEN, which is not kept'),
  ]);
  await scene.add(id, ['0'], { HF_TOKEN: value });
  expect((await scene.ended()).status).toBe('success');
});

it('a control request cannot name a command, an unknown id, or a path', async () => {
  const scene = await ProgramService.open();
  const servers = [{ url: 'gpu:0', kind: 'gpu' }];
  const answerTo = async (program: object) => scene.own.control('gpus', { servers, programs: [program] });
  for (const program of [
    { command: `touch ${scene.path('owned')}` },
    { id: 'f'.repeat(32), command: 'touch owned' },
    { id: 'f'.repeat(32) },
    { id: '../../etc/passwd' },
    { id: `touch ${scene.path('owned')}` },
  ])
    expect((await answerTo(program)).status).toBeGreaterThanOrEqual(400);
  expect(() => statSync(scene.path('owned'))).toThrow('ENOENT');
});

it('a definition that others can write to is refused', async () => {
  const scene = await ProgramService.open();
  const id = await scene.script([NOTE, PICTURE]);
  chmodSync(join(scene.programs, `${id}.json`), 0o666);
  const answer = await scene.own.control('gpus', {
    servers: [{ url: 'gpu:0', kind: 'gpu' }],
    programs: [{ id }],
  });
  expect([answer.status >= 400, JSON.stringify(answer.json)]).toEqual([
    true,
    expect.stringContaining('other users can write to it'),
  ]);
});

it('folders of tries and definitions are private to their user', async () => {
  const scene = await ProgramService.of([untilFile('go-on'), PICTURE, NOTE]);
  const id = await scene.own.queue({});
  await scene.own.until(id, ({ status }) => status === 'running');
  const [folder = ''] = scene.tries();
  const modes = [folder, join(folder, 'inputs.json'), join(folder, 'log'), scene.programs].map(
    (path) => statSync(path).mode & 0o077,
  );
  expect(modes).toEqual([0, 0, 0, 0]);
  scene.allow('go-on');
  await scene.own.until(id);
});
