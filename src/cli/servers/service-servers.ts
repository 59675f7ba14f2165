// service servers: lists the GPU servers that the local run service knows, forgets one, or replaces one by another.

import type { FlagsOf } from '../flags/flags.ts';
import type { knownServersFlags } from './server-flags.ts';
import { problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { forgetServer, knownServers, type KnownServer } from '../../library/register-own-gpus.ts';
import { printerFor, type Context } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { aligned } from '../format.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { knownServerSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import { serversFor } from '../command-session.ts';

export default async function listServers(
  this: Context,
  flags: FlagsOf<typeof knownServersFlags>,
): Promise<void> {
  const { forget, moved } = flags;
  if (forget !== undefined && moved !== undefined)
    throw problem('E602', {
      what: '--forget and --moved exclude each other',
      hint: 'give one after the other',
    });
  const [from, to] = moved === undefined ? [forget, undefined] : movedIn(moved);
  const printer = printerFor(this, flags);
  await using servers = serversFor(configOf({}), printer);
  const listed = from === undefined ? await knownServers(servers) : await forgetServer(servers, from, to);
  if (flags.output === 'json') printer.json(listed.map((server) => shaped(knownServerSchema, server)));
  else for (const line of aligned([HEADER, ...listed.map(rowOf)])) printer.data(line);
  const [first] = listed;
  if (first === undefined)
    printer.notice('no GPU servers are known yet: --comfyui <address> makes one known');
  else printer.next(['forget one', `runsheet service servers --forget ${first.url}`]);
}

const HEADER = ['SERVER', 'GPU', 'STATE', 'ALSO'];

const rowOf = ({ url, gpu, runs, away, also }: KnownServer): readonly string[] =>
  [url, gpu ?? 'not known yet', away ?? (runs === 0 ? 'idle' : plural(runs, 'run')), also.join(', ')].map(
    terminalLine,
  );

/** Parses `old=new`. An address may contain `=` only in its query, and server addresses have none. */
function movedIn(text: string): readonly [string, string] {
  const [, from, to] = /^([^=]+)=([^=]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw problem('E602', {
      what: `--moved ${text} is not <old>=<new>`,
      hint: 'for example --moved http://10.0.0.5:8188=http://10.0.0.9:8188',
    });
  return [from, to];
}
