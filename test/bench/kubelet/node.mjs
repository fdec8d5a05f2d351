// A private containerd with `kcri kubelet`.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {stallTolerantTimer} from '../../base/stall-tolerant-timer.mjs';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {connect} from '../../../dist/cri/index.js';
import {buildOciArchive} from '../../../dist/private-runtime/image/oci-image.js';

const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));
const {KCRI_TEST_PROGRAM: EXECUTABLE} = process.env;
/** Command that starts kcri, as in test/kcri-command.ts. */
export const PROGRAM = EXECUTABLE === undefined ? [process.execPath, KCRI] : [EXECUTABLE];
const [FILE, ...LEADING_ARGS] = PROGRAM;
export const NODE_NAME = 'benchnode';
const CGROUP_ROOT = `/kcri-bench-${process.pid}`;
export const BUSYBOX = 'docker.io/library/busybox:1.36';
/** Unit of the times in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;
const TIMEOUT_MS = 120_000;

/** Starts the containerd in `folder`, or the machine's, calls `use`, and removes everything. */
export async function withNode({folder, runc}, use) {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-node-'));
  const env = {...process.env, KCRI_ROOT_DIR: rootDir};
  const kcri = async (...args) => {
    const {stdout} = await promisify(execFile)(FILE, [...LEADING_ARGS, ...args], {env});
    return stdout.trim();
  };
  const manifestsDir = join(rootDir, 'manifests');
  await mkdir(manifestsDir);
  let node;
  try {
    const programs = Object.entries({containerd: folder, runc}).filter(([, path]) => path !== undefined);
    const endpoint = await kcri('runtime', 'up', ...programs.flatMap(([name, path]) => [`--${name}`, path]));
    await writeFile(join(rootDir, 'image.tar'), buildOciArchive(await busyboxSpec()));
    await kcri('runtime', 'load', join(rootDir, 'image.tar'));
    const {version} = JSON.parse(await kcri('runtime', 'status', '-o', 'json'));
    node = new BenchNode({rootDir, manifestsDir, endpoint, version, env});
    await use(node);
  } catch (error) {
    // Removal may fail for the same reason, and its error would hide this one.
    process.stderr.write(`failed: ${error.stack}\n${node?.log ?? ''}`);
    throw error;
  } finally {
    await node?.end();
    await kcri('runtime', 'down');
    await rm(rootDir, {recursive: true});
  }
}

/** A containerd and a daemon that can be started and killed. */
class BenchNode {
  constructor(options) {
    Object.assign(this, options);
    const {runtime, close} = connect(this.endpoint);
    this.runtime = runtime;
    this.close = close;
  }

  async start() {
    const args = [
      ...['kubelet', '--pod-manifest-path', this.manifestsDir, '--container-runtime-endpoint', this.endpoint],
      ...['--root-dir', join(this.rootDir, 'kubelet'), '--pod-logs-dir', join(this.rootDir, 'pod-logs')],
      ...['--hostname-override', NODE_NAME, '--cgroup-root', CGROUP_ROOT, '--no-admission'],
      ...['--config', await this.#config()],
    ];
    this.daemon = spawn(FILE, [...LEADING_ARGS, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.log = '';
    this.daemon.stderr.setEncoding('utf8').on('data', (text) => (this.log += text));
    await until('the daemon is running', () => {
      if (this.daemon.exitCode !== null) throw new Error(`kcri kubelet has exited: ${this.log}`);
      return this.log.includes('Starting kubelet main sync loop');
    });
  }

  /** Writes a configuration without the HTTP servers, which are not measured. */
  async #config() {
    const path = join(this.rootDir, 'kubelet.yaml');
    const lines = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
    await writeFile(path, [...lines, 'enableServer: false', 'healthzPort: 0', ''].join('\n'));
    return path;
  }

  async kill(signal) {
    const {daemon} = this;
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill(signal);
    await once(daemon, 'exit');
  }

  /** Kills the daemon, and removes its pods and cgroups. */
  async end() {
    await this.kill('SIGKILL');
    for (const {id} of (await this.runtime.listPodSandbox({})).items) {
      await this.runtime.stopPodSandbox({podSandboxId: id});
      await this.runtime.removePodSandbox({podSandboxId: id});
    }
    this.close();
    for (const folder of ['', ...(await readdir('/sys/fs/cgroup'))])
      await removeCgroup(join('/sys/fs/cgroup', folder, CGROUP_ROOT));
  }

  /** Writes a manifest atomically. */
  async writeManifest(pod) {
    const {name} = pod.metadata;
    const temporary = join(this.manifestsDir, `.${name}`);
    await writeFile(temporary, JSON.stringify(pod));
    await rename(temporary, join(this.manifestsDir, `${name}.json`));
  }

  async removeManifest(name) {
    await rm(join(this.manifestsDir, `${name}.json`));
  }

  async containers() {
    return (await this.runtime.listContainers({})).containers;
  }

  async pidOf(containerId) {
    const {info} = await this.runtime.containerStatus({containerId, verbose: true});
    return JSON.parse(info.info).pid;
  }

  /** Returns the CPU time (s) and memory (MiB) of the daemon. */
  async cost() {
    const stat = await readFile(`/proc/${this.daemon.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const status = await readFile(`/proc/${this.daemon.pid}/status`, 'utf8');
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      rssMib: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
    };
  }
}

/** Removes a cgroup and those below it, if it exists. Killed processes can stay in it for a moment. */
async function removeCgroup(path) {
  if (!existsSync(path)) return;
  for (const entry of await readdir(path, {withFileTypes: true}))
    if (entry.isDirectory()) await removeCgroup(join(path, entry.name));
  await until(`the cgroup ${path} is empty`, async () => await rmdirUnlessBusy(path));
}

/** Returns whether the directory was removed. */
async function rmdirUnlessBusy(path) {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (error.code === 'EBUSY') return false;
    throw error;
  }
}

/** Returns a pod in the host's network that sleeps by default. */
export function aPod(name, spec = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name},
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 0,
      containers: [sleeper('main')],
      ...spec,
    },
  };
}

/** Returns a container that sleeps by default. */
export function sleeper(name, fields = {}) {
  return {name, image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'], ...fields};
}

/** Resolves when the condition holds. It is checked every 2 ms. */
export async function until(what, condition, timeoutMs = TIMEOUT_MS) {
  const hasTimedOut = stallTolerantTimer(timeoutMs);
  while (!(await condition())) {
    if (hasTimedOut()) throw new Error(`timed out waiting until ${what}`);
    await delay(2);
  }
}
