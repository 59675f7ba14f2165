// The definition of a schedule as one JSON value: the rule, the sheet, and the request of each batch.

import { resolve } from 'node:path';
import { problem } from '../errors/error.ts';
import type { SheetFormat } from '../sheet/formats.ts';
import { named, MAX_SCHEDULE_NAME } from '../options/kinds.ts';
import { isAddress, shownAddress } from '../errors/redact.ts';
import { SCHEDULE_DEFAULTS, type Overlap } from '../options/choices.ts';
import { exactMoney, span } from '../options/text/printed-numbers.ts';
import type { BatchRequest } from '../batches/batch-request.ts';
import { parseCron, ownZone, shown, zoneOf } from './cron.ts';

export type ScheduleDefinition = {
  readonly name: string;
  /** Five fields. */
  readonly cron: string;
  readonly timezone: string;
  readonly overlap: Overlap;
  /** How late a firing may be, if no server ran at its time. */
  readonly catchupMs: number;
  /** Absolute; may contain `{{date}}` and `{{time}}`. */
  readonly sheet: string;
  readonly format?: SheetFormat;
  /** The folder of the batches. Absolute. */
  readonly out: string;
  readonly request: Omit<BatchRequest, 'name' | 'again' | 'madeFor'>;
  /** Each batch pauses this long after its firing. */
  readonly deadlineMs?: number;
  /** Whether a firing keeps the results of rows that earlier batches have; otherwise it buys every row. */
  readonly reuse: boolean;
  /** The absolute path of the job file that defines the schedule. */
  readonly job?: string;
};

export type AskedSchedule = Omit<ScheduleDefinition, 'timezone' | 'overlap' | 'catchupMs'> & {
  /** (default: the machine's) */
  readonly timezone?: string;
  readonly overlap?: ScheduleDefinition['overlap'];
  readonly catchupMs?: number;
};

const HOUR_MS = 3_600_000;
/** Temporal fires at least this late. */
const MIN_CATCHUP_MS = 10_000;

/** Completes the definition with defaults. Throws E602 for a rule that Temporal cannot keep. */
export function definitionFrom(request: AskedSchedule): ScheduleDefinition {
  const { name, overlap = SCHEDULE_DEFAULTS.overlap, sheet, format, deadlineMs } = request;
  const { catchupMs = SCHEDULE_DEFAULTS.catchupHours * HOUR_MS } = request;
  if (catchupMs < MIN_CATCHUP_MS)
    throw problem('E602', {
      what: `a firing that may be at most ${catchupMs / 1_000} s late would be missed`,
      hint: 'allow at least 10s, for example: --catchup 1h',
    });
  if (!named.isKept(name) || name.length > MAX_SCHEDULE_NAME)
    throw problem('E602', {
      what: `${JSON.stringify(name)} cannot be the name of a schedule`,
      hint: `use letters, digits, dots, underscores and hyphens, at most ${MAX_SCHEDULE_NAME}`,
    });
  refuseOtherPlaceholders(sheet);
  return {
    name,
    cron: parseCron(request.cron).fields,
    timezone: zoneOf(request.timezone ?? ownZone()).name,
    overlap,
    catchupMs,
    sheet: isAddress(sheet) ? sheet : resolve(sheet),
    ...(format && { format }),
    out: request.out,
    request: request.request,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    reuse: request.reuse,
  };
}

/** `nightly-20261123T010000Z`: two firings never share a batch, even when a clock is set back. */
export const batchNameAt = (schedule: string, nominalTime: number): string =>
  `${schedule}-${new Date(nominalTime).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')}`;

/** The request of a firing: `{{date}}` and `{{time}}` become the nominal time on the clock of the schedule's zone. */
export function firingOf(
  definition: ScheduleDefinition,
  nominalTime: number,
): Pick<ScheduleDefinition, 'sheet' | 'request'> & { readonly name: string } {
  const fill = filling(definition.timezone, nominalTime);
  const { options } = definition.request;
  const set = Object.fromEntries(Object.entries(options.set).map(([name, value]) => [name, fill(value)]));
  return {
    name: batchNameAt(definition.name, nominalTime),
    sheet: fill(definition.sheet),
    request: { ...definition.request, options: { ...options, set } },
  };
}

function filling(timezone: string, nominalTime: number): (text: string) => string {
  const [date = '', time = ''] = shown(zoneOf(timezone), nominalTime).toISOString().split('T');
  const hourAndMinute = time.slice(0, 5).replace(':', '');
  return (text) => text.replaceAll('{{date}}', date).replaceAll('{{time}}', hourAndMinute);
}

/** Whether a text differs from firing to firing. */
export const isFilled = (text: string): boolean => /\{\{(?:date|time)\}\}/.test(text);

/** A placeholder that is never filled would name a file that never exists. Throws E602. */
export function refuseOtherPlaceholders(sheet: string): void {
  const placeholder = [...sheet.matchAll(/\{\{[^}]*\}\}/g)].find(([text]) => !isFilled(text));
  if (placeholder !== undefined)
    throw problem('E602', {
      what: `the sheet's path contains ${placeholder[0]}`,
      hint: 'a schedule fills {{date}} (2026-11-23) and {{time}} (0200)',
    });
}

/** The changes in the new definition: `cron "0 2 * * *" → "0 3 * * *"`. */
export function changesBetween(
  { sheet: oldSheet, ...old }: ScheduleDefinition,
  { sheet, ...changed }: ScheduleDefinition,
): readonly string[] {
  return [...(sheet === oldSheet ? [] : [sheetChange(oldSheet, sheet)]), ...settingsChanged(old, changed)];
}

/** The differences between two requests with their settings. */
export function settingsChanged(old: object, changed: object): readonly string[] {
  const [before, after] = [leavesOf(old), leavesOf(changed)];
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  return names.map((name) => changeText(name, before.get(name), after.get(name)));
}

/** The values as a user reads them, for numbers that are stored with their unit in the name. */
const UNITS: Readonly<Record<string, (value: number) => string>> = {
  Ms: (value) => span(value / 1_000),
  At: (value) => new Date(value).toISOString(),
  Nano: exactMoney,
};

/** `deadline 8 h → none` */
function changeText(name: string, before = 'none', after = 'none'): string {
  const [, stem = '', unit = ''] = /^(.+)(Ms|At|Nano)$/.exec(name) ?? [];
  const text = UNITS[unit];
  const isNumber = (json: string): boolean => /^\d+$/.test(json);
  if (text === undefined || !(isNumber(before) || isNumber(after))) return `${name} ${before} → ${after}`;
  const written = (json: string): string => (isNumber(json) ? text(Number(json)) : json);
  return `${stem} ${written(before)} → ${written(after)}`;
}

function sheetChange(old: string, changed: string): string {
  const [before, after] = [shownAddress(old), shownAddress(changed)].map((address) =>
    JSON.stringify(address),
  );
  return before === after
    ? `sheet ${before} → the same address with another query`
    : `sheet ${before} → ${after}`;
}

/** The settings by name, without the levels above them that a user never sees. */
function leavesOf(value: unknown, path: readonly string[] = []): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map(value === undefined ? [] : [[nameOf(path), JSON.stringify(value)]]);
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, [...path, key])]));
}

const HIDDEN = new Set(['request', 'options', 'settings', 'order', 'answers']);
const nameOf = (path: readonly string[]): string => path.filter((part) => !HIDDEN.has(part)).join('.');
