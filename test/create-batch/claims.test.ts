import { expect, it } from 'vitest';
import { Claim } from '../../src/create-batch/claim.ts';
import { rowsIn } from '../../src/create-batch/reuse/overlap.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { ASKED, Place } from './creating.ts';

it('of two commands that add rows to one batch, the first one that is done leaves the claim of the other', async () => {
  const place = new Place();
  place.write('one.csv', 'prompt\none\n');
  place.write('two.csv', 'prompt\ntwo\n');
  const [{ file, store }, other] = [
    await place.create('one.csv', ASKED),
    await place.create('two.csv', ASKED),
  ];
  const claimed = {
    out: place.out,
    file,
    rows: rowsIn({ file, layout: layoutOf(store, file) }),
    places: undefined,
  };
  const first = await Claim.make(claimed);
  await using claims = new AsyncDisposableStack();
  claims.use(await Claim.make(claimed));
  await first[Symbol.asyncDispose]();
  const rows = rowsIn({ file: other.file, layout: layoutOf(other.store, other.file) });
  await using third = await Claim.make({ ...claimed, file: other.file, rows });
  const seen = { compared: new Map([[file.mark, 1]]), seen: new Map(), isElsewhereMeant: false };
  expect(await third.isOvertaken(seen)).toBe(true);
});
