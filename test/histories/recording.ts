// How recordings are kept: in Temporal's own binary form, compressed.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { WRITES } from '../../src/batch/behaviour-version.ts';

const { History: Binary } = proto.temporal.api.history.v1;
const ENDING = '.history.br';

/** `version-4/cancelled`, and so on. */
export const RECORDINGS: readonly string[] = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length))
  .toSorted();

/** Recordings of batches that an earlier version started. */
export const OLDER: ReadonlySet<string> = new Set(
  RECORDINGS.filter((name) => name.startsWith('version-') && !name.startsWith(`version-${WRITES}/`)),
);

const fileOf = (name: string): string => join(import.meta.dirname, `${name}${ENDING}`);

export const readRecording = (name: string): History => Binary.decode(brotliDecompressSync(readFileSync(fileOf(name))));

export function writeRecording(name: string, history: History): void {
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  mkdirSync(dirname(fileOf(name)), { recursive: true });
  writeFileSync(fileOf(name), brotliCompressSync(Binary.encode(history).finish(), { params }));
}

/** The events as Temporal's JSON has them. */
export const eventsIn = <T>(name: string): readonly T[] =>
  (JSON.parse(historyToJSON(readRecording(name))) as { readonly events: readonly T[] }).events;
