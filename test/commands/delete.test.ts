import {mkdir, readdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {aContainer, anImage, aSandbox} from '../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  onlyRecord,
  type CommandTestbed,
} from './command-testbed.js';
import {until} from '../base/until.js';

async function syncPods(testbed: CommandTestbed, ...manifests: readonly string[]): Promise<void> {
  const {exitCode} = await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect(exitCode).toBe(0);
  testbed.runtime.clearCalls();
}

describe('delete accepts', () => {
  test.each([
    ['a name', () => 'web'],
    ['namespace/name', () => 'default/web'],
    ['what get pods -o name prints', () => 'pod/web'],
    ['a UID', async (testbed: CommandTestbed) => String((await onlyRecord(testbed))['uid'])],
    ['a manifest', async (testbed: CommandTestbed) => await testbed.write('web.json', aManifest())],
    [
      'a manifest that has changed since',
      async (testbed: CommandTestbed) => await testbed.write('web.json', aManifest({restartPolicy: 'Never'})),
    ],
    [
      'a manifest with a field that is not known any more',
      async (testbed: CommandTestbed) => await testbed.write('web.json', aManifest({flavour: 'sweet'})),
    ],
  ])('%s', async (_, word) => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {stdout, stderr, exitCode} = await testbed.run(['delete', await word(testbed)]);
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('the manifest of a static pod', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.json', aManifest());
    await testbed.run(['sync', file, '--static', '--hostname-override', 'node1']);
    expect(await testbed.run(['delete', file])).toMatchObject({
      stdout: 'pod "default/web-node1" deleted\n',
      exitCode: 0,
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('several pods, each once', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest({name: 'a'}), aManifest({name: 'b'}));
    const {stdout} = await testbed.run(['delete', 'a', 'default/a', 'b']);
    expect(stdout).toBe('pod "default/a" deleted\npod "default/b" deleted\n');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('delete --volumes of a claim whose driver needs a Secret to delete its volume', () => {
  const SECRET =
    '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "storage"}}';
  const volume = {
    ...{version: 1, name: 'pvc-1', claim: 'default/data', manager: 'sync', state: 'Bound'},
    ...{request: {driver: 'csi.test', secret: {namespace: 'storage', name: 'keys'}}, reclaimPolicy: 'Delete'},
    volume: {metadata: {name: 'pvc-1'}, spec: {csi: {driver: 'csi.test', volumeHandle: 'h'}}},
  };
  const withClaim = (name: string, claimName: string): string =>
    aManifest({name, volumes: [{name: 'data', persistentVolumeClaim: {claimName}}]});

  async function withVolume(fields: object = {}): Promise<CommandTestbed> {
    const testbed = await createTestbed();
    await syncPods(testbed, withClaim('web', 'data'), withClaim('other', 'logs'));
    await mkdir(join(testbed.rootDir, 'kcri/volumes'), {recursive: true});
    await writeFile(join(testbed.rootDir, 'kcri/volumes/pvc-1.json'), JSON.stringify({...volume, ...fields}));
    return testbed;
  }

  test('deletes nothing of the pod without the Secret, which is named, and other pods', async () => {
    const testbed = await withVolume();
    expect(await testbed.run(['delete', '--all', '--volumes'])).toEqual({
      stdout: 'pod "default/other" deleted\n',
      stderr:
        'kcri: pod "default/web" was not deleted: to delete the volume of its claim "default/data", the CSI driver "csi.test" needs the Secret "storage/keys", which kcri does not store\n' +
        'hint: run "kcri delete default/web --volumes -f FILE" with a manifest of the Secret, or keep the volume without --volumes\n',
      exitCode: 1,
    });
    expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
  });

  test('calls the driver with a manifest of the Secret', async () => {
    const testbed = await withVolume();
    const file = await testbed.write('secret.json', SECRET);
    const {stdout, stderr} = await testbed.run(['delete', 'web', '--volumes', '-f', file]);
    expect(stdout).toContain('pod "default/web" deleted\n');
    expect(stderr).toContain('cannot delete the volume "pvc-1" of the claim "default/data": ');
    expect(stderr).not.toContain('Secret');
  });

  test.each([
    ['without --volumes', [], {}],
    ['with the policy Retain', ['--volumes'], {reclaimPolicy: 'Retain'}],
    ['of a kubelet', ['--volumes'], {manager: 'kubelet'}],
    ['of a class without secrets', ['--volumes'], {request: {driver: 'csi.test'}}],
  ])('deletes the pod of a volume %s', async (_what, flags, fields) => {
    const testbed = await withVolume(fields);
    const {stdout} = await testbed.run(['delete', 'web', ...flags]);
    expect(stdout).toContain('pod "default/web" deleted\n');
  });

  test('deletes a pod whose volume another one keeps', async () => {
    const testbed = await withVolume();
    await syncPods(testbed, withClaim('user', 'data'));
    const {stderr, exitCode} = await testbed.run(['delete', 'web', '--volumes']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });
});

describe('delete of several pods', () => {
  test('deletes those that exist, reports the others and exits with 1', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest({name: 'a'}), aManifest({name: 'b'}));
    expect(await testbed.run(['delete', 'a', 'nope', 'deploy/none', 'b'])).toEqual({
      stdout: 'pod "default/a" deleted\npod "default/b" deleted\n',
      stderr:
        'kcri: pod "nope" not found\nhint: run "kcri get pods --manager=kcri" to list the pods created by kcri; "kcri rmp" removes others\n' +
        'kcri: "deploy/none" has no pods here\nhint: run "kcri get pods --manager=kcri" to list the pods created by kcri; "kcri rmp" removes others\n',
      exitCode: 1,
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('changes nothing if one of the names is ambiguous', async () => {
    const testbed = await createTestbed();
    const inNamespace = (namespace: string) => aManifest({metadata: {namespace}});
    await syncPods(testbed, inNamespace('one'), inNamespace('two'), aManifest({name: 'a'}));
    expect(await testbed.run(['delete', 'a', 'web'])).toMatchObject({stdout: '', exitCode: 1});
    expect(testbed.mutatingCalls).toEqual([]);
  });

  // Proves: delete --filename, sync --filename
  test('takes manifests from -f as from arguments', async () => {
    const testbed = await createTestbed();
    const web = await testbed.write('web.json', aManifest());
    const other = await testbed.write('other.json', aManifest({name: 'other'}));
    expect(await testbed.run(['sync', '-f', web, `--filename=${other}`])).toMatchObject({exitCode: 0});
    expect(await testbed.run(['delete', '-f', web, other])).toMatchObject({
      stdout: 'pod "default/other" deleted\npod "default/web" deleted\n',
      exitCode: 0,
    });
    expect(await testbed.run(['delete', '-f', web])).toMatchObject({
      stderr: `kcri: no pod of "${web}" was created by kcri\n`,
      exitCode: 1,
    });
    expect(await testbed.run(['delete', '-f', 'web'])).toMatchObject({exitCode: 1});
  });
});

describe('delete rejects', () => {
  const inTwoNamespaces = [
    aManifest({metadata: {namespace: 'one'}}),
    aManifest({metadata: {namespace: 'two'}}),
  ];

  test.each([
    [
      'a name in two namespaces',
      inTwoNamespaces,
      ['web'],
      'kcri: the name "web" is ambiguous: one/web, two/web\nhint: use NAMESPACE/NAME\n',
    ],
    ['an unknown name', [aManifest()], ['wbe'], 'kcri: pod "wbe" not found\nhint: did you mean "web"?\n'],
    [
      'a workload without pods',
      [],
      ['deploy/web'],
      'kcri: "deploy/web" has no pods here\nhint: kcri has not created any such pods\n',
    ],
    [
      'a name without any pods',
      [],
      ['web'],
      'kcri: pod "web" not found\nhint: kcri has not created any such pods\n',
    ],
    ['no arguments', [aManifest()], [], 'kcri: no pod specified\nusage: kcri delete'],
    [
      'a negative grace period',
      [aManifest()],
      ['web', '--grace-period=-1'],
      'kcri: --grace-period must not be negative\n',
    ],
    [
      'an invalid grace period',
      [aManifest()],
      ['web', '--grace-period', 'soon'],
      'kcri: invalid argument "soon" for "--grace-period" flag',
    ],
  ])('%s', async (_, manifests, words, text) => {
    const testbed = await createTestbed();
    if (manifests.length > 0) await syncPods(testbed, ...manifests);
    const result = await testbed.run(['delete', ...words]);
    expectUserError(result);
    expect(result.stderr).toContain(text);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(testbed.mutatingCalls).toEqual([]);
  });
});

describe('the grace period', () => {
  test.each([
    ["the pod's by default", [], '7'],
    ['that of the flag', ['--grace-period', '40'], '40'],
    ['at least two seconds', ['--grace-period', '0'], '2'],
  ])('is %s', async (_, flags, timeout) => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest({terminationGracePeriodSeconds: 7}));
    await testbed.run(['delete', 'web', ...flags]);
    expect(testbed.runtime.callsTo('StopContainer').map(({request}) => request)).toMatchObject([{timeout}]);
  });
});

describe('pods of other creators', () => {
  test("are never changed or listed, beside kcri's pods and with the same name", async () => {
    const foreign = aSandbox({name: 'web', uid: 'foreign-uid'});
    const testbed = await createTestbed({
      images: [anImage()],
      sandboxes: [foreign],
      containers: [aContainer({sandbox: foreign, name: 'main'})],
    });
    const [container] = testbed.runtime.containers;
    await syncPods(testbed, aManifest({name: 'other'}));
    const rejected = await testbed.run(['delete', 'web']);
    expect(rejected.stderr).toBe(
      'kcri: pod "web" not found\nhint: run "kcri get pods --manager=kcri" to list the pods created by kcri; "kcri rmp" removes others\n',
    );
    const byUid = await testbed.run(['delete', 'foreign-uid']);
    expect(byUid).toMatchObject({exitCode: 1, stdout: ''});
    expect(testbed.mutatingCalls).toEqual([]);

    await testbed.run(['sync', '-'], {stdin: aManifest()});
    await testbed.run(['plan', '-'], {stdin: aManifest({restartPolicy: 'Never'})});
    await testbed.run(['delete', 'web', 'other']);
    const touched = JSON.stringify(testbed.runtime.calls.filter(({method}) => isMutatingCall(method)));
    expect(touched).not.toContain(foreign.id);
    expect(touched).not.toContain(container!.id);
    expect(testbed.runtime.sandboxes).toMatchObject([{id: foreign.id, state: 'SANDBOX_READY'}]);
    expect(testbed.runtime.containers).toMatchObject([{id: container!.id, state: 'CONTAINER_RUNNING'}]);
  });
});

describe('an incomplete pod:', () => {
  test.each<[string, (testbed: CommandTestbed) => void | Promise<void>]>([
    [
      'a record without a sandbox',
      ({runtime}) => {
        runtime.state.sandboxes.clear();
        runtime.state.containers.clear();
      },
    ],
    [
      'a sandbox without containers',
      ({runtime}) => {
        runtime.state.containers.clear();
      },
    ],
    [
      'a created container',
      ({runtime}) => {
        for (const container of runtime.state.containers.values()) container.state = 'CONTAINER_CREATED';
      },
    ],
    [
      'an exited container',
      ({runtime}) => {
        runtime.exitContainer(runtime.containers[0]!.id, 1);
      },
    ],
    [
      'a pod without its directory',
      async ({rootDir}) => {
        await rm(join(rootDir, 'pods'), {recursive: true});
      },
    ],
    [
      'a pod without its logs',
      async ({logsDir}) => {
        await rm(logsDir, {recursive: true});
      },
    ],
    [
      'two sandboxes',
      ({runtime}) => {
        const [sandbox] = runtime.sandboxes;
        runtime.state.addSandbox({...sandbox!, id: 'f'.repeat(64)});
      },
    ],
  ])('with %s is deleted completely', async (_, damage) => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    await damage(testbed);
    expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('an invalid record is reported, does not hide other pods, and its pod is deleted by UID', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const {uid} = await onlyRecord(testbed);
    await writeFile(join(testbed.rootDir, 'kcri/records', `${String(uid)}.json`), '{"version": 1');
    await syncPods(testbed, aManifest({name: 'other'}));
    const other = await testbed.run(['delete', 'other']);
    expect(other.stderr).toMatch(/^kcri: warning: invalid pod record ".*": must be JSON\n$/);
    expect(other.exitCode).toBe(0);
    const again = await testbed.run(['sync', '-'], {stdin: aManifest()});
    expect(again.stderr).toContain(': must be JSON\nhint: delete the pod by its UID, or restore the file\n');
    expect(await testbed.run(['delete', String(uid)])).toMatchObject({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('after a failure', () => {
  test.each(['StopContainer', 'StopPodSandbox', 'RemoveContainer', 'RemovePodSandbox'] as const)(
    'of %s the record is kept, other pods are deleted, and a second delete succeeds',
    async (rpc) => {
      const testbed = await createTestbed();
      await syncPods(testbed, aManifest(), aManifest({name: 'other'}));
      const web = testbed.runtime.sandboxes.find(({config}) => config.metadata?.name === 'web')!;
      const ids = [web.id, ...testbed.runtime.state.containersOf(web.id).map(({id}) => id)];
      testbed.runtime.injectError(rpc, {
        code: 'UNKNOWN',
        message: 'device busy',
        match: (request) => ids.some((id) => JSON.stringify(request).includes(id)),
      });
      const result = await testbed.run(['delete', 'web', 'other']);
      expectUserError(result);
      expect(result.stderr).toContain('device busy');
      expect(result.stderr).toContain(
        'kcri: pod "default/web": is partially deleted\nhint: run "kcri delete default/web" to delete it\n',
      );
      expect(result).toMatchObject({stdout: 'pod "default/other" deleted\n', exitCode: 1});
      expect(await testbed.records()).toHaveLength(1);

      testbed.runtime.clearFaults();
      expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
      expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    },
  );

  test('without effect, a successful StopContainer leads to an error', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    const [container] = testbed.runtime.containers;
    testbed.runtime.injectDelay('StopPodSandbox', 1, {});
    Object.defineProperty(testbed.runtime.state.containers.get(container!.id)!, 'state', {
      get: () => 'CONTAINER_RUNNING',
      set: () => {
        // The status stays what it is.
      },
    });
    const result = await testbed.run(['delete', 'web']);
    expectUserError(result);
    expect(result.stderr).toContain(
      'detected running containers after a successful KillPod, CRI violation: [main]',
    );
    expect(testbed.runtime.callsTo('RemovePodSandbox')).toEqual([]);
    expect(await testbed.records()).toHaveLength(1);
  });

  test('to connect to the runtime the record is kept', async () => {
    const testbed = await createTestbed();
    await syncPods(testbed, aManifest());
    await testbed.runtime.crash();
    const result = await testbed.run(['delete', 'web']);
    expectUserError(result);
    expect(result.stderr).toContain('hint: nothing listens on');
    expect(await testbed.records()).toHaveLength(1);
    await testbed.runtime.restart();
    expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('Ctrl-C ends the wait for a container that does not stop, and a second delete succeeds', async () => {
    const testbed = await createTestbed({behaviour: () => ({ignoresStop: true})});
    await syncPods(testbed, aManifest({terminationGracePeriodSeconds: 600}));
    const controller = new AbortController();
    const deleting = testbed.run(['delete', 'web'], {signal: controller.signal});
    await until(() => testbed.runtime.callsTo('StopContainer').length !== 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await deleting).toEqual({
      stdout: '',
      stderr:
        'kcri: interrupted\n' +
        'kcri: pod "default/web": is partially deleted\nhint: run "kcri delete default/web" to delete it\n',
      exitCode: 130,
    });
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 0);
    expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

test('finds the logs where the sync has placed them', async () => {
  const testbed = await createTestbed();
  await syncPods(
    testbed,
    aManifest({containers: [aContainerSpec('main', {command: ['sh', '-c', 'echo hi; sleep 99']})]}),
  );
  expect(await readdir(testbed.logsDir)).toHaveLength(1);
  await testbed.run(['delete', 'web']);
  expect(await readdir(testbed.logsDir)).toEqual([]);
});
