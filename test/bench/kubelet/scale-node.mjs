// Pods on a fake runtime, and a kubelet in a separate process, all on one accelerated clock.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compileFakes} from '../../../scripts/compile-fakes.mjs';
import {sleepingContainers} from '../sleeping-containers.mjs';
import {acceleratedClock} from './accelerated-clock.mjs';

const DAEMON = fileURLToPath(new URL('scale-daemon.mjs', import.meta.url));
const {FakeRuntime} = await import(pathToFileURL(join(compileFakes(), 'fake-runtime.js')).href);
/** Containers of a pod by default. */
export const CONTAINERS = 3;

/** Writes manifests, starts a fake runtime, calls `use`, and removes everything. */
export async function withScaleNode({pods, containers = CONTAINERS, factor, profile}, use) {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-scale-'));
  const manifestsDir = join(directory, 'manifests');
  await mkdir(manifestsDir);
  for (let n = 0; n < pods; n += 1) await writeFile(join(manifestsDir, `${n}.json`), manifest(n, containers));
  const origin = Date.now();
  const clock = acceleratedClock(origin, factor);
  const fake = await FakeRuntime.start({clock});
  const node = new ScaleNode({
    pods,
    containers,
    factor,
    profile,
    directory,
    manifestsDir,
    origin,
    clock,
    fake,
  });
  try {
    await use(node);
  } finally {
    await node.stop();
    await fake.stop();
    await rm(directory, {recursive: true});
  }
}

class ScaleNode {
  constructor(options) {
    Object.assign(this, options);
  }

  /**
   * Starts the daemon. `eventedPleg` is that of KubeletOptions, and `watchesDelay` adds the event loop delay to its
   * cost.
   */
  start({eventedPleg, watchesDelay = false}) {
    const {fake, directory, manifestsDir, origin, factor, profile} = this;
    const options = {
      endpoint: fake.endpoint,
      rootDir: join(directory, 'root'),
      podLogsDir: join(directory, 'logs'),
      ...{manifestsDir, origin, factor, eventedPleg, watchesDelay},
    };
    const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    this.daemon = fork(DAEMON, [JSON.stringify(options)], {execArgv});
  }

  /** Returns the cost of the daemon since the last call, see scale-daemon.mjs. */
  async cost() {
    this.daemon.send('cost');
    const [cost] = await once(this.daemon, 'message');
    return cost;
  }

  /** Triggers a sync of every pod, with its volumes. */
  syncAll() {
    this.daemon.send('sync');
  }

  /** Stops the daemon, and leaves its pods running. */
  async stop() {
    const {daemon} = this;
    this.daemon = undefined;
    if (daemon === undefined) return;
    daemon.disconnect();
    await once(daemon, 'exit');
  }

  get running() {
    return this.fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
  }

  get isComplete() {
    return this.running.length === this.pods * this.containers;
  }
}

function manifest(n, length) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: `scale-${n}`},
    spec: {containers: sleepingContainers(length), hostNetwork: false},
  });
}
