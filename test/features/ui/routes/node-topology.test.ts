import {expect, test} from 'vitest';
import {computeTopology} from '../../../../src/features/ui/routes/node-topology.js';

/** A CPU of a machine whose sockets have one NUMA node and one core each. */
const cpu = (id: number, socket: number, owners: readonly string[] = []) => ({
  ...{id, socket, numaNode: socket, core: socket},
  memoryBytes: 1024 * (socket + 1),
  owners: owners.map((uid) => ({uid, container: 'main'})),
});

test('CPUs are grouped by socket, NUMA node and core', () => {
  const topology = computeTopology([cpu(0, 0), cpu(1, 1, ['u1']), cpu(2, 0), cpu(3, 1, ['u2'])], (uid) =>
    uid === 'u1' ? 'default/we\u001bb' : undefined,
  );
  const shared = {owner: 'shared', isExclusive: false};
  expect(topology).toEqual([
    {
      id: 0,
      numaNodes: [
        {
          ...{id: 0, memoryBytes: 1024},
          cores: [
            {
              id: 0,
              cpus: [
                {id: 0, ...shared},
                {id: 2, ...shared},
              ],
            },
          ],
        },
      ],
    },
    {
      id: 1,
      numaNodes: [
        {
          ...{id: 1, memoryBytes: 2048},
          cores: [
            {
              id: 1,
              cpus: [
                {id: 1, owner: 'default/we\\x1bb/main', isExclusive: true},
                {id: 3, owner: 'u2/main', isExclusive: true},
              ],
            },
          ],
        },
      ],
    },
  ]);
});
