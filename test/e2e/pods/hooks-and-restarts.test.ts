import {randomBytes} from 'node:crypto';
import {existsSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Returns a container that records its lifecycle in the directory /out. */
const witness = (name: string, script: string, fields: ManifestFields = {}): ManifestFields =>
  aContainer(name, {
    command: shellCommand(script),
    volumeMounts: [{name: 'out', mountPath: '/out'}],
    ...fields,
  });

const say = (what: string): ManifestFields => ({exec: {command: shellCommand(`echo ${what} >> /out/log`)}});
/** Returns a script that waits for SIGTERM; it does `first` when it can receive it. */
const onEnd = (what: string, first = 'true'): string =>
  `trap '${what}; exit 0' TERM; ${first}; sleep 3600 & wait`;
/** Returns a hook that waits for a condition in the shell, and then does `next`. */
const waitFor = (condition: string, next = 'true'): ManifestFields => ({
  exec: {command: shellCommand(`until ${condition}; do sleep 0.1; done; ${next}`)},
});
const out = (path: string): ManifestFields => ({name: 'out', hostPath: {path}});

const INDEXED_JOB = fileURLToPath(new URL('../../../examples/indexed-job.yaml', import.meta.url));

describe.each(newestRuntime)('lifecycle hooks, restarts and workloads: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  test('hooks run in the container and over HTTP, and sidecars terminate last, in reverse order', async () => {
    const directory = await temporaryDirectory();
    // Answers when the request is on disk: the container is stopped after the answer.
    const save = 'while read -r line; do echo "$line"; [ ${#line} -gt 1 ] || break; done > /out/request';
    const answer = `nc -l -p 8080 -e sh -c '${save}; printf "HTTP/1.0 200 OK\\r\\n\\r\\n"'`;
    const always = {restartPolicy: 'Always'};
    const ready = ['s1', 's2', 'main'].map((name) => `test -f /out/${name}`).join(' && ');
    const manifest = aManifest('life-hooks', {
      terminationGracePeriodSeconds: 300,
      volumes: [out(directory)],
      initContainers: [
        witness('s1', onEnd('echo s1 >> /out/log', 'touch /out/s1'), always),
        witness('s2', onEnd('echo s2 >> /out/log', 'touch /out/s2'), {
          ...always,
          lifecycle: {preStop: say('s2-preStop')},
        }),
      ],
      containers: [
        // The hook of s2 runs while main terminates.
        witness(
          'main',
          onEnd(
            'until grep -q s2-preStop /out/log; do sleep 0.1; done; echo main >> /out/log',
            'touch /out/main',
          ),
          {lifecycle: {postStart: waitFor(ready, 'echo main-postStart >> /out/log')}},
        ),
        witness('server', onEnd('true', `{ ${answer} & }`), {
          ports: [{name: 'web', containerPort: 8080}],
          lifecycle: {
            // 1F90 is port 8080, and 0A a listening socket.
            postStart: waitFor('cat /proc/net/tcp /proc/net/tcp6 | grep -q ":1F90 .* 0A "'),
            preStop: {httpGet: {path: '/bye', port: 'web'}},
          },
        }),
      ],
    });

    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0, stderr: ''});
    const {uid} = await testbed.pod('life-hooks');
    expect(await readFile(join(directory, 'log'), 'utf8')).toBe('main-postStart\n');
    expect(await testbed.delete('life-hooks')).toMatchObject({exitCode: 0, stderr: ''});

    const log = (await readFile(join(directory, 'log'), 'utf8')).trimEnd().split('\n');
    expect(log).toEqual(['main-postStart', 's2-preStop', 'main', 's2', 's1']);
    expect(await readFile(join(directory, 'request'), 'utf8')).toMatch(
      /^GET \/bye HTTP\/1\.1\r\n(.*\r\n)*user-agent: kube-lifecycle\/1\.36\r\n/i,
    );
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('a failing postStart hook fails the sync with its output, and nothing is left', async () => {
    const postStart = {exec: {command: shellCommand('echo no luck; exit 7')}};
    const manifest = aManifest('life-fails', {containers: [aContainer('main', {lifecycle: {postStart}})]});

    const {exitCode, stderr} = await testbed.sync(manifest);

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'container "main": PostStartHookError: Exec lifecycle hook ([sh -c echo no luck; exit 7])',
    );
    expect(stderr).toContain('exited with 7: , message: "no luck\\n"');
    expect(await testbed.find('life-fails')).toBeUndefined();
  });

  test('a slow preStop hook does not delay termination beyond the grace period', async () => {
    const preStop = {exec: {command: ['sleep', '3600']}};
    const manifest = aManifest('life-slow', {containers: [aContainer('main', {lifecycle: {preStop}})]});
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const {uid} = await testbed.pod('life-slow');

    // It would not end within the time limit of the test.
    expect(await testbed.delete('life-slow')).toMatchObject({exitCode: 0});

    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('a restart rule restarts all containers in their sandbox', async () => {
    const directory = await temporaryDirectory();
    const exitCodes = {operator: 'In', values: [42]};
    const once = `if test -f /out/again; then ${onEnd('true')}; fi; touch /out/again; exit 42`;
    const manifest = aManifest('life-again', {
      restartPolicy: 'Never',
      volumes: [out(directory)],
      initContainers: [witness('init', 'echo init >> /out/log')],
      containers: [
        aContainer('other'),
        witness('main', once, {
          restartPolicy: 'Never',
          restartPolicyRules: [{action: 'RestartAllContainers', exitCodes}],
        }),
      ],
    });
    onTestFinished(async () => {
      await testbed.delete('life-again');
    });

    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    await expect.poll(() => existsSync(join(directory, 'again'))).toBe(true);
    const before = await testbed.pod('life-again');
    const states = async (): Promise<readonly string[]> => {
      expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
      const {containers} = await testbed.pod('life-again');
      return containers
        .map(({metadata, state}) => `${metadata?.name}/${metadata?.attempt} ${state}`)
        .toSorted();
    };
    await expect
      .poll(states)
      .toEqual(['init/1 CONTAINER_EXITED', 'main/1 CONTAINER_RUNNING', 'other/1 CONTAINER_RUNNING']);

    const after = await testbed.pod('life-again');
    expect(after.sandboxes.map(({id}) => id)).toEqual(before.sandboxes.map(({id}) => id));
    expect(await readFile(join(directory, 'log'), 'utf8')).toBe('init\ninit\n');
  });

  test('sync of examples/indexed-job.yaml runs each index of the Job once', async () => {
    const args = ['--wait', 'complete', '--logs', '--rm'];
    const {stdout, exitCode} = await testbed.sync(await readFile(INDEXED_JOB, 'utf8'), args);
    expect(exitCode).toBe(0);
    for (const line of ['0 squared is 0', '1 squared is 1', '2 squared is 4'])
      expect(stdout.split(line)).toHaveLength(2);
  });

  // Proves: Volume.persistentVolumeClaim, PersistentVolumeClaimVolumeSource.claimName
  test('the claim of a StatefulSet keeps its data until the volumes are deleted', async () => {
    // The data of a claim outlives a failed try.
    const name = `db-${randomBytes(4).toString('hex')}`;
    const labels = {app: 'db'};
    const volumeMounts = [{name: 'data', mountPath: '/data'}];
    const command = shellCommand('echo run >> /data/runs; exec sleep 3600');
    const claim = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}};
    const set = JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {name},
      spec: {
        selector: {matchLabels: labels},
        volumeClaimTemplates: [{metadata: {name: 'data'}, spec: claim}],
        template: {
          metadata: {labels},
          spec: {
            terminationGracePeriodSeconds: 0,
            containers: [aContainer('main', {command, volumeMounts})],
          },
        },
      },
    });
    const runs = async (): Promise<string> => {
      const {containers} = await testbed.pod(`${name}-0`);
      return await testbed.exec(containers[0]!.id, 'sh', '-c', 'touch /data/runs; cat /data/runs');
    };
    expect(await testbed.sync(set)).toMatchObject({exitCode: 0, stderr: ''});
    await expect.poll(runs).toBe('run');
    await testbed.delete(`${name}-0`);
    expect(await testbed.sync(set)).toMatchObject({exitCode: 0, stderr: ''});
    await expect.poll(runs).toBe('run\nrun');
    const {stdout, exitCode} = await testbed.runtime.kcri(['delete', `sts/${name}`, '--volumes']);
    expect({stdout, exitCode}).toEqual({
      stdout: `pod "default/${name}-0" deleted\npersistentvolumeclaim "default/data-${name}-0" deleted\n`,
      exitCode: 0,
    });
  });

  test('a pod reaches another one by the name and the variables of its Service, with the data of a local volume', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'greeting'), 'hello');
    const resources = {requests: {storage: '1Mi'}};
    const accessModes = ['ReadOnlyMany'];
    const onNode = {key: 'kubernetes.io/hostname', operator: 'Exists'};
    const aDocument = (kind: string, name: string, spec: object): string =>
      JSON.stringify({apiVersion: 'v1', kind, metadata: {name}, spec});
    const serving = {
      volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'life-data', readOnly: true}}],
      containers: [
        aContainer('main', {
          command: ['httpd', '-f', '-p', '8080', '-h', '/data'],
          ports: [{name: 'http', containerPort: 8080}],
          volumeMounts: [{name: 'data', mountPath: '/data'}],
          readinessProbe: {tcpSocket: {port: 'http'}, periodSeconds: 1},
        }),
      ],
    };
    const manifests = [
      aManifest('life-client', {containers: [aContainer('main')]}),
      aDocument('Service', 'life-web', {selector: {app: 'life'}, ports: [{port: 80, targetPort: 'http'}]}),
      aManifest('life-server', serving, {labels: {app: 'life'}}),
      aDocument('PersistentVolumeClaim', 'life-data', {accessModes, resources, volumeName: 'life-disk'}),
      aDocument('PersistentVolume', 'life-disk', {
        ...{accessModes, capacity: {storage: '1Mi'}},
        local: {path: directory},
        nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [onNode]}]}},
      }),
    ];

    expect(await testbed.sync(manifests.join('\n---\n'))).toMatchObject({exitCode: 0});

    const {containers} = await testbed.pod('life-client');
    const get = async (address: string): Promise<string> =>
      testbed.exec(containers[0]!.id, 'sh', '-c', `wget -q -O - http://${address}/greeting`);
    expect(await get('life-web:8080')).toBe('hello');
    expect(await get('life-web.default.svc.cluster.local:8080')).toBe('hello');
    expect(await get('$LIFE_WEB_SERVICE_HOST:$LIFE_WEB_SERVICE_PORT')).toBe('hello');
    const {uid} = await testbed.pod('life-server');
    await testbed.runtime.kcri(['delete', 'life-client', 'life-server', '--volumes']);
    expect(await testbed.listLeftovers(uid)).toEqual([]);
    expect(await readFile(join(directory, 'greeting'), 'utf8')).toBe('hello');
  });
});
