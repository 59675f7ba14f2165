// A job file from a stranger: it names no program, no file outside of its folder, no place, no key and no receiver that its user has
// not seen.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Console } from './console.ts';

const UPSCALER = { name: 'upscale', inputTypes: [{ name: 'image', type: 'image', required: true }] };
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const JOB = 'deployment = "portraits"\n';

let console: Console;
beforeEach(async () => {
  const before = process.cwd();
  console = await Console.open();
  mkdirSync(join(console.folder, 'clone'));
  process.chdir(join(console.folder, 'clone'));
  onTestFinished(() => process.chdir(before));
  write('prompts.csv', 'prompt\na fox\n');
  write('../secret/prompts.csv', 'prompt\nthe recipe\n');
  write('../secret/key', 'key-of-the-user-0123456789\n');
  write('../secret/lines.txt', 'the recipe\n');
  write('../secret/wf.json', '{}');
  write('.hidden.csv', 'prompt\na secret\n');
});

function write(name: string, text: string): string {
  const path = join(process.cwd(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const plan = (...more: readonly string[]) => console.run('plan', 'x.job.toml', ...more);
const secret = (name: string): string => join(console.folder, 'secret', name);
const told = (code: string, text: string) => ({
  code: 2,
  stderr: expect.stringMatching(new RegExp(`${code}.*${text}`, 's')),
});

describe('a job is refused in a script that', () => {
  it.each<[string, string, string]>([
    ['reads a sheet outside of its folder', 'sheet = "../secret/prompts.csv"', 'reads .*secret/prompts.csv'],
    ['reads a hidden sheet', 'sheet = ".hidden.csv"', 'reads .*.hidden.csv'],
    ['reads a sheet behind a link that leads out', 'sheet = "link.csv"', 'reads .*link.csv'],
    [
      'reads a sheet below a link that leads out',
      'sheet = "folder/prompts.csv"',
      'reads .*folder/prompts.csv',
    ],
    ['reads a sheet at an address', 'sheet = "http://169.254.169.254/latest/meta-data"', 'reads http://169'],
    ['reads a sheet with the keys of S3', 's3 = 1', ''],
    ['has the lines of a file elsewhere as values', 'grid = ["prompt=@/etc/passwd"]', 'reads /etc/passwd'],
    ['reads picks elsewhere', 'from = "other"\npick = "../secret/prompts.csv"', 'reads .*secret/prompts.csv'],
    ['reads a workflow elsewhere', 'workflow = "lights=../secret/wf.json"', 'reads .*secret/wf.json'],
    ['writes batches elsewhere', 'out = "../elsewhere"', 'writes batches to .*elsewhere'],
    ['writes batches into a bucket', 'out = "s3://theirs/x"', 'writes batches to s3://theirs/x'],
    [
      'sends a key',
      'comfy_api = ["http://127.0.0.1:1"]\ncomfy_api_key_file = "key"',
      'sends the key in .*key to http://127',
    ],
    [
      'sends headers from elsewhere',
      'comfyui = ["http://127.0.0.1:1"]\ncomfyui_headers = "../secret/key"',
      'sends the headers in .*secret/key to http://127',
    ],
    [
      'sends rows to another machine',
      'comfyui = ["gpu=http://theirs.example:8188"]',
      'sends rows to http://theirs',
    ],
    [
      'sends rows to another machine whose address has no scheme',
      'comfyui = ["gpu=theirs.example:8188"]',
      'sends rows to http://theirs',
    ],
    [
      'notifies an address',
      'notify = ["https://theirs.example/hook"]',
      'notifies https://theirs.example/hook',
    ],
    ['mails somebody', 'notify = ["mailto:them@theirs.example"]', 'notifies mailto:them'],
  ])('%s', async (_, line, says) => {
    symlinkSync('../secret/prompts.csv', 'link.csv');
    symlinkSync('../secret', 'folder');
    const text = line === 's3 = 1' ? 'sheet = "s3://theirs/x.csv"' : line;
    write('x.job.toml', `${text.startsWith('sheet') ? '' : 'sheet = "prompts.csv"\n'}${JOB}${text}\n`);
    const said = line === 's3 = 1' ? 'reads s3://theirs/x.csv' : says;
    expect(await plan()).toMatchObject(told('E615', `${said}.*runsheet trust \\S+x\\.job\\.toml`));
    expect(await console.run('run', 'x.job.toml')).toMatchObject(told('E615', said));
  });

  it.each([
    ['sheet', 'from = "../secret/prompts.csv"', 'reads'],
    ['grid', 'grid = ["prompt=@/etc/passwd"]', 'reads /etc/passwd'],
    [
      'key',
      'from = "prompts.csv"\ncomfy_api = ["http://127.0.0.1:1"]\ncomfy_api_key_file = "key"',
      'sends the key',
    ],
  ])('does so in a stage: %s', async (_, line, says) => {
    write('x.job.toml', `[[stage]]\nname = "one"\n${JOB}${line}\n`);
    expect(await plan()).toMatchObject(told('E615', says));
  });

  it('does so in a schedule', async () => {
    write('jobs/x.job.toml', `sheet = "../../secret/prompts.csv"\n${JOB}[schedule]\ncron = "@daily"\n`);
    write('jobs/y.job.toml', `sheet = "../../secret/prompts.csv"\n${JOB}[schedule]\ncron = "@daily"\n`);
    expect(await console.run('schedule', 'apply', 'jobs/x.job.toml')).toMatchObject(
      told('E615', 'x.job.toml'),
    );
    expect(await console.run('schedule', 'apply', 'jobs')).toMatchObject(
      told('E615', 'runsheet trust \\S+jobs'),
    );
  });
});

describe('a program', () => {
  beforeEach(() => {
    chmodSync(write('tell.sh', '#!/bin/sh\n'), 0o755);
    write('x.job.toml', `sheet = "prompts.csv"\n${JOB}notify = ["exec:./tell.sh"]\n`);
  });

  it('in a job is refused, also once the job is trusted', async () => {
    const program = join(process.cwd(), 'tell.sh');
    expect(await plan()).toMatchObject(
      told('E602', `names a program: ${program}.*RUNSHEET_NOTIFY_EXEC=${program}`),
    );
    await console.run('trust', 'x.job.toml');
    expect(await plan()).toMatchObject(told('E602', 'names a program'));
  });

  it('that the user names in the environment or as a flag is none of the job', async () => {
    expect(await plan('--notify', 'exec:./tell.sh')).toMatchObject({ code: 0 });
    vi.stubEnv('RUNSHEET_NOTIFY_EXEC', join(process.cwd(), 'tell.sh'));
    expect(await plan()).toMatchObject({ code: 0 });
  });

  it('that a shell is stays refused', async () => {
    write('x.job.toml', `sheet = "prompts.csv"\n${JOB}notify = ["exec:/bin/sh"]\n`);
    expect(await plan()).toMatchObject(told('E602', 'shell'));
  });
});

describe('a job that reaches out of its folder', () => {
  const reaching = (more = ''): string =>
    write('x.job.toml', `sheet = "../secret/prompts.csv"\n${JOB}${more}`);

  it('counts once it is trusted, until it reaches something else', async () => {
    reaching();
    expect(await console.run('trust', 'x.job.toml')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`  reads ${secret('prompts.csv')}`),
    });
    expect(await plan()).toMatchObject({ code: 0 });
    reaching('concurrency = 3\n');
    expect(await plan()).toMatchObject({ code: 0 });
    reaching('grid = ["style=@../secret/lines.txt"]\n');
    expect(await plan()).toMatchObject(told('E615', 'lines.txt'));
  });

  it('counts at its path alone', async () => {
    reaching();
    await console.run('trust', 'x.job.toml');
    write('copy/x.job.toml', `sheet = "../../secret/prompts.csv"\n${JOB}`);
    expect(await console.run('plan', 'copy/x.job.toml')).toMatchObject(told('E615', 'reads'));
  });

  it('is asked about on a terminal, and remembered', async () => {
    reaching();
    console.isTerminal = true;
    console.typed = 'n\n';
    expect(await plan()).toMatchObject(told('E615', 'reads'));
    console.typed = 'y\n';
    expect(await plan()).toMatchObject({ code: 0, stderr: expect.stringContaining('Do you trust it?') });
    console.isTerminal = false;
    expect(await plan()).toMatchObject({ code: 0 });
  });

  it('is trusted with its folder', async () => {
    reaching();
    write('y.job.toml', `sheet = "../secret/prompts.csv"\n${JOB}`);
    await console.run('trust', '.');
    expect(await plan()).toMatchObject({ code: 0 });
    expect(await console.run('trust', '--list')).toMatchObject({
      stdout: expect.stringMatching(/[xy]\.job\.toml.*\n.*[xy]\.job\.toml/),
    });
    await console.run('trust', '--forget', '.');
    expect(await plan()).toMatchObject(told('E615', 'reads'));
  });

  it('is none if flags of the command say the same', async () => {
    write(
      'x.job.toml',
      `sheet = "prompts.csv"\n${JOB}out = "../elsewhere"\ngrid = ["style=@../secret/lines.txt"]\n`,
    );
    const said = await plan('--out', join(console.folder, 'mine'), '--grid', 'style=plain');
    expect(said).toMatchObject({ code: 0 });
  });

  it('is trusted if its user has written it with a command', async () => {
    await console.run('plan', secret('prompts.csv'), '-d', 'portraits', '--write', 'x.job.toml');
    expect(await plan()).toMatchObject({ code: 0 });
  });
});

describe('a file that a job names', () => {
  it.each([
    'sheet = "pipe"',
    'workflow = "pipe"',
    'from = "other"\npick = "pipe"',
    'grid = ["prompt=@pipe"]',
  ])('is no pipe, which would be waited for: %s', async (line) => {
    execFileSync('mkfifo', ['pipe']);
    write('x.job.toml', `${JOB}${line}\n`);
    expect(await plan()).toMatchObject(told('E602', 'pipe, which is no plain file'));
  });

  it.each(['workflow = "device"\ncomfyui = ["http://127.0.0.1:1"]', 'grid = ["prompt=@device"]'])(
    'is no link to a device, which never ends: %s',
    async (line) => {
      symlinkSync('/dev/zero', 'device');
      write('x.job.toml', `sheet = "prompts.csv"\n${line.startsWith('grid') ? JOB : ''}${line}\n`);
      expect(await plan()).toMatchObject(told('E602', 'device, which is no plain file'));
    },
  );
});

describe('a file that the user names', () => {
  it.each([
    ['--workflow', ['plan', 'prompts.csv', '--workflow', 'device', '--comfyui', 'http://127.0.0.1:1']],
    ['--grid', ['plan', '-d', 'portraits', '--grid', 'prompt=@device']],
  ])('with %s is refused if it never ends', async (_, words) => {
    symlinkSync('/dev/zero', 'device');
    expect(await console.run(...words)).toMatchObject(told('E602', 'no plain file'));
  });

  it('may be a pipe, as a shell gives it', async () => {
    execFileSync('mkfifo', ['pipe']);
    const writer = spawn('sh', ['-c', 'echo a fox > pipe']);
    expect(await console.run('plan', '-d', 'portraits', '--grid', 'prompt=@pipe')).toMatchObject({ code: 0 });
    expect(writer.pid).toBeDefined();
  });
});

describe('what a job has without a word', () => {
  it.each([
    'comfyui = ["http://127.0.0.1:8188"]\nworkflow = "wf.json"',
    'comfyui = ["localhost:8188"]\nworkflow = "wf.json"',
    'notify = ["slack:ops", "https:team"]',
    'grid = ["style=@styles.txt"]',
    'out = "batches"',
    'service = "production"',
    'max_cost = 3\nconcurrency = 2\nguess = "accept"',
  ])('are its own folder, this machine, and names in the settings of its user: %s', async (line) => {
    write('wf.json', '{');
    write('styles.txt', 'plain\n');
    write('x.job.toml', `sheet = "prompts.csv"\n${line.startsWith('comfyui') ? '' : JOB}${line}\n`);
    expect((await plan()).stderr).not.toContain('E615');
  });
});

describe('files that the values of a job name', () => {
  beforeEach(async () => {
    vi.unstubAllEnvs();
    console = await Console.open([UPSCALER]);
    writeFileSync(join(console.folder, 'secret.png'), Buffer.from(PIXEL, 'base64'));
    write('sheet.csv', 'note\na\n');
  });
  const job = (text: string): string => write('x.job.toml', `deployment = "upscale"\n${text}\n`);

  it.each([
    ['set', 'sheet = "sheet.csv"\ndrop = ["note"]\nset = { image = "SECRET" }'],
    ['grid', 'sheet = "sheet.csv"\ndrop = ["note"]\ngrid = ["image=SECRET"]'],
    ['a grid without a sheet', 'grid = ["image=SECRET"]'],
  ])('are asked about as those of a sheet, by %s', async (_, text) => {
    job(text.replace('SECRET', join(console.folder, 'secret.png')));
    expect(await console.run('run', 'x.job.toml')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('E120'),
    });
    expect((await plan()).stderr).toContain('outside');
    expect((await plan('--accept-files')).stderr).not.toContain('outside');
  });

  it('are none of a job if a flag of the command names them', async () => {
    const path = join(console.folder, 'secret.png');
    const said = await console.run(
      'plan',
      'sheet.csv',
      '-d',
      'upscale',
      '--drop',
      'note',
      '--set',
      `image=${path}`,
    );
    expect(said.stderr).not.toContain('outside');
  });

  it('are never accepted by the job itself', async () => {
    job('sheet = "sheet.csv"\naccept_files = true');
    expect(await plan()).toMatchObject(told('E602', 'accept_files.*--accept-files'));
  });

  it('are accepted for a job that is written with the flag by a flag again', async () => {
    const path = join(console.folder, 'secret.png');
    write('pictures.csv', `image\n${path}\n`);
    const words = 'plan pictures.csv -d upscale --accept-files --write x.job.toml'.split(' ');
    const { stderr } = await console.run(...words);
    expect(stderr).toContain('runsheet run --accept-files x.job.toml');
    expect((await plan('--accept-files')).code).toBe(0);
  });
});
