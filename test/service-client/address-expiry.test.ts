import { describe, expect, it } from 'vitest';
import { addressExpiryMs } from '../../src/service-client/address-expiry.ts';

const at = Date.parse('2026-11-22T21:00:00Z');

describe('the end of a signed address', () => {
  it.each([
    ['https://a.example/x.png?X-Amz-Date=20261122T200000Z&X-Amz-Expires=3600&X-Amz-Signature=s', at],
    ['https://a.example/x.png?X-Goog-Date=20261122T200000Z&X-Goog-Expires=3600', at],
    ['https://a.example/x.png?sv=2024&se=2026-11-22T21%3A00%3A00Z&sig=s', at],
    ['https://a.example/x.png?AWSAccessKeyId=a&Expires=1795381200&Signature=s', at],
    ['http://127.0.0.1:1/files/x.png?expires=1795381200000', at],
    ['https://a.example/outputs/runs/r/x.png', undefined],
    ['https://a.example/x.png?expires=&X-Amz-Date=never&X-Amz-Expires=3600', undefined],
    ['no address', undefined],
  ])('%s ends at %s', (address, end) => {
    expect(addressExpiryMs(address)).toBe(end);
  });
});
