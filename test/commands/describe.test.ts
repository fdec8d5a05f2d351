import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed, aScript, type CommandTestbed} from './command-testbed.js';
import {runToTimeLimit} from './run-to-time-limit.js';

async function syncAndDescribe(
  testbed: CommandTestbed,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', testbed.rootDir, 'describe', ...args], options);
}

/** Replaces IDs, times, addresses and node names. */
function canonical(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{64}/g, '<id>')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}/g, '<time>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/(IP: +)\d[\d.]+/g, '$1<ip>')
    .replaceAll(/<time> \(\S+ ago\), in \S+/g, '<time> (<age> ago), in <time>')
    .replace(/(Node: +)\S+/, '$1<node>')
    .replaceAll(/^( {2}(?:Normal|Warning) .*?)\d+s +kubelet/gm, '$1<age> kubelet');
}

const WEB = aManifest({
  metadata: {labels: {tier: 'front', app: 'web'}},
  initContainers: [aScript('setup', 'true')],
  containers: [
    aContainerSpec('main', {
      args: ['a\nb'],
      ports: [
        {containerPort: 80, name: 'http'},
        {containerPort: 53, protocol: 'UDP'},
      ],
      resources: {limits: {memory: '64Mi'}, requests: {cpu: '100m', memory: '64Mi'}},
      env: [
        {name: 'PLAIN', value: 'x'},
        {name: 'NAME', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}},
        {name: 'CPU', valueFrom: {resourceFieldRef: {resource: 'requests.cpu', divisor: '1m'}}},
        {name: 'ALL', valueFrom: {resourceFieldRef: {resource: 'limits.cpu'}}},
      ],
      volumeMounts: [{name: 'host', mountPath: '/host', readOnly: true}],
    }),
  ],
  volumes: [{name: 'host', hostPath: {path: '/tmp'}}],
});

