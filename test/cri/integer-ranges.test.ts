import {expect, test} from 'vitest';
import {fromJson} from '../../src/cri/index.js';

test.each([
  [{linux: {resources: {memory_limit_in_bytes: 2n ** 63n}}}, 'linux.resources.memory_limit_in_bytes'],
  [{metadata: {attempt: -1}}, 'metadata.attempt'],
  [{metadata: {attempt: 2 ** 32}}, 'metadata.attempt'],
  [{port_mappings: [{container_port: 2 ** 31}]}, 'port_mappings[0].container_port'],
])('rejects an integer that its type cannot hold', (data, path) => {
  const name = path.startsWith('linux.') ? 'ContainerConfig' : 'PodSandboxConfig';
  expect(() => fromJson(name, data)).toThrow(`${path}: must be an integer from `);
});
