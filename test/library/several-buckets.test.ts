// Connections of one program to buckets of several servers.

import { expect, it } from 'vitest';
import { connect } from '../../src/index.ts';
import { serveForTest } from '../stage/serve.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const stage = sharedStage();

/** A server without objects that notes the access key and path of each request. */
async function emptyServer() {
  const requests: (string | undefined)[] = [];
  const { url: endpoint } = await serveForTest(({ url, headers }, response) => {
    requests.push(`${/Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]} ${url?.split('?')[0]}`);
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
  });
  return { requests, endpoint };
}

it('each reaches its bucket with its own keys, also after another one was made', async () => {
  const [hens, geese] = [await emptyServer(), await emptyServer()];
  const connectTo = (name: string, endpoint: string) =>
    connect({
      store: `s3://${name}/batches`,
      home: stage.path(name),
      service: 'local',
      embedded: true,
      s3: {
        endpoint,
        region: 'eu-central-1',
        keys: { accessKeyId: name, secretAccessKey: `key-of-${name}` },
      },
    });
  await using first = await connectTo('hens', hens.endpoint);
  await using second = await connectTo('geese', geese.endpoint);
  expect(await Array.fromAsync(first.list())).toEqual([]);
  expect(await Array.fromAsync(second.list())).toEqual([]);
  expect([...new Set(hens.requests)]).toEqual(['hens /hens/']);
  expect([...new Set(geese.requests)]).toEqual(['geese /geese/']);
});