// Proves: describe
test('describe prints a pod like kubectl', async () => {
  const testbed = await createTestbed({
    behaviour: (_, argv) => (argv.includes('true') ? {exitCode: 0} : undefined),
  });
  const syncResult = await testbed.run(['sync', '-'], {stdin: WEB});
  expect(syncResult.stderr).toBe('');
  const {stdout, stderr, exitCode} = await syncAndDescribe(testbed, ['web']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(canonical(stdout)).toMatchInlineSnapshot(`
    "Name:         web
    Namespace:    default
    Node:         <node>
    Start Time:   <time>
    Labels:       app=web
                  tier=front
    Annotations:  kubernetes.io/config.seen: <time>
                  kubernetes.io/config.source: api
    Status:       Running
    IP:           <ip>
    IPs:
      IP:  <ip>
    Init Containers:
      setup:
        Container ID:  fake://<id>
        Image:         localhost:5000/busybox:1
        Image ID:      localhost:5000/busybox@sha256:<id>
        Port:          <none>
        Host Port:     <none>
        Command:
          sh
          -c
          true
        State:          Terminated
          Reason:       Completed
          Exit Code:    0
          Started:      <time>
          Finished:     <time>
        Ready:          True
        Restart Count:  0
        Environment:    <none>
        Mounts:         <none>
    Containers:
      main:
        Container ID:  fake://<id>
        Image:         localhost:5000/busybox:1
        Image ID:      localhost:5000/busybox@sha256:<id>
        Ports:         80/TCP (http), 53/UDP
        Host Ports:    0/TCP (http), 0/UDP
        Command:
          sleep
          3600
        Args:
          a
          b
        State:          Running
          Started:      <time>
        Ready:          True
        Restart Count:  0
        Limits:
          memory:  64Mi
        Requests:
          cpu:     100m
          memory:  64Mi
        Environment:
          PLAIN:  x
          NAME:   web (v1:metadata.name)
          CPU:    100 (requests.cpu)
          ALL:    node allocatable (limits.cpu)
        Mounts:
          /host from host (ro)
    Conditions:
      Type                        Status
      PodReadyToStartContainers   True 
      Initialized                 True 
      Ready                       True 
      ContainersReady             True 
      PodScheduled                True 
    Volumes:
      host:
        Type:          HostPath (bare host directory volume)
        Path:          /tmp
        HostPathType:  
    QoS Class:         Burstable
    Node-Selectors:    <none>
    Tolerations:       <none>
    Events:
      Type    Reason   Age   From     Container  Message
      ----    ------   ----  ----     ---------  -------
      Normal  Pulled   <age> kubelet  setup      Container image "localhost:5000/busybox:1" already present on machine and can be accessed by the pod
      Normal  Created  <age> kubelet  setup      Container created
      Normal  Started  <age> kubelet  setup      Container started
      Normal  Pulled   <age> kubelet  main       Container image "localhost:5000/busybox:1" already present on machine and can be accessed by the pod
      Normal  Created  <age> kubelet  main       Container created
      Normal  Started  <age> kubelet  main       Container started
    Mounts of Volumes:
      host:
        Kind:     hostPath
        State:    mounted
        Path:     /tmp
        Mounted:  <time> (<age> ago), in <time>
    "
  `);
});

describe('describe', () => {
  test('shows the failures of volumes, and their mounts after the pod has failed to start', async () => {
    const testbed = await createTestbed();
    const path = join(testbed.directory, 'late');
    const volumes = [{name: 'late', hostPath: {path, type: 'Directory'}}];
    const containers = [aContainerSpec('main', {volumeMounts: [{name: 'late', mountPath: '/late'}]})];
    const manifest = await testbed.write('pod.json', aManifest({containers, volumes}));
    const syncing = testbed.run(['sync', manifest, '--timeout=300s']);
    const described = async (): Promise<string> => (await syncAndDescribe(testbed, ['web'])).stdout;
    await until(async () => (await described()).includes('Failures:'));
    expect(await described()).toMatch(
      /Mounts of Volumes:\n {2}late:\n {4}Kind: +hostPath\n {4}State: +error\n {4}Path: .*late\n {4}Failures: +\d+, last \S+ ago\n {4}Last Error: +MountVolume.SetUp failed for volume "late" : /,
    );
    await mkdir(path);
    expect(await syncing).toMatchObject({exitCode: 0});
    expect(await described()).toMatch(
      /State: +mounted\n {4}Path: .*\n {4}Mounted: .*\n {4}Failures: +\d+, last/,
    );
  });

  // Proves: describe --output
  test('-o json and yaml print the Pod with its status, and templates use it too', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    const {stdout} = await syncAndDescribe(testbed, ['web', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'Pod',
      metadata: {name: 'web'},
      status: {phase: 'Running', qosClass: 'BestEffort'},
    });
    expect((await syncAndDescribe(testbed, ['web', '-o', 'yaml'])).stdout).toContain(
      '\n  qosClass: BestEffort\n',
    );
    expect((await syncAndDescribe(testbed, ['web', '--template', '{{.status.qosClass}}'])).stdout).toBe(
      'BestEffort\n',
    );
  });

  test("accepts all pods, a selector, and kubectl's resource types", async () => {
    const testbed = await createTestbed();
    const manifests = [aManifest({metadata: {labels: {app: 'x'}}}), aManifest({name: 'other'})];
    await testbed.run(['sync', '-'], {stdin: manifests.join('\n---\n')});
    const names = async (...args: readonly string[]) =>
      Array.from(
        (await syncAndDescribe(testbed, args)).stdout.matchAll(/^Name: +(\S+)$/gm),
        ([, name]) => name,
      );
    expect(await names()).toEqual(['other', 'web']);
    expect(await names('-l', 'app')).toEqual(['web']);
    expect(await names('pod', 'other')).toEqual(['other']);
    expect(await names('default/web')).toEqual(['web']);
    expect((await syncAndDescribe(testbed, [])).stdout).toMatch(/<none>\n\n\nName: |\n\n\nName: /);
  });

  test('reports an unknown name and prints the other pods', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    const {stdout, stderr, exitCode} = await syncAndDescribe(testbed, ['wbe', 'web']);
    expect(stdout).toMatch(/^Name: +web$/m);
    expect(stderr).toContain('pod "wbe" not found');
    expect(exitCode).toBe(1);
    expect(await syncAndDescribe(testbed, ['-n', 'other'])).toEqual({
      stdout: '',
      stderr: 'No resources found\n',
      exitCode: 0,
    });
  });

  test('counts repeated events', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 1);
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    const {stdout} = await syncAndDescribe(testbed, ['web']);
    expect(stdout).toMatch(
      /^ {2}Normal +Started +\d+s \(x2 over \d+s\) {2}kubelet {2}main {7}Container started$/m,
    );
    expect(stdout).toMatch(/^ {4}Last State: +Terminated\n {6}Reason: +Error\n {6}Exit Code: +1$/m);
    expect(stdout).toMatch(/^ {4}Restart Count: +1$/m);
  });

  test('prints the last known status if the runtime is unavailable', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', '-'], {stdin: aManifest()});
    await testbed.runtime.stop();
    const {stdout, stderr, exitCode} = await syncAndDescribe(testbed, ['web']);
    expect(stdout).toMatch(/^Status: +Running$/m);
    expect(stderr).toContain('is unavailable: ');
    expect(exitCode).toBe(0);
  });

  test('escapes control characters from the runtime', async () => {
    const testbed = await createTestbed({images: []});
    testbed.runtime.state.registry.length = 0;
    const containers = [
      aContainerSpec('main', {image: 'localhost:5000/missing:1', imagePullPolicy: 'Always'}),
    ];
    testbed.runtime.injectError('PullImage', {code: 'UNKNOWN', message: 'bad \u001b[31m thing'});
    await runToTimeLimit(testbed, ['sync', '-'], {
      limitMs: 500,
      isReached: ({stderr}) => stderr.includes('ErrImagePull'),
      stdin: aManifest({containers}),
    });
    const {stdout} = await syncAndDescribe(testbed, ['web'], {terminal: true});
    expect(stdout).toContain('bad \\x1b[31m thing');
    expect(stdout).not.toContain('\u001b');
  });
});
