import { execFileSync } from 'node:child_process';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openBatchClient } from '../../src/temporal/batch-client.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import {
  attributesCommand,
  isSearchWanted,
  registerSearchAttributes,
} from '../../src/temporal/search-attributes.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { until } from '../stage/stage.ts';
import { rigFor, refOf, Script } from './rig.ts';

const SEARCH = { deployment: 'portraits', sheet: 'prompts.csv', rows: 2, content: 'c0ffee' };
const SHOWN = { summary: 'two rows', details: 'of a test', search: SEARCH };

describe('the search attributes of a batch', () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const rig = rigFor(new Script());

  const startSearchable = async (batch: string): Promise<void> => {
    const batches = openBatchClient(() => rig.client, undefined, { encrypted: false, searchable: true });
    expect(await batches.start(refOf(batch), undefined, SHOWN)).toBe('started');
    await rig.client.workflow.getHandle(workflowIdOf(refOf(batch))).result();
  };
  const search = async (query: string): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of rig.client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };
  const register = () => registerSearchAttributes(rig.client.connection, rig.client.options.namespace, log);
  const upserts = async (batch: string): Promise<number> => {
    const { events = [] } = await rig.client.workflow.getHandle(workflowIdOf(refOf(batch))).fetchHistory();
    return events?.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes).length ?? 0;
  };

  it('are left out where the server does not know them: the batch runs without', async () => {
    await startSearchable('early');
    expect(await upserts('early')).toBe(0);
  });

  it('are added by a command that the cluster takes, which is another one for Temporal Cloud', async () => {
    const commandAt = (address: string, tls: { readonly serverNameOverride?: string } = {}) =>
      attributesCommand(rig.client, { address, options: { tls } });
    const { namespace } = rig.client.options;
    const command = await commandAt('127.0.0.1:7233');
    const binary = await temporalBinary({ ...loadConfig(), notice: () => undefined });
    expect(command).toContain(`temporal operator search-attribute create --namespace ${namespace} --name R`);
    const [, ...args] = command?.split(' ') ?? [];
    const help = execFileSync(binary, [...args, '--help'], { encoding: 'utf8' });
    expect(help).toContain('search-attribute create');
    const cloud = `tcld namespace search-attributes add --namespace ${namespace} --sa RunsheetDeployment=Keyword --sa RunsheetSheet=Keyword --sa RunsheetRows=Int --sa RunsheetFailed=Int --sa RunsheetCost=Double --sa RunsheetContent=Keyword`;
    for (const address of ['images.a1b2c.tmprl.cloud:7233', 'eu-central-1.aws.api.temporal.io:7233'])
      expect(await commandAt(address)).toBe(cloud);
    expect(await commandAt('10.0.0.7:7233', { serverNameOverride: 'images.a1b2c.tmprl.cloud' })).toBe(cloud);
  });

  it('find it by deployment, sheet, failed rows and cost once a worker has registered them', async () => {
    await register();
    await register();
    expect(lines).toEqual([]);
    await until(async () => {
      const before = await search("RunsheetDeployment = 'nothing'").catch(() => undefined);
      return before !== undefined;
    }, 'the server knows the attributes');
    await startSearchable('later');
    const query = `RunsheetDeployment = 'portraits' AND RunsheetSheet = 'prompts.csv' AND RunsheetRows = 2 AND RunsheetFailed = 0 AND RunsheetCost >= 0`;
    await until(async () => (await search(query)).length > 0, 'the batch is found');
    expect(await search(query)).toEqual([workflowIdOf(refOf('later'))]);
    expect(await search('RunsheetFailed > 0')).toEqual([]);
    // At its start and at its end, however many rows it has.
    expect(await upserts('later')).toBe(2);
  });

  it('cost one log line where the cluster does not allow them', async () => {
    const refuses = async () => {
      throw new Error('7 PERMISSION_DENIED: not yours');
    };
    const operatorService = {
      listSearchAttributes: refuses,
    } as unknown as typeof rig.client.connection.operatorService;
    await registerSearchAttributes({ operatorService }, 'n', log);
    expect(lines).toEqual([expect.stringContaining('it refuses access: not yours')]);
  });

  it('are off with payload encryption, unless a setting asks for them', () => {
    const wanted = (environment: Readonly<Record<string, string>>): boolean => {
      const config = loadConfig(environment);
      return isSearchWanted(config, payloadKeys(config, 'cluster'));
    };
    const KEY = { RUNSHEET_PAYLOAD_KEY: '00'.repeat(32) };
    expect(wanted({})).toBe(true);
    expect(wanted({ RUNSHEET_SEARCH_ATTRIBUTES: 'off' })).toBe(false);
    expect(wanted(KEY)).toBe(false);
    expect(wanted({ ...KEY, RUNSHEET_SEARCH_ATTRIBUTES: 'on' })).toBe(true);
  });
});
