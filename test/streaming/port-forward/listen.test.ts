import {expect, test} from 'vitest';
import {crictlNotListeningText} from '../../../src/features/port-forward/crictl-port-forward-text.js';
import {notListeningText} from '../../../src/features/port-forward/port-forward-text.js';
import {listen} from '../../../src/streaming/port-forward/listen.js';

test('other errors of listening on a port have the system’s message', async () => {
  const spec = {local: 0, remote: 80};
  // A link-local address without a scope.
  const bound = await listen(spec, [{name: 'fe80::1', addresses: ['fe80::1']}], () => undefined);
  expect(bound).toMatchObject({
    isComplete: false,
    failures: [{reason: 'other', message: 'invalid argument'}],
  });
  expect(notListeningText(bound.failures[0]!)).toBe('cannot listen on [fe80::1]:0: invalid argument');
  expect(crictlNotListeningText(bound)).toContain('Error listen tcp6 [fe80::1]:0: bind: invalid argument');
});
