import fc from 'fast-check';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {aContainerSpec, CommandTestbed, createTestbed, isMutatingCall} from '../command-testbed.js';

/** State of a workload's manifest. */
interface Version {
  readonly replicas: number;
  readonly template: number;
}

const FIRST: Version = {replicas: 2, template: 0};

function aWorkload(kind: string, {replicas, template}: Version): string {
  const command = ['sleep', String(1000 + template)];
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind,
    metadata: {name: 'web'},
    spec: {
      replicas,
      ...(kind === 'StatefulSet' && {serviceName: 'web'}),
      selector: {matchLabels: {app: 'web'}},
      template: {
        metadata: {labels: {app: 'web'}},
        spec: {containers: [aContainerSpec('main', {command})], terminationGracePeriodSeconds: 1},
      },
    },
  });
}

interface PodPlanJson {
  readonly pod: string;
  readonly note?: string;
  readonly calls: readonly {readonly method: string; readonly request: object}[];
}

async function readPlan(testbed: CommandTestbed, manifest: string): Promise<readonly PodPlanJson[]> {
  const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', '-o', 'json'], {stdin: manifest});
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return JSON.parse(stdout) as readonly PodPlanJson[];
}

async function sync(testbed: CommandTestbed, manifest: string): Promise<void> {
  const {stderr, exitCode} = await testbed.run(['sync', '-', '--min-ready=0s'], {stdin: manifest});
  expect({stderr, exitCode}).toMatchObject({exitCode: 0});
}

/** Returns the IDs of the present sandboxes and containers. */
function presentIds({runtime}: CommandTestbed): readonly string[] {
  return [...runtime.sandboxes, ...runtime.containers].map(({id}) => id);
}

/** Formats a call with the present objects that it concerns; objects of the call itself have other IDs in a plan. */
function formatCall(
  {method, request}: {readonly method: string; readonly request: object},
  ids: readonly string[],
) {
  const text = JSON.stringify(request);
  return [method, ...ids.filter((id) => text.includes(`"${id}"`))].join(' ');
}

// Proves: plan --replicas
test.each(['Deployment', 'StatefulSet', 'ReplicaSet'])(
  'a plan of a changed %s has the calls of the sync',
  async (kind) => {
    const version = fc.record({replicas: fc.nat({max: 3}), template: fc.nat({max: 1})});
    await fc.assert(
      fc.asyncProperty(fc.array(version, {minLength: 1, maxLength: 3}), async (changes) => {
        const runtime = await FakeRuntime.start();
        try {
          const testbed = new CommandTestbed(runtime, await temporaryDirectory());
          await sync(testbed, aWorkload(kind, FIRST));
          for (const change of changes) {
            const manifest = aWorkload(kind, change);
            const ids = presentIds(testbed);
            const plans = await readPlan(testbed, manifest);
            runtime.clearCalls();
            await sync(testbed, manifest);
            const made = runtime.calls.filter(({method}) => isMutatingCall(method));
            const planned = plans.flatMap(({calls}) => calls);
            expect(planned.map((call) => formatCall(call, ids)).toSorted()).toEqual(
              made.map(({method, request}) => formatCall({method, request}, ids)).toSorted(),
            );
            expect(plans.filter(({note}) => note === undefined)).toHaveLength(change.replicas);
          }
        } finally {
          await runtime.stop();
        }
      }),
      {numRuns: 4},
    );
  },
);

test('a plan explains the deletion of pods, and makes none', async () => {
  const testbed = await createTestbed();
  await sync(testbed, aWorkload('Deployment', {replicas: 3, template: 0}));
  testbed.runtime.clearCalls();
  const {stdout} = await testbed.run(['plan', '-', '--explain'], {
    stdin: aWorkload('Deployment', {replicas: 1, template: 0}),
  });
  expect(stdout.match(/^pod .*: nothing to do$/gm)).toHaveLength(1);
  expect(stdout.match(/^ {2}would be deleted: no longer part of deployment\/web$/gm)).toHaveLength(2);
  // Each reason is given once per pod.
  expect(stdout.match(/# no longer part of deployment\/web \(SyncTerminatingPod: /g)).toHaveLength(2);
  expect(testbed.mutatingCalls).toEqual([]);
  expect(testbed.runtime.sandboxes).toHaveLength(3);
});
