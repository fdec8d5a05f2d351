import {mkdir} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {listOwnNetworks} from '../../../src/private-runtime/network/bridge.js';
import {startContainerd} from '../../../src/private-runtime/containerd/start-containerd.js';
import {computeRuntimeLayout} from '../../../src/private-runtime/private-runtime-layout.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

test('a containerd that cannot be started is an error with the reason', async () => {
  const layout = computeRuntimeLayout(await temporaryDirectory());
  await mkdir(layout.root);
  await expect(startContainerd('/etc', layout, '/bin')).rejects.toThrow(
    new SystemError('cannot start "/etc": permission denied'),
  );
});

test.each([
  ['whose bridge was removed still belongs to the runtime', 'kcri-none', ['kcri-none']],
  ['whose name another device has now does not', 'lo', []],
  ['that was never created does not exist', undefined, []],
])('a network %s', (_, recorded, expected) => {
  expect(listOwnNetworks(computeRuntimeLayout('/nowhere'), recorded)).toEqual(expected);
});
