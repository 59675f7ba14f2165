// The local run service with one program on seats of this machine, which can be closed and opened again.

import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { keepProgram, nameProgram, type ProgramRequest } from '../../src/host/settings/named-program.ts';
import type { Environment } from '../../src/host/user-folders.ts';
import { pictureOf } from '../comfy/image-files.ts';
import { OwnService, type Run } from '../comfy/own-service.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { killQuietly } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';

/** Writes a whole picture, which the scene puts beside the script. */
export const PICTURE = 'cp "$RUNSHEET_FOLDER/whole.png" picture.png';
/** The picture without its end. */
export const HALF = 'head -c 60 "$RUNSHEET_FOLDER/whole.png" >picture.png';
/** Appends a line for each execution. */
export const NOTE = 'echo "$RUNSHEET_TRY" >>"$RUNSHEET_FOLDER/begun"';
/** Waits until the test creates the file `name` in its folder. */
export const untilFile = (name: string): string =>
  `until [ -e "$RUNSHEET_FOLDER/${name}" ]; do sleep 0.02; done`;

type Named = {
  readonly gpus?: readonly string[];
  readonly secrets?: Readonly<Record<string, string>>;
  readonly environment?: Environment;
  readonly request?: Partial<ProgramRequest>;
};

export class ProgramService {
  readonly own: OwnService;
  /** The folder in which the program is named. */
  readonly folder: string;
  readonly programs: string;

  private constructor(own: OwnService, folder: string, programs: string) {
    [this.own, this.folder, this.programs] = [own, folder, programs];
  }

  /** A service without any program, for the test that runs. */
  static async open(timing: object = {}, locks?: string): Promise<ProgramService> {
    const folder = freshFolder();
    const programs = join(freshFolder(), 'programs');
    writeFileSync(join(folder, 'whole.png'), pictureOf(7));
    const own = await OwnService.of([], undefined, timing, { programs, ...(locks && { locks }) });
    const service = new ProgramService(own, folder, programs);
    onTestFinished(() => service.killAll());
    return service;
  }

  /** A service with a program of these lines of sh. */
  static async of(lines: readonly string[], named: Named = {}, timing: object = {}): Promise<ProgramService> {
    const service = await ProgramService.open(timing);
    await service.script(lines, named);
    return service;
  }

  /** Writes a script and names it. */
  script(lines: readonly string[], named: Named = {}, file = 'program.sh'): Promise<string> {
    writeFileSync(this.path(file), `${lines.join('\n')}\n`);
    return this.name(`sh ${file}`, named);
  }

  async name(command: string, { gpus = ['0'], secrets = {}, ...more }: Named = {}): Promise<string> {
    const { environment = process.env, request } = more;
    const program = nameProgram(
      { command, folder: this.folder, secrets: Object.keys(secrets), ...request },
      environment,
    );
    const id = keepProgram(this.programs, program);
    await this.add(id, gpus, secrets);
    return id;
  }

  async add(id: string, gpus: readonly string[], secrets: Readonly<Record<string, string>> = {}) {
    const { deployments } = await this.own.service.addGpus({
      servers: gpus.map((gpu) => ({ url: `gpu:${gpu}`, kind: 'gpu' })),
      programs: [{ id, secrets }],
    });
    this.own.deployment = deployments[0]?.id ?? '';
  }

  path = (...names: readonly string[]): string => join(this.folder, ...names);

  /** Lets programs that wait for this file go on. */
  allow = (name: string): void => appendFileSync(this.path(name), '');

  /** The lines that the program has appended to a file in its folder. */
  lines(name: string): readonly string[] {
    if (!existsSync(this.path(name))) return [];
    return readFileSync(this.path(name), 'utf8').split('\n').filter(Boolean);
  }

  /** How often programs have begun. */
  get executions(): number {
    return this.lines('begun').length;
  }

  begun = (times = 1): Promise<void> =>
    until(() => this.executions >= times, `the program has begun ${times} times`);

  /** Queues one run with these inputs, and returns it once it has ended. */
  async ended(inputs: object = {}, more: Parameters<OwnService['queue']>[1] = {}): Promise<Run> {
    return this.own.until(await this.own.queue(inputs, more));
  }

  /** The folders of all tries on a seat. */
  tries(gpu = '0'): readonly string[] {
    const folder = this.seat(gpu, 'tries');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  }

  seat(gpu: string, ...names: readonly string[]): string {
    const folder = join(this.own.files, 'programs', gpu);
    mkdirSync(folder, { recursive: true });
    return join(folder, ...names);
  }

  async reopened(): Promise<void> {
    await this.own.close();
    await this.own.open();
  }

  /** Ends whatever a test has left behind in its folder. */
  killAll(): void {
    for (const pid of pidsWith(`RUNSHEET_FOLDER=${this.folder}`)) killQuietly(pid);
  }
}

/** The processes whose environment has this entry. */
export function pidsWith(entry: string): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

/** The names of the files of a run. */
export const filesOf = ({ outputs }: Run): readonly string[] =>
  outputs.flatMap(({ data }) =>
    Object.values(data).flatMap((files) => files.map(({ filename }) => filename)),
  );

export const has = (command: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
