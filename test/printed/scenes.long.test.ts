// Each line that a command prints at its end, while servers run, is pasted into bash in that state: it works, or leads where the
// table says, and no row of any batch is bought a second time.

import { existsSync, readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { detailsOf } from '../errors/running-batches.ts';
import { LongGround } from '../errors/long-ground.ts';
import { commandsIn } from '../errors/printed-commands.ts';
import { pastedOff, type Lead, type Said } from '../errors/provocation.ts';
import { Recorded, recordOf } from './recorded.ts';
import { freshSheet, SCENES, type Scene } from './scenes.ts';
import { EMBEDDED } from './server-scenes.ts';

const recorded = new Recorded();

/** Fills in the placeholders as the user would. */
const filled = (command: string, ground: LongGround): string =>
  command.replaceAll('<sheet>', () => freshSheet(ground)).replaceAll('<deployment>', 'Porträts');

async function said({ args, env = {}, interruptAt }: Scene, ground: LongGround): Promise<Said> {
  if (interruptAt === undefined) return ground.stage.run(args, env);
  const running = ground.stage.start(args, env);
  await running.says(interruptAt);
  return running.kill('SIGINT');
}

/** The differences from the table; empty if each printed command leads where it should. */
async function differences(scene: Scene, ground: LongGround): Promise<string> {
  await scene.arrange?.(ground);
  const { stdout, stderr } = await said(scene, ground);
  // Data counts only where a line advises.
  const hints = [
    ...stdout.split('\n').filter((line) => /^ +hint: /.test(line)),
    ...[...stdout.matchAll(/"hint": ?("(?:[^"\\]|\\.)+")/g)].map(
      ([, hint = '']) => JSON.parse(hint) as string,
    ),
  ];
  const text = [...hints, stderr].join('\n');
  const lines = text.split('\n');
  const wrong = scene.prints
    .filter((line) => !lines.some((printed) => line.test(printed)))
    .map((line) => `no line ${line}: ${text}`);
  const { paste } = ground.run();
  for (const command of new Set(commandsIn(text))) {
    const lead: Lead = scene.leads?.find(([part]) => part.test(command))?.[1] ?? 0;
    wrong.push(...pastedOff(command, lead, await paste(filled(command, ground), lead, scene.env ?? {})));
    recorded.add(text, command);
    await scene.between?.(ground);
  }
  await scene.undo?.(ground);
  return wrong.join('\n\n');
}

/** Names of batches that counting again finds bought twice. */
async function boughtTwice({ stage }: LongGround): Promise<readonly string[]> {
  const batches = readdirSync(stage.path('batches'), { withFileTypes: true }).filter(
    ({ name }) => existsSync(stage.path('batches', name, 'batch.json')) && name !== 'torn',
  );
  const twice: string[] = [];
  for (const { name } of batches) {
    const { stdout } = await stage.run(['verify', name]);
    if (/[1-9]\d* (?:bought twice|duplicate)/.test(stdout)) twice.push(`${name}: ${stdout}`);
  }
  return twice;
}

describe('the lines that a command prints', () => {
  describe('on a cluster', () => {
    const ground = new LongGround();
    beforeAll(() => ground.openCluster());
    afterEach(() => ground.killStarted());
    afterAll(() => ground.close());

    it.each(SCENES.map((scene) => [scene.name, scene] as const))('lead on when %s', async (_, scene) => {
      expect(await differences(scene, ground)).toBe('');
    });

    it('lead on when Temporal shows a batch, and one that is paused', async () => {
      await ground.running('seen', 'brief', '-c', '1');
      await ground.must('pause', 'seen');
      const { paste } = ground.run();
      const wrong: string[] = [];
      for (const text of await detailsOf(ground, 'seen'))
        for (const command of commandsIn(text)) {
          const lead: Lead = command.includes('follow') ? 'E501' : 0;
          wrong.push(...pastedOff(command, lead, await paste(command, lead, {})));
          recorded.add(text, command);
        }
      expect(wrong).toEqual([]);
      await ground.must('cancel', 'seen', '--running');
    });

    it('have bought no row twice', async () => {
      expect(await boughtTwice(ground)).toEqual([]);
    });
  });

  describe('with embedded servers', () => {
    const ground = new LongGround();
    beforeAll(() => ground.open());
    afterEach(() => ground.killStarted());
    afterAll(() => ground.close());

    it.each(EMBEDDED.map((scene) => [scene.name, scene] as const))('lead on when %s', async (_, scene) => {
      expect(await differences(scene, ground)).toBe('');
    });

    it('have bought no row twice there either', async () => {
      expect(await boughtTwice(ground)).toEqual([]);
    });
  });

  it('are pasted as before', async () => {
    await expect(recorded.text).toMatchFileSnapshot(recordOf('scenes'));
  });
});
