import {readdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../src/cli/interrupt.js';
import {aContainer, anImage, aSandbox} from '../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  aScene,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  onlyRecord,
  type PodScene,
} from './pod-scene.js';
import {until} from '../base/until.js';

async function synced(scene: PodScene, ...manifests: readonly string[]): Promise<void> {
  const {exitCode} = await scene.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
  expect(exitCode).toBe(0);
  scene.runtime.clearCalls();
}

describe('what delete takes', () => {
  test.each([
    ['a name', () => 'web'],
    ['namespace/name', () => 'default/web'],
    ['what get pods -o name prints', () => 'pod/web'],
    ['a UID', async (scene: PodScene) => String((await onlyRecord(scene))['uid'])],
    ['a manifest', async (scene: PodScene) => await scene.write('web.json', aManifest())],
    [
      'a manifest that has changed since',
      async (scene: PodScene) => await scene.write('web.json', aManifest({restartPolicy: 'Never'})),
    ],
    [
      'a manifest with a field that is not known any more',
      async (scene: PodScene) => await scene.write('web.json', aManifest({flavour: 'sweet'})),
    ],
  ])('%s', async (_, word) => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {stdout, stderr, exitCode} = await scene.run(['delete', await word(scene)]);
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('the manifest of a static pod', async () => {
    const scene = await aScene();
    const file = await scene.write('web.json', aManifest());
    await scene.run(['sync', file, '--static', '--hostname-override', 'node1']);
    expect(await scene.run(['delete', file])).toMatchObject({
      stdout: 'pod "default/web-node1" deleted\n',
      exitCode: 0,
    });
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('several, each once', async () => {
    const scene = await aScene();
    await synced(scene, aManifest({name: 'a'}), aManifest({name: 'b'}));
    const {stdout} = await scene.run(['delete', 'a', 'default/a', 'b']);
    expect(stdout).toBe('pod "default/a" deleted\npod "default/b" deleted\n');
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('what delete refuses', () => {
  const inBoth = [aManifest({metadata: {namespace: 'one'}}), aManifest({metadata: {namespace: 'two'}})];

  test.each([
    [
      'a name that two namespaces have',
      inBoth,
      ['web'],
      'kcri: the name "web" is ambiguous: one/web, two/web\nhint: use NAMESPACE/NAME\n',
    ],
    [
      'a name that nobody has',
      [aManifest()],
      ['wbe'],
      'kcri: pod "wbe" not found\nhint: pods created by kcri: default/web\n',
    ],
    [
      'a name when there is nothing',
      [],
      ['web'],
      'kcri: pod "web" not found\nhint: kcri has not created any such pods\n',
    ],
    ['nothing', [aManifest()], [], 'kcri: no pod specified\nusage: kcri delete'],
    [
      'a negative grace period',
      [aManifest()],
      ['web', '--grace-period=-1'],
      'kcri: --grace-period must not be negative\n',
    ],
    [
      'a grace period that is no number',
      [aManifest()],
      ['web', '--grace-period', 'soon'],
      'kcri: invalid argument "soon" for "--grace-period" flag',
    ],
  ])('%s', async (_, manifests, words, text) => {
    const scene = await aScene();
    if (manifests.length > 0) await synced(scene, ...manifests);
    const result = await scene.run(['delete', ...words]);
    expectUserError(result);
    expect(result.stderr).toContain(text);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(scene.mutatingCalls).toEqual([]);
  });
});

describe('the grace period', () => {
  test.each([
    ["the pod's own", [], '7'],
    ['the one that is given', ['--grace-period', '40'], '40'],
    ['two seconds at least', ['--grace-period', '0'], '2'],
  ])('is %s', async (_, flags, timeout) => {
    const scene = await aScene();
    await synced(scene, aManifest({terminationGracePeriodSeconds: 7}));
    await scene.run(['delete', 'web', ...flags]);
    expect(scene.runtime.callsTo('StopContainer').map(({request}) => request)).toMatchObject([{timeout}]);
  });
});

describe("somebody else's pods", () => {
  test('are never touched and never listed, beside pods of kcri and of the same name', async () => {
    const foreign = aSandbox({name: 'web', uid: 'foreign-uid'});
    const scene = await aScene({
      images: [anImage()],
      sandboxes: [foreign],
      containers: [aContainer({sandbox: foreign, name: 'main'})],
    });
    const [container] = scene.runtime.containers;
    await synced(scene, aManifest({name: 'other'}));
    const refused = await scene.run(['delete', 'web']);
    expect(refused.stderr).toBe('kcri: pod "web" not found\nhint: pods created by kcri: default/other\n');
    const byUid = await scene.run(['delete', 'foreign-uid']);
    expect(byUid).toMatchObject({exitCode: 1, stdout: ''});
    expect(scene.mutatingCalls).toEqual([]);

    await scene.run(['sync', '-'], {stdin: aManifest()});
    await scene.run(['plan', '-'], {stdin: aManifest({restartPolicy: 'Never'})});
    await scene.run(['delete', 'web', 'other']);
    const touched = JSON.stringify(scene.runtime.calls.filter(({method}) => isMutatingCall(method)));
    expect(touched).not.toContain(foreign.id);
    expect(touched).not.toContain(container!.id);
    expect(scene.runtime.sandboxes).toMatchObject([{id: foreign.id, state: 'SANDBOX_READY'}]);
    expect(scene.runtime.containers).toMatchObject([{id: container!.id, state: 'CONTAINER_RUNNING'}]);
  });
});

describe('what is half made', () => {
  test.each<[string, (scene: PodScene) => void | Promise<void>]>([
    [
      'a record whose sandbox is gone',
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
      'a container that was never started',
      ({runtime}) => {
        for (const container of runtime.state.containers.values()) container.state = 'CONTAINER_CREATED';
      },
    ],
    [
      'a container that has ended',
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
      'two sandboxes of one pod',
      ({runtime}) => {
        const [sandbox] = runtime.sandboxes;
        runtime.state.addSandbox({...sandbox!, id: 'f'.repeat(64)});
      },
    ],
  ])('%s is ended without a trace', async (_, damage) => {
    const scene = await aScene();
    await synced(scene, aManifest());
    await damage(scene);
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('a pod whose record is broken is told of, does not hide others, and is ended by its UID', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const {uid} = await onlyRecord(scene);
    await writeFile(join(scene.rootDir, 'records', `${String(uid)}.json`), '{"version": 1');
    await synced(scene, aManifest({name: 'other'}));
    const other = await scene.run(['delete', 'other']);
    expect(other.stderr).toMatch(/^kcri: warning: invalid pod record ".*": must be JSON\n$/);
    expect(other.exitCode).toBe(0);
    const again = await scene.run(['sync', '-'], {stdin: aManifest()});
    expect(again.stderr).toContain(': must be JSON\nhint: delete the pod by its UID, or restore the file\n');
    expect(await scene.run(['delete', String(uid)])).toMatchObject({
      stdout: 'pod "default/web" deleted\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('when it fails', () => {
  test.each(['StopContainer', 'StopPodSandbox', 'RemoveContainer', 'RemovePodSandbox'] as const)(
    'at %s the record is kept, other pods are deleted, and a second delete ends it',
    async (rpc) => {
      const scene = await aScene();
      await synced(scene, aManifest(), aManifest({name: 'other'}));
      const web = scene.runtime.sandboxes.find(({config}) => config.metadata?.name === 'web')!;
      const ids = [web.id, ...scene.runtime.state.containersOf(web.id).map(({id}) => id)];
      scene.runtime.injectError(rpc, {
        code: 'UNKNOWN',
        message: 'device busy',
        match: (request) => ids.some((id) => JSON.stringify(request).includes(id)),
      });
      const result = await scene.run(['delete', 'web', 'other']);
      expectUserError(result);
      expect(result.stderr).toContain('device busy');
      expect(result.stderr).toContain(
        'kcri: pod "default/web": is partially deleted\nhint: run "kcri delete default/web" to delete it\n',
      );
      expect(result).toMatchObject({stdout: 'pod "default/other" deleted\n', exitCode: 1});
      expect(await scene.records()).toHaveLength(1);

      scene.runtime.clearFaults();
      expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
      expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
    },
  );

  test('a runtime that says it stopped a container and did not is not believed', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    const [container] = scene.runtime.containers;
    scene.runtime.injectDelay('StopPodSandbox', 1, {});
    Object.defineProperty(scene.runtime.state.containers.get(container!.id)!, 'state', {
      get: () => 'CONTAINER_RUNNING',
      set: () => undefined,
    });
    const result = await scene.run(['delete', 'web']);
    expectUserError(result);
    expect(result.stderr).toContain(
      'detected running containers after a successful KillPod, CRI violation: [main]',
    );
    expect(scene.runtime.callsTo('RemovePodSandbox')).toEqual([]);
    expect(await scene.records()).toHaveLength(1);
  });

  test('without a runtime the record is kept', async () => {
    const scene = await aScene();
    await synced(scene, aManifest());
    await scene.runtime.crash();
    const result = await scene.run(['delete', 'web']);
    expectUserError(result);
    expect(result.stderr).toContain('hint: nothing listens on');
    expect(await scene.records()).toHaveLength(1);
    await scene.runtime.restart();
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('Ctrl-C ends the wait for a container that will not stop, and a second delete ends it', async () => {
    const scene = await aScene({behaviour: () => ({ignoresStop: true})});
    await synced(scene, aManifest({terminationGracePeriodSeconds: 600}));
    const controller = new AbortController();
    const deleting = scene.run(['delete', 'web'], {signal: controller.signal});
    await until(() => scene.runtime.callsTo('StopContainer').length !== 0);
    controller.abort(new InterruptedError('SIGINT'));
    expect(await deleting).toEqual({
      stdout: '',
      stderr:
        'kcri: interrupted\n' +
        'kcri: pod "default/web": is partially deleted\nhint: run "kcri delete default/web" to delete it\n',
      exitCode: 130,
    });
    scene.runtime.exitContainer(scene.runtime.containers[0]!.id, 0);
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

test('finds the logs of a pod where its sync has put them', async () => {
  const scene = await aScene();
  await synced(
    scene,
    aManifest({containers: [aContainerSpec('main', {command: ['sh', '-c', 'echo hi; sleep 99']})]}),
  );
  expect(await readdir(scene.logsDir)).toHaveLength(1);
  await scene.run(['delete', 'web']);
  expect(await readdir(scene.logsDir)).toEqual([]);
});
