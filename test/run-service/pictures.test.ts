import { crc32, inflateSync } from 'node:zlib';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { integerFrom, parseExactly } from '../../src/host/formats/exact-json.ts';
import { drawPicture } from '../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { openService } from './asking.ts';

type Chunk = {
  readonly type: string;
  readonly data: Buffer;
  readonly sum: number;
  readonly expected: number;
};

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const data = png.subarray(at + 8, at + 8 + length);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data,
      sum: png.readUInt32BE(at + 8 + length),
      expected: crc32(png.subarray(at + 4, at + 8 + length)),
    });
    at += 12 + length;
  }
  return chunks;
}

const draw = (inputs: object, size = 160, index = 1): Buffer =>
  drawPicture({ inputs: inputs as Record<string, unknown>, index, size });
const CAT = { number: 12, prompt: 'a cat on a mat', seed: 42 };

describe('a picture', () => {
  it.each([16, 61, 160, 333, 1024])('of %i pixels is a valid PNG', (size) => {
    const png = draw(CAT, size);
    expect(png.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n');
    const chunks = chunksOf(png);
    expect(chunks.map((chunk) => chunk.type)).toEqual(['IHDR', 'PLTE', 'tEXt', 'IDAT', 'IEND']);
    for (const chunk of chunks) expect(chunk.sum).toBe(chunk.expected);
    const [header, palette, , data] = chunks.map((chunk) => chunk.data);
    expect([header?.readUInt32BE(0), header?.readUInt32BE(4)]).toEqual([size, size]);
    expect([...(header?.subarray(8) ?? [])], '8 bits, indexed').toEqual([8, 3, 0, 0, 0]);
    const pixels = inflateSync(data ?? Buffer.alloc(0));
    expect(pixels.length).toBe((size + 1) * size);
    const colours = (palette?.length ?? 0) / 3;
    expect(pixels.every((pixel) => pixel < colours)).toBe(true);
  });

  it('is the same for the same inputs in any order', () => {
    const turned = { seed: 42, prompt: 'a cat on a mat', number: 12 };
    expect(draw(turned).equals(draw(CAT))).toBe(true);
  });

  it.each([
    ['another number', { ...CAT, number: 13 }],
    ['another seed', { ...CAT, seed: 43 }],
    ['an input that the picture does not show', { ...CAT, steps: 20 }],
    ['the same seed as text', { ...CAT, seed: '42' }],
  ])('differs for %s', (_name, inputs) => {
    expect(draw(inputs).equals(draw(CAT))).toBe(false);
  });

  it('differs for seeds that are equal as doubles', () => {
    const seeded = (seed: string): Buffer => draw({ ...CAT, seed: integerFrom(seed) });
    expect(seeded('18446744073709551615').equals(seeded('18446744073709551614'))).toBe(false);
  });

  it('differs for the second picture of a run', () => {
    expect(draw(CAT, 160, 2).equals(draw(CAT, 160, 1))).toBe(false);
  });

  it.each([
    ['no inputs', {}],
    ['odd inputs', { prompt: null, number: [1, { a: 2 }], seed: true }],
    ['a long prompt', { prompt: 'word '.repeat(5000), seed: '9'.repeat(500), number: 'x'.repeat(500) }],
    ['a prompt without spaces', { prompt: 'x'.repeat(500) }],
    ['other scripts', { prompt: '日本語 мир 🙂 café', number: 'ü' }],
  ])('can be drawn for %s', (_name, inputs) => {
    expect(chunksOf(draw(inputs)).at(-1)?.type).toBe('IEND');
  });
});

describe('the file of a run', () => {
  it('is downloaded from the address in the outputs, without a token, and shows the inputs', async () => {
    const { queue, ended } = await openService({ outputs: 2, pictureSize: 64 });
    const text = '{"prompt":"cat","seed":18446744073709551615,"number":7}';
    const run = await ended(await queue({ inputs: parseExactly(text) }));
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    const files = run.outputs.flatMap((output) => output.files);
    expect(files).toHaveLength(2);
    for (const [place, file] of files.entries()) {
      const answer = await request(file.url, { dispatcher: agent });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      expect(answer.headers).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(bytes.length),
      });
      expect(bytes.equals(draw(parseExactly(text) as object, 64, place + 1))).toBe(true);
    }
    const head = await request(files[0]?.url ?? '', { dispatcher: agent, method: 'HEAD' });
    expect(head.headers['content-type']).toBe('image/png');
  });

  it('does not exist before the run succeeds, under another name, or beyond the last number', async () => {
    const { queue, ask, ended } = await openService({ coldStartSeconds: 20 });
    const id = await queue();
    expect((await ask('GET', `/files/runs/${id}/picture-1.png`)).status).toBe(404);
    await ended(id);
    expect((await ask('GET', `/files/runs/${id}/picture-1.png`)).status).toBe(200);
    for (const name of ['picture-2.png', 'picture-0.png', 'picture-01.png', 'other.png', '..%2Fx.png']) {
      expect((await ask('GET', `/files/runs/${id}/${name}`)).status).toBe(404);
    }
  });
});
