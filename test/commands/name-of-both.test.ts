import {describe, expect, onTestFinished, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox} from '../fakes/fake-runtime.js';

const hex = (start: string): string => start.padEnd(64, '0');

/** Starts a runtime with the pod web, and the pod front with a container of that name. */
async function started() {
  const [web, front] = [aSandbox({id: hex('aa1'), name: 'web'}), aSandbox({id: hex('aa2'), name: 'front'})];
  const self = aSandbox({id: hex('aa3'), name: 'self'});
  const runtime = await FakeRuntime.start({
    sandboxes: [web, front, self],
    containers: [
      aContainer({id: hex('c1'), sandbox: web, name: 'main'}),
      aContainer({id: hex('c2'), sandbox: front, name: 'web'}),
      aContainer({id: hex('c3'), sandbox: self, name: 'self'}),
    ],
    exec: () => ({stdout: 'done\n', stderr: '', exitCode: 0}),
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  const kcri = async (...args: readonly string[]) => await runKcri(args, {endpoint: runtime.endpoint});
  const executedIn = () => runtime.callsTo('ExecSync').map(({request}) => request['container_id']);
  return {runtime, kcri, executedIn};
}

describe('a name of a pod and of a container of another pod', () => {
  test.each([
    [['exec', 'web', 'true']],
    [['exec', '--sync', 'web', 'true']],
    [['logs', 'web']],
    [['attach', 'web']],
    [['inspect', 'web']],
    [['cp', 'web:/etc/hosts', '-']],
    [['diff', 'web']],
    [['debug', '--image=busybox', 'web']],
    [['tree', 'web']],
    [['generate', 'web']],
    [['restart', 'web']],
    [['wait', 'web', '--for=exit']],
  ])('is an error that names both: %j', async (args) => {
    const {kcri, runtime} = await started();
    const {stdout, stderr, exitCode} = await kcri(...args);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(
      '"web" is both a pod and a container\nhint: use "pod/default/web" for the pod, or "default/front/web" for the container\n',
    );
    expect(runtime.calls.filter(({method}) => /^(Exec|Attach|ContainerStatus|Stop)/.test(method))).toEqual(
      [],
    );
  });

  test.each([
    [['pod/web'], 'c1'],
    [['front/web'], 'c2'],
    [['--container', 'main', 'web'], 'c1'],
    [['--pod', 'front', 'web'], 'c2'],
    [[hex('c2')], 'c2'],
    [['self'], 'c3'],
  ])('%j is none', async (words, start) => {
    const {kcri, executedIn} = await started();
    expect(await kcri('exec', '--sync', ...words, 'true')).toMatchObject({exitCode: 0});
    expect(executedIn()).toEqual([hex(start)]);
  });

  test('is none under the name crictl, which takes IDs only', async () => {
    const {runtime} = await started();
    const {stderr} = await runKcri(['inspect', 'web'], {
      endpoint: runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect(stderr).not.toContain('both a pod');
    expect(runtime.callsTo('ListPodSandbox')).toEqual([]);
  });
});
