// Help pages within 80 columns. A command with many flags shows the common ones; `--help all` shows all of them.

import { flagOf } from '../options/written-options.ts';

const WIDTH = 80;
const COLUMN = 28;

/** Commands with more flags than this have a short page. */
const MANY_FLAGS = 25;

const FIRST: Readonly<Record<string, readonly string[]>> = {
  'What runs': ['deployment', 'local', 'workflow', 'comfyui', 'program', 'model'],
  'The sheet': ['map', 'set', 'where', 'grid', 'repeat', 'key', 'limit'],
  'Speed and money': ['concurrency', 'gpu', 'maxCost', 'failAfter', 'retries'],
  'The batch': ['reuse', 'again', 'notify', 'out'],
};

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  Sheets: ['run', 'plan', 'submit', 'deployments'],
  'A batch': ['list', 'status', 'follow', 'wait', 'rows', 'show', 'logs', 'events'],
  'Its results': ['open', 'results', 'export', 'compare', 'verify'],
  'While it runs': ['pause', 'resume', 'scale', 'retry', 'cancel'],
  'Several batches': ['schedule', 'pipeline', 'pick', 'pool'],
  'Servers and settings': ['service', 'worker', 'codec', 'dev', 'doctor', 'clean'],
};

const FIRST_DAY = [
  ['run prompts.csv -d portraits --local', 'costs nothing'],
  ['deployments', 'what can be run'],
  ['plan prompts.csv -d portrait-v3', 'check the sheet, show the cost'],
  ['run prompts.csv -d portrait-v3 -c 24', '24 at a time'],
  ['open', 'see the results'],
];

const SETTINGS = 'Settings (also HTTPS_PROXY) and exit codes: docs/guide/settings.md';

type Flag = {
  readonly kind: string;
  readonly brief: string;
  readonly placeholder?: string;
  readonly values?: readonly string[];
  readonly variadic?: unknown;
  readonly hidden?: boolean;
  readonly default?: unknown;
  readonly group?: string;
};
type Positional = { readonly placeholder?: string; readonly optional?: boolean; readonly brief: string };
export type CommandHelp = {
  readonly brief: string;
  readonly usage?: readonly string[];
  readonly more?: readonly string[];
  readonly parameters: {
    readonly positional?: { readonly parameters?: readonly Positional[] };
    readonly flags?: Readonly<Record<string, Flag>>;
    readonly aliases?: Readonly<Record<string, string>>;
  };
};
export type NamedBriefs = readonly (readonly [name: string, brief: string])[];

export function commandPage(name: string, command: CommandHelp, isAll: boolean): string {
  const { flags = {}, aliases = {}, positional } = command.parameters;
  const letters = Object.fromEntries(Object.entries(aliases).map(([letter, flag]) => [flag, letter]));
  const shown = Object.entries(flags).filter(([, { hidden }]) => hidden !== true);
  const isShort = !isAll && shown.length > MANY_FLAGS;
  const line = ([flag, row]: readonly [string, Flag]): string =>
    entry(flagForm(flag, row, letters[flag]), isShort ? clause(row.brief) : withValues(row));
  const groups = isShort
    ? Object.entries(FIRST).map(
        ([group, names]) => [group, shown.filter(([flag]) => names.includes(flag))] as const,
      )
    : [...Map.groupBy(shown, ([, { group = 'Flags' }]) => group)];
  const usage = command.usage ?? [
    [...(positional?.parameters ?? []).map(positionalForm), '[flags]'].join(' '),
  ];
  return page(
    usage.map((form) => `  ${wrapped(`${name} ${form}`, 4)}`).join('\n'),
    wrapped(command.brief, 0),
    command.more?.map((text) => text.replaceAll('{name}', name)).join('\n'),
    (positional?.parameters ?? [])
      .map((parameter) => entry(positionalForm(parameter), parameter.brief))
      .join('\n'),
    ...groups
      .filter(([, rows]) => rows.length > 0)
      .map(([group, rows]) => `${heading(group)}\n${rows.map(line).join('\n')}`),
    isShort ? `All ${shown.length} flags: ${name} --help all` : undefined,
  );
}

export function programPage(program: string, brief: string, commands: NamedBriefs): string {
  const grouped = new Set(Object.values(COMMANDS).flat());
  const groups = { ...COMMANDS, More: commands.map(([name]) => name).filter((name) => !grouped.has(name)) };
  const lines = (names: readonly string[]): string =>
    commands
      .filter(([name]) => names.includes(name))
      .map(([name, text]) => entry(name, text, 16))
      .join('\n');
  const width = Math.max(...FIRST_DAY.map(([command = '']) => command.length));
  return page(
    wrapped(brief, 0),
    [
      'The first day',
      ...FIRST_DAY.map(([command = '', why]) => `  ${program} ${command.padEnd(width)}   ${why}`),
    ].join('\n'),
    ...Object.entries(groups).map(([group, names]) => `${group}\n${lines(names)}`),
    `${program} <command> --help explains a command\n${SETTINGS}`,
  );
}

export const groupPage = (name: string, brief: string, commands: NamedBriefs): string =>
  page(
    `  ${name} <command>`,
    wrapped(brief, 0),
    commands.map(([command, text]) => entry(command, text, 16)).join('\n'),
    `${name} <command> --help explains a command`,
  );

const page = (...parts: readonly (string | undefined)[]): string => `${parts.filter(Boolean).join('\n\n')}\n`;

const heading = (group: string): string => group.slice(0, 1).toUpperCase() + group.slice(1);

function flagForm(
  flag: string,
  { kind, placeholder, values, variadic, default: usual }: Flag,
  letter?: string,
): string {
  const name = kind === 'boolean' && usual === true ? flagOf(flag).replace('--', '--no-') : flagOf(flag);
  const value = kind === 'boolean' ? '' : ` <${placeholder ?? (values && choiceForm(values)) ?? 'value'}>`;
  return `${letter === undefined ? '    ' : `-${letter}, `}${name}${value}${variadic === true ? ' …' : ''}`;
}

/** The choices, or the first ones of many, which the help text then names. */
const choiceForm = (values: readonly string[]): string =>
  values.length <= MAX_CHOICES ? values.join('|') : [...values.slice(0, MAX_NAMED), '…'].join('|');

const MAX_CHOICES = 9;
const MAX_NAMED = 5;

const positionalForm = ({ placeholder = 'word', optional = false }: Positional): string =>
  optional ? `[<${placeholder}>]` : `<${placeholder}>`;

/** The first clause of a brief, which states the purpose. */
const clause = (brief: string): string => /^.*?(?=[;:,]? [({]|[;:,] |$)/.exec(brief)?.[0] ?? brief;

const withValues = ({ brief, default: usual }: Flag): string =>
  typeof usual === 'string' ? `${brief} (default: ${usual})` : brief;

/** A name with its text in the next column, after a long name, or below it. */
function entry(name: string, text: string, column = COLUMN): string {
  const isBehind = name.length + text.length + 4 <= WIDTH;
  if (name.length + 4 <= column || isBehind) return `  ${name.padEnd(column - 4)}  ${wrapped(text, column)}`;
  return `  ${name}\n${' '.repeat(column)}${wrapped(text, column)}`;
}

function wrapped(text: string, margin: number): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && margin + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${' '.repeat(margin)}`);
}
