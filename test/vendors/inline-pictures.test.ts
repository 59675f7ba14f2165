// A picture inside the answer of an endpoint, through the service.

import { expect, it } from 'vitest';
import { OwnService } from '../comfy/own-service.ts';
import { openRunpod } from './runpod.ts';

it('a picture inside an answer of RunPod becomes the file of the run', async () => {
  const standIn = await openRunpod();
  standIn.inlinesPictures = true;
  const own = await OwnService.of([], undefined, { pollOnlyMs: 20 });
  await own.addAny({
    servers: [{ url: standIn.url, kind: 'runpod', key: standIn.key }],
    models: [{ vendor: 'runpod', model: standIn.model, name: 'painter' }],
  });
  const run = await own.until(await own.queue({ prompt: 'fox', seed: 7 }));
  const [file] = run.outputs.flatMap(({ data }) => Object.values(data).flat());
  const answer = await fetch(file?.url ?? '', { headers: { authorization: 'Bearer key' } });
  const [job] = standIn.runs;
  expect(job && Buffer.from(await answer.arrayBuffer()).equals(standIn.pictureOf(job))).toBe(true);
  standIn.close();
});
