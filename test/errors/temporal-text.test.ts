import { ServiceError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { errorMessage, withTemporalFault } from '../../src/errors/error.ts';

const LB = ',LB pick: 0.001s,remote_addr=127.0.0.1:7233';

describe('an error of Temporal', () => {
  it.each([
    [`4 DEADLINE_EXCEEDED: Deadline exceeded after 9.998s${LB}`, 'Temporal: it did not answer in time'],
    [
      '14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:7233. Resolution note: ',
      'Temporal: it cannot be reached: connect ECONNREFUSED 127.0.0.1:7233',
    ],
    ['14 UNAVAILABLE: Connection dropped', 'Temporal: it cannot be reached: Connection dropped'],
    ['7 PERMISSION_DENIED: Request unauthorized.', 'Temporal: it refuses access: Request unauthorized.'],
    ['1 CANCELLED: Call cancelled', 'Temporal: the request was cancelled'],
    [
      '3 INVALID_ARGUMENT: exceeded workflow limit for signal events',
      'Temporal: exceeded workflow limit for signal events',
    ],
    ['13 INTERNAL: ', 'Temporal: internal'],
    [
      'tonic::transport::Error(Transport, ConnectError(ConnectError("tcp connect error", 127.0.0.1:1, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })))',
      'Connection refused',
    ],
    [
      'tonic::transport::Error(Transport, ConnectError(Custom { kind: InvalidData, error: InvalidCertificate(UnknownIssuer) }))',
      'TLS failed: its certificate is not accepted (UnknownIssuer)',
    ],
  ])('is said in words of ours: %s', (message, text) => {
    expect(errorMessage(new Error(message))).toBe(text);
    const cause = new Error(message);
    expect(errorMessage(new ServiceError('Failed to describe workflow', { cause }))).toBe(text);
  });

  it.each(['12 MB: too large', '4 rows: 3 of them wrong', 'E401: Temporal cannot be reached'])(
    'is no other error: %s',
    (message) => {
      expect(errorMessage(new Error(message))).toBe(message);
    },
  );

  it('has a code of ours if no server answers', () => {
    const cause = new Error(`4 DEADLINE_EXCEEDED: Deadline exceeded after 9.998s${LB}`);
    const fault = withTemporalFault(new ServiceError('Failed to describe workflow', { cause }));
    expect(fault).toMatchObject({ code: 'E418', message: 'Temporal: it did not answer in time', exit: 6 });
    const error = new Error('anything else');
    expect(withTemporalFault(error)).toBe(error);
  });
});
