// migrate-check: checks each rule of the migration from V1 to V2, and prints results and next steps.

import type { FlagsOf, SheetFlags } from '../flags/flags.ts';
import type { migrateCheckFlags } from './server-flags.ts';
import { EXIT, hintAmong, problem } from '../../errors/error.ts';
import { findDeployment } from '../../batches/find-deployment.ts';
import { usableDeployment } from '../../batches/batch-request.ts';
import {
  isSound,
  judge,
  type MigrationFacts,
  type RuleFinding,
  type Verdict,
} from '../../service-client/migration/rules.ts';
import {
  machineOfLastRun,
  PROVIDER_FLAG,
  verify,
  type Verified,
} from '../../service-client/migration/check-service.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import type { RunService } from '../../service-client/client.ts';
import type { Deployment } from '../../service-client/contract/deployment.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import { printerFor, type Context, type Printer, type Next } from '../context.ts';
import { sameCommand } from '../next-command.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { configOf, noDeployment, inputsSet } from '../flags/batch-options.ts';
import type { Paint } from '../format.ts';
import { migrationJson } from '../json/documents.ts';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { kindOf, readText } from '../../sheet/parse-cell.ts';

type MigrateCheckFlags = FlagsOf<typeof migrateCheckFlags> & Pick<SheetFlags, 'deployment'>;

export default async function migrateCheck(this: Context, flags: MigrateCheckFlags): Promise<number> {
  const printer = printerFor(this, flags);
  using interrupts = hearInterrupts(this.process);
  const stop = new AbortController();
  void interrupts.first.then(() => stop.abort());
  const facts = await factsFor(flags, printer, stop.signal);
  const findings = judge(facts);
  if (flags.output === 'json') printer.json(migrationJson(facts, findings, isSound(findings)));
  else printer.data(textOf(findings, printer.paint));
  if (stop.signal.aborted) return EXIT.interrupted;
  printer.next(nextOf(flags, isSound(findings), this.args ?? []));
  return isSound(findings) ? EXIT.ok : EXIT.doesNotHold;
}

async function factsFor(
  flags: MigrateCheckFlags,
  printer: Printer,
  stop: AbortSignal,
): Promise<MigrationFacts> {
  const config = configOf({});
  const { apiUrl: base } = config;
  if (flags.deployment === undefined) throw noDeployment();
  if (base === undefined) throw problem('E305', {});
  const services = openServices(config, openTransport(4));
  const api = await services.apiAt(base);
  if (api === 'v1') return { base, api, machine: {}, check: { kind: 'left-out', why: 'v1' } };
  const service = services.at({ base, api });
  // An invalid concurrency limit or time-out of the deployment must not prevent this single run.
  const candidate = await findDeployment(service, flags.deployment);
  const deployment = usableDeployment(candidate, { concurrency: 1, deadlines: { runMs: 1 } });
  const { check, machine } = await verified({ flags, printer, stop, service, deployment });
  const tellsMachine = machine.type !== undefined || machine.version !== undefined;
  return { base, api, check, machine: tellsMachine ? machine : await machineOfLastRun(service, deployment) };
}

type Checking = {
  readonly flags: MigrateCheckFlags;
  readonly printer: Printer;
  readonly stop: AbortSignal;
  readonly service: RunService;
  readonly deployment: Deployment;
};

async function verified({ flags, printer, stop, service, deployment }: Checking): Promise<Verified> {
  if (flags.noRun) return { check: { kind: 'left-out', why: 'asked' }, machine: {} };
  const inputs = inputsFrom(flags.set, deployment);
  const name = terminalLine(deployment.name ?? deployment.id);
  printer.notice(
    `buys one run of ${name}, with the flag ${PROVIDER_FLAG} (--no-run walks the rules without it)`,
  );
  const queued = (runId: string): void =>
    printer.notice(`run ${terminalLine(runId)} is queued; following it to its end`);
  return verify({ service, deployment, inputs, queued, stop });
}

/** After fixing a broken rule, the user runs the same check again. */
const nextOf = ({ deployment }: MigrateCheckFlags, holds: boolean, args: readonly string[]): Next =>
  holds
    ? ['plan', `runsheet plan <sheet> -d ${shellWord(deployment ?? '')}`]
    : ['again', sameCommand(args, 'migrate-check')];

const MARKS: Readonly<Record<Verdict, readonly [Parameters<Paint>[0], string]>> = {
  holds: ['green', '✓'],
  broken: ['red', '✗'],
  'not-revealed': ['yellow', '?'],
  'not-checked': ['yellow', '?'],
  'does-not-apply': ['dim', '–'],
  yours: ['yellow', '?'],
};

const OPENINGS: Readonly<Partial<Record<Verdict, string>>> = {
  'not-revealed': 'not revealed: ',
  'not-checked': 'not checked: ',
  'does-not-apply': 'does not apply: ',
};

const ABOUT_WIDTH = 19;

function textOf(findings: readonly RuleFinding[], paint: Paint): string {
  const lines = findings.flatMap(({ rule, about, verdict, found: result, todo }) => {
    const [style, mark] = MARKS[verdict];
    const line = `${paint(style, mark)} ${rule} ${about.padEnd(ABOUT_WIDTH)}${OPENINGS[verdict] ?? ''}${terminalLine(result)}`;
    return todo === undefined ? [line] : [line, `    ${' '.repeat(ABOUT_WIDTH)}→ ${todo}`];
  });
  return [...lines, '', closing(findings)].join('\n');
}

function closing(findings: readonly RuleFinding[]): string {
  const times = (...verdicts: readonly Verdict[]): number =>
    findings.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const open = times('not-revealed', 'not-checked', 'yours');
  return `${times('holds', 'does-not-apply')} of ${findings.length} rules are kept, ${times('broken')} broken, ${open} for you to look at`;
}

/** Throws E602 for a missing, invalid or unknown input. */
export function inputsFrom(
  pairs: readonly string[] | undefined,
  { inputTypes }: Deployment,
): Readonly<Record<string, unknown>> {
  const texts = inputsSet(pairs);
  const missing = inputTypes?.find(({ name, required }) => required && texts[name] === undefined);
  if (missing)
    throw problem('E602', {
      what: `the deployment requires the input "${missing.name}"`,
      hint: `add --set ${missing.name}=<value>, or skip the run with --no-run`,
    });
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, valueOf(name, text, inputTypes)]),
  );
}

function valueOf(name: string, text: string, inputTypes: Deployment['inputTypes']): unknown {
  const type = inputTypes?.find((input) => input.name === name);
  const inputNames = inputTypes?.map((input) => input.name) ?? [];
  if (inputTypes && type === undefined)
    throw problem('E602', {
      what: `--set ${name}: the deployment has no such input`,
      hint: hintAmong(name, 'inputs', inputNames),
    });
  const read = readText(text, type === undefined ? 'auto' : kindOf(type.type));
  if (typeof read === 'string') return parseExactly(read);
  throw problem('E602', { what: `--set ${name}=${text}: the value is not ${read.type}`, ...hintOf(read) });
}

const hintOf = ({ hint }: { readonly hint?: string }) => (hint === undefined ? {} : { hint });
