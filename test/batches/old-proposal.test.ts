// A proposal that stays open for hours: its user is asked, and `clean` of another terminal removes what nobody has used for an hour.

import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  propose,
  type ProposalContext,
  type Proposal,
  type ProposalSource,
} from '../../src/batches/propose.ts';
import { INCOMING } from '../../src/batches/incoming-folder.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { realConsole } from '../console/real-service.ts';
import type { Console } from '../console/console.ts';
import { withFurther } from './further.ts';

const TOO_OLD_S = 7_200;

let console: Console;
let path: string;
beforeEach(async () => {
  console = await realConsole();
  path = console.write('sheet.csv', 'prompt,seed\na fox,1\nan owl,2\n');
});

const copies = (): readonly string[] =>
  readdirSync(console.out)
    .filter((name) => name.startsWith(INCOMING))
    .map((name) => join(console.out, name));

const proposed = (source?: ProposalSource): Promise<Proposal> => {
  const config = loadConfig();
  const servers = async () => ({
    pools: { show: async () => undefined },
    batches: { withContent: async () => [] },
  });
  const around: ProposalContext = { config, isCluster: () => false, servers };
  const request = {
    service: { base: config.apiUrl ?? '', api: 'v2' as const },
    deployment: 'portraits',
    options: { map: {}, set: {}, drop: [], types: {} },
    settings: { deadlines: {}, webhooks: false },
    order: {},
    again: false,
  };
  return propose(request, source ?? { path, copying: { stdin: Readable.from([]) } }, around);
};

describe('a proposal that stays open for hours', () => {
  it('keeps its copy of the sheet young', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    await using _ = await proposed();
    const [copy = ''] = copies();
    const old = Date.now() / 1_000 - TOO_OLD_S;
    utimesSync(copy, old, old);
    await vi.advanceTimersByTimeAsync(1_800_000);
    await vi.waitFor(() => expect(statSync(copy).mtimeMs / 1_000).toBeGreaterThan(old + 1));
  });

  it('reads the sheet again if its copy was removed', async () => {
    await using proposal = await proposed();
    for (const copy of copies()) rmSync(copy, { recursive: true });
    const { laidOut, folder } = await proposal.carryOut();
    expect([laidOut?.rows, existsSync(join(folder, 'batch.json'))]).toEqual([2, true]);
  });

  it('reads it again for an answer', async () => {
    await (await proposed()).carryOut();
    console.write('sheet.csv', 'prompt,seed\na fox,1\nan owl,2\na hen,3\n');
    await using proposal = await proposed();
    expect(proposal.questions).toMatchObject([{ id: 'open' }]);
    for (const copy of copies()) rmSync(copy, { recursive: true });
    await proposal.with({ answers: { open: 'again', earlier: 'again' }, again: true });
    expect((await proposal.carryOut()).laidOut?.rows).toBe(3);
  });

  it('is refused if the sheet has changed since it was shown', async () => {
    await using proposal = await proposed();
    for (const copy of copies()) rmSync(copy, { recursive: true });
    console.write('sheet.csv', 'prompt,seed\na fox,1\nan owl,2\na hen,3\n');
    await expect(proposal.carryOut()).rejects.toMatchObject({ code: 'E107' });
    expect(readdirSync(console.out).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  it('is refused if its rows came from a stream, which cannot be read again', async () => {
    const stdin = Readable.from([Buffer.from('prompt,seed\na fox,1\n')]);
    await using proposal = await proposed({ path: '-', copying: { stdin, name: 'piped.csv' } });
    for (const copy of copies()) rmSync(copy, { recursive: true });
    await expect(proposal.carryOut()).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('the copy of piped.csv was removed'),
    });
  });

  it('reads added rows again, too', async () => {
    const batch = await (await proposed()).carryOut();
    const further = { batch, name: 'further.csv', text: 'prompt,seed\na hen,3\n' };
    const config = loadConfig();
    const added = await withFurther(console, { ...further, config }, async (rows) => {
      for (const copy of copies()) rmSync(copy, { recursive: true });
      return rows.carryOut();
    });
    expect(added).toMatchObject({ appended: 1 });
  });
});
