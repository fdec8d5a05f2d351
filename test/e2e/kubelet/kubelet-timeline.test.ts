import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

interface ShownPod {
  readonly name: string;
  readonly phases: readonly ShownPhase[];
}

interface ShownPhase {
  readonly phase: string;
  readonly subject?: string;
  readonly exact: boolean;
  readonly source: string;
  readonly startedAt: string;
  readonly endedAt?: string;
}

describe.each(newestRuntime)('timeline: $name', (which) => {
  let testbed: KubeletTestbed;
  let attempts = 0;
  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, 'n1');
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  async function phasesOf(name: string): Promise<readonly ShownPhase[]> {
    // Without a name, a pod that does not exist yet is no error.
    const stdout = await testbed.podTestbed.runtime.output('timeline', '-o', 'json');
    const {pods} = JSON.parse(stdout) as {readonly pods: readonly ShownPod[]};
    return pods.find((pod) => pod.name === name)?.phases ?? [];
  }

  test('the kubelet measures the phases of a start, and they are exact', async () => {
    await testbed.start();
    const readinessProbe = {exec: {command: ['true']}, initialDelaySeconds: 2, periodSeconds: 1};
    const container = aContainer('main', {command: shellCommand('sleep 3600'), readinessProbe});
    // A kubelet has no exact phases of a pod that it finds running, such as that of a failed attempt.
    const name = `web${(attempts += 1)}`;
    await testbed.put(name, aManifest(name, {terminationGracePeriodSeconds: 0, containers: [container]}));
    // The wait for a probe is a phase that has not ended.
    await until(async () =>
      (await phasesOf(`${name}-n1`)).some(
        ({phase, endedAt}) => phase === 'readiness' && endedAt !== undefined,
      ),
    );
    const phases = await phasesOf(`${name}-n1`);
    // Whether the runtime's start of the process or the end of its answer is earlier differs.
    expect(
      phases.map(({phase, subject = '', exact}) => [phase, subject, exact].join(' ')).toSorted(),
    ).toEqual([
      'admission  true',
      'create main true',
      'readiness main true',
      'running main true',
      'sandbox  true',
      'start main true',
      'startup main true',
      'volumes  true',
    ]);
    // The delay counts from the start of the process, whenever a busy kubelet learns of it, in whole seconds (normalizeStatus).
    const running = phases.find(({phase}) => phase === 'running');
    const readiness = phases.find(({phase}) => phase === 'readiness');
    const delayMs = Date.parse(readiness?.endedAt ?? '') - Date.parse(running?.startedAt ?? '');
    expect(delayMs).toBeGreaterThan(990);
    expect(running?.source).toBe('runtime');
  });

  test('a deleted pod still has its timeline, with the end of its container', async () => {
    const name = `gone${(attempts += 1)}`;
    const container = aContainer('main', {command: shellCommand('trap "exit 7" TERM; sleep 3600 & wait')});
    await testbed.put(name, aManifest(name, {containers: [container]}));
    await until(async () =>
      (await phasesOf(`${name}-n1`)).some(
        ({phase, endedAt}) => phase === 'readiness' && endedAt !== undefined,
      ),
    );
    await testbed.withdraw(name);
    await until(async () => (await phasesOf(`${name}-n1`)).length === 0);
    const stdout = await testbed.podTestbed.runtime.output('timeline', `${name}-n1`, '-o', 'json');
    const [pod] = (JSON.parse(stdout) as {readonly pods: readonly ShownPod[]}).pods;
    expect(pod).toMatchObject({name: `${name}-n1`, deleted: true});
    const running = pod?.phases.find(({phase}) => phase === 'running');
    expect(running).toMatchObject({
      ...{subject: 'main', exact: false, source: 'kubelet', note: 'exit code 7'},
      endedAt: expect.any(String) as string,
    });
    const phases = pod?.phases.map(({phase, subject = ''}) => `${phase} ${subject}`.trim());
    expect(phases).toEqual(expect.arrayContaining(['stop main', 'stop sandbox']));
  });
});
