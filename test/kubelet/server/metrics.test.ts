import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainer, aSandbox} from '../../fakes/fake-runtime.js';
import {cpuStats, ioStats} from '../../../src/kubelet/server/stats/summary-parts.js';
import {systemClock} from '../../../src/base/clock.js';
import {until} from '../../base/until.js';
import {scraped, type ParsedFamily, type ParsedSample} from '../metrics/parse-exposition.js';
import {askAt, startGround, UID, type ServerGround} from './server-ground.js';

const ENDPOINTS = ['/metrics', '/metrics/probes', '/metrics/resource', '/metrics/cadvisor', '/metrics/slis'];

async function scrape({ask}: ServerGround, path: string): Promise<readonly ParsedFamily[]> {
  return scraped(await ask(path));
}

async function samples(ground: ServerGround, path: string, name: string): Promise<readonly ParsedSample[]> {
  return (await scrape(ground, path)).find((family) => family.name === name)?.samples ?? [];
}

/** Adds a second pod of the same name to the runtime, as one that is edited leaves its older self. */
function addNamesake({runtime}: ServerGround): void {
  const sandbox = aSandbox({id: 'older', name: 'web', namespace: 'team', uid: 'older-uid'});
  runtime.state.addContainer(aContainer({id: 'older-main', name: 'main', sandbox}));
}

interface Summary {
  readonly node: Readonly<Record<string, Record<string, unknown>>>;
  readonly pods: readonly (Record<string, unknown> & {
    readonly containers: readonly Record<string, Record<string, unknown>>[];
  })[];
}

async function summary({ask}: ServerGround, query = ''): Promise<Summary> {
  return JSON.parse((await ask(`/stats/summary${query}`)).body) as Summary;
}

describe('a strict reader', () => {
  test.each(ENDPOINTS)('takes %s from both ports', async (path) => {
    const ground = await startGround();
    await ground.ask('/healthz');
    expect(await scrape(ground, path)).not.toEqual([]);
    expect(scraped(await askAt(ground.servers.urls.readOnly ?? '', path))).not.toEqual([]);
  });

  test('takes what two pods of one name use', async () => {
    const ground = await startGround();
    addNamesake(ground);
    const names = (await samples(ground, '/metrics/resource', 'container_cpu_usage_seconds_total')).map(
      ({labels}) => labels,
    );
    expect(names).toEqual([{container: 'main', namespace: 'team', pod: 'web'}]);
    expect((await summary(ground)).pods).toHaveLength(2);
  });
});

test('what health has come to is counted, check by check', async () => {
  const ground = await startGround();
  await ground.ask('/healthz');
  ground.kubelet.lastActiveAt = 0;
  await ground.ask('/healthz');
  await ground.ask('/healthz/ping');
  const all = [
    ...(await samples(ground, '/metrics/slis', 'kubernetes_healthcheck')),
    ...(await samples(ground, '/metrics/slis', 'kubernetes_healthchecks_total')),
  ];
  expect(all.map(({labels: {name, type, status}, value}) => [name, type, status, value])).toEqual([
    ['log', 'healthz', undefined, 1],
    ['ping', 'healthz', undefined, 1],
    ['syncloop', 'healthz', undefined, 0],
    ['log', 'healthz', 'success', 2],
    ['ping', 'healthz', 'success', 2],
    ['syncloop', 'healthz', 'error', 1],
    ['syncloop', 'healthz', 'success', 1],
  ]);
});

describe('metrics of resources', () => {
  test('say how stable they are, and all that a kubelet says', async () => {
    const families = await scrape(await startGround(), '/metrics/resource');
    const stability = new Map(families.map(({name, help}) => [name, /^\[(\w+)\]/.exec(help)?.[1]]));
    expect(Object.fromEntries(stability)).toEqual({
      container_cpu_usage_seconds_total: 'STABLE',
      container_memory_working_set_bytes: 'STABLE',
      container_start_time_seconds: 'STABLE',
      container_swap_limit_bytes: 'ALPHA',
      container_swap_usage_bytes: 'ALPHA',
      node_cpu_usage_seconds_total: 'STABLE',
      node_memory_working_set_bytes: 'STABLE',
      node_swap_usage_bytes: 'ALPHA',
      pod_cpu_usage_seconds_total: 'STABLE',
      pod_memory_working_set_bytes: 'STABLE',
      pod_swap_usage_bytes: 'ALPHA',
      resource_scrape_error: 'STABLE',
      scrape_error: 'ALPHA',
    });
  });

  test("are a pod's containers' together from a runtime that tells nothing of pods", async () => {
    const ground = await startGround({runtime: {unimplemented: ['ListPodSandboxStats']}});
    const [pod] = await samples(ground, '/metrics/resource', 'pod_memory_working_set_bytes');
    const [container] = await samples(ground, '/metrics/resource', 'container_memory_working_set_bytes');
    expect(pod).toMatchObject({labels: {namespace: 'team', pod: 'web'}, value: container?.value});
    expect(pod?.timestampMs).toBeGreaterThan(1e12);
  });
});

