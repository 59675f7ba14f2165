import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { otlpReceiver } from './otlp-receiver.ts';

const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 4, coldStartSeconds: 0.5, runSeconds: 0.5 },
]);
/** Row 2 fails each time, and row 3 has no webhook. */
const SHEET = [
  'name,prompt,runsheet_faults',
  'ada,a private cat,',
  'ben,a private dog,fail',
  'eve,a private owl,lose-webhook',
].join('\n');

describe('the traces of a real batch', () => {
  let stage: Stage;
  let receiver: Awaited<ReturnType<typeof otlpReceiver>>;
  beforeEach(async () => {
    [stage, receiver] = [new Stage(), await otlpReceiver()];
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
  });

  const runWith = async (environment: Readonly<Record<string, string>>) => {
    const worker = await stage.worker(environment);
    const sheet = stage.write('sheet.csv', SHEET);
    const options = ['--retries', '1', '--key', 'name', '--yes'];
    const batch = (await stage.run(['submit', sheet, '-d', 'portraits', ...options])).stdout.trim();
    const { code } = await stage.run(['wait', batch]);
    expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
    return { batch, code, stderr: worker.stderr };
  };

  it('show each row with its attempts, and how its end was learned', async () => {
    const { batch, code } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    expect(code).toBe(3);
    const spans = receiver.spans();
    const childrenOf = (name: string): readonly string[] => {
      const parent = spans.find((one) => one.name === name);
      return spans
        .filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === parent?.spanId)
        .map((one) => one.name)
        .sort();
    };
    expect(childrenOf('row 1')).toEqual(['attempt 1', 'download']);
    expect(childrenOf('row 2')).toEqual(['attempt 1', 'attempt 2']);
    const rows = spans.filter(({ name }) => name.startsWith('row '));
    expect(rows.map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ 'runsheet.batch': batch, 'runsheet.key': 'ada', 'runsheet.row': 1 }),
        expect.objectContaining({ 'runsheet.outcome': 'failed', 'runsheet.row': 2, 'runsheet.attempts': 2 }),
      ]),
    );
    const reported = (row: number): readonly string[] => {
      const { traceId } = rows.find(({ name }) => name === `row ${row}`) ?? {};
      return spans
        .filter((one) => one.traceId === traceId && /^(webhook|poll)$/.test(one.name))
        .map((one) => one.name);
    };
    expect(reported(1)).toContain('webhook');
    expect(reported(3)).toEqual(['poll']);
    expect(spans.find(({ name }) => name === `batch ${batch}`)?.attributes).toMatchObject({
      'runsheet.rows': 3,
      'runsheet.rows_without_success': 1,
    });
    expect(receiver.bodies.join('')).not.toContain('private');
  });

  it('are absent unless a setting asks for them', async () => {
    await runWith({ RUNSHEET_TRACES: 'off', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    expect(receiver.bodies).toEqual([]);
  });
});
