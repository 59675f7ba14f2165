// The places that run rows through one service, each with a count of what it has executed: hosted models in front of their stand-ins,
// a Cog container, and programs of this machine.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { VENDOR_FACTS, type ModelHost } from '../../src/options/facts/server-kind.ts';
import { encodePng } from '../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import type { Stage } from '../stage/stage.ts';
import { openCog } from '../vendors/cog.ts';
import { openFal } from '../vendors/fal.ts';
import { INPUT_SCHEMA } from '../vendors/model-inputs.ts';
import { openReplicate } from '../vendors/replicate.ts';
import { openRouter } from '../vendors/router.ts';
import { openRunpod } from '../vendors/runpod.ts';
import { isEnded, type VendorStandIn } from '../vendors/vendor-stand-in.ts';

export type Place = {
  /** The fields of its entry in a deployments file. */
  readonly entry: object;
  readonly environment: Readonly<Record<string, string>>;
  /** The stand-in of a host of models; undefined for a program. */
  readonly host?: VendorStandIn;
  /** The prompts that began to execute, in their order. */
  executed(): readonly string[];
  /** How many of them have not ended. */
  open(): number;
  setDuration(ms: number): void;
  /** Whether runs that begin from now on are kept from ending. */
  hold(isHeld: boolean): void;
  failNext(times: number): void;
  close(): void;
};

/** A row whose answer was lost: executed once, executed again, or never sent again and unknown. */
type LostRow = 'once' | 'again' | 'unknown';

export type PlaceCase = { readonly open: (stage: Stage) => Promise<Place>; readonly lost?: LostRow };

const host = (name: ModelHost, open: () => Promise<VendorStandIn>) => async (stage: Stage) => {
  const standIn = await open();
  const ofVendor =
    name === 'cog'
      ? {}
      : { [`RUNSHEET_${name.toUpperCase()}_URL`]: standIn.url, [VENDOR_FACTS[name].variable]: standIn.key };
  return {
    entry: { model: `${name}:${standIn.model}`, inputs: schemaIn(stage) },
    environment: ofVendor,
    host: standIn,
    executed: () => standIn.executions().map(({ input }) => String(input['prompt'])),
    open: () => standIn.executions().filter((run) => !isEnded(run)).length,
    setDuration: (ms: number) => standIn.setDuration(ms),
    hold: (isHeld: boolean) => standIn.hold(isHeld),
    failNext: (times: number) => standIn.failNext(times, 'CUDA out of memory'),
    close: () => standIn.close(),
  };
};

const schemaIn = (stage: Stage): string => stage.write('inputs.json', JSON.stringify(INPUT_SCHEMA));

/** Draws one run; `log` counts, and `orders` has the duration, the number of runs that fail, and whether runs are held. */
const DRAW = `
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
const at = import.meta.dirname;
const read = () => JSON.parse(readFileSync(at + '/orders.json', 'utf8'));
async function draw({ prompt }, folder) {
  const orders = read();
  if (orders.fails > 0) writeFileSync(at + '/orders.json', JSON.stringify({ ...orders, fails: orders.fails - 1 }));
  appendFileSync(at + '/log', 'begin ' + prompt + '\\n');
  if (orders.held) while (read().held) await wait(20);
  await wait(orders.ms);
  appendFileSync(at + '/log', 'end ' + prompt + '\\n');
  if (orders.fails > 0) throw new Error('CUDA out of memory');
  copyFileSync(at + '/picture.png', folder + '/out.png');
}
`;
const ONCE = `${DRAW}
await draw(JSON.parse(readFileSync(0, 'utf8')), '.').catch((error) => { console.error(error.message); process.exit(1); });
`;
const STAYS = `${DRAW}
import { createInterface } from 'node:readline';
const answer = (line) => appendFileSync(process.env.RUNSHEET_ANSWERS, JSON.stringify(line) + '\\n');
answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, inputs, dir } = JSON.parse(line);
  answer(await draw(inputs, dir).then(() => ({ id, ok: true }), (error) => ({ id, error: error.message })));
}
`;

const program =
  (stays: boolean) =>
  async (stage: Stage): Promise<Place> => {
    // The two forms may be in one folder.
    const form = stays ? 'stays' : 'once';
    const orders = stage.write(`${form}/orders.json`, '{"ms":20,"fails":0,"held":false}');
    const log = stage.path(form, 'log');
    type Orders = { readonly ms: number; readonly fails: number; readonly held: boolean };
    const order = (more: Partial<Orders>): void => {
      const before = JSON.parse(readFileSync(orders, 'utf8')) as Orders;
      // Programs read it at any moment.
      writeFileSync(`${orders}.part`, JSON.stringify({ ...before, ...more }));
      renameSync(`${orders}.part`, orders);
    };
    stage.write(
      `${form}/picture.png`,
      encodePng({ width: 8, height: 8, pixels: new Uint8Array(64) }, Uint8Array.of(1, 2, 3), 'x'),
    );
    stage.write(`${form}/draw.mjs`, stays ? STAYS : ONCE);
    const lines = (verb: string): readonly string[] =>
      existsSync(log)
        ? [...readFileSync(log, 'utf8').matchAll(new RegExp(`^${verb} (.*)$`, 'gm'))].map(
            ([, prompt = '']) => prompt,
          )
        : [];
    appendFileSync(log, '');
    return {
      entry: {
        program: `'${process.execPath}' ${form}/draw.mjs`,
        inputs: schemaIn(stage),
        gpus: [0, 1],
        ...(stays && { stays }),
      },
      environment: { RUNSHEET_HOME: stage.path('home') },
      executed: () => lines('begin'),
      open: () => lines('begin').length - lines('end').length,
      setDuration: (ms) => order({ ms }),
      hold: (held) => order({ held }),
      failNext: (times) => order({ fails: times }),
      close: () => undefined,
    };
  };

export const PLACES: Readonly<Record<string, PlaceCase>> = {
  'a program': { open: program(false) },
  'a program that stays': { open: program(true) },
  'Comfy Router': { open: host('router', openRouter), lost: 'once' },
  Replicate: { open: host('replicate', openReplicate), lost: 'once' },
  RunPod: { open: host('runpod', openRunpod), lost: 'unknown' },
  fal: { open: host('fal', openFal), lost: 'unknown' },
  Cog: { open: host('cog', openCog), lost: 'again' },
};
