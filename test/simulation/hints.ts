// Does what a pause prints: takes one of the commands in its hint, as a user would paste it, and makes the event of it.

import type { Event } from '../../src/batch/events.ts';
import { pauseHint } from '../../src/batch/pausing/pause-hints.ts';
import type { PauseKind } from '../../src/batch/pausing/pause-kinds.ts';
import type { Progress } from '../../src/batch/shown/progress.ts';
import type { World } from './world.ts';

const RULES = ['unknown', 'fail', 'resubmit'] as const;

/** undefined if the command only shows something. */
export function eventOfHint(
  world: World,
  batch: string,
  kind: PauseKind,
  { budget }: Progress,
): Event | undefined {
  const hint = pauseHint(batch, { kind }, false, budget?.neededNano);
  const commands = [...hint.matchAll(/\brunsheet (\w+) (\S+)((?: --[\w-]+ [\w.$<>]+)*)/g)];
  world.claim(commands.length > 0, () => `the pause ${kind} prints no command: ${hint}`);
  world.claim(
    commands.every(([, , named = '']) => named.replace(/[;,:]$/, '') === batch),
    () => `the pause ${kind} prints commands for another batch: ${hint}`,
  );
  const resume = commands.findLast(([, name]) => name === 'resume');
  // Most users do what leads on at once; others look first.
  const [, name = '', , flags = ''] = world.chance(0.8) && resume ? resume : world.pick(commands);
  return commandOf(world, kind, name, flags);
}

function commandOf(world: World, kind: PauseKind, name: string, flags: string): Event | undefined {
  switch (name) {
    case 'resume':
      return { type: 'resume', ...optionsIn(world, kind, flags) };
    case 'cancel':
      return { type: 'cancel', running: false };
    case 'rows':
    case 'status':
    case 'show':
      return undefined;
    default:
      world.claim(false, () => `the pause ${kind} prints a command that this user does not know: ${name}`);
      return undefined;
  }
}

function optionsIn(world: World, kind: PauseKind, flags: string) {
  const [, cost] = /--max-cost ([\d.]+)/.exec(flags) ?? [];
  world.claim(!flags.includes('<'), () => `the pause ${kind} prints a command with a gap: ${flags}`);
  return {
    ...(flags.includes('--max-cost none') ? { limits: { maxCostNano: 'none' as const } } : {}),
    ...(cost === undefined ? {} : { limits: { maxCostNano: Math.round(Number(cost) * 1e9) } }),
    ...(flags.includes('--unconfirmed') ? { unconfirmed: world.pick(RULES) } : {}),
  };
}