describe('the summary', () => {
  test('has of the node what its kernel tells', async () => {
    const {node} = await summary(await startGround());
    expect(node).toMatchObject({
      memory: {pageFaults: expect.any(Number) as number, rssBytes: expect.any(Number) as number},
      network: {interfaces: expect.any(Array) as unknown[]},
      rlimit: {maxpid: expect.any(Number) as number, curproc: expect.any(Number) as number},
      runtime: {imageFs: {}, containerFs: {}},
      swap: {},
    });
  });

  test("has the node's rate of CPU as soon as there are two looks at it", async () => {
    let now = Date.now();
    const clock = {...systemClock, now: () => now};
    const ground = await startGround({options: {clock}});
    expect((await summary(ground)).node['cpu']).not.toHaveProperty('usageNanoCores');
    now += 10_000;
    await until(async () => Number((await summary(ground)).node['cpu']?.['usageNanoCores']) >= 0);
  });

  test('has what containers write, on which file system, and their logs', async () => {
    const ground = await startGround();
    const directory = join(ground.directory, `team_web_${UID}`, 'main');
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, '0.log'), 'x'.repeat(10_000));
    const [container] = (await summary(ground)).pods[0]?.containers ?? [];
    expect(container?.['rootfs']).toMatchObject({usedBytes: 65_536, inodesUsed: 12});
    expect(container?.['logs']).toMatchObject({capacityBytes: expect.any(Number) as number});
    expect(container?.['logs']?.['usedBytes']).toBeGreaterThanOrEqual(10_000);
    const [few] = (await summary(ground, '?only_cpu_and_memory=true')).pods;
    expect(few?.containers[0]).not.toHaveProperty('logs');
    expect(few).toHaveProperty('swap');
  });

  test("reads no logs of pods that are not the kubelet's, whatever these are called", async () => {
    const ground = await startGround();
    const sandbox = aSandbox({id: 'foreign', name: '../..', namespace: '..', uid: '../../etc'});
    ground.runtime.state.addContainer(aContainer({id: 'foreign-main', name: 'apt', sandbox}));
    const unknown = (): never => {
      throw new Error('unknown');
    };
    ground.kubelet.runtimeStatus = unknown;
    const {pods} = await summary(ground);
    expect(pods).toHaveLength(2);
    for (const {containers} of pods) expect(containers[0]).not.toHaveProperty('logs');
  });

  test('has of pods how many processes they are, and their network', async () => {
    const [pod] = (await summary(await startGround())).pods;
    expect(pod).toMatchObject({process_stats: {process_count: 2}, network: {name: 'eth0', rxBytes: 1000}});
  });

  test('has of a pod with several sandboxes what the newest uses', async () => {
    const ground = await startGround();
    const newer = aSandbox({id: 'a', name: 'web', namespace: 'team', uid: UID, attempt: 1});
    ground.runtime.state.addSandbox(newer);
    expect((await summary(ground)).pods[0]?.['process_stats']).toEqual({process_count: 1});
  });

  test('has what tasks wait for where that is told', () => {
    const data = {Total: 5n, Avg10: 0.5, Avg60: 0.25, Avg300: 0};
    const some = {total: 5n, avg10: 0.5, avg60: 0.25, avg300: 0};
    const none = {total: 0n, avg10: 0, avg60: 0, avg300: 0};
    const time = '1970-01-01T00:00:00Z';
    expect(ioStats({timestamp: 0n, psi: {Some: data}})).toEqual({time, psi: {some, full: none}});
    expect(ioStats({timestamp: 0n})).toBeUndefined();
    expect(cpuStats({timestamp: 0n, psi: {Some: data, Full: data}})).toEqual({
      time,
      psi: {some, full: some},
    });
  });
});
