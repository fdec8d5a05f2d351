// Compares pods with and without volumes of a CSI driver, under `kcri kubelet` on a real containerd: the time from the manifest to
// the running container in turns, the calls of the driver, and the CPU time of 20 idle pods without and with 100 volumes. A kubelet
// without an API server runs no pod with such a volume; bench:csi-turns compares with one. The driver makes directories.
// Usage: npm run bench:csi [-- --rounds=15] [--idle-seconds=30]      (needs root and containerd; 3 minutes)
import {readdir, rename, rm, writeFile} from 'node:fs/promises';
import {loadavg} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {aPod, sleeper, until, withNode} from './kubelet/node.mjs';
import {watchStarts} from './kubelet/watch-starts.mjs';
import {median} from './median.mjs';

const {values} = parseArgs({
  options: {rounds: {type: 'string', default: '15'}, 'idle-seconds': {type: 'string', default: '30'}},
});
const rounds = Number(values.rounds);
const [PODS, VOLUMES_OF_POD] = [20, 5];
/** Time after the start of pods in which the daemon settles, in ms. */
const SETTLE_MS = 10_000;
/** Time after a start that belongs to it, in ms. */
const AFTERWARDS_MS = 500;
const STORAGE_FILE = 'storage.json';

const [compiled] = await buildTestPrograms('bench-csi', ['bench/csi/bench-csi-driver.ts']);
const {startBenchDriver, storageOf, withClaims} = await import(compiled);
const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));

await withNode(second ?? {}, async (node) => {
  process.stdout.write(`containerd ${node.version}; load ${loadavg()[0].toFixed(1)}\n`);
  const rootDir = join(node.rootDir, 'kubelet');
  const driver = await startBenchDriver(rootDir);
  try {
    await measure(node, driver);
  } finally {
    await driver[Symbol.asyncDispose]();
  }
});

/** Prints the measurements of a node with the driver. */
async function measure(node, driver) {
  const started = watchStarts(node);
  const claimsOf = (pod) => Array.from({length: VOLUMES_OF_POD}, (_, n) => `${pod}-${n}`);
  const many = Array.from({length: PODS}, (_, n) => `many-${n}`);
  const ones = Array.from({length: rounds}, (_, round) => `one-${round}`);
  await putStorage(node, [...ones, ...many.flatMap(claimsOf)]);
  await node.start();
  await until('the driver has registered', () => (driver.registrar?.statuses.length ?? 0) > 0);

  const turns = [];
  for (const name of ones) {
    const plain = await timeToRun(node, started, aPod(`plain-${name}`));
    driver.calls.length = 0;
    const mounted = await timeToRun(node, started, aPod(name, withClaims([name], sleeper('main'))));
    turns.push({plain, mounted, calls: driver.calls.map(({method}) => method)});
  }
  const medianBy = (value) => median(turns.map(value));
  const ms = [
    medianBy(({plain}) => plain.ms),
    medianBy(({mounted}) => mounted.ms),
    medianBy(({plain, mounted}) => mounted.ms - plain.ms),
  ].map((time) => time.toFixed(0));
  const cpu = ['plain', 'mounted'].map((kind) => {
    const sum = turns.reduce((total, turn) => total + turn[kind].cpuSeconds, 0);
    return ((1000 * sum) / turns.length).toFixed(0);
  });
  process.stdout.write(
    `manifest to running, ms: ${ms[0]} without, ${ms[1]} with a volume, ${ms[2]} more\n` +
      `CPU time of kcri for a pod, ms: ${cpu[0]} without, ${cpu[1]} with a volume\n` +
      `calls of the driver: ${turns[0].calls.join(', ')}\n`,
  );

  await removeAll(node);
  const idleWithout = await idle(node, driver, many, () => ({}));
  const idleWith = await idle(node, driver, many, (pod) => withClaims(claimsOf(pod), sleeper('main')));
  const results = {'without volumes': idleWithout, [`with ${PODS * VOLUMES_OF_POD} volumes`]: idleWith};
  for (const [what, {cpu: share, calls}] of Object.entries(results))
    process.stdout.write(
      `${PODS} idle pods ${what}: ${share.toFixed(2)} % of a core, ${calls} calls of the driver\n`,
    );
}

async function putStorage({manifestsDir}, names) {
  const temporary = join(manifestsDir, '.storage');
  await writeFile(temporary, JSON.stringify(storageOf(names)));
  await rename(temporary, join(manifestsDir, STORAGE_FILE));
}

/** Measures the time until a pod runs, and the CPU time of the daemon until a moment later. */
async function timeToRun(node, started, pod) {
  await delay(200);
  const before = await node.cost();
  const createdAt = performance.now();
  await node.writeManifest(pod);
  const ms = (await started.after(pod.metadata.name, createdAt)) - createdAt;
  await delay(AFTERWARDS_MS);
  const after = await node.cost();
  return {ms, cpuSeconds: after.cpuSeconds - before.cpuSeconds};
}

/** Measures the daemon while pods do nothing, and removes them. */
async function idle(node, driver, pods, specOf) {
  const seconds = Number(values['idle-seconds']);
  for (const pod of pods) await node.writeManifest(aPod(pod, specOf(pod)));
  await until('all pods run', async () => (await running(node)) === pods.length);
  await delay(SETTLE_MS);
  const before = await node.cost();
  driver.calls.length = 0;
  await delay(seconds * 1000);
  const after = await node.cost();
  const calls = driver.calls.length;
  await removeAll(node);
  return {cpu: (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds, calls};
}

/** Removes all pods. */
async function removeAll(node) {
  for (const file of await readdir(node.manifestsDir))
    if (file !== STORAGE_FILE) await rm(join(node.manifestsDir, file));
  await until('the pods are removed', async () => (await node.containers()).length === 0);
}

async function running(node) {
  return (await node.containers()).filter(({state}) => state === 'CONTAINER_RUNNING').length;
}
