// Pods of kcri on a fake runtime, and `kcri ui` of the bundle in a process of its own.
import {readFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compileFakes} from '../../../scripts/compile-fakes.mjs';
import {Program, within} from '../program.mjs';
import {sleepingContainers} from '../sleeping-containers.mjs';

const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));
const {FakeRuntime} = await import(pathToFileURL(join(compileFakes(), 'fake-runtime.js')).href);
/** Containers of a pod. */
const CONTAINERS = 2;
/** Deadlines on a busy machine, in s: of the link of kcri ui, of the sync of a pod, and of the end of the fake runtime. */
const LINK_SECONDS = 60;
const POD_SECONDS = 1;
const END_SECONDS = 20;

/** Starts pods and `kcri ui`, calls `use`, and removes everything. */
export async function withUiNode({pods, changing, profile}, use) {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-bench-ui-'));
  const runtime = await FakeRuntime.start({
    intercept: ({method}, stage) => {
      if (method === 'ListContainerStats' && stage === 'before') changeUsage(runtime.containers, changing);
    },
  });
  const options = ['--root-dir', join(directory, 'root')];
  const {NODE_EXTRA_CA_CERTS: _, ...rest} = process.env;
  const env = {...rest, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  let kcri;
  try {
    await syncPods([...options, 'sync', '--pod-logs-dir', join(directory, 'logs'), '-'], env, pods);
    const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    kcri = new Program('kcri ui', [process.execPath, ...profiling, KCRI, ...options, 'ui'], {env});
    const link = await kcri.firstLine(LINK_SECONDS, 'the link');
    const value = await kcri.during(use(new UiNode(runtime, kcri, link)));
    await kcri.stop();
    return value;
  } finally {
    kcri?.kill();
    await within(END_SECONDS, 'the end of the fake runtime', runtime.stop());
    await rm(directory, {recursive: true});
  }
}

class UiNode {
  #runtime;
  #pid;
  link;

  constructor(runtime, {pid}, link) {
    this.#runtime = runtime;
    this.#pid = pid;
    this.link = link;
  }

  /** Returns the processor time that kcri has used, in ms. */
  cpuMs = () => {
    const fields = readFileSync(`/proc/${this.#pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    // In clock ticks of 10 ms.
    return 10 * (Number(fields[11]) + Number(fields[12]));
  };

  memoryMib() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8'))[1]) / 1024;
  }

  /** Returns the number of samples that were taken of the usage. */
  samples() {
    return this.#runtime.callsTo('ListContainerStats').length;
  }

  calls() {
    return this.#runtime.calls.length;
  }
}

async function syncPods(args, env, count) {
  const input = Array.from({length: count}, (_, n) => manifest(n)).join('\n---\n');
  await new Program('kcri sync', [process.execPath, KCRI, ...args], {env, input}).succeed(
    60 + count * POD_SECONDS,
  );
}

function manifest(n) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `service-${n}`,
      namespace: ['default', 'shop', 'monitoring'][n % 3],
      labels: {app: `app-${n % 7}`},
    },
    spec: {containers: sleepingContainers(CONTAINERS)},
  });
}

/** Lets a share of the containers have used more processor time than the others since the last sample. */
function changeUsage(containers, share) {
  for (const container of containers)
    if (Math.random() < share) container.startedAt -= BigInt(Math.floor(Math.random() * 5e9));
}
