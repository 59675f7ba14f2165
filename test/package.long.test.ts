import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { packed } from './stage/packed.ts';
import { sharedStage } from './stage/shared-stage.ts';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

const install = (cwd: string, ...packages: readonly string[]) =>
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], { cwd });

type Lock = {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version: string; readonly dev?: true; readonly optional?: true; readonly link?: true }
    >
  >;
};

describe('the packed tarball, installed in an empty folder', () => {
  const stage = sharedStage();
  const home = stage.path('user');
  const installed = join(home, 'node_modules', 'runsheet');

  beforeAll(async () => {
    const made = packed();
    copyFileSync(made, stage.path(basename(made)));
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}');
    await install(home, made);
    // A busy machine takes minutes to pack and to install.
  }, 600_000);

  it('is a program with exactly the versions of the lock file, by the steps of the service of systemd', async () => {
    const unit = readFileSync(join(ROOT, 'deploy/systemd/runsheet-worker.service'), 'utf8');
    const place = stage.path('lib', 'runsheet');
    mkdirSync(stage.path('bin'));
    const steps = [...unit.matchAll(/^# {3}(.*\/usr\/local\/lib\/runsheet.*|sudo ln .*)$/gm)]
      .map(([, step = '']) => step.replace('npm pack && ', '').replaceAll('sudo ', ''))
      .map((step) => step.replaceAll('/usr/local/', `${stage.folder}/`));
    expect(steps).toHaveLength(5);
    await run('sh', ['-euc', steps.join('\n')], { cwd: stage.folder });
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
    const wanted = Object.entries(packages).filter(
      ([name, { dev, link }]) => name !== '' && dev !== true && link !== true,
    );
    const different = wanted.filter(([name, { version, optional = false }]) => {
      const file = join(place, name, 'package.json');
      if (!existsSync(file)) return !optional;
      return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version !== version;
    });
    expect(wanted.length).toBeGreaterThan(200);
    expect(different).toEqual([]);
    const { stdout } = await run(stage.path('bin', 'runsheet'), ['--version']);
    expect(stdout).toContain('0.1.0');
  });

  it('has exports, types and fields in which publint, attw and npm publish find no fault', async () => {
    const tools = stage.path('tools');
    mkdirSync(tools);
    writeFileSync(join(tools, 'package.json'), '{"private":true}');
    await install(tools, 'publint@0.3', '@arethetypeswrong/cli@0.18');
    const tarball = stage.path(readdirSync(stage.folder).find((name) => name.endsWith('.tgz')) ?? '');
    const npx = (...args: readonly string[]) => run('npx', ['--no-install', ...args], { cwd: tools });
    expect((await npx('publint', 'run', tarball, '--strict')).stdout).toContain('All good!');
    // Exits with 1 for a fault of an entry that an ES module imports.
    await npx('attw', tarball, '--profile', 'esm-only');
    const published = await run('npm', ['publish', '--dry-run', '--json', tarball], { cwd: tools });
    expect(published.stderr).not.toMatch(/auto-corrected|npm error/);
  });

  it('carries compiled code, the workflow bundle and the JSON Schemas, and no sources', () => {
    const schema = createRequire(join(home, 'any.js')).resolve('runsheet/schemas/job.schema.json');
    expect(JSON.parse(readFileSync(schema, 'utf8'))).toMatchObject({ title: 'job' });
    expect(existsSync(join(installed, 'dist', 'workflow-bundle.js'))).toBe(true);
    expect(readFileSync(join(installed, 'dist/cli/LICENSES.txt'), 'utf8')).toMatch(
      /^undici [\d.]+ \(MIT\)$/m,
    );
    expect(existsSync(join(installed, 'src'))).toBe(false);
  });

  it('leaves the Node of the project alone, and says on an older one which is needed', async () => {
    expect(readdirSync(join(home, 'node_modules', '.bin')).filter((name) => name.startsWith('node'))).toEqual(
      [],
    );
    const old = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.9.0"})';
    const script =
      'for (const name of ["runsheet", "runsheet/worker", "runsheet/service"]) await import(name).catch(({ code, message }) => console.log(code, message))';
    const { stdout } = await run(process.execPath, ['--import', old, '--input-type=module', '-e', script], {
      cwd: home,
    });
    expect(stdout).toBe('E601 Node 20.9.0 is too old for runsheet: install Node 24.16 or newer\n'.repeat(3));
  });

  it('runs a batch', async () => {
    const program = join(installed, 'bin', 'runsheet.mjs');
    expect(program).not.toBe(programFile());
    const ended = await stage.run(['run', stage.sheet(5), '-d', 'portraits', '--local'], {}, program);
    expect(ended.stderr).toContain('5 of 5 rows succeeded');
    expect(stage.results().map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => 'succeeded'),
    );
  });

  // With the newest types of Node: an application usually pins no version of them.
  it('is a library whose types are complete in a strict project', async () => {
    copyFileSync(join(installed, 'examples', 'library', 'portraits.ts'), join(home, 'portraits.ts'));
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      skipLibCheck: false,
      outDir: 'dist',
    };
    writeFileSync(
      join(home, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['portraits.ts'] }),
    );
    const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
    const compiled = await run(process.execPath, [join(typescript, 'bin/tsc'), '-p', home], { cwd: home });
    expect(compiled.stdout).toBe('');
  });

  it('runs the example, a program with an async generator of rows, and runs it again without a second run', async () => {
    const program = join(home, 'dist', 'portraits.js');
    const first = await run(process.execPath, [program], { cwd: home });
    const rows = first.stdout.split('\n').filter((line) => line.startsWith('row '));
    expect(rows).toHaveLength(8);
    expect(rows.filter((line) => !line.includes(': succeeded, outputs/'))).toEqual([]);
    expect(first.stdout).toContain('8 of 8 rows succeeded');
    const batches = (): readonly string[] =>
      readdirSync(join(home, 'batches')).filter((name) => !name.startsWith('.'));
    const made = batches();
    expect(made).toHaveLength(1);
    expect(stage.batchFile(join(home, 'batches', made[0] ?? '')).sheet.rows).toBe(8);

    const again = await run(process.execPath, [program], { cwd: home });
    expect(again.stdout).toContain('8 of 8 rows succeeded');
    expect(batches()).toEqual(made);
  });
});
