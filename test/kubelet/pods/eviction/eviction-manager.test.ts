import {expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {EvictionManager} from '../../../../src/kubelet/pods/eviction/eviction-manager.js';

test('a check that fails does not prevent the next one', async () => {
  let checks = 0;
  const evictions = new EvictionManager({
    findEviction: async () => undefined,
    evictPod: () => undefined,
    nodePressure: {
      synchronize: async () => {
        checks += 1;
        await Promise.resolve();
        throw new TypeError('a bug');
      },
    },
    logger: SILENT_LOGGER,
    signal: new AbortController().signal,
  });
  await expect(evictions.synchronize([])).rejects.toThrow('a bug');
  await expect(evictions.synchronize([])).rejects.toThrow('a bug');
  expect(checks).toBe(2);
});
